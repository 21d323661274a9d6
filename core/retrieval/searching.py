"""Searches for a question, and for what it leans on as far as it does."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

import numpy as np

from core.domain import (
    Chunk,
    EvidenceSignals,
    QuoteLocation,
    QuoteStatus,
    RetrievalToolInput,
)
from core.domain.errors import EmbeddingError, VectorIndexError
from core.index.base import Hits, PointId, SearchQuery, SparseVector, VectorIndex
from core.index.terms import Outline
from core.providers.embeddings.base import Embedder, Vectors
from core.retrieval.editions import OpenEdition
from core.retrieval.evidence import visited
from core.retrieval.questions import UNKNOWN, leaning, leaning_figures, texts_of
from core.retrieval.ranking import (
    BUILT_IN,
    BY_WORDS,
    USABLE,
    Found,
    RankedChunk,
    ScoredChunk,
    ScoreScale,
    as_chunks,
    leading,
    rank,
    score_all,
    signals_of,
    term_weights,
    weighted,
)

logger = logging.getLogger(__name__)


_NEAREST = 3
"""Sections that are named as near."""
_NAMED = _NEAREST + 1
"""Chunks that are read for their names; several may be of one section."""


@dataclass(frozen=True, slots=True)
class Judging:
    """By what is decided which of the chunks found may be used, and how many."""

    scale: ScoreScale
    weights: Mapping[int, float]
    """How much each term of the question counts."""
    threshold: float
    """The score from which a chunk is usable."""
    top_k: int
    most_documents: int
    """Of how many documents a writer reads."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, best first."""

    scored: list[ScoredChunk]
    """The chunks that lead."""
    read: list[RankedChunk]
    """Those of them that are used or named, which alone were read."""
    scores: list[float]
    """The similarity score of each that was read."""
    near: tuple[str, ...]
    """The headings of the first chunks that reach the mark, each once."""
    files: tuple[str, ...]
    """The source files of all that was found, each once."""
    size: int
    """How many chunks were found."""


async def find(
    index: VectorIndex, opened: OpenEdition, query: SearchQuery, judging: Judging
) -> Ranking:
    """Return what an edition holds about a question.

    Raises:
        VectorIndexError: when the index fails, or the edition was replaced.
    """
    hits = await index.search(opened.parts, query)
    ids = [(part, stored_as) for part, one in enumerate(hits) for stored_as in one.ids]
    outline = opened.outline
    found = _of_outline(opened, outline, hits, query.dense)
    order = rank(found)
    files = [outline.files[unit] for unit in found.units[order.leaders].tolist()]
    wanted = leading(order)
    worded = [one.entry for one in wanted if found.bm25[one.entry]]
    terms_of = await _terms(index, opened, ids, worded)
    terms = [terms_of.get(one.entry, ()) for one in wanted]
    scored = score_all(wanted, found, terms, judging.scale, judging.weights)
    scored, read = await _read_used(index, opened, ids, scored, judging)
    taken = [one for one in scored if one.ranked.entry in read]
    return Ranking(
        scored,
        as_chunks([one.ranked for one in taken], read),
        [one.score for one in taken],
        near=_headings(read[one.ranked.entry] for one in taken if one.score >= USABLE),
        files=tuple(dict.fromkeys(files)),
        size=len(ids),
    )


async def _read_used(
    index: VectorIndex,
    opened: OpenEdition,
    ids: Sequence[tuple[int, PointId]],
    scored: list[ScoredChunk],
    judging: Judging,
) -> tuple[list[ScoredChunk], dict[int, Chunk]]:
    """Return what leads, and the chunks of it that are used or named.

    Where one is not the edition's, or they have too few names, all are read and judged.
    """
    near = [one.ranked.entry for one in scored if one.score >= USABLE]
    named = near[:_NAMED]
    entries = _used(scored, judging) | {*named}
    read = await _read(index, opened, ids, sorted(entries))
    if len(read) == len(entries) and (
        len(named) == len(near) or len(_headings(read[entry] for entry in named)) == _NEAREST
    ):
        return scored, read
    read = await _read(index, opened, ids, [one.ranked.entry for one in scored])
    return [one for one in scored if one.ranked.entry in read], read


def _used(scored: Sequence[ScoredChunk], judging: Judging) -> set[int]:
    """Return the entries that are returned, or that a writer reads."""
    usable = [one.ranked for one in scored if one.score >= judging.threshold]
    looked_at = chain.from_iterable(visited(usable, judging.most_documents))
    return {one.entry for one in chain(usable[: judging.top_k], looked_at)}


def _headings(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    """Return the headings of the first chunks, each once."""
    names = (chunk.section_heading or chunk.page_title for chunk in chunks)
    return tuple(islice(dict.fromkeys(names), _NEAREST))


async def _terms(
    index: VectorIndex,
    opened: OpenEdition,
    ids: Sequence[tuple[int, PointId]],
    entries: Sequence[int],
) -> dict[int, Sequence[int]]:
    """Return the terms of these entries, each by its entry."""
    terms: dict[int, Sequence[int]] = {}
    for place, part in enumerate(opened.parts):
        own = [entry for entry in entries if ids[entry][0] == place]
        if own:
            found = await index.terms(part.collection, [ids[entry][1] for entry in own])
            terms |= dict(zip(own, found, strict=True))
    return terms


async def _read(
    index: VectorIndex,
    opened: OpenEdition,
    ids: Sequence[tuple[int, PointId]],
    entries: Sequence[int],
) -> dict[int, Chunk]:
    """Return the chunks of entries that are this course's, each by its entry."""
    read: dict[int, Chunk] = {}
    for place, part in enumerate(opened.parts):
        own = [entry for entry in entries if ids[entry][0] == place]
        chunks = await index.fetch(part.collection, [ids[entry][1] for entry in own]) if own else []
        if len(chunks) != len(own):
            raise VectorIndexError(f"Collection {part.collection} has lost chunks that it found.")
        pairs = zip(own, chunks, strict=True)
        read |= {entry: chunk for entry, chunk in pairs if opened.shows(chunk)}
    return read


def _of_outline(
    opened: OpenEdition, outline: Outline, hits: Sequence[Hits], question: Vectors
) -> Found:
    """Return the arrays of what was found."""
    places = [
        np.array(one.ids, np.intp) + start for one, start in zip(hits, opened.starts, strict=True)
    ]
    at = np.concatenate(places)
    return Found(
        cosines=np.concatenate([one.cosines for one in hits]),
        bm25=np.concatenate([one.bm25 for one in hits]),
        units=outline.units[at].astype(np.intp),
        chapters=outline.chapter[at].astype(np.intp),
        positions=outline.position[at].astype(np.intp),
        nearness=partial(outline.nearness, question),
    )


CANDIDATES = 100
_LEANS = 0.5
_FEW_TERMS = 1
"""Words of its own that a question has at most which cannot be understood by itself."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, best first."""

    dense: Vectors
    """(dimensions,) what was looked for."""
    weights: dict[int, float]
    """How much each of its words counts."""
    found: Ranking
    signals: EvidenceSignals
    leans: bool = False
    """Whether what the question leans on was looked for, too."""

    @property
    def by_words(self) -> bool:
        """Whether only words were compared."""
        return not self.dense.any()


async def search(
    index: VectorIndex,
    opened: OpenEdition,
    asked: RetrievalToolInput,
    *,
    earlier: Sequence[str] = (),
    section: str | None = None,
    section_ids: tuple[str, ...] = (),
    location: QuoteLocation | None = None,
) -> Searched:
    """Return what an edition holds about a question.

    A question with a context is looked for by itself, after its context, and then by the mean of
    both, weighed by how much it leans on it. With a quote of the book both count alike. Where no
    weights say how much, only a question of hardly any words of its own leans, and a section's
    heading adds nothing.

    Args:
        earlier: The user's questions before it, oldest first.
        section: The heading of the section that is searched.
        section_ids: The sections that are searched; empty: all.
        location: Where the quote stands.

    Raises:
        VectorIndexError: when the index fails, or the edition was replaced.
    """
    texts = texts_of(asked, earlier, section)
    dense = await _vectors(opened.embedder, texts)
    sparse = [opened.encoder.query(text) for text in texts[:2]]
    one = partial(_one, index, opened, asked, section_ids)
    if len(texts) == 1:
        return await one(dense[0], sparse[0])
    leans = UNKNOWN
    is_foreign = location is not None and location.status is QuoteStatus.NOT_FOUND
    if asked.selected_text is None or is_foreign:
        of_section = asked.selected_text is None and not earlier
        alone = await one(dense[0], sparse[0])
        if opened.embedder.name == BUILT_IN and dense.any():
            together = await one(dense[1], sparse[1])
            if alone.found.scored and together.found.scored:
                figures = leaning_figures(
                    alone.found.scored,
                    together.found.scored,
                    dense[[0, 2]],
                    len(alone.weights),
                )
                leans = leaning(figures)
        elif of_section or len(alone.weights) > _FEW_TERMS:
            return alone
    shares = np.array([1 - leans, leans], np.float32)
    both = _unit(shares @ dense[:2])
    searched = await one(both, _mean(sparse, shares.tolist()))
    return replace(searched, leans=leans >= _LEANS)


async def _one(
    index: VectorIndex,
    opened: OpenEdition,
    asked: RetrievalToolInput,
    section_ids: tuple[str, ...],
    dense: Vectors,
    sparse: SparseVector,
) -> Searched:
    words = weighted(opened.terms, sparse)
    query = SearchQuery(dense, words, section_ids, limit=CANDIDATES)
    weights = term_weights(words)
    scale = opened.scale if dense.any() else BY_WORDS
    judging = Judging(scale, weights, asked.score_threshold, asked.top_k, most_documents(asked))
    found = await find(index, opened, query, judging)
    return Searched(dense, weights, found, signals_of(found.scored, len(weights)))


def most_documents(asked: RetrievalToolInput) -> int:
    """Return of how many documents a writer reads."""
    return 2 * asked.top_k


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return what each text means; zeros when the model does not answer.

    Every cosine with zeros is 0: the words alone decide then.
    """
    try:
        return await embedder.embed_queries(texts)
    except EmbeddingError as error:
        logger.warning("%s does not answer, searching by words: %s", embedder.name, error)
        return np.zeros((len(texts), embedder.dimensions), np.float32)


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / np.float32(max(float(np.linalg.norm(vector)), 1e-12)), np.float32)


def _mean(vectors: Sequence[SparseVector], shares: Sequence[float]) -> SparseVector:
    """Return the index-wise mean of sparse vectors, by their shares."""
    total: dict[int, float] = {}
    for vector, share in zip(vectors, shares, strict=True):
        for index, value in zip(vector.indices, vector.values, strict=True):
            total[index] = total.get(index, 0.0) + value * share
    indices = tuple(sorted(total))
    return SparseVector(indices, tuple(total[index] for index in indices))
