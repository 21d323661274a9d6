"""When two questions are one, and which numbers of an answer stand for passages."""

import pytest

from core.answering.verified import VerifiedCitation, cited_in, fold
from tests.samples import chunk


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is a heap?", "what is a  HEAP ??"),
        ("Why is it “big”?", 'why is it "big"'),
        ("x – y?", "x - y"),
        ("What’s Rc?", "What's Rc?"),
    ],
)
def test_what_changes_no_meaning_is_folded(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is C?", "What is C++?"),
        ("Is x = y?", "Is x != y?"),
        ("What is 2²?", "What is 22?"),
        ("Is `Some` it?", "Is `some` it?"),
        ("Why may it?", "Why may it not?"),
        ("What is M1?", "What is M2?"),
        ("Was ist schon da?", "Was ist schön da?"),
    ],
)
def test_what_changes_the_meaning_is_not(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_numbers_that_stand_for_no_passage_are_made_plain() -> None:
    passages = [VerifiedCitation(n, "Its root is the largest key.", chunk()) for n in (1, 2)]
    text, cited = cited_in(" It is so [2], see exercise [7] and `x[ [1] ]`. ", passages)
    assert text == "It is so [2], see exercise \\[7] and `x[ [1] ]`."
    assert [one.marker for one in cited] == [2]
