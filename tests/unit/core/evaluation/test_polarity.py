"""Negations and directions: when a sentence contradicts its text."""

import pytest

from core.evaluation.polarity import directions_agree, negations_agree
from core.index.sparse import Bm25Encoder

terms = Bm25Encoder("en").terms


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("A tax does not raise output.", "Taxes never raise output."),
        ("A tax raises prices.", "A tax raises prices, but it does not raise output."),
        ("It pays wages and rent.", "It pays not only wages but also rent."),
        ("Firms can't lower wages.", "Firms cannot lower wages."),
    ],
)
def test_negations_agree_where_the_same_words_are_negated(sentence: str, text: str) -> None:
    assert negations_agree(sentence, text, terms)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("A tax does not raise output.", "A tax raises output."),
        ("A tax raises output.", "A tax does not raise output."),
        ("No firm lowers wages.", "A firm lowers wages when it does not sell."),
        ("Without trade both gain.", "With trade both gain."),
    ],
)
def test_a_negation_added_or_lost_is_a_contradiction(sentence: str, text: str) -> None:
    assert not negations_agree(sentence, text, terms)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Higher prices reduce demand.", "When prices rise, the quantity demanded falls."),
        ("Wages increase.", "Wages grew quickly."),
        ("Wages increase.", "Nothing is said of them."),
        ("Supply and demand meet.", "Demand meets supply."),
    ],
)
def test_directions_agree_in_other_words(sentence: str, text: str) -> None:
    assert directions_agree(sentence, text, terms)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Wages fall.", "Wages rise."),
        ("Lower prices help buyers.", "Higher prices hurt buyers."),
        ("The supply curve is flat.", "The demand curve is flat."),
        ("Exports were large.", "Exports were small."),
    ],
)
def test_the_opposite_direction_is_a_contradiction(sentence: str, text: str) -> None:
    assert not directions_agree(sentence, text, terms)
