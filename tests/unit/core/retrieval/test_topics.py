"""What readers may want to ask about: headings that a course's text asks or defines."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.retrieval.sections import Likely, Topic, Topics
from tests.library import COURSE, Library, open_library

pytestmark = pytest.mark.costly

CELLS = """# Cells

This chapter has three parts.

## 2.1 Cell membranes

Read on. A cell membrane is thin. Cell membranes are layers of fat which let water through.

## Osmosis

Water flows where salt is, and this flow is named osmosis. Osmosis is slow.

## Exercises

Draw a cell.
"""
PAGES = {
    "a-cells.md": CELLS,
    "b-light.md": "# Light\n\n## Why is the sky blue?\n\nBlue light is scattered most.\n",
    "c-notes.md": "# Notes\n\nRead the notes, as the teacher of notes says, twice.\n",
    "d-sound.md": "# Sound\n\n## Pitch\n\nPitch depends on how often a string swings.\n",
}


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        library.write(PAGES)
        await library.ingest("book")
        yield library


async def found(library: Library) -> list[Topic]:
    edition = await library.catalogue.live(COURSE.course_id)
    assert edition is not None
    return await Topics(library.catalogue, library.index).of(edition, "en")


async def test_what_is_asked_or_defined_comes_first_and_pages_take_turns(library: Library) -> None:
    topics = await found(library)
    assert [(one.name, one.likely) for one in topics[:4]] == [
        ("Osmosis", Likely.IS),
        ("Why is the sky blue?", Likely.ASKS),
        ("Cell membranes", Likely.ARE),
        ("Notes", Likely.STANDS),
    ]
    likely = {one.name: one.likely for one in topics}
    assert likely["Pitch"] is Likely.BEGINS
    assert likely["Exercises"] is Likely.STANDS


async def test_a_topic_is_known_by_its_heading_and_by_its_words_in_a_sentence(
    library: Library,
) -> None:
    topics = {one.name: one for one in await found(library)}
    assert topics["Cell membranes"].heading == "2.1 Cell membranes"
    assert topics["Osmosis"].said == "osmosis"
    assert topics["Notes"].said == "notes"
    assert topics["Pitch"].said is None
