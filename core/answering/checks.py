"""The checks that a draft passes claim by claim, before anything of it is shown.

What the book's own words say is shown as it stands. What a model says is checked by code first,
then by a judge; words alone never take a claim out.
"""

import logging
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.answering.assurance import titles_of
from core.answering.context import AnswerContext
from core.answering.draft import AnswerDraft
from core.answering.grounding.certain import (
    Flaw,
    Support,
    adds_link,
    certain_flaw,
    is_copied,
    with_code_of,
)
from core.answering.grounding.citations import CitedPlace, language_of
from core.answering.grounding.judge import Judge, JudgedClaim, Setting, Verdict
from core.answering.writers.base import (
    Claim,
    ClaimKind,
    CutShort,
    DraftPart,
    Fallen,
    GenerationTask,
    NotCovered,
)
from core.answering.writers.prompt import render_system
from core.domain import EXPLAIN_QUOTE, RetrievedChunk
from core.domain.links import shown_prose, without_markers
from core.domain.markdown import code_in
from core.domain.sentences import sentence_spans, sentences

logger = logging.getLogger(__name__)

UNJUDGED = "no judge could say that it does no harm"
NOT_BORNE_OUT = "the named sentences do not say it"
_LONGEST_LEAD = 200
_LONGEST_TALK = 200
"""Characters."""
_MOST_TALK = 2
_LONGEST_EXAMPLE = 1_500
_MOST_EXAMPLES = 2
_RUN = 6
"""Words in a row that the staff's instructions have as well: more than chance."""
_SHORT_RUN = 3
"""Words in a row of what others wrote that may not come back without their origin."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CODE = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{4,}")
_NAMED = re.compile(r"(?<![.!?:;\"“”'(\[] )(?<!^)\b[^\W\d_a-zà-öø-ÿ]\w+")
"""A word with a capital inside of a sentence."""
_NOUNS_HAVE_CAPITALS = frozenset({"de", "lb"})
_BEFORE = 1_500
"""Characters of the conversation that a judge reads."""


_SHOWN_IF_JUDGED = frozenset({ClaimKind.EXAMPLE, ClaimKind.TALK})
"""What rests on nothing, so that only a judge can say whether it does harm."""
_AMOUNT = re.compile(r"\d{2,}")


class BookWords:
    """Takes up what a writer without a model offers: the book's passages, word for word."""

    def __init__(self, context: AnswerContext, draft: AnswerDraft, task: GenerationTask) -> None:
        self._context = context
        self._draft = draft
        self._within = task.section is not None

    def take(self, part: DraftPart) -> None:
        """Add a part to the answer, unless a guard holds it back."""
        draft = self._draft
        match part:
            case NotCovered():
                draft.tally.not_covered = True
                if part.part is not None:
                    draft.add_without(part.part, within=self._within)
            case CutShort():
                draft.tally.cut_short = True
            case Claim():
                draft.tally.written += 1
                places = draft.locate(part)
                if places and self._context.may_show(part.text):
                    draft.add(part, places)


@dataclass(slots=True)
class _Waiting:
    """A claim that code let pass or took out, until it is known whether it is shown."""

    claim: Claim
    places: Sequence[CitedPlace] = ()
    statement: JudgedClaim | None = None
    """What the judge is asked; None: nothing is left to ask."""
    why: str | None = None
    """Why it is not shown; None: it is, as far as is known."""
    is_judged: bool = True
    """False: no verdict came in time."""

    @property
    def is_decided(self) -> bool:
        return self.statement is None or self.why is not None

    @property
    def is_item(self) -> bool:
        lead = self.claim.lead
        return lead is not None and not lead.isspace()


class ModelClaims:
    """Checks what a model writes, and takes up into the answer what holds, in its order."""

    def __init__(
        self,
        context: AnswerContext,
        draft: AnswerDraft,
        task: GenerationTask,
        judge: Judge | None,
        until: float,
        known: dict[tuple[str, tuple[str, ...]], float],
    ) -> None:
        """Check a draft.

        Args:
            judge: None: the course wants none.
            until: The `time.monotonic()` at which what is not judged stays so.
            known: What the judge said of claims before, by text and sentences; it is added to.
        """
        self._context = context
        self._draft = draft
        self._task = task
        self._judge = judge
        self._until = until
        self._known = known
        self._queue: deque[_Waiting] = deque()
        self._lead: Claim | None = None
        """The line above the claims that come now, which is judged with each of them."""
        self._group: list[_Waiting] = []
        """A lead and items that are not shown; they wait for one that is."""
        self._has_items = False
        """Whether an item has come since the lead."""
        self._last_shown_is_item = False
        self._seen: set[str] = set()
        self._given = [passage.text for passage in task.asker.values()]
        self._setting = _setting_of(task)
        said = [*self._given, *(passage.text for passage in task.passages())]
        self._secret = {*_runs(render_system(task)), *_codes(task.system_prompt or "")}
        """Runs of words, and codes, that we and the staff told the model, and nobody else."""
        for text in said:
            self._secret -= {*_runs(text), *_codes(text)}
        self._others = {length: _words_of_others(task, length) for length in (_SHORT_RUN, _RUN)}
        """Runs of words that nobody but people outside of the course has written, by length."""

    def take(self, part: DraftPart) -> None:
        """Check a part by code; what passes waits for the judge."""
        tally = self._draft.tally
        match part:
            case NotCovered():
                tally.not_covered = True
            case CutShort():
                tally.cut_short = True
            case Claim() if part.text not in self._seen:
                self._seen.add(part.text)
                self._queue.append(self._checked(part))

    @property
    def are_waiting(self) -> bool:
        """Whether a claim waits for the judge."""
        return any(not one.is_decided for one in self._queue)

    async def judge_waiting(self) -> None:
        """Ask the judge once about the claims that wait, as many as go into one call."""
        assert self._judge is not None
        asked = [one for one in self._queue if not one.is_decided][: self._judge.batch]
        statements = [one.statement for one in asked if one.statement is not None]
        likely = await self._judge.judge(
            statements, self._setting, self._context.note_judge, self._until
        )
        for one, statement, chance in zip(asked, statements, likely, strict=True):
            if chance is None:
                chance = self._known_of(statement.text)
            one.is_judged = chance is not None
            if chance is None and one.claim.kind in _SHOWN_IF_JUDGED:
                one.why = UNJUDGED
            if chance is not None:
                self._known[statement.text, statement.sentences] = chance
                one.why = NOT_BORNE_OUT if chance < self._judge.mark else None
            one.statement = None

    def _known_of(self, text: str) -> float | None:
        """Return the least that the judge said of a claim before, whatever it rested on."""
        return min(
            (chance for (said, _), chance in self._known.items() if said == text), default=None
        )

    def release(self) -> None:
        """Take up into the answer what is decided, as far as everything before it is."""
        while self._queue and self._queue[0].is_decided:
            self._settle(self._queue.popleft())

    async def judge_whole(self) -> None:
        """Ask the judge once whether the answer gives what is asked; the tally learns it."""
        draft, task = self._draft, self._task
        is_explaining = task.question == EXPLAIN_QUOTE or self._context.again is not None
        if self._judge is None or not draft.tally.released or is_explaining:
            return
        draft.tally.relevance = await self._judge.answers(
            without_markers(draft.text), self._setting, self._context.note_judge, self._until
        )

    def _checked(self, claim: Claim) -> _Waiting:
        """Return a claim with what code finds wrong with it, or with what is to be judged."""
        places = self._draft.locate(claim)
        chunks = self._draft.material.chunks
        words = [chunks[n].content_text[start:end] for n, start, end in places]
        text = with_code_of(shown_prose(claim.text), words)
        claim = replace(claim, text=text)
        rests_on, support = self._supported(text, places)
        if claim.kind is ClaimKind.EXAMPLE and places and not self._flaw_of_fact(claim, support):
            claim = replace(claim, kind=ClaimKind.FACT)  # it stands in the book, so it is shown so
        may_show = self._context.may_show(text)
        flaw = self._flaw(claim, support) if may_show else Flaw.HELD_BACK
        if claim.kind is ClaimKind.LEAD:
            self._lead = claim
        statement = None if flaw else self._statement(claim, support)
        if claim.kind is not ClaimKind.LEAD and not _Waiting(claim).is_item:
            self._lead = None
        return _Waiting(claim, rests_on, statement, flaw and str(flaw))

    def _supported(
        self, text: str, places: Sequence[CitedPlace]
    ) -> tuple[Sequence[CitedPlace], Support]:
        """Return what a claim rests on: the sentences that it names.

        Where these lack a number or code of it that the sentence before or after them has, that
        one is added: models often name one sentence too few.
        """
        support = self._support(places)
        if certain_flaw(text, support, self._given) in (Flaw.NUMBER, Flaw.CODE):
            for wider in self._with_neighbours(places):
                other = self._support(wider)
                if certain_flaw(text, other, self._given) is None:
                    return wider, other
        return places, support

    def _support(self, places: Sequence[CitedPlace]) -> Support:
        chunks = self._draft.material.chunks
        cited = [chunks[place.chunk_number] for place in places]
        quoted = [chunks[n].content_text[start:end] for n, start, end in places]
        parts = [
            (part, _whose(chunk))
            for chunk, words in zip(cited, quoted, strict=True)
            for part in sentences(words)
        ]
        return Support(
            tuple(part for part, _ in parts),
            whose=tuple(whose for _, whose in parts),
            headings=tuple(dict.fromkeys(title for chunk in cited for title in titles_of(chunk))),
            around=tuple(dict.fromkeys(chunk.content_text for chunk in cited)),
        )

    def _with_neighbours(self, places: Sequence[CitedPlace]) -> Iterator[list[CitedPlace]]:
        """Yield the places with one of them a sentence longer, then with all of them so."""
        longest: list[CitedPlace] = []
        for n, (number, start, end) in enumerate(places):
            spans = sentence_spans(self._draft.material.chunks[number].content_text)
            first = max((s for s, e in spans if e <= start), default=start)
            last = min((e for s, e in spans if s >= end), default=end)
            longest.append(CitedPlace(number, first, last))
            for one in (CitedPlace(number, first, end), CitedPlace(number, start, last)):
                yield [*places[:n], one, *places[n + 1 :]]
        yield longest

    def _flaw(self, claim: Claim, support: Support) -> Flaw | None:
        match claim.kind:
            case ClaimKind.FACT:
                return self._flaw_of_fact(claim, support)
            case ClaimKind.QUESTION if claim.quotes or claim.cites_unknown:
                return self._flaw_of_fact(claim, support)
            case ClaimKind.LEAD:
                is_fit = claim.text.rstrip("*_ ").endswith((":", "："))
                is_fit = is_fit and len(claim.text) <= _LONGEST_LEAD
                is_fit = is_fit and not self._leads_away(claim.text)
                is_fit = is_fit and not self._repeats_others(claim.text)
                is_fit = is_fit and self._has_amounts_of(claim.text)
                return None if is_fit and self._is_own(claim.text) else Flaw.FORM
            case ClaimKind.EXAMPLE:
                is_fit = len(claim.text) <= _LONGEST_EXAMPLE and not self._leads_away(claim.text)
                shown = self._draft.tally.examples + self._waiting(ClaimKind.EXAMPLE)
                is_fit = is_fit and self._judge is not None and shown < _MOST_EXAMPLES
                is_fit = is_fit and not self._repeats_others(claim.text)
                return None if is_fit and self._is_own(claim.text) else Flaw.FORM
        asks = claim.kind is ClaimKind.QUESTION
        is_fit = self._is_talk(claim.text, asks=asks) and not self._repeats_others(claim.text)
        return None if is_fit else Flaw.FORM

    def _flaw_of_fact(self, claim: Claim, support: Support) -> Flaw | None:
        if claim.cites_unknown or len(claim.quotes) != len(self._draft.locate(claim)):
            return Flaw.UNKNOWN
        if not claim.quotes:
            return Flaw.UNCITED
        if flaw := certain_flaw(claim.text, support, self._given):
            return flaw
        if not self._is_own(claim.text):
            return Flaw.HELD_BACK
        return Flaw.THEIRS if self._is_theirs(claim.text, support) else None

    def _statement(self, claim: Claim, support: Support) -> JudgedClaim | None:
        """Return what the judge is asked; None: there is no judge, or nothing to judge."""
        if self._judge is None or claim.kind is ClaimKind.LEAD:
            return None
        if claim.kind is ClaimKind.FACT and is_copied(claim.text, support) and self._lead is None:
            return None
        text = claim.text if self._lead is None else f"{self._lead.text} {claim.text}"
        claimed = JudgedClaim(text, support.labelled, support.headings, str(claim.kind))
        known = self._known.get((text, claimed.sentences))
        return None if known is not None and known >= self._judge.mark else claimed

    def _has_amounts_of(self, text: str) -> bool:
        """Return whether the larger numbers of a line stand in what a model was given."""
        known = " ".join([*self._given, *(p.text for p in self._task.passages())])
        return all(amount in known for amount in _AMOUNT.findall(text))

    def _is_talk(self, text: str, *, asks: bool) -> bool:
        """Return whether a line is short, and has no digit, link, code or new name.

        What asks back may name what it asks about: "chapter 2, or `fit`?"
        """
        shown = self._draft.tally.talk + self._waiting(ClaimKind.TALK, ClaimKind.QUESTION)
        if len(text) > _LONGEST_TALK or shown >= _MOST_TALK:
            return False
        if self._leads_away(text) or (not asks and (any(map(str.isdigit, text)) or code_in(text))):
            return False
        if language_of(text) in _NOUNS_HAVE_CAPITALS:
            return self._is_own(text)
        said = " ".join([*self._given, *(p.text for p in self._task.passages())]).casefold()
        return self._is_own(text) and all(n.casefold() in said for n in _NAMED.findall(text))

    def _waiting(self, *kinds: ClaimKind) -> int:
        """Return how many claims of some kinds wait that rest on nothing, and may be shown."""
        waiting = (one for one in self._queue if one.why is None and not one.claim.quotes)
        return sum(one.claim.kind in kinds for one in waiting)

    def _leads_away(self, text: str) -> bool:
        known = [*self._given, *(passage.text for passage in self._task.passages())]
        return adds_link(text, known)

    def _is_own(self, text: str) -> bool:
        """Return whether a text repeats nothing of the words of the staff to the model."""
        return self._secret.isdisjoint({*_runs(text), *_codes(text)})

    def _repeats_others(self, text: str) -> bool:
        """Return whether a text that cites nothing repeats words that are not the course's.

        Such words are shown with their origin, or not at all.
        """
        return not self._others[_SHORT_RUN].isdisjoint(_runs(text, _SHORT_RUN))

    def _is_theirs(self, text: str, support: Support) -> bool:
        """Return whether a claim is made of others' words that its sentences do not have."""
        long, short = (
            (
                self._others[length] - {r for s in support.sentences for r in _runs(s, length)},
                {*_runs(text, length)},
            )
            for length in (_RUN, _SHORT_RUN)
        )
        return bool(long[0] & long[1]) or (bool(short[1]) and short[1] <= short[0])

    def _settle(self, one: _Waiting) -> None:
        """Show a claim, or take note that it is not shown."""
        draft, tally = self._draft, self._draft.tally
        if one.claim.kind is ClaimKind.LEAD and one.why is None:
            self._group, self._has_items = [one], False
            return
        is_asking_back = one.claim.kind is ClaimKind.QUESTION and not one.claim.quotes
        if one.claim.kind in (ClaimKind.FACT, ClaimKind.QUESTION) and not is_asking_back:
            tally.written += 1
        if one.is_item:
            self._has_items = True
        elif self._has_items:  # the list is over, and none of it was shown
            self._group = []
        if one.why is not None:
            self._fall(one)
            return
        group, self._group = self._group, []
        for before in group:
            if before.claim.kind is ClaimKind.LEAD:
                draft.add_lead(before.claim)
            else:
                draft.add_gap(before.claim)
        is_of_others = self._is_theirs(one.claim.text, Support(()))
        draft.add_checked(one.claim, one.places, is_of_others=is_of_others)
        tally.unjudged += not one.is_judged
        self._last_shown_is_item = one.is_item

    def _fall(self, one: _Waiting) -> None:
        tally = self._draft.tally
        # What staff hold back is not repeated to the model, though it wrote it.
        text = "..." if one.why == Flaw.HELD_BACK else one.claim.text
        tally.note_fallen(Fallen(text, one.why or ""), one.claim.kind)
        logger.debug("a claim was taken out: %s", one.why)
        if not one.is_item:
            self._group = []
        elif self._last_shown_is_item and not self._group:
            self._draft.add_gap(one.claim)
        else:
            self._group.append(one)


def _whose(chunk: RetrievedChunk) -> str:
    """Return who wrote a chunk where it was not the course, in words for a judge."""
    if chunk.is_askers:
        return "the student"
    return "" if chunk.is_trusted else "somebody else"


def _setting_of(task: GenerationTask) -> Setting:
    """Return what a judge reads of the conversation."""
    said = [
        f"Student: {turn.user_input}\nAnswer: {without_markers(turn.agent_response.response_text)}"
        for turn in task.history[-2:]
    ]
    given = task.selected_text or ""
    question = "" if task.question == EXPLAIN_QUOTE else task.question
    return Setting(question or "Explain this.", given, "\n".join(said)[-_BEFORE:])


def _words_of_others(task: GenerationTask, length: int) -> set[tuple[str, ...]]:
    """Return the runs of words of untrusted passages and quotes that nobody else has."""
    own, others = [task.question], [task.selected_text or "", *(m.text for m in task.thread)]
    for passage in task.passages():
        (own if passage.chunk.is_trusted else others).append(passage.text)
    found = {run for text in others for run in _runs(text, length)}
    return found - {run for text in own for run in _runs(text, length)}


def _codes(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the words with digits in them, such as a password or a canary."""
    return ((word.casefold(),) for word in _CODE.findall(text))


def _runs(text: str, length: int = _RUN) -> Iterator[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return (tuple(words[n : n + length]) for n in range(len(words) - length + 1))


async def judge_passages(
    context: AnswerContext, draft: AnswerDraft, task: GenerationTask, judge: Judge
) -> Verdict | None:
    """Return whether the book's own words, as shown, give what is asked; None: not known."""
    if not draft.tally.released or task.question == EXPLAIN_QUOTE or context.again is not None:
        return None
    setting = _setting_of(task)
    until = time.monotonic() + judge.wait
    return await judge.answers(without_markers(draft.text), setting, context.note_judge, until)
