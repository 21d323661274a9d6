"""A section that is asked for by its name is read, and not searched for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.answering.draft import AnswerDraft
from core.answering.writers.base import Claim, GenerationTask
from core.answering.writers.extractive import ExtractiveGenerator
from core.domain import AgentConfiguration, AgentRequest, RetrievalToolInput
from core.domain.errors import UnknownSection
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from core.retrieval.sections import named_section, read_references, resolve_section
from core.storage.catalogue import SectionRecord
from tests.library import COURSE, Library, open_library

pytestmark = pytest.mark.costly

STATUTE = """# Harbour rules

## Part 1 Scope

### § 1 Vessels

(1) These rules hold for vessels longer than 7 metres.

(2) They do not hold for the vessels of the fire service.

## Part 2 Penalties

### § 12 Offences

(1) Whoever shows no lantern pays a fine of 200 crowns.

(2) Whoever shows a red lantern pays a fine of 900 crowns.

(3) Whoever writes a false logbook pays a fine of 400 crowns.

The fine is doubled when that happens again.

(4) An attempt is not punished by any fine.

### § 12a Minor cases

In a minor case the warden warns the keeper.
"""
KILN = "# Kiln guide\n\n## 3.2 Firing\n\nClose the damper before you light the burner.\n"
WASTE = "# Town\n\n## Waste\n\n| what | where to |\n|---|---|\n| wax | the depot |\n"
LOOPS = "# Loops\n\n## Summary\n\nA loop repeats what stands inside of its braces.\n"


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        library.write({"harbour.md": STATUTE, "kiln.md": KILN, "loops.md": LOOPS, "w.md": WASTE})
        await library.ingest("book")
        yield library


async def read(library: Library, question: str, section: str | None = None) -> Retrieval | None:
    retriever = Retriever(library.catalogue, library.index, lambda *_: library.embedder)
    asked = RetrievalToolInput(query_text=question, section_filter=section)
    return await retriever.read(COURSE.course_id, asked, read_references(question))


def words(retrieval: Retrieval | None) -> str:
    assert retrieval is not None
    return " ".join(" ".join(excerpt.text.split()) for excerpt in retrieval.evidence)


@pytest.mark.parametrize(
    ("question", "begins", "ends"),
    [
        ("What does § 12 (3) say?", "(3) Whoever writes", "happens again."),
        ("What does paragraph 2 of § 12 say?", "(2) Whoever shows a red", "900 crowns."),
        ("Was steht in § 12 Absatz 4?", "(4) An attempt", "any fine."),
        ("What is in section 12?", "(1) Whoever shows no", "any fine."),
        ("What does § 12a say?", "In a minor", "keeper."),
        ("What is § 1 about?", "(1) These rules", "fire service."),
        ("What does the section on offences say?", "(1) Whoever shows no", "any fine."),
        ("What is in section Waste?", "| what | where to |", "the depot |"),
        ("Summarize the section Waste", "| what | where to |", "the depot |"),
        ("What does chapter 3.2 say?", "Close", "burner."),
        ("Was steht in Abschnitt 3.2?", "Close", "burner."),
        ("Summarize Part 2", "(1) Whoever shows no", "keeper."),
        ("What does § 3.2 (1) say?", "Close", "burner."),
    ],
)
async def test_a_named_section_is_read_from_its_beginning(
    library: Library, question: str, begins: str, ends: str
) -> None:
    said = words(await read(library, question))
    assert said.startswith(begins)
    assert said.endswith(ends)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What does § 16 say?", "This book has no § 16."),
        ("What does section 3.9 say?", "This book has no section 3.9."),
        ("What does § 12 (7) say?", "This book has no paragraph 7 in “§ 12 Offences”."),
    ],
)
async def test_what_the_book_does_not_have_is_told(
    library: Library, question: str, told: str
) -> None:
    found = await read(library, question)
    assert found is not None
    request = AgentRequest(course_id=COURSE.course_id, query_text=question, user_id="u")
    fields = AnswerDraft(found).finish(request, AgentConfiguration())
    assert fields["response_text"] == told


@pytest.mark.parametrize("question", ["What does article 5 say?", "What does it say?"])
async def test_what_the_book_does_not_count_is_searched_for(
    library: Library, question: str
) -> None:
    assert await read(library, question) is None


@pytest.mark.parametrize("name", ["§ 12", "§12", "section 12", "Sec. 12", "§ 12 Offences"])
@pytest.mark.parametrize("question", ["What does it say?", "Explain this section", "Summarize it"])
async def test_the_section_that_is_searched_needs_no_name(
    library: Library, name: str, question: str
) -> None:
    assert words(await read(library, question, name)).startswith("(1) Whoever shows no lantern")


async def test_the_section_that_is_searched_may_be_one_paragraph(library: Library) -> None:
    assert words(await read(library, "What does it say?", "§ 12 (4)")).startswith("(4)")
    assert words(await read(library, "What does paragraph 2 say?", "§ 12")).startswith("(2)")


async def test_another_section_than_the_searched_one_is_not_read(library: Library) -> None:
    assert await read(library, "What does § 1 say?", "Part 2") is None


async def test_without_a_model_the_beginning_is_shown_whole(library: Library) -> None:
    found = await read(library, "What does § 12 say?")
    assert found is not None
    draft = AnswerDraft(found)
    task = GenerationTask(
        "What does § 12 say?",
        draft.material.chunks,
        reads=draft.material.reads,
        in_order=found.in_order,
        encode_terms=found.encode_terms,
    )
    writer = ExtractiveGenerator(embedder=library.embedder)
    said = [part.text async for part in writer.generate(task) if isinstance(part, Claim)]
    assert " ".join(" ".join(said).split()) == (
        "(1) Whoever shows no lantern pays a fine of 200 crowns. "
        "(2) Whoever shows a red lantern pays a fine of 900 crowns. "
        "(3) Whoever writes a false logbook pays a fine of 400 crowns. "
        "The fine is doubled when that happens again. "
        "(4) An attempt is not punished by any fine."
    )


def sections(*titles: str) -> list[SectionRecord]:
    return [
        SectionRecord(title, title, ("Book", title), None, None, "book.md", n)
        for n, title in enumerate(titles)
    ]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Explain the cross section", "Cross section"),
        ("Explain the section modulus", "Section modulus"),
        ("Summarize the Modulus section", "Modulus"),
        ("Describe page layout", None),
        ("Explain section modulus", None),
    ],
)
def test_a_heading_that_holds_the_word_section_is_no_other_one(
    question: str, found: str | None
) -> None:
    book = sections("Cross", "Cross section", "Modulus", "Section modulus", "Layout")
    named = named_section(read_references(question), book, [], None)
    assert (named and named.name) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("section 1", ("§ 1 Scope",)),
        ("§ 12", ("§ 12 Offences",)),
        ("12a", ("§ 12a Minor cases",)),
        ("part 1", ("Part 1 General",)),
        ("offenses", ("§ 12 Offences",)),
    ],
)
def test_a_number_fits_wholly_and_the_kind_asked_for_counts(
    name: str, found: tuple[str, ...]
) -> None:
    book = sections("Part 1 General", "§ 1 Scope", "§ 12 Offences", "§ 12a Minor cases")
    assert resolve_section(name, book) == found


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("9.9", ("9.8 Heaps", "9.7 Trees", "9 Data")),
        ("Chapter 9.9", ("9.8 Heaps", "9.7 Trees", "9 Data")),
        ("9.8.2", ("9.8 Heaps", "9 Data")),
        ("chapter 10", ("9 Data", "11 Graphs")),
        ("99", ()),
        ("section 99", ()),
        ("§ 20b", ()),
        ("Heeps and piles", ()),
        ("Triess", ("9.7 Trees",)),
        ("Keeping bees", ()),
    ],
)
def test_what_comes_near_a_missing_section_is_named_and_nothing_else(
    name: str, near: tuple[str, ...]
) -> None:
    book = sections("9 Data", "9.7 Trees", "9.8 Heaps", "11 Graphs", "11.1 Edges")
    with pytest.raises(UnknownSection) as refusal:
        resolve_section(name, book)
    assert refusal.value.nearest == near


def test_the_neighbours_of_a_paragraph_sign_are_paragraph_signs() -> None:
    book = sections("Chapter 3", "§ 2 Ports", "§ 3 Piers", "§ 12 Fines", "Chapter 4")
    with pytest.raises(UnknownSection) as refusal:
        resolve_section("§ 4", book)
    assert refusal.value.nearest == ("§ 3 Piers",)


async def test_a_missing_number_names_its_neighbours_and_a_paragraph_its_section(
    library: Library,
) -> None:
    for question, near in (
        ("What does § 13 say?", ("§ 12 Offences", "§ 12a Minor cases")),
        ("What does § 12 (9) say?", ("§ 12 Offences",)),
        ("What does § 99 say?", ()),
    ):
        found = await read(library, question)
        assert found is not None
        assert (found.missing_section is not None, found.near_sections) == (True, near)


@pytest.mark.parametrize("name", ["§ 2", "chapter 16", "article 1", "§ 12b"])
def test_a_number_is_not_forgiven(name: str) -> None:
    book = sections("Chapter 15", "§ 1 Scope", "§ 12 Offences", "Part 2 General")
    with pytest.raises(UnknownSection):
        resolve_section(name, book)
