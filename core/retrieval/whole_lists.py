"""Reads on where a list of steps was found, so that a writer has all of its steps."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from core.models import Chunk
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import retrieved, whole
from core.text.step_lists import MOST_PASSAGES, find_step_lists

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
    taken: dict[UUID, Excerpt] = {}
    for excerpt in evidence:
        chunk = excerpt.chunk
        if chunk.document_id not in documents:
            documents[chunk.document_id] = await read(chunk.document_id)
        taken.setdefault(chunk.chunk_id, excerpt)
        for other in _of_lists(
            chunk, _section_around(chunk, documents[chunk.document_id]), language
        ):
            known = taken.get(other.chunk_id)
            found = known.chunk if known else retrieved(other, chunk.similarity_score)
            taken[other.chunk_id] = whole(found)
    places = list(documents)
    return sorted(
        taken.values(), key=lambda e: (places.index(e.chunk.document_id), e.chunk.chunk_index)
    )


def _section_around(chunk: Chunk, document: Sequence[Chunk]) -> list[Chunk]:
    """Return the neighbouring chunks below the same heading, this one included."""
    run: list[Chunk] = []
    for other in document:
        is_next = not run or run[-1].chunk_index + 1 == other.chunk_index
        if other.headings == chunk.headings and is_next:
            run.append(other)
        elif any(known.chunk_id == chunk.chunk_id for known in run):
            break
        else:
            run = [other] if other.headings == chunk.headings else []
    return run


def _of_lists(chunk: Chunk, section: Sequence[Chunk], language: str) -> list[Chunk]:
    """Return the chunks of each list that touches a chunk, or the ones beside it."""
    found: set[int] = set()
    for steps in find_step_lists([other.content_text for other in section], language):
        touched = sorted({part.text_number for part in steps.parts})
        places = {section[number].chunk_index for number in touched}
        if places & {chunk.chunk_index - 1, chunk.chunk_index, chunk.chunk_index + 1}:
            found.update(touched[:MOST_PASSAGES])
    return [section[number] for number in sorted(found)]
