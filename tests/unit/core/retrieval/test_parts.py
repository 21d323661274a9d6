"""What the structure of a question says of its parts, and what it leaves whole."""

import pytest

from core.retrieval.parts import PartsForm, parts_of


def words(question: str) -> list[str]:
    found = parts_of(question)
    return [part.words for part in found.parts] if found else []


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Compare mitosis and meiosis.", ["mitosis", "meiosis"]),
        ("Please compare mitosis with meiosis", ["mitosis", "meiosis"]),
        ("What is the difference between a list and a tuple?", ["a list", "a tuple"]),
        ("How does a loop differ from a recursion?", ["a loop", "a recursion"]),
        ("TCP vs. UDP?", ["TCP", "UDP"]),
        ("Compare the heap, the stack, and the queue.", ["the heap", "the stack", "the queue"]),
        ("Vergleiche Mitose und Meiose.", ["Mitose", "Meiose"]),
        ("Worin unterscheidet sich Mitose von Meiose?", ["Mitose", "Meiose"]),
        ("Was ist der Unterschied zwischen Mitose und Meiose?", ["Mitose", "Meiose"]),
    ],
)
def test_things_that_are_compared_are_parts(question: str, parts: list[str]) -> None:
    assert words(question) == parts


def test_each_thing_that_is_compared_is_asked_for_in_the_language_of_the_question() -> None:
    german, english = parts_of("Vergleiche Mitose und Meiose."), parts_of("Mitosis versus meiosis")
    assert german
    assert english
    assert [part.question for part in german.parts] == ["Was ist Mitose?", "Was ist Meiose?"]
    assert english.parts[0].question == "What is Mitosis?"


def test_questions_that_are_joined_are_parts_and_the_second_may_lean_on_the_first() -> None:
    found = parts_of("What is a ribosome, and how does it read RNA?")
    assert found
    assert found.form is PartsForm.JOINED
    assert [part.words for part in found.parts] == ["What is a ribosome", "how does it read RNA"]
    assert [part.before for part in found.parts] == [(), ("What is a ribosome",)]
    assert words("Was ist ein Ribosom und wie liest es RNA?") == [
        "Was ist ein Ribosom",
        "wie liest es RNA",
    ]


def test_questions_after_one_another_are_parts_with_what_is_said_before_them() -> None:
    found = parts_of("I am lost. What is a ribosome? It is small. How does it read RNA? Thanks.")
    assert found
    assert [part.words for part in found.parts] == ["What is a ribosome?", "How does it read RNA?"]
    assert [part.question for part in found.parts] == [
        "I am lost. What is a ribosome? It is small.",
        "How does it read RNA? Thanks.",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "1. What is a cell?\n2. Who found it?",
        "1) What is a cell?\n2) Who found it?",
        "(1) What is a cell? (2) Who found it?",
    ],
)
def test_what_is_numbered_is_a_part(question: str) -> None:
    found = parts_of(question)
    assert found
    assert found.form is PartsForm.NUMBERED
    assert words(question) == ["What is a cell?", "Who found it?"]


def test_what_stands_before_the_numbers_is_what_each_may_lean_on() -> None:
    found = parts_of("For the cell: 1. What is a ribosome? 2. Who found it?")
    assert found
    assert found.parts[0].before == ("For the cell:",)
    assert found.parts[1].before == ("For the cell:", "What is a ribosome?")


def test_of_many_numbered_parts_the_first_four_are_searched_for() -> None:
    found = parts_of("\n".join(f"{n}. What is thing {n}?" for n in range(1, 8)))
    assert found
    assert (len(found.parts), found.left) == (4, 3)


@pytest.mark.parametrize(
    "question",
    [
        "What is supply and demand?",
        "What are the causes and the effects of inflation?",
        "Compare mitosis.",
        "What does § 12 say?",
        "Which numbers are 2. and 3. in the list?",
        "Explain C and D to me",
        "Who agreed to sign the charter and was exempt from it?",
        "How did the unequal treatment of the one people versus the other make it seem?",
        "A? B? C?",
        "?",
    ],
)
def test_any_other_question_is_whole(question: str) -> None:
    assert parts_of(question) is None


def test_more_questions_than_an_answer_has_parts_are_left_whole() -> None:
    assert parts_of(" ".join(f"What is thing {n}?" for n in range(5))) is None
