"""A question is searched for by itself and after its context, as much as it leans on it."""

import numpy as np
import pytest

from core.domain import EXPLAIN_QUOTE, RetrievalToolInput
from core.retrieval.questions import leaning, texts_of


def test_a_question_has_the_two_before_it_as_its_context() -> None:
    asked = RetrievalToolInput(query_text="And why?")
    texts = texts_of(asked, ["one", "two", "three"], "Tides")
    assert texts == ("And why?", "two\nthree\nAnd why?", "three")


def test_without_any_the_section_is_its_context_and_else_it_stands_alone() -> None:
    asked = RetrievalToolInput(query_text="When is it high?")
    assert texts_of(asked, [], "Tides") == (asked.query_text, "Tides\nWhen is it high?", "Tides")
    assert texts_of(asked, [], None) == (asked.query_text,)


def test_a_quote_is_its_context_and_all_that_a_bare_one_asks() -> None:
    quote = "The moon pulls."
    asked = RetrievalToolInput(query_text="Why is that?", selected_text=quote)
    assert texts_of(asked, ["one"], None) == ("Why is that?", quote, quote)
    bare = asked.model_copy(update={"query_text": EXPLAIN_QUOTE})
    assert texts_of(bare, ["one"], None) == (quote,)


@pytest.mark.parametrize(
    ("words", "score", "gain", "leans"), [(1, 0.55, 0.3, True), (7, 0.9, 0.0, False)]
)
def test_few_words_that_find_more_after_the_context_lean_on_it(
    words: int, score: float, gain: float, leans: bool
) -> None:
    figures = {"score": score, "cosine": 0.5, "coverage": 0.7, "words": float(np.log1p(words))}
    assert (leaning({**figures, "gain": gain, "likeness": 0.2}) > 0.5) is leans
