"""What stands in a heading, as a version or the words of the question, helps its section."""

import pytest

from core.answering.writers.scoring import asked_numbers
from core.domain import RetrievedChunk
from tests.unit.core.answering.test_entry_passages import encode_terms, page, shown


def section(heading: str, text: str) -> RetrievedChunk:
    return page(before=text).model_copy(update={"headings": ("Changes", heading)})


NEWER = section("Version 3.1 (14 November 2024)", "Remotes of another kind were added.")
OLDER = section("Version 2.8 (30 June 2022)", "The last version that runs on Linux 3.")
OTHER = section("Version 3.0 (2 February 2024)", "The checksum is another one since 1 May.")


@pytest.mark.parametrize(
    "question",
    ["When was version 3.1 released?", "What is new in 3.1?", "Is 3.1 the last version?"],
)
async def test_a_version_in_a_heading_is_found(question: str) -> None:
    assert (await shown(question, OLDER, OTHER, NEWER))[0] == "Remotes of another kind were added."


async def test_a_section_whose_heading_the_question_says_is_shown() -> None:
    taking = section("Taking a snapshot", "Names have at most forty characters.")
    cleaning = section("Cleaning", "A snapshot may refer to some chunk of the vault.")
    answer = await shown("How do I take a snapshot?", cleaning, taking)
    assert any("forty characters" in text for text in answer)


async def test_a_row_of_a_table_gives_the_definition_of_its_first_cell() -> None:
    table = "| Term | Meaning |\n| --- | --- |\n| Quire | a gathering |\n| Octavo | thrice folded |"
    rows = page(before=table)
    prose = section("Aldus", "He sold small octavos that fitted into a saddlebag.")
    assert (await shown("What is an octavo?", prose, rows))[0].replace("**", "") == table


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Version 3.1 is new.", True),
        ("New in 3.1.", True),
        ("Version 3.10 is new.", False),
        ("Version 3.1.2 is new.", True),
        ("v3.1 is new.", True),
        ("From 3 to 1", False),
        ("v13.1", False),
    ],
)
def test_a_number_of_several_parts_counts_as_a_whole(text: str, held: bool) -> None:
    numbers = asked_numbers("What is new in 3.1?", encode_terms)
    assert numbers.are_held(text) is held
    terms = frozenset(encode_terms("3.1 new"))
    assert asked_numbers("What is new in v3.1?", encode_terms).are_held(text) is held
    left = numbers.without_parts(terms, text)
    assert left == (terms if held else frozenset(encode_terms("new")))
    assert asked_numbers("What is new?", encode_terms).without_parts(terms, text) == terms
