"""Which questions of a measurement failed, and how."""

from typing import Any

import pytest

from core.teaching.evaluation.report import FailureKind, GoldQuestion, Measured, failed_questions


def measured(*cited: tuple[str, str], refused: bool = False, **question: Any) -> Measured:
    fields = {"id": "1", "question": "What is it?", "relevant": ("a.md",)}
    return Measured(
        question=GoldQuestion.model_validate(fields | question),
        ranking=("b.md", "a.md"),
        cited=cited,
        evidence=(),
        evidence_tokens=0,
        refused=refused,
        located=0.5,
        retrieval_ms=1.0,
    )


RIGHT, WRONG = ("a.md", "It is scarcity."), ("b.md", "It is not.")


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (measured(RIGHT), None),
        (measured(WRONG, RIGHT), None),
        (measured(WRONG), FailureKind.ELSEWHERE),
        (measured(), FailureKind.ELSEWHERE),
        (measured(refused=True), FailureKind.REFUSED),
        (measured(refused=True, answerable=False), None),
        (measured(WRONG, answerable=False), FailureKind.ANSWERED),
        (measured(WRONG, relevant=()), None),
        (measured(RIGHT, answers=("scarcity",), kind="span"), None),
        (measured(RIGHT, answers=("plenty",), kind="span"), FailureKind.NOT_SHOWN),
        (measured(RIGHT, answers=("plenty",)), None),
    ],
)
def test_a_question_fails_by_what_came_instead(row: Measured, kind: FailureKind | None) -> None:
    assert [failed.kind for failed in failed_questions([row])] == ([] if kind is None else [kind])


def test_a_failed_question_knows_what_was_cited_and_where_the_right_document_came() -> None:
    [failed] = failed_questions([measured(WRONG, WRONG)])
    assert (failed.cited, failed.place) == (("b.md",), 2)
    [lost] = failed_questions([measured(WRONG, relevant=("c.md",))])
    assert lost.place is None
