"""Claims that are made of a book, and the mark that is fitted on them."""

from collections.abc import Sequence

import pytest

from core.answering.grounding.judge import FittedMark, fitted_mark, made_claims
from core.domain import Chunk
from core.domain.sentences import sentences
from tests.samples import chunk

TEXTS = [
    " ".join(
        f"The {one} keeper of lighthouse number {place} trims the {other} lantern every evening."
        for place, (one, other) in enumerate(pairs)
    )
    for pairs in (
        [("patient", "western"), ("careful", "eastern"), ("ancient", "northern"), ("late", "old")],
        [("generous", "copper"), ("youngest", "silver"), ("retired", "bronze"), ("new", "tin")],
    )
]


def chunks() -> Sequence[Chunk]:
    return [chunk(content_text=text, char_end=len(text)) for text in TEXTS]


def test_a_claim_stands_in_its_sentences_or_is_altered_or_left_alone() -> None:
    made = made_claims(chunks(), 6)
    assert [one.is_true for one in made] == [True, False, False] * 2
    for whole, altered, alone in zip(made[::3], made[1::3], made[2::3], strict=True):
        said = whole.statement.text
        assert said in whole.statement.sentences
        assert altered.statement.sentences == whole.statement.sentences
        pairs = zip(said.split(), altered.statement.text.split(), strict=True)
        assert sum(one != other for one, other in pairs) == 1
        assert alone.statement.text == said
        assert said not in alone.statement.sentences
    assert made_claims(chunks(), 6) == made


def test_a_book_without_sentences_makes_no_claim() -> None:
    assert sentences("A list") == ["A list"]
    assert made_claims([chunk(content_text="A list", char_end=6)], 6) == []


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        ([0.9, 0.8, 0.2, 0.1], FittedMark(0.73, 0.0, 0.0)),
        ([0.6, 0.5, 0.2, 0.1], FittedMark(0.35, 0.0, 0.0)),
        ([0.99, 0.98, 0.9, 0.1], FittedMark(0.94, 0.0, 0.0)),
        ([0.9, 0.2, 0.5, 0.1], FittedMark(0.73, 0.5, 0.0)),
    ],
)
def test_the_mark_makes_the_fewest_mistakes_and_else_stays(
    likely: list[float], expected: FittedMark
) -> None:
    found = fitted_mark(likely, [True, True, False, False], 0.73)
    assert found.mark == pytest.approx(expected.mark)
    assert (found.dropped, found.passed) == (expected.dropped, expected.passed)
