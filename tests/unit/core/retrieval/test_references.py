"""Questions that ask for the text of a section, and the many that do not."""

import pytest

from core.retrieval.sections import (
    SectionNumber,
    SectionReference,
    number_of,
    read_number,
    read_references,
    without_number,
)


@pytest.mark.parametrize(
    ("question", "kind", "number", "paragraph"),
    [
        ("What does § 12 paragraph 3 say?", "§", "12", "3"),
        ("What does § 12 (3) say?", "§", "12", "3"),
        ("What is in section 12?", "section", "12", None),
        ("What does § 12a say?", "§", "12a", None),
        ("What is § 1 about?", "§", "1", None),
        ("§ 4 (2)", "§", "4", "2"),
        ("What does paragraph 2 of § 6 say?", "§", "6", "2"),
        ("Summarize § 12", "§", "12", None),
        ("Please explain Sec. 12 of the regulation.", "section", "12", None),
        ("What does section 3.2 say?", "section", "3.2", None),
        ("What does chapter 3.2 say?", "chapter", "3.2", None),
        ("what is in the chapter 4 of this book", "chapter", "4", None),
        ("Was steht in § 12 Absatz 3?", "§", "12", "3"),
        ("Was steht in Abschnitt 3.2?", "section", "3.2", None),
        ("Was regelt Artikel 5 Abs. 1?", "article", "5", "1"),
        ("Fasse bitte Kapitel 4 zusammen", "chapter", "4", None),
        ("Was steht in Paragraph 12 Absatz 3?", "§", "12", "3"),
    ],
)
def test_a_section_is_named_by_its_number(
    question: str, kind: str, number: str, paragraph: str | None
) -> None:
    [read] = read_references(question)
    assert read.number == SectionNumber(kind, number)
    assert read.paragraph == paragraph


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        (
            "What does the section on offences say?",
            SectionReference(name="offences", by_words=True),
        ),
        ("Was steht im Kapitel über die Gebühren?", SectionReference("Gebühren", by_words=True)),
    ],
)
def test_a_section_is_named_by_its_heading(question: str, reference: SectionReference) -> None:
    assert read_references(question) == [reference]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does the Exercises section say?", ["Exercises section", "Exercises"]),
        ("What is in section Waste?", ["section Waste", "Waste"]),
        ("Explain section Waste", ["section Waste", "Waste"]),
        ("Explain section “waste”", ["section “waste", "waste"]),
        ("Explain the chapter waste", ["chapter waste", "waste"]),
        ("Summarize the section “Waste and wax”", ["section “Waste and wax", "Waste and wax"]),
        ("Was steht im Abschnitt Abfall?", ["Abschnitt Abfall", "Abfall"]),
    ],
)
def test_a_heading_beside_the_word_section_may_hold_that_word(
    question: str, names: list[str]
) -> None:
    assert read_references(question) == [SectionReference(name=name) for name in names]


@pytest.mark.parametrize(
    "question",
    [
        "What happened in chapter one of his life?",
        "How many chapters are there?",
        "What does § 12 say about attempts?",
        "When does § 8 enter into force?",
        "What is the difference between § 7 and § 11?",
        "What does 12 mean?",
        "What is 5?",
        "Explain the aim of titration",
        "What is a lantern?",
        "Explain photosynthesis",
        "Explain page replacement",
        "Summarize page faults",
        "Describe part payment",
        "What is part payment?",
        "What is section modulus?",
        "Explain cross section",
        "What is part two about?",
        "Was ist Teil der Lösung?",
        "What is the fine for a red lantern?",
        "Was ist ein Kapitel?",
        "fee",
    ],
)
def test_other_questions_stay_ordinary(question: str) -> None:
    assert read_references(question) == []


@pytest.mark.parametrize(
    "question", ["What does it say?", "Summarize it", "Worum geht es in diesem Abschnitt?"]
)
def test_the_section_at_hand_needs_no_name(question: str) -> None:
    assert read_references(question) == [SectionReference()]


def test_in_a_conversation_it_is_what_was_spoken_of_but_this_section_is_the_section() -> None:
    assert read_references("What does it say?", alone=False) == []
    assert read_references("Explain this section", alone=False) == [SectionReference()]
    at_hand, other = read_references("What does paragraph 3 say?")
    assert (at_hand, other.number) == (SectionReference(paragraph="3"), SectionNumber("§", "3"))
    assert read_references("What does paragraph 3 say?", alone=False) == [at_hand]


@pytest.mark.parametrize("question", ["and § 4?", "What about § 4?", "Und was ist mit § 4?"])
def test_a_conversation_goes_on_to_another_number(question: str) -> None:
    [read] = read_references(question, alone=False)
    assert read.number == SectionNumber("§", "4")


@pytest.mark.parametrize("question", ["And 2.5?", "What about 2.5?", "2.5", "in 2.5"])
def test_a_mere_number_is_a_section_where_one_was_asked_for_by_its_number(question: str) -> None:
    for before in (["What does section 2.4 say?"], ["Read section 2.3", "And 2.4?"]):
        [read] = read_references(question, alone=False, before=before)
        assert read.number == SectionNumber(None, "2.5")
    for before in (["What is 2.4 times 2?"], ["Is the ebb 2.3 metres?", "And 2.4?"], ["And 2.4?"]):
        assert read_references(question, alone=False, before=before) == []
    assert read_references(question, alone=False) == []


@pytest.mark.parametrize(
    ("heading", "number", "words"),
    [
        ("§ 12a Minor cases", SectionNumber("§", "12a"), "Minor cases"),
        ("3.2 Firing the kiln", SectionNumber(None, "3.2"), "Firing the kiln"),
        ("Chapter 04: Loops", SectionNumber("chapter", "4"), "Loops"),
        ("Offences", None, "Offences"),
        ("20th century", None, "20th century"),
        ("3D printing", SectionNumber(None, "3d"), "printing"),
    ],
)
def test_a_heading_has_a_number_and_words(
    heading: str, number: SectionNumber | None, words: str
) -> None:
    assert number_of(heading) == number
    assert without_number(heading) == words


@pytest.mark.parametrize("name", ["§12", "§ 12 (3)", "Sec. 12", "section 12", "12"])
def test_a_name_may_be_a_number(name: str) -> None:
    read = read_number(name)
    assert read is not None
    assert read[0].number == "12"


@pytest.mark.parametrize(
    "question",
    ["Please summarize § 12", "Can you please summarize § 12?", "Explain § 12, please."],
)
def test_a_section_may_be_asked_for_politely(question: str) -> None:
    [read] = read_references(question)
    assert read.number == SectionNumber("§", "12")
