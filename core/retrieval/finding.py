"""Searches an edition: all that is found is ranked in arrays, and little of it is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

import numpy as np

from core.embeddings.base import Vectors
from core.errors import VectorIndexError
from core.index.base import Hits, PointId, SearchQuery, VectorIndex
from core.index.outline import Outline
from core.models import Chunk
from core.retrieval.editions.open_edition import OpenEdition
from core.retrieval.evidence import visited
from core.retrieval.ranking import Found, RankedChunk, as_chunks, rank
from core.retrieval.scoring import (
    USABLE,
    ScoredChunk,
    ScoreScale,
    leading,
    score_all,
)

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
