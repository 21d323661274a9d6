"""Reads on where a list of steps was found, so that a writer has all of its steps."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from uuid import UUID

from core.models import Chunk
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import retrieved, whole
from core.text.step_lists import MOST_PASSAGES, find_step_lists, may_hold_items

ReadDocument = Callable[[UUID], Awaitable[Sequence[Chunk]]]
"""Gives the chunks of a document in reading order."""


async def with_whole_lists(
    evidence: Sequence[Excerpt], language: str, read: ReadDocument
) -> list[Excerpt]:
    """Return the evidence with the whole of each list of steps that it touches, or stands beside.

    Raises:
        VectorIndexError: when the index fails.
    """
    documents: dict[UUID, Sequence[Chunk]] = {}
    for excerpt in evidence:
        document = excerpt.chunk.document_id
        if document not in documents:
            documents[document] = await read(document)
    return await asyncio.to_thread(_read_on, evidence, language, documents)


def _read_on(
    evidence: Sequence[Excerpt], language: str, documents: Mapping[UUID, Sequence[Chunk]]
) -> list[Excerpt]:
    lists: dict[tuple[UUID, ...], list[list[Chunk]]] = {}
    taken: dict[UUID, Excerpt] = {}
    for excerpt in evidence:
        chunk = excerpt.chunk
        taken.setdefault(chunk.chunk_id, excerpt)
        stretch = _stretch_around(chunk, documents[chunk.document_id])
        ends = tuple(other.chunk_id for other in (*stretch[:1], *stretch[-1:]))
        if ends not in lists:
            lists[ends] = _lists_in(stretch, language)
        beside = [one for one in lists[ends] if _is_beside(chunk, one)]
        for other in (other for one in beside for other in one[:MOST_PASSAGES]):
            known = taken.get(other.chunk_id)
            found = known.chunk if known else retrieved(other, chunk.similarity_score)
            taken[other.chunk_id] = whole(found)
    places = list(documents)
    return sorted(
        taken.values(), key=lambda e: (places.index(e.chunk.document_id), e.chunk.chunk_index)
    )


def _stretch_around(chunk: Chunk, document: Sequence[Chunk]) -> list[Chunk]:
    """Return the neighbours of a chunk in its section, as far as a list beside it may reach."""
    ids = [other.chunk_id for other in document]
    if chunk.chunk_id not in ids:
        return []
    place = ids.index(chunk.chunk_id)
    before = _as_far_as_items(document[position] for position in range(place, -1, -1))
    after = _as_far_as_items(document[position] for position in range(place, len(document)))
    return [*reversed(before), *after[1:]]


def _as_far_as_items(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return the first chunks of a section, up to where many in a row have no item of a list."""
    run: list[Chunk] = []
    without = 0
    for chunk in chunks:
        if run and not _is_neighbour(run[-1], chunk):
            break
        run.append(chunk)
        without = 0 if may_hold_items(chunk.content_text) else without + 1
        if without > MOST_PASSAGES:
            break
    return run


def _is_neighbour(one: Chunk, other: Chunk) -> bool:
    return one.headings == other.headings and abs(one.chunk_index - other.chunk_index) == 1


def _lists_in(stretch: Sequence[Chunk], language: str) -> list[list[Chunk]]:
    """Return the chunks that each list of steps touches."""
    texts = [chunk.content_text for chunk in stretch]
    if not any(map(may_hold_items, texts)):
        return []
    return [
        [stretch[number] for number in sorted({part.text_number for part in steps.parts})]
        for steps in find_step_lists(texts, language)
    ]


def _is_beside(chunk: Chunk, touched: Sequence[Chunk]) -> bool:
    return any(abs(other.chunk_index - chunk.chunk_index) <= 1 for other in touched)
