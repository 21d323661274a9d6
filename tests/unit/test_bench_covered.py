"""The mark of the closest passages is fitted so that few answerable questions fall below it."""

from itertools import product

from tests.bench.fit_covered import MARKED, Row, across_halves, fitted, report

FIGURES = ("score", "coverage", "whole", "question")


def row(number: int, course: str, *, answerable: bool) -> Row:
    """Return a question whose figures are the higher the likelier it has an answer."""
    figures = dict.fromkeys(FIGURES, number / 50 + answerable)
    return Row(course, figures, answerable, refused=False, half=bool(number % 2))


ROWS = [
    row(number, course, answerable=answerable)
    for course, number, answerable in product(("one", "two"), range(50), (True, False))
]


def test_the_mark_lies_where_a_given_share_of_answerable_questions_falls_below() -> None:
    head = fitted(ROWS)
    below = dict.fromkeys((True, False), 0)
    for one in ROWS:
        below[one.answerable] += head.log_odds(one.figures) < 0
    assert below[True] <= MARKED * 100
    assert below[False] == 100


def test_each_half_is_judged_by_what_was_fitted_on_the_other() -> None:
    judged = across_halves(ROWS)
    assert [one for one, _ in judged] == ROWS
    lines = list(report(judged))
    assert [line.partition(":")[0] for line in lines] == [
        "one, near the topic",
        "one, answerable",
        "two, near the topic",
        "two, answerable",
    ]
    assert "50 of   50" in lines[0]
