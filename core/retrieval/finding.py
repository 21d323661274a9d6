"""Searches an edition: all that is found is ranked in arrays, and little of it is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.embeddings.base import Vectors
from core.errors import VectorIndexError
from core.index.base import Hits, PointId, SearchQuery, VectorIndex
from core.index.outline import chapter_of, unit_of
from core.models import Chunk
from core.retrieval.ranking import Floats, Found, Numbers, RankedChunk, as_chunks, rank
from core.retrieval.scoring import leading
from core.retrieval.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, best first."""

    leading: list[RankedChunk]
    """The chunks that may be used, which alone were read."""
    files: tuple[str, ...]
    """The source files of all that was found, each once."""
    size: int
    """How many chunks were found."""


async def find(index: VectorIndex, shelf: Shelf, query: SearchQuery) -> Ranking:
    """Return what an edition holds about a question.

    Raises:
        VectorIndexError: when the index fails, or the edition was replaced.
    """
    hits = await index.search(shelf.parts, query)
    ids = [(part, stored_as) for part, one in enumerate(hits) for stored_as in one.ids]
    read: dict[int, Chunk] = {}
    if shelf.outline is None:
        read = await _read(index, shelf, ids, range(len(ids)))
        kept = [entry for entry in range(len(ids)) if entry in read]
        ids, read = [ids[e] for e in kept], {n: read[e] for n, e in enumerate(kept)}
        found, files = _of_chunks(list(read.values()), _picked(hits, kept))
    else:
        found, files = _of_outline(shelf, hits, query.dense)
    ranking = rank(found)
    wanted = leading(ranking)
    if shelf.outline is not None:
        read = await _read(index, shelf, ids, [one.entry for one in wanted])
    places = [one.entry for one in ranking]
    return Ranking(
        as_chunks(wanted, found, read),
        tuple(dict.fromkeys(map(files.__getitem__, places))),
        len(ids),
    )


async def _read(
    index: VectorIndex,
    shelf: Shelf,
    ids: Sequence[tuple[int, PointId]],
    entries: Sequence[int],
) -> dict[int, Chunk]:
    """Return the chunks of entries that are this course's, each by its entry."""
    read: dict[int, Chunk] = {}
    for place, part in enumerate(shelf.parts):
        own = [entry for entry in entries if ids[entry][0] == place]
        chunks = await index.fetch(part.collection, [ids[entry][1] for entry in own]) if own else []
        if len(chunks) != len(own):
            raise VectorIndexError(f"Collection {part.collection} has lost chunks that it found.")
        pairs = zip(own, chunks, strict=True)
        read |= {entry: chunk for entry, chunk in pairs if shelf.shows(chunk)}
    return read


def _of_outline(
    shelf: Shelf, hits: Sequence[Hits], question: Vectors
) -> tuple[Found, Sequence[str]]:
    """Return the arrays of what was found, and the source file of each."""
    outline = shelf.outline
    assert outline is not None
    at = np.concatenate(
        [
            np.asarray(one.ids, np.intp) + start
            for one, start in zip(hits, shelf.starts, strict=True)
        ]
    )
    units = outline.units[at].astype(np.intp)
    found = Found(
        cosines=np.concatenate([one.cosines for one in hits]),
        bm25=np.concatenate([one.bm25 for one in hits]),
        units=units,
        chapters=outline.chapter[at].astype(np.intp),
        positions=outline.position[at].astype(np.intp),
        nearness=outline.nearness(question, units),
    )
    return found, [outline.files[unit] for unit in units.tolist()]


def _of_chunks(
    chunks: Sequence[Chunk], scores: tuple[Floats, Floats]
) -> tuple[Found, Sequence[str]]:
    """Return the same for chunks that were read, as in a course of an older format."""
    order = sorted(range(len(chunks)), key=lambda n: chunks[n].document_id.int)
    units: dict[object, int] = {}
    chapters: dict[object, int] = {}
    for n in order:
        units.setdefault(unit_of(chunks[n]), len(units))
        chapters.setdefault(chapter_of(chunks[n]), len(chapters))
    found = Found(
        *scores,
        units=_numbers(units[unit_of(chunk)] for chunk in chunks),
        chapters=_numbers(chapters[chapter_of(chunk)] for chunk in chunks),
        positions=_numbers(chunk.chunk_index for chunk in chunks),
        nearness=np.full(len(chunks), np.nan),
    )
    return found, [chunk.source_file for chunk in chunks]


def _numbers(values: Iterable[int]) -> Numbers:
    return np.array(list(values), np.intp)


def _picked(hits: Sequence[Hits], kept: Sequence[int]) -> tuple[Floats, Floats]:
    places = np.array(kept, np.intp)
    cosines = np.concatenate([one.cosines for one in hits])[places]
    return cosines, np.concatenate([one.bm25 for one in hits])[places]
