"""Questions are proposed from a book's own headings, terms and exercises."""

from collections.abc import AsyncIterator

import pytest

from core.domain import Chunk, ChunkBlock
from core.domain.i18n import use_locale
from core.retrieval.sections import read_references
from core.teaching.evaluation.report import propose
from tests.samples import chunk

PROSE = "It holds the cell together and lets some things pass, while it keeps others out. " * 3


async def book(*chunks: Chunk) -> AsyncIterator[Chunk]:
    for one in chunks:
        yield one


def passage(file: str, heading: str, content: str, *blocks: ChunkBlock) -> Chunk:
    return chunk(
        source_file=file,
        headings=("Cells", heading),
        section_heading=heading,
        content_text=content,
        char_end=len(content),
        token_count=60,
        blocks=blocks,
    )


EXERCISE = "Why is the sea salt?\nDraw a cell."
CELLS = (
    passage("a.md", "Membrane", f"A membrane is a thin layer. {PROSE}"),
    passage("a.md", "Membrane", f"It is not rigid. {PROSE}"),
    passage("a.md", "How things get in and out", PROSE),
    passage("b.md", "Why is it round?", PROSE),
    passage("b.md", "Review", EXERCISE, ChunkBlock("exercise", 0, len(EXERCISE))),
)


async def test_each_kind_of_place_gives_a_question_with_its_document() -> None:
    found = {one.question: one for one in await propose(book(*CELLS), 10)}
    assert {name: (one.kind, one.source_file) for name, one in found.items()} == {
        "What is Membrane?": ("term", "a.md"),
        "What does the section “How things get in and out” say?": ("heading", "a.md"),
        "Why is it round?": ("heading", "b.md"),
        "Why is the sea salt?": ("exercise", "b.md"),
    }
    assert found["What is Membrane?"].passage.startswith("A membrane is")


@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_heading_is_asked_for_as_the_search_reads_it(language: str) -> None:
    with use_locale(language):
        found = await propose(book(passage("a.md", "Getting in and out", PROSE)), 1)
    names = [one.name for one in read_references(found[0].question)]
    assert "Getting in and out" in names


async def test_few_questions_are_of_different_documents() -> None:
    assert {one.source_file for one in await propose(book(*CELLS), 2)} == {"a.md", "b.md"}


async def test_they_are_worded_in_the_language_of_the_course() -> None:
    with use_locale("de"):
        [first, *_] = await propose(book(*CELLS), 1)
    assert first.question == "Was ist Membrane?"
