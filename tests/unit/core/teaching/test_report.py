"""The report of `eval`: which rows each figure is taken over, and that it is valid JSON."""

import json
from typing import Any

import pytest

from core.teaching.evaluation.report import GoldQuestion, Measured, summarise

KEYS = {
    "n", "hit@1", "hit@5", "hit@20", "ndcg@10", "mrr@10", "answer@1", "answer@3",
    "refused_unanswerable", "refused_answerable", "calibration_error", "confidence_auroc",
    "p50_ms", "p95_ms", "by_kind", "ci95",
}  # fmt: skip


def _row(
    ranking: tuple[str, ...] = ("a", "b"),
    cited: tuple[tuple[str, str], ...] = (("a", "Scarcity is the rule."),),
    *,
    refused: bool = False,
    confidence: float = 0.9,
    ms: float = 10.0,
    **question: Any,
) -> Measured:
    fields = {"id": "1", "question": "What?", "relevant": ("a",), "answers": ("scarcity",)}
    return Measured(
        question=GoldQuestion.model_validate(fields | question),
        ranking=ranking,
        cited=cited,
        evidence=ranking[:2],
        evidence_tokens=400,
        refused=refused,
        located=confidence,
        retrieval_ms=ms,
    )


def _strict(report: dict[str, Any]) -> Any:
    """Return the report as it comes out of JSON; `allow_nan` would let NaN through."""
    return json.loads(json.dumps(report, allow_nan=False))


def test_the_report_has_every_promised_key() -> None:
    assert set(summarise([_row()])) >= KEYS


def test_rankings_are_judged_over_rows_that_name_relevant_files() -> None:
    rows = [_row(), _row(("x", "a")), _row(relevant=()), _row(("x",), answerable=False)]
    report = summarise(rows)
    assert report["n"] == 4
    assert report["hit@1"] == 0.5
    assert report["hit@5"] == 1.0
    assert report["mrr@10"] == 0.75
    assert report["ndcg@10"] == pytest.approx((1 + 0.6309) / 2, abs=1e-4)
    assert report["evidence_hit"] == 1.0
    assert report["evidence_tokens"] == 400.0


def test_answers_are_judged_by_the_first_cited_sentences() -> None:
    quotes = (("a", "First."), ("a", "Second."), ("a", "The scarcity of time."))
    late = _row(cited=(("a", "No."), ("a", "No."), ("a", "No."), ("a", "Scarcity.")))
    report = summarise([_row(), _row(cited=quotes), late, _row(answers=())])
    assert report["answer@1"] == pytest.approx(1 / 3, abs=1e-4)
    assert report["answer@3"] == pytest.approx(2 / 3, abs=1e-4)


def test_refusals_are_counted_apart_for_either_kind_of_row() -> None:
    rows = [
        _row(refused=True),
        _row(),
        _row(),
        _row(),
        _row(refused=True, answerable=False),
        _row(answerable=False),
    ]
    report = summarise(rows)
    assert report["refused_answerable"] == 0.25
    assert report["refused_unanswerable"] == 0.5


def test_a_row_counts_as_right_when_a_cited_chunk_lies_in_a_gold_document() -> None:
    assert _row(cited=(("x", "No."), ("a", "Yes."))).is_right
    assert not _row(cited=(("x", "No."),)).is_right
    assert not _row(cited=(), refused=True).is_right


def test_confidence_is_judged_over_answerable_rows_with_relevant_files() -> None:
    wrong = _row(cited=(("x", "No."),), confidence=0.2)
    aside = _row(confidence=0.0, answerable=False)
    report = summarise([_row(confidence=0.8), wrong, aside])
    assert report["confidence_auroc"] == 1.0
    assert report["calibration_error"] == pytest.approx(0.2)
    assert report["right"] == 0.5


def test_the_times_are_percentiles_of_all_rows() -> None:
    report = summarise([_row(ms=float(ms)) for ms in range(101)])
    assert report["p50_ms"] == 50.0
    assert report["p95_ms"] == 95.0


def test_figures_that_cannot_be_had_are_null_and_never_nan() -> None:
    report = _strict(summarise([_row(answerable=False)]))
    assert report["hit@1"] is None
    assert report["answer@3"] is None
    assert report["refused_answerable"] is None
    assert report["calibration_error"] is None
    assert report["confidence_auroc"] is None
    assert report["ci95"]["hit@1"] is None
    assert report["ci95"]["refused_unanswerable"] == [0.0, 0.0]


def test_a_report_of_no_rows_is_valid_json_too() -> None:
    report = _strict(summarise([]))
    assert report["n"] == 0
    assert report["by_kind"] == {}
    assert report["p95_ms"] is None


def test_where_all_answers_are_right_there_is_no_auroc() -> None:
    assert _strict(summarise([_row(), _row()]))["confidence_auroc"] is None


def test_each_kind_has_figures_of_its_own() -> None:
    rows = [_row(kind="free"), _row(("x",), kind="term"), _row(kind="term"), _row()]
    kinds = _strict(summarise(rows))["by_kind"]
    assert {name: figures["n"] for name, figures in kinds.items()} == {
        "free": 1,
        "none": 1,
        "term": 2,
    }
    assert kinds["free"]["hit@1"] == 1.0
    assert kinds["term"]["hit@1"] == 0.5
    assert set(kinds["term"]) == set(summarise(rows)) - {"by_kind", "ci95"}


def test_a_kind_called_none_is_not_mixed_up_with_rows_of_no_kind() -> None:
    kinds = summarise([_row(kind="none"), _row(), _row()])["by_kind"]
    assert sum(figures["n"] for figures in kinds.values()) == 3


def test_every_figure_lies_inside_its_interval() -> None:
    rows = [_row(("a",) if i % 3 else ("x", "a"), refused=i % 5 == 0) for i in range(60)]
    report = summarise(rows)
    for name in ("hit@1", "mrr@10", "answer@1", "refused_answerable"):
        low, high = report["ci95"][name]
        assert low <= report[name] <= high, name
    low, high = report["ci95"]["hit@1"]
    assert low < report["hit@1"] < high
