"""Misspelt words are mended against the words of the book, and no other words change."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.questions import Mended, Speller

BOOK = Counter(
    {"meiosis": 9, "mitosis": 7, "cell": 40, "can't": 3, "divides": 4, "two-sided": 2, "the": 90}
)
FUNCTION_WORDS = {"what", "is", "why", "a", "in", "how", "of"}


def speller(words: Counter[str] = BOOK) -> Speller:
    return Speller(words, lambda word: word in FUNCTION_WORDS or word == "flees")


@pytest.mark.parametrize(
    ("question", "mended", "words"),
    [
        ("What is meosis?", "What is meiosis?", ("meiosis",)),
        ("Meosis in a cell", "Meiosis in a cell", ("meiosis",)),
        ("why cant a cell divdes", "why can't a cell divides", ("can't", "divides")),
        ("what is the twosided cell", "what is the two-sided cell", ("two-sided",)),
    ],
)
def test_a_misspelt_word_is_mended(question: str, mended: str, words: tuple[str, ...]) -> None:
    assert speller().mend(question) == Mended(mended, words)


@pytest.mark.parametrize(
    "question",
    [
        "What is a Meosis in the cell?",
        "what is the cel",
        "why is `meosis` the cell",
        "what is meosis.txt in the cell",
        "how is a flees of the cell",
        "was heisst meosis hier",
        "w",
    ],
)
def test_names_short_words_code_and_other_languages_stay(question: str) -> None:
    assert speller().mend(question) == Mended(question)


def test_without_a_vocabulary_nothing_is_mended() -> None:
    assert speller(Counter()).mend("What is meosis?") == Mended("What is meosis?")


@pytest.mark.costly
@given(st.lists(st.sampled_from([*BOOK, *FUNCTION_WORDS, *map(str.title, BOOK)]), min_size=1))
def test_a_question_of_book_words_is_never_altered(words: list[str]) -> None:
    question = " ".join(words)
    assert speller().mend(question) == Mended(question)
