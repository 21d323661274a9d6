"""Of a long question what it asks is searched for, and all of it goes along."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.question_context import LONGEST_QUESTION, asks, gist, shortened_question
from core.domain import MAX_QUESTION, MAX_THREAD_MESSAGE
from core.domain.errors import QuestionTooLong

FILLER = "We read the chapter in class and took notes. " * 30


def test_a_short_question_is_its_own_gist() -> None:
    assert shortened_question("What is a monopoly?") == ("What is a monopoly?", ())


def test_the_gist_is_what_asks() -> None:
    question, material = shortened_question(f"{FILLER}What is a monopoly? {FILLER}Who sets it?")
    assert question == (
        "What is a monopoly? We read the chapter in class and took notes. Who sets it?"
    )
    assert all(one.by_asker for one in material)


def test_a_text_that_asks_nothing_gives_its_beginning() -> None:
    found = gist("alpha " + FILLER)
    assert found.startswith("alpha")
    assert len(found) <= MAX_QUESTION


@given(st.text(max_size=3_000))
def test_any_text_fits_and_nothing_of_it_is_lost(text: str) -> None:
    question, material = shortened_question(text)
    assert len(question) <= MAX_QUESTION
    assert all(len(one.text) <= MAX_THREAD_MESSAGE for one in material)
    if material:
        kept = "".join("".join(one.text.split()) for one in material)
        assert kept == "".join(text.split())


def test_more_than_four_thousand_characters_are_too_many() -> None:
    with pytest.raises(QuestionTooLong, match="4,000"):
        shortened_question("x" * (LONGEST_QUESTION + 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Is it?", True), ("I ask (why?)", True), ("No. Not at all.", False), ("为什么？", True)],
)
def test_what_ends_with_a_question_mark_asks(text: str, expected: bool) -> None:
    assert asks(text) is expected
