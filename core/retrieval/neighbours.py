"""Reads the whole paragraphs around what was found, for a reader that takes more than excerpts."""

from collections.abc import Iterator, Sequence
from itertools import count
from uuid import UUID

import numpy as np

from core.index.base import VectorIndex
from core.models import Chunk, RetrievedChunk
from core.retrieval.editions.open_edition import OpenEdition
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import retrieved, whole

FURTHEST = 6
"""Chunks that are looked at before and after one that was found."""
_LONGEST_SCROLLED = 400
"""Chunks of a document that is read as a whole where an edition has no outline."""


async def widen(
    index: VectorIndex, opened: OpenEdition, evidence: Sequence[Excerpt], tokens: int
) -> list[Excerpt]:
    """Return whole chunks: those of `evidence`, then their neighbours, in `tokens` together.

    Neighbours are of the same section; the nearest of all come first. The order of `evidence`
    is kept, and its first chunk always is. Excerpts that do not fit as whole chunks stay as
    they are while there is room for them.

    Raises:
        VectorIndexError: when the index fails.
    """
    taken: dict[UUID, Excerpt] = {}
    room = tokens
    for excerpt in evidence:
        for wanted in (whole(excerpt.chunk), excerpt):
            if wanted.tokens <= room or not taken:
                taken.setdefault(excerpt.chunk.chunk_id, wanted)
                room -= wanted.tokens
                break
    for chunk in _nearest_first(evidence, await _around(index, opened, evidence)):
        if chunk.chunk_id not in taken and chunk.token_count <= room:
            taken[chunk.chunk_id] = whole(chunk)
            room -= chunk.token_count
    return list(taken.values())


def _nearest_first(
    evidence: Sequence[Excerpt], around: dict[tuple[UUID, int], Chunk]
) -> Iterator[RetrievedChunk]:
    """Yield the neighbours of what was found, unbroken from it, at a distance of 1, then 2 ..."""
    open_ends = [(e.chunk, step) for step in (1, -1) for e in evidence]
    for distance in count(1):
        still_open = []
        for seed, step in open_ends:
            place = (seed.document_id, seed.chunk_index + step * distance)
            chunk = around.get(place)
            if chunk is not None and chunk.headings == seed.headings:
                yield retrieved(chunk, seed.similarity_score, seed.generation)
                still_open.append((seed, step))
        open_ends = still_open
        if not open_ends or distance == FURTHEST:
            return


async def _around(
    index: VectorIndex, opened: OpenEdition, evidence: Sequence[Excerpt]
) -> dict[tuple[UUID, int], Chunk]:
    """Return the chunks near what was found, by document and position."""
    wanted = {
        (e.chunk.document_id, e.chunk.chunk_index + step): e.chunk
        for e in evidence
        for step in range(-FURTHEST, FURTHEST + 1)
        if step and 0 <= e.chunk.chunk_index + step < e.chunk.total_chunks
    }
    found = await _fetched(index, opened, wanted)
    places = {(chunk.document_id, chunk.chunk_index): chunk for chunk in found}
    return {place: places[place] for place in wanted if place in places}


async def _fetched(
    index: VectorIndex, opened: OpenEdition, wanted: dict[tuple[UUID, int], RetrievedChunk]
) -> list[Chunk]:
    """Return chunks by their places, whose numbers the outline knows."""
    outline = opened.outline
    units: dict[str, list[int]] = {}
    for number, file in enumerate(outline.files):
        units.setdefault(file, []).append(number)
    positions: dict[str, set[int]] = {}
    for (_, position), seed in wanted.items():
        positions.setdefault(seed.source_file, set()).add(position)
    numbers: list[int] = []
    for file, own in positions.items():
        inside = np.isin(outline.units, units.get(file, []))
        inside &= np.isin(outline.position, sorted(own))
        numbers += np.flatnonzero(inside).tolist()
    found: list[Chunk] = []
    ends = [*opened.starts[1:], len(outline.units)]
    for part, start, end in zip(opened.parts, opened.starts, ends, strict=True):
        ids = sorted(number - start for number in numbers if start <= number < end)
        if ids:
            chunks = await index.fetch(part.collection, ids)
            found += opened.own(c for c in chunks if c.document_id not in part.hidden)
    return found
