"""A model reads the whole paragraphs around what was found, and no more than fits."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import RetrievalToolInput, RetrievedChunk
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from tests.library import COURSE, Library, open_library

pytestmark = pytest.mark.costly

PARAGRAPHS = [
    f"Paragraph {number} tells of harbour {number}: "
    + f"its quay was built of stone {number}. " * 22
    for number in range(12)
]
BOOK = {
    "harbours.md": "# Harbours\n\n## Quays\n\n" + "\n\n".join(PARAGRAPHS),
    "winds.md": "# Winds\n\nThe trade wind blows from the east all year.\n",
}
QUESTION = RetrievalToolInput(query_text="Of what was the quay of harbour 6?", score_threshold=0.0)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        library.write(BOOK)
        await library.ingest("book")
        yield library


def retriever_of(library: Library) -> Retriever:
    return Retriever(library.catalogue, library.index, lambda *_: library.embedder)


async def found(library: Library, *indices: int) -> tuple[Retriever, Retrieval]:
    """Return a search whose evidence is these chunks of the long section."""
    retriever = retriever_of(library)
    retrieval = await retriever.retrieve(
        COURSE.course_id, QUESTION.model_copy(update={"top_k": 20})
    )
    known = {chunk.chunk_index: chunk for chunk in retrieval.output.retrieved_chunks}
    evidence = tuple(first_words(known[index]) for index in indices)
    return retriever, replace(retrieval, evidence=evidence)


def first_words(chunk: RetrievedChunk) -> Excerpt:
    return Excerpt(chunk, 0, 30, 6)


def read(excerpts: Sequence[Excerpt]) -> list[int]:
    assert all(e.text == e.chunk.content_text for e in excerpts)
    return [excerpt.chunk.chunk_index for excerpt in excerpts]


async def test_neighbours_come_nearest_first_until_there_is_no_room(library: Library) -> None:
    retriever, retrieval = await found(library, 5)
    size = retrieval.evidence[0].chunk.token_count
    wide = await retriever.widened(COURSE.course_id, retrieval, 5 * size + 60)
    assert read(wide)[0] == 5
    assert sorted(read(wide)) == [3, 4, 5, 6, 7]
    assert read(await retriever.widened(COURSE.course_id, retrieval, size + 5)) == [5]


async def test_all_that_was_found_comes_before_any_neighbour(library: Library) -> None:
    retriever, retrieval = await found(library, 8, 2)
    size = max(excerpt.chunk.token_count for excerpt in retrieval.evidence)
    wide = await retriever.widened(COURSE.course_id, retrieval, 4 * size + 40)
    assert read(wide)[:2] == [8, 2]
    assert sorted(read(wide)[2:]) == [3, 9]


async def test_no_neighbour_is_of_another_section_or_of_another_file(library: Library) -> None:
    retriever, retrieval = await found(library, 0)
    wide = await retriever.widened(COURSE.course_id, retrieval, 100_000)
    assert {e.chunk.source_file for e in wide} == {retrieval.evidence[0].chunk.source_file}
    assert len({e.chunk.headings for e in wide}) == 1
    assert {e.chunk.generation for e in wide} == {retrieval.generation}


async def test_the_first_chunk_is_read_where_nothing_fits(library: Library) -> None:
    retriever, retrieval = await found(library, 5, 1)
    assert read(await retriever.widened(COURSE.course_id, retrieval, 10)) == [5]


async def test_a_section_that_was_asked_for_is_read_as_it_is(library: Library) -> None:
    retriever, retrieval = await found(library, 5)
    asked_for = replace(retrieval, in_order=True)
    wide = await retriever.widened(COURSE.course_id, asked_for, 100_000)
    assert wide == list(retrieval.evidence)


async def test_an_edition_that_was_replaced_is_not_mixed_with_its_successor(
    library: Library,
) -> None:
    _, retrieval = await found(library, 5)
    library.write({"winds.md": "# Winds\n\nThe trade wind blows from the west.\n"})
    await library.ingest("book")
    fresh = retriever_of(library)
    assert await fresh.widened(COURSE.course_id, retrieval, 100_000) == list(retrieval.evidence)
