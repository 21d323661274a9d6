"""Puts together what a model is sent: the same for every question, then what this one is about."""

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from typing import Any

from core.answering.writers import base as told
from core.answering.writers.base import ClaimKind, GenerationTask, Passage, QuotedWords
from core.answering.writers.pieces import LAID_OUT, laid_out, tells
from core.domain import (
    EXPLAIN_QUOTE,
    MAX_QUESTION,
    MAX_SELECTED_TEXT,
    AnswerLength,
    ConversationTurn,
    Outcome,
    QuoteLocation,
    QuoteStatus,
    RetrievedChunk,
)
from core.domain.links import one_line, without_markers
from core.domain.markdown import is_block
from core.domain.sentences import Span, reckon_tokens, visible
from core.providers.base import ChatMessage, Schema


@dataclass(frozen=True, slots=True)
class NumberedSentence:
    """A whole sentence, row of a list, table, formula or code block of one chunk."""

    number: int
    """From 1, in the order in which a model reads them."""
    chunk_number: int
    """Position of its chunk in the evidence, from 0."""
    start: int
    end: int
    """Its span in the chunk's text."""
    text: str
    opens: bool
    """Whether a line of its own begins here."""


@dataclass(eq=False)
class Numbering:
    """Gives each sentence that a model reads its number, once for an answer."""

    with_all: bool = False
    """Whether exercises, captions and navigation, which answer nothing, are numbered as well."""
    _known: dict[tuple[int, Span], NumberedSentence] = field(default_factory=dict)
    _chunks: dict[int, RetrievedChunk] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, passage: Passage) -> list[NumberedSentence]:
        """Return the sentences of a passage; one that has a number keeps it."""
        self._chunks[passage.chunk_number] = passage.chunk
        return [self._numbered(passage, span) for span in self._spans(passage)]

    def quotes(self, numbers: Sequence[int]) -> tuple[QuotedWords, ...] | None:
        """Return the sentences with these numbers, verbatim, neighbours joined into one quote.

        None: one of the numbers was never given.
        """
        if any(not 1 <= number <= len(self) for number in numbers):
            return None
        known, quotes = list(self._known.values()), list[QuotedWords]()
        for sentence in (known[number - 1] for number in sorted(set(numbers))):
            text = self._chunks[sentence.chunk_number].content_text
            start, end = sentence.start, sentence.end
            if quotes and quotes[-1].chunk_number == sentence.chunk_number:
                before = quotes[-1].start + len(quotes[-1].text)
                if before <= start and not text[before:start].strip():
                    start = quotes.pop().start
            quotes.append(QuotedWords(sentence.chunk_number, text[start:end], start))
        return tuple(quotes)

    def _numbered(self, passage: Passage, span: Span) -> NumberedSentence:
        key = (passage.chunk_number, span)
        if key not in self._known:
            text = passage.chunk.content_text
            before = text[: span.start]
            opens = "\n" in before[len(before.rstrip()) :] or not before.strip()
            self._known[key] = NumberedSentence(
                len(self) + 1, passage.chunk_number, *span, text[slice(*span)], opens
            )
        return self._known[key]

    def _spans(self, passage: Passage) -> list[Span]:
        read = Span(passage.start, passage.start + len(passage.text))
        inside = [
            Span(max(start, read.start), min(end, read.end))
            for start, end, _ in laid_out(passage.chunk, LAID_OUT)
            if start < read.end and read.start < end
        ]
        spans = [span for span in inside if passage.chunk.content_text[slice(*span)].strip()]
        telling = [span for span in spans if tells(passage.chunk, *span)]
        return spans if self.with_all or not telling else telling


_LONGEST_PLACE = 200
"""Characters of the headings above a passage."""
_SEARCH_ROOM = 2_000
"""Tokens that are kept free for what a search finds."""
SPARE_SHARE = 4
"""This part of a small window is kept free for it instead, or for the answer."""
_LONGEST_PASSAGE = 800
"""Tokens, as they are reckoned, of the longest passage with its place."""
_SHORT_QUESTION = "What does the book say of this, and why?"
_DEAREST_MARK = "0a" * 8
"""No random mark is counted as more tokens."""
_SHORT_WORDS = "all " * (MAX_SELECTED_TEXT // len("all "))
"""As long as the words of simple English are, when each comma and stop counts as a word."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that one model call is sent."""

    system: str
    """Our instructions, and the operator's words; never a text that another person wrote. It is
    the same for all questions of a course."""
    messages: tuple[ChatMessage, ...]
    """Oldest first, user and assistant by turns; the last is the user's."""
    delimiter: str
    """The mark of this request's blocks, for what `render_found` adds to it."""
    numbering: Numbering = field(compare=False)
    """What the model cites by its numbers."""
    tokens: int = 0
    """About how many there are in all; rather too many than too few."""
    context: str = ""
    """Of the last message the passages and the quote: what is sent besides the question."""


def render_prompt(task: GenerationTask, *, delimiter: str | None = None) -> Prompt:
    """Return what a model is sent to answer the task's question.

    It fits into `task.context_window`: the oldest turns go first, then the last passages, which
    are what the turn before cited and then the weakest of those found. The question, the quote
    and the first passage always stay; `smallest_window` tells what they take.

    Args:
        delimiter: None: a random one, which no text can know beforehand.
    """
    mark = delimiter or secrets.token_hex(8)
    sizing = _Rendering(task, mark, Numbering())
    system = render_system(task)
    told_turns = list(_told(task.history))
    passages = [passage for passage in task.passages() if passage.text.strip()]
    fixed = reckon_tokens(system) + reckon_tokens(sizing.last(sizing.shown(())))
    small = task.context_window // SPARE_SHARE
    room = task.context_window - fixed - (min(_SEARCH_ROOM, small) if task.search else 0)
    costs = [reckon_tokens(_render_passages([passage], Numbering(), mark)) for passage in passages]
    fit = max(_newest_that_fit(costs[::-1], room), 1)
    room -= sum(costs[:fit])
    # No passage goes while a turn is left.
    told_turns = told_turns if fit >= len(passages) else []
    turn_costs = [_cost(sizing.turn(*one)) for one in told_turns]
    kept = _newest_that_fit(turn_costs, room)
    room -= sum(turn_costs[len(turn_costs) - kept :]) + reckon_tokens(told.SAID_BEFORE)
    thread_costs = [reckon_tokens(message) for message in sizing.thread()]
    heard = _newest_that_fit(thread_costs, room)

    # What is shown is numbered now, the book first.
    numbering = Numbering(with_all=task.in_order or task.selected_text is not None)
    rendering = _Rendering(task, mark, numbering)
    shown = rendering.shown(passages[:fit])
    turns = told_turns[len(told_turns) - kept :]
    history = [message for one in turns for message in rendering.turn(*one)]
    thread = rendering.thread(heard)
    messages = (*history, ChatMessage("user", rendering.last(shown, thread)))
    tokens = reckon_tokens(system) + _cost(messages)
    return Prompt(system, messages, mark, numbering, tokens, "\n\n".join(shown))


def longest_kept(system_prompt: str | None) -> int:
    """Return about how many tokens those parts of a prompt take that are never left out.

    Reckoned are our instructions with the operator's words, one passage, and a question and a
    quote of the greatest length, in simple English.
    """
    task = GenerationTask(
        question=_SHORT_WORDS[:MAX_QUESTION],
        evidence=(),
        selected_text=_SHORT_WORDS[:MAX_SELECTED_TEXT],
        quote_location=QuoteLocation(status=QuoteStatus.NOT_FOUND, score=0.0),
        system_prompt=system_prompt,
        length=AnswerLength.LONG,
    )
    return _kept(task) + reckon_tokens(told.SEARCH)


def smallest_window(system_prompt: str | None) -> int:
    """Return the smallest `context_window` that leaves room for a search and all that stays."""
    return _with_spare(longest_kept(system_prompt))


def smallest_context(system_prompt: str | None) -> int:
    """Return the smallest context of a model that answers a short question from one passage."""
    task = GenerationTask(question=_SHORT_QUESTION, evidence=(), system_prompt=system_prompt)
    return _with_spare(_kept(task))


def _kept(task: GenerationTask) -> int:
    """Return about how many tokens a prompt takes with one passage and without any turn."""
    return render_prompt(task, delimiter=_DEAREST_MARK).tokens + _LONGEST_PASSAGE


def _with_spare(tokens: int) -> int:
    """Return the whole hundred that holds the tokens and the part that is kept free."""
    return math.ceil(tokens / (1 - 1 / SPARE_SHARE) / 100) * 100


def render_found(passages: Sequence[Passage], numbering: Numbering, delimiter: str) -> str:
    """Return what a model is sent of the passages that its search found."""
    found = _render_passages(passages, numbering, delimiter)
    return f"{told.FOUND}\n\n{found}" if found else told.NOTHING_FOUND


def render_system(task: GenerationTask) -> str:
    """Return the system instruction: role, the operator's words, rules, form and language."""
    words = visible(task.system_prompt or "").strip()
    parts = [told.ROLE, told.STAFF.format(words=words) if words else "", told.RULES]
    if task.search is not None:
        parts.append(told.SEARCH)
    parts.append(told.LANGUAGE.format(language=_on_one_line(task.language)))
    return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """Renders the parts of one prompt."""

    task: GenerationTask
    mark: str
    numbering: Numbering

    def turn(self, turn: ConversationTurn, answer: str) -> tuple[ChatMessage, ChatMessage]:
        """Return an earlier question and its answer."""
        asked = [self._given("quote", turn.selected_text)] if turn.selected_text else []
        if turn.selected_text and turn.user_input == EXPLAIN_QUOTE:
            asked.append(told.QUOTED_EARLIER)
        else:
            asked.append(self._given("question", turn.user_input))
        said = visible(answer) or told.NOT_ANSWERED
        return ChatMessage("user", "\n\n".join(asked)), ChatMessage("assistant", said)

    def thread(self, newest: int | None = None) -> list[str]:
        """Return what was said in the thread before the session; None: all of it."""
        messages = self.task.thread
        return [
            self._given("message", one.text, by="asker" if one.by_asker else "other")
            for one in messages[0 if newest is None else len(messages) - newest :]
        ]

    def _given(self, kind: str, text: str, **attributes: str) -> str:
        """Return what a person wrote, letter for letter, with the numbers that it may be cited by.

        Whatever has no number, such as another person's message, is there to be understood.
        """
        passage = self.task.asker.get(text)
        if passage is None:
            return _block(kind, text, self.mark, **attributes)
        shown, end = "", 0
        for sentence in self.numbering.add(passage):
            before = passage.text[end : sentence.start]
            gap = "\n" if is_block(sentence.text) else " "
            shown += f"{before}[{sentence.number}]{gap}{sentence.text}"
            end = sentence.end
        return _block(kind, shown + passage.text[end:], self.mark, **attributes)

    def shown(self, passages: Sequence[Passage]) -> list[str]:
        """Return the blocks of the last message that the answer is written from."""
        shown = _render_passages(passages, self.numbering, self.mark) or told.NO_PASSAGES
        quote = self.task.selected_text
        if not quote:
            return [shown]
        if self.task.quote_location is None:
            return [shown, told.QUOTE_IS_ALL]
        place = self._place_of_quote(self.task.quote_location, passages)
        return [shown, self._given("quote", quote), place]

    def _place_of_quote(self, location: QuoteLocation, passages: Sequence[Passage]) -> str:
        """Return the sentence that says whether and where the quote stands in the book."""
        start, end = location.char_start or 0, location.char_end or 0
        numbers = [
            sentence.number
            for passage in passages
            if passage.chunk.chunk_id in location.chunk_ids
            for sentence in self.numbering.add(passage)
            if passage.chunk.char_start + sentence.start < end
            and start < passage.chunk.char_start + sentence.end
        ]
        if location.status is QuoteStatus.NOT_FOUND:
            return told.QUOTE_IS_FOREIGN
        if not numbers:
            return told.QUOTE_IS_IN_BOOK
        is_verbatim = location.status is QuoteStatus.VERBATIM
        words = told.QUOTE_IS_VERBATIM if is_verbatim else told.QUOTE_IS_ALTERED
        ends = dict.fromkeys((min(numbers), max(numbers)))
        return words.format(numbers=" to ".join(f"[{number}]" for number in ends))

    def last(self, shown: Sequence[str], thread: Sequence[str] = ()) -> str:
        """Return the last message: the material, the reminder, and the question at the end."""
        task = self.task
        parts = [told.MATERIAL.format(delimiter=self.mark), *shown]
        parts += [told.SAID_BEFORE, *thread] if thread else []
        parts += [told.REMINDER, told.LENGTHS[task.length]]
        if task.selected_text and task.question == EXPLAIN_QUOTE:
            parts.append(told.NOT_ASKED)
        else:
            parts += [told.ASKED, self._given("question", task.question)]
        if task.revision is not None:
            fallen = "\n".join(f"- {one_line(f.text)} ({f.why})" for f in task.revision.fallen)
            written = _block("answer", task.revision.written, self.mark)
            parts.append(told.REVISE.format(written=written, fallen=fallen))
        return "\n\n".join(parts)


def _told(turns: Sequence[ConversationTurn]) -> Iterator[tuple[ConversationTurn, str]]:
    """Yield the turns that a model is sent, each with its answer; empty: the book has none.

    Turns that failed are left out, and so are those whose texts were deleted: one stand-in was
    put for both the question and the answer. Markers are no part of an answer, and neither is
    where a quote stands: those words in English would have a say in the next answer's language.
    """
    for turn in turns:
        answer, location = turn.agent_response.response_text, turn.agent_response.quote_location
        if turn.outcome is Outcome.ERROR or answer == turn.user_input:
            continue
        if turn.outcome is Outcome.ABSTAINED:
            yield turn, ""
        else:
            if location is not None and location.status is not QuoteStatus.NOT_FOUND:
                answer = answer.partition("\n\n")[2] or answer
            yield turn, without_markers(answer)


def _newest_that_fit(costs: Sequence[int], room: int) -> int:
    """Return how many of the last costs have room together."""
    return sum(total <= room for total in accumulate(reversed(costs)))


def _render_passages(passages: Sequence[Passage], numbering: Numbering, mark: str) -> str:
    """Return the passages, those that follow one another in their section as one."""
    return "\n\n".join(
        _block("passage", text, mark, place=_place(run[0]))
        for run in _runs(passages)
        if (text := _sentences([one for passage in run for one in numbering.add(passage)]))
    )


def _runs(passages: Sequence[Passage]) -> list[list[Passage]]:
    """Return the passages by section, each section's in reading order; the first section first."""
    sections: dict[object, list[Passage]] = {}
    for passage in passages:
        own = (passage.chunk.document_id, passage.chunk.headings)
        sections.setdefault(own, []).append(passage)
    runs: list[list[Passage]] = []
    for section in sections.values():
        section.sort(key=lambda passage: passage.chunk.char_start + passage.start)
        last = None
        for passage in section:
            if last is None or passage.chunk.chunk_index > last + 1:
                runs.append([])
            runs[-1].append(passage)
            last = passage.chunk.chunk_index
    return runs


def _sentences(found: Sequence[NumberedSentence]) -> str:
    """Return the sentences, each after its number, on lines of their own."""
    lines: list[str] = []
    for sentence in found:
        text = visible(sentence.text).strip()
        text = text if is_block(text) else one_line(text)
        before = "\n" if sentence.opens and lines else ""
        lines.append(f"{before}[{sentence.number}]" + ("\n" if "\n" in text else " ") + text)
    return "\n".join(lines)


def _place(passage: Passage) -> str:
    """Return the headings above a passage, and that it is not the course's own where that is so."""
    titles = dict.fromkeys((passage.chunk.page_title, *passage.chunk.headings))
    place = " › ".join(titles)[:_LONGEST_PLACE]
    return place if passage.chunk.is_trusted else told.NOT_OWNED.format(place=place)


def _block(kind: str, text: str, mark: str, **attributes: str) -> str:
    """Return a text between two tags that carry the mark, so that it cannot close them."""
    tag = f"{kind}-{mark}"
    named = "".join(f' {name}="{_on_one_line(value)}"' for name, value in attributes.items())
    return f"<{tag}{named}>\n{visible(text).strip()}\n</{tag}>"


def _on_one_line(text: str) -> str:
    """Return a text that can stand between double quotes, on one line."""
    return " ".join(visible(text).split()).replace('"', "'")


def _cost(messages: Sequence[ChatMessage]) -> int:
    return sum(reckon_tokens(message.text) for message in messages)


class Missing(StrEnum):
    """What of a question the passages do not answer."""

    NOTHING = "nothing"
    PART = "part"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A claim as a model writes it."""

    text: str
    """Markdown; line feeds before it begin a paragraph."""
    sentences: tuple[int, ...] | None = ()
    """The numbers that it names; None: something else than numbers."""
    kind: ClaimKind | None = None
    """None: the model did not say."""


_FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": [str(kind) for kind in ClaimKind]},
                    "text": {"type": "string"},
                    "sentences": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["kind", "text", "sentences"],
                "additionalProperties": False,
            },
        },
        "missing": {"type": "string", "enum": [str(value) for value in Missing]},
    },
    "required": ["claims", "missing"],
    "additionalProperties": False,
}
NOT_COVERED = "NOT COVERED"
PARTLY_COVERED = "PARTLY COVERED"
PREFIXES: Mapping[str, ClaimKind] = {
    "EXAMPLE:": ClaimKind.EXAMPLE,
    "QUESTION:": ClaimKind.QUESTION,
    "TALK:": ClaimKind.TALK,
}
"""How a line begins whose claim is no fact; a lead is known by its colon."""
_IN_LINES = f"""\
Write no JSON. Write each claim on a line of its own, and at its end the numbers of its sentences,
each in brackets:
A higher price lowers the quantity demanded. [4][7]
The numbers of a code block or a table stand on the line below it. A line that is an example, a
question to the student or talk begins with {", ".join(PREFIXES)} as fits. Where `missing` is
"all", write {NOT_COVERED} and nothing else; where it is "part", write {PARTLY_COVERED} as the last
line."""
ANSWER = Schema("answer", _FORM, _IN_LINES)
