"""Hints in the book's own sentences: where to read, the rule, a worked case."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.answering.grounding.certain import amounts
from core.answering.grounding.citations import CitationLedger, CitedPlace
from core.domain import AgentResponse, RetrievedChunk
from core.domain.i18n import text
from core.domain.links import prose_without_links
from core.domain.markdown import code_in, is_block
from core.domain.sentences import Span, sentence_spans
from core.providers.embeddings.base import Embedder, Vectors, vectors_of
from core.retrieval.retrieval import Retrieval
from core.teaching.policy import place_name

WHERE, RULE, CASE = 1, 2, 3
_MOST_PLACES = 3
_MOST_WORDS = 3
_FIRST_WORDS = 3
"""Words to look for."""
_SHORTEST, _LONGEST = 6, 60
"""Words of a sentence that states a rule."""
_CASE_SENTENCES = 4
_CASE_NUMBERS = 2
"""Numbers that a worked case has at least, where it has no code."""
_SAME_CASE = 0.8
"""Cosine of a passage and what is asked from which it is the case asked about."""
_MARKER = re.compile(r"\[\d+\]")
_WORD = re.compile(r"[^\W\d_]+")
_NO_PROSE = frozenset({"exercise", "caption", "navigation", "boilerplate", "front_matter"})
_EMPHASISED = re.compile(r"(?<![\w*])(?:\*\*([^*\n]{3,40})\*\*|\*([^*\n]{3,40})\*)(?![\w*])")

Leaks = Callable[[str], bool]
"""Returns whether a text may not be shown."""


@dataclass(frozen=True, slots=True)
class HintTask:
    """What a hint is given to."""

    question: str
    retrieval: Retrieval
    case: str = ""
    """What is asked about: the assignment, or else the question."""
    leaks: Leaks = field(default=lambda _: False, repr=False)
    is_case: Leaks = field(default=lambda _: False, repr=False)
    """Returns whether a text is about the case that is asked about."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint with its citations."""

    step: int
    text: str
    ledger: CitationLedger


@dataclass(frozen=True, slots=True)
class _Sentence:
    chunk_number: int
    span: Span
    text: str
    likeness: float
    """Cosine with the question."""


def spoken(response_text: str) -> str:
    """Return an answer's text as it is compared with a solution: without its markers."""
    return _MARKER.sub("", response_text)


def shows(response: AgentResponse) -> str:
    """Return all that a reader gets to see of an answer: its text, and what it cites."""
    return "\n\n".join([spoken(response.response_text), *(c.quote for c in response.citations)])


class BookHints:
    """Writes hints without a language model."""

    def __init__(self, embedder: Embedder) -> None:
        """Choose by `embedder`'s cosines."""
        self._embedder = embedder

    async def write(self, step: int, task: HintTask) -> Hint | None:
        """Return the hint of a step, or of the next lower one that may be shown; None: none may.

        Raises:
            EmbeddingError: when the sentences cannot be compared.
        """
        retrieval = task.retrieval
        read = (*(e.chunk for e in retrieval.evidence), *retrieval.output.retrieved_chunks)
        chunks = list({one.chunk_id: one for one in read}.values())
        found = await self._sentences(chunks, task)
        writers = {CASE: _case, RULE: _rule, WHERE: _where}
        for lower in range(min(step, CASE), 0, -1):
            hint = writers[lower](chunks, found, task)
            if hint is not None and not task.leaks(spoken(hint.text)):
                return hint
        return None

    async def _sentences(
        self, chunks: Sequence[RetrievedChunk], task: HintTask
    ) -> list[list[_Sentence]]:
        """Return the sentences of each chunk that may be shown, in order."""
        [asked] = await self._embedder.embed_queries([task.question])
        found = []
        for number, chunk in enumerate(chunks):
            spans = [Span(*s) for s in chunk.sentences] or sentence_spans(chunk.content_text)
            vectors = await self._vectors(chunk, spans)
            own = []
            for span, vector in zip(spans, vectors, strict=True):
                words = chunk.content_text[span.start : span.end]
                if not _is_beside(chunk, span) and not task.leaks(words):
                    own.append(_Sentence(number, span, words, float(vector @ asked)))
            found.append(own)
        return found

    async def _vectors(self, chunk: RetrievedChunk, spans: Sequence[Span]) -> Vectors:
        if (stored := vectors_of(chunk)) is not None and len(stored) == len(spans):
            return stored
        texts = [chunk.content_text[start:end] for start, end in spans]
        if not texts:
            return np.empty((0, self._embedder.dimensions), np.float32)
        return await self._embedder.embed_passages(texts)


def _where(
    chunks: Sequence[RetrievedChunk], found: Sequence[Sequence[_Sentence]], task: HintTask
) -> Hint | None:
    """Return where to read, and which of the book's words to look for."""
    ledger, places, known = CitationLedger(chunks), list[str](), set[str]()
    for number, chunk in enumerate(chunks):
        name = place_name(chunk)
        if name in known or not found[number] or task.leaks(name) or len(places) == _MOST_PLACES:
            continue
        known.add(name)
        places.append(ledger.cite(f"**{name}**", [_beginning(found[number][0])]))
    if not places:
        return None
    listed = "\n".join(f"- {place}" for place in places)
    words = [f"“{word}”" for word in _to_look_for(chunks, task)]
    if not words:
        return Hint(WHERE, f"{text('hint-where')}\n\n{listed}", ledger)
    look = text("hint-look-for", words=", ".join(words))
    return Hint(WHERE, f"{text('hint-where')}\n\n{listed}\n\n{look}", ledger)


def _to_look_for(chunks: Sequence[RetrievedChunk], task: HintTask) -> list[str]:
    """Return what the first passages emphasise, else words that they share with the question."""
    leading = " ".join(chunk.content_text for chunk in chunks[:2])
    terms = [one[1] or one[2] for one in _EMPHASISED.finditer(leading)]
    if not terms:
        stems, encode = set(task.retrieval.encode_terms(leading)), task.retrieval.encode_terms
        own = dict.fromkeys(_WORD.findall(task.question))
        terms = [word for word in own if (found := encode(word)) and stems.issuperset(found)]
        terms.sort(key=len, reverse=True)
    shown = [prose_without_links(term).strip(" .,:;") for term in dict.fromkeys(terms)]
    return [term for term in shown if term and not task.leaks(term)][:_MOST_WORDS]


def _rule(
    chunks: Sequence[RetrievedChunk], found: Sequence[Sequence[_Sentence]], task: HintTask
) -> Hint | None:
    """Return the sentence that states what the question is about, and the next one's like."""
    rules = [one for own in found for one in own if _states_a_rule(one, task)]
    if not rules:
        return None
    rules.sort(key=lambda one: (_has_numbers(one.text), -one.likeness))
    chosen = sorted(rules[:2], key=lambda one: (one.chunk_number, one.span.start))
    ledger = CitationLedger(chunks)
    said = [ledger.cite(one.text.strip(), [_place(one)]) for one in chosen]
    listed = "\n".join(f"> {' '.join(one.split())}" for one in said)
    return Hint(RULE, f"{text('hint-rule')}\n\n{listed}", ledger)


def _states_a_rule(one: _Sentence, task: HintTask) -> bool:
    words = one.text.split()
    plain = _SHORTEST <= len(words) <= _LONGEST and not is_block(one.text)
    plain = plain and "\n" not in one.text.strip() and not one.text.lstrip().startswith("#")
    return plain and not one.text.rstrip().endswith(("?", ":")) and not task.is_case(one.text)


def _case(
    chunks: Sequence[RetrievedChunk], found: Sequence[Sequence[_Sentence]], task: HintTask
) -> Hint | None:
    """Return a passage that works a case of its own; None: the passages have none."""
    cases = [run for own in found for run in _runs(own, chunks) if _works_a_case(run, task)]
    if not cases:
        return None
    run = max(cases, key=lambda one: sum(s.likeness for s in one) / len(one))
    start, end = run[0].span.start, run[-1].span.end
    number = run[0].chunk_number
    words = chunks[number].content_text[start:end]
    ledger = CitationLedger(chunks)
    said = ledger.cite(words, [CitedPlace(number, start, end)])
    return Hint(CASE, f"{text('hint-case')}\n\n{said}", ledger)


def _runs(own: Sequence[_Sentence], chunks: Sequence[RetrievedChunk]) -> Iterator[list[_Sentence]]:
    """Yield sentences that follow one another, at most a few."""
    for first in range(len(own)):
        run = [own[first]]
        for after in own[first + 1 : first + _CASE_SENTENCES]:
            between = chunks[after.chunk_number].content_text[run[-1].span.end : after.span.start]
            if between.strip():
                break
            run.append(after)
        yield run


def _works_a_case(run: Sequence[_Sentence], task: HintTask) -> bool:
    words = "\n".join(one.text for one in run)
    if task.is_case(words) or task.leaks(words) or max(o.likeness for o in run) > _SAME_CASE:
        return False
    return bool(list(code_in(words))) or _count_numbers(words) >= _CASE_NUMBERS


def _has_numbers(words: str) -> bool:
    return _count_numbers(words) > 0


def _count_numbers(words: str) -> int:
    return sum(one.is_figure for one in amounts(words))


def _is_beside(chunk: RetrievedChunk, span: Span) -> bool:
    """Return whether a sentence is of a part of the page that explains nothing."""
    return any(
        block.kind in _NO_PROSE and block.start < span.end and span.start < block.end
        for block in chunk.blocks
    )


def _place(one: _Sentence) -> CitedPlace:
    return CitedPlace(one.chunk_number, *one.span)


def _beginning(one: _Sentence) -> CitedPlace:
    """Return the first words of a sentence: they lead to its place, and tell nothing of it."""
    words = list(_WORD.finditer(one.text))[:_FIRST_WORDS]
    end = words[-1].end() if words else len(one.text)
    return CitedPlace(one.chunk_number, one.span.start, one.span.start + end)
