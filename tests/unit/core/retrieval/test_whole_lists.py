"""What is read on of a list of steps, and what is not read for it."""

import time
from collections.abc import Sequence
from uuid import UUID, uuid4

from core.models import Chunk
from core.retrieval.retrieval import retrieved, whole
from core.retrieval.whole_lists import with_whole_lists
from core.text.step_lists import MOST_PASSAGES

PROSE = "The tide rises twice a day because the moon pulls at the water of the sea. " * 12


def document(*texts: str, headings: Sequence[str] = ()) -> list[Chunk]:
    """Return the chunks of one document."""
    document_id, generation = uuid4(), uuid4()
    return [
        Chunk(
            chunk_id=uuid4(),
            course_id="tides",
            document_id=document_id,
            generation=generation,
            content_text=text.rstrip(),
            source_file="tides.txt",
            source_url=None,
            page_title="Tides",
            module_name=None,
            section_heading=None,
            headings=(headings[index],) if headings else (),
            chunk_index=index,
            total_chunks=len(texts),
            token_count=200,
            char_start=index * 10_000,
            char_end=index * 10_000 + len(text.rstrip()),
            metadata={},
        )
        for index, text in enumerate(texts)
    ]


async def read_on(chunks: Sequence[Chunk], *found: int) -> list[int]:
    async def read(document_id: UUID) -> Sequence[Chunk]:
        assert document_id == chunks[0].document_id
        return chunks

    evidence = [whole(retrieved(chunks[number], 0.9)) for number in found]
    excerpts = await with_whole_lists(evidence, "en", read)
    return [excerpt.chunk.chunk_index for excerpt in excerpts]


async def test_a_list_beside_what_was_found_is_read_whole() -> None:
    chunks = document(PROSE, "1. Go\n2. Run", "3. Sit", PROSE, "4. Stop", PROSE)
    for found in (0, 1, 2, 3, 4, 5):
        assert set(await read_on(chunks, found)) == {1, 2, 3, 4, found}


async def test_a_list_is_not_read_across_a_heading_or_from_afar() -> None:
    parts = ("1. Go\n2. Run", "3. Sit", PROSE, PROSE)
    assert await read_on(document(*parts), 3) == [3]
    assert await read_on(document(*parts, headings="ABBB"), 0) == [0]
    assert await read_on(document(*parts, headings="AABB"), 2) == [2]


async def test_of_an_endless_list_the_first_passages_are_read() -> None:
    chunks = document(PROSE, *(f"{n}. Turn screw {n}." for n in range(1, 30)))
    assert await read_on(chunks, 5) == list(range(1, MOST_PASSAGES + 1))


async def test_the_parts_of_a_list_that_is_not_clear_are_read_as_well() -> None:
    chunks = document("1. Go\n2. Wash:", "1. Soap\n2. Rinse", "3. Sit\n4. Stop")
    assert await read_on(chunks, 0) == [0, 1, 2]


async def test_a_long_text_without_lists_costs_little() -> None:
    chunks = document(*[PROSE] * 3_000)
    started = time.process_time()
    found = range(0, 3_000, 300)
    assert await read_on(chunks, *found) == list(found)
    assert time.process_time() - started < 1.5
