"""A question is searched for by itself and after its context, as much as it leans on it."""

import numpy as np
import pytest

from core.domain import EXPLAIN_QUOTE, QuoteLocation, QuoteStatus, RetrievalToolInput
from core.retrieval.questions import LeaningQuestion, leaning, read_asked

FOREIGN = QuoteLocation(status=QuoteStatus.NOT_FOUND, score=0.0)


def test_a_question_has_the_two_before_it_as_its_context() -> None:
    asked = RetrievalToolInput(query_text="And why?")
    read = read_asked(asked, ["one", "two", "three"], "Tides", None)
    assert read == LeaningQuestion("And why?", "two\nthree\nAnd why?", "three")


def test_without_any_the_section_is_its_context_and_else_it_stands_alone() -> None:
    asked = RetrievalToolInput(query_text="When is it high?")
    assert read_asked(asked, [], "Tides", None) == LeaningQuestion(
        "When is it high?", "Tides\nWhen is it high?", "Tides", of_section=True
    )
    assert read_asked(asked, [], None, None) == LeaningQuestion("When is it high?")


def test_a_quote_is_its_context_and_counts_alike_when_it_is_the_books() -> None:
    asked = RetrievalToolInput(query_text="Why is that?", selected_text="The moon pulls.")
    assert read_asked(asked, ["one"], None, FOREIGN).always is False
    assert read_asked(asked, ["one"], None, None).always is True
    bare = asked.model_copy(update={"query_text": EXPLAIN_QUOTE})
    assert read_asked(bare, ["one"], None, None) == LeaningQuestion("The moon pulls.")


@pytest.mark.parametrize(
    ("words", "score", "gain", "leans"), [(1, 0.55, 0.3, True), (7, 0.9, 0.0, False)]
)
def test_few_words_that_find_more_after_the_context_lean_on_it(
    words: int, score: float, gain: float, leans: bool
) -> None:
    figures = {"score": score, "cosine": 0.5, "coverage": 0.7, "words": float(np.log1p(words))}
    assert (leaning({**figures, "gain": gain, "likeness": 0.2}) > 0.5) is leans
