"""Chooses what a writer reads: much of the likely documents, a little of the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from core.domain import RetrievedChunk
from core.domain.sentences import Span, count_tokens, sentence_spans
from core.retrieval.ranking import Ranked, RankedChunk

BUDGET = 1_000
"""Tokens of all excerpts, headings included."""
PASSAGE = 100
"""Tokens of an excerpt from a document that gets only a little."""
WHOLE_SHARE = 0.3
"""A document with this part of the evidence gives its best chunk whole."""
SECOND_SHARE = 0.4
"""A document with this part of the evidence gives its second-best chunk, too."""
ALONE_SHARE = 0.8
MOST_OF_ONE = 4
"""A document with this part of the evidence gives so many: a course may be a single one."""
ENOUGH = 0.92
"""Stop when the documents taken hold this part of the evidence ..."""
FEWEST_DOCUMENTS = 3
"""... and there are at least so many."""

Place = TypeVar("Place", Ranked, RankedChunk)

Terms = Callable[[str], Sequence[int]]
"""The term ids of a text."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a chunk, as far as choosing needs it."""

    span: Span
    tokens: int
    terms: tuple[int, ...]


Reading = Callable[[str, tuple[tuple[int, int], ...], int], Sequence[Sentence]]
"""The sentences of a text, at least one, by their spans where these are known, and its size."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A run of whole sentences of a chunk, as a model is to read it."""

    chunk: RetrievedChunk
    start: int
    end: int
    """`text` is the chunk's `content_text` from `start` up to `end`."""
    tokens: int

    @property
    def text(self) -> str:
        """The excerpt's words."""
        return self.chunk.content_text[self.start : self.end]


def select_evidence(
    ranking: Sequence[RankedChunk],
    chunks: Mapping[UUID, RetrievedChunk],
    weights: Mapping[int, float],
    reading: Reading,
    *,
    most_documents: int = 10,
) -> list[Excerpt]:
    """Return what a writer should read, best document first, inside one in reading order.

    The visit ends at the budget, or as soon as the documents taken hold enough of the
    evidence, so an easy question costs few tokens. At least one excerpt when there is
    anything in `chunks`.

    Args:
        chunks: The usable chunks by id; ranked ones that are missing here are passed over.
        weights: How rare each term of the question is.
        reading: Gives the sentences of a chunk's text.
        most_documents: Take no more documents than this.
    """
    usable = [ranked for ranked in ranking if ranked.chunk.chunk_id in chunks]
    taken: list[Excerpt] = []
    used = 0
    for place, wanted in enumerate(visited(usable, most_documents)):
        share = wanted[0].document_share
        pieces: list[Excerpt] = []
        for number, ranked in enumerate(wanted):
            chunk = chunks[ranked.chunk.chunk_id]
            whole = number == 0 and (place == 0 or share >= WHOLE_SHARE)
            piece = _excerpt(chunk, weights, reading, BUDGET - used, whole=whole)
            if piece is None and (taken or pieces):
                continue
            piece = piece or _best_run(chunk, weights, reading, 0)
            pieces.append(piece)
            used += piece.tokens
        taken += sorted(pieces, key=lambda piece: (piece.chunk.chunk_index, piece.start))
    return taken


def visited(usable: Iterable[Place], most_documents: int) -> Iterator[list[Place]]:
    """Yield what is looked at of each document, best first, until these hold enough.

    Args:
        usable: The usable chunks in the order of the ranking.
    """
    by_document: dict[int, list[Place]] = {}
    for ranked in usable:
        by_document.setdefault(ranked.document_rank, []).append(ranked)
    held = 0.0
    for place, (_, members) in enumerate(sorted(by_document.items())[:most_documents]):
        share = members[0].document_share
        yield members[: MOST_OF_ONE if share >= ALONE_SHARE else 2 if share >= SECOND_SHARE else 1]
        held += share
        if held >= ENOUGH and place + 1 >= FEWEST_DOCUMENTS:
            return


def read_sentences(
    text: str, known: tuple[tuple[int, int], ...] = (), tokens: int = 0, *, terms: Terms
) -> tuple[Sentence, ...]:
    """Return the sentences of a text in order; all of it as one where there is none.

    Args:
        known: Their spans, where the index has them; each has its share of the `tokens` then.
    """
    if known:
        each = tokens / max(1, len(text))
        return tuple(
            Sentence(Span(start, end), round(each * (end - start)), tuple(terms(text[start:end])))
            for start, end in known
        )
    spans = sentence_spans(text) or [Span(0, len(text))]
    pieces = [text[start:end] for start, end in spans]
    return tuple(
        Sentence(span, count_tokens(piece), tuple(terms(piece)))
        for span, piece in zip(spans, pieces, strict=True)
    )


def _excerpt(
    chunk: RetrievedChunk, weights: Mapping[int, float], reading: Reading, room: int, *, whole: bool
) -> Excerpt | None:
    """Return the chunk, or what of it fits; none when not even a sentence does."""
    room -= count_tokens(" ".join(chunk.headings))
    small = chunk.token_count <= PASSAGE * 5 // 4
    if chunk.token_count <= room and (whole or small):
        return Excerpt(chunk, 0, len(chunk.content_text), chunk.token_count)
    limit = room if whole else min(room, PASSAGE)
    run = _best_run(chunk, weights, reading, limit)
    return run if run.tokens <= limit else None


def _best_run(
    chunk: RetrievedChunk, weights: Mapping[int, float], reading: Reading, limit: int
) -> Excerpt:
    """Return the run of sentences that covers the question's words best.

    A run's value is the sum over the question's terms of weight x (1 - 2 ** -occurrences):
    a second mention is worth half the first. A single sentence may exceed `limit`.
    """
    sentences = reading(chunk.content_text, chunk.sentences, chunk.token_count)
    sizes = [sentence.tokens for sentence in sentences]
    hits = [[term for term in sentence.terms if term in weights] for sentence in sentences]
    best, best_value = (0, 1), -1.0
    for first in range(len(sentences)):
        left = dict(weights)
        value, size = 0.0, 0
        for last in range(first, len(sentences)):
            size += sizes[last]
            if last > first and size > limit:
                break
            for term in hits[last]:
                left[term] /= 2
                value += left[term]
            worth = value if size <= limit else value - 1e6
            if worth > best_value + 1e-9 or best_value < 0 <= worth:
                best, best_value = (first, last + 1), worth
    start, end = sentences[best[0]].span.start, sentences[best[1] - 1].span.end
    return Excerpt(chunk, start, end, sum(sizes[best[0] : best[1]]))
