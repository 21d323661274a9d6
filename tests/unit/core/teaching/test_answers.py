"""The figures of `eval --answers`, on answers whose figures are known."""

import json
from typing import Any

import pytest

from core.domain import AgentResponse, Outcome
from core.teaching.evaluation.answers import (
    CitedPassage,
    JudgedStatement,
    MeasuredAnswer,
    Statement,
    summarise_answers,
)
from core.teaching.evaluation.report import GoldQuestion, Measured
from tests.unit.core.teaching.answering import abstention, answer, passage

NEVER_NULL = {"n", "sentences", "follow_ups", "tokens_used"}


def judged(carried: bool, *right: bool) -> JudgedStatement:
    passages = tuple(CitedPassage("quote", "chunk") for _ in right)
    return JudgedStatement(Statement("It is so.", passages), carried, right)


def row(
    *statements: JudgedStatement,
    cited: tuple[str, ...] = ("a.md",),
    response: AgentResponse | None = None,
    fell_back: bool | None = None,
    ranking: tuple[str, ...] = ("a.md", "b.md"),
    question: dict[str, Any] | None = None,
    **fields: Any,
) -> MeasuredAnswer:
    heap = passage()
    response = response or answer("It is so. [1]", (heap, heap.content_text), **fields)
    gold = {"id": "1", "question": "What?", "relevant": ("a.md",)}
    measured = Measured(
        question=GoldQuestion.model_validate(gold | (question or {})),
        ranking=ranking,
        cited=tuple((source, "quote") for source in cited),
        evidence=(),
        evidence_tokens=0,
        refused=response.outcome is Outcome.ABSTAINED,
        located=0.5,
        retrieval_ms=1.0,
    )
    return MeasuredAnswer(measured, response, statements, fell_back)


def refusal(*, answerable: bool) -> MeasuredAnswer:
    return row(cited=(), response=abstention(), question={"answerable": answerable})


def doubtful(*, answerable: bool) -> MeasuredAnswer:
    return row(outcome=Outcome.PARTIAL, question={"answerable": answerable})


def test_sentences_and_citations_of_all_answers_count_alike() -> None:
    figures = summarise_answers(
        [
            row(judged(True, True), judged(True, True, False), judged(False)),
            row(judged(False, False)),
        ]
    )
    assert figures["n"] == 2
    assert figures["sentences"] == 4
    assert figures["citation_precision"] == 0.5
    assert figures["citation_recall"] == 0.5
    assert figures["unsupported_claims"] == 0.5


def test_a_sentence_without_a_citation_is_an_unsupported_claim_and_no_wrong_citation() -> None:
    figures = summarise_answers([row(judged(True, True), judged(True, True), judged(False))])
    assert figures["citation_precision"] == 1.0
    assert figures["citation_recall"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["unsupported_claims"] == pytest.approx(1 / 3, abs=1e-4)


def test_dropped_claims_are_a_share_of_those_written() -> None:
    rows = [row(claims_written=3, claims_dropped=1), row(claims_written=5), row()]
    assert summarise_answers(rows)["dropped_claims"] == 0.125


def test_cited_files_are_compared_with_the_relevant_ones_where_those_are_known() -> None:
    figures = summarise_answers(
        [
            row(cited=("a.md", "a.md", "x.md")),
            row(cited=("x.md",)),
            row(cited=("x.md",), question={"relevant": ()}),
            row(cited=("x.md",), question={"answerable": False}),
            refusal(answerable=True),
        ]
    )
    assert figures["source_precision"] == 0.5
    assert figures["source_recall"] == 0.5


def test_refusals_are_judged_by_whether_the_book_answers_and_doubt_is_counted_apart() -> None:
    figures = summarise_answers(
        [
            refusal(answerable=False),
            refusal(answerable=False),
            refusal(answerable=True),
            doubtful(answerable=False),
            row(question={"answerable": False}),
            doubtful(answerable=True),
            row(),
        ]
    )
    assert figures["refusal_precision"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["refusal_recall"] == 0.5
    assert figures["partial_unanswerable"] == 0.25
    assert figures["partial_answerable"] == pytest.approx(1 / 3, abs=1e-4)


def test_where_everything_can_be_answered_refusals_cannot_be_judged() -> None:
    figures = summarise_answers([refusal(answerable=True), row()])
    assert (figures["refusal_precision"], figures["refusal_recall"]) == (None, None)


def test_where_nothing_was_refused_there_is_a_recall_and_no_precision() -> None:
    figures = summarise_answers([row(question={"answerable": False})])
    assert (figures["refusal_precision"], figures["refusal_recall"]) == (None, 0.0)


def test_follow_ups_have_figures_of_their_own() -> None:
    asked = {"history": [{"role": "user", "text": "What is a heap?"}]}
    told = {"history": [{"role": "assistant", "text": "Hello."}]}
    figures = summarise_answers(
        [
            row(question=asked),
            row(cited=("x.md",), ranking=("x.md", "a.md"), question=asked),
            row(cited=("x.md",), ranking=("x.md",), question=told),
        ]
    )
    assert figures["follow_ups"] == {
        "n": 2,
        "hit@1": 0.5,
        "hit@5": 1.0,
        "source_precision": 0.5,
        "source_recall": 0.5,
    }


def test_tokens_and_costs_are_sums() -> None:
    rows = [row(tokens_used=900, estimated_cost=0.0004), row(tokens_used=100), row()]
    figures = summarise_answers([*rows, row(estimated_cost=0.0002)])
    assert figures["tokens_used"] == 1_000
    assert figures["estimated_cost"] == 0.0006


def test_the_fallback_is_a_share_of_the_answers_that_a_model_was_to_write() -> None:
    silent = row(cited=(), response=abstention(), fell_back=False)
    rows = [row(fell_back=True), row(fell_back=False), row(fell_back=False), silent]
    assert summarise_answers(rows)["fallback_share"] == pytest.approx(1 / 3, abs=1e-4)
    assert summarise_answers([row(), row()])["fallback_share"] is None


def test_the_wait_for_the_first_words_is_that_of_answers_not_of_refusals() -> None:
    rows = [row(first_token_ms=float(ms)) for ms in range(101)]
    figures = summarise_answers([*rows, refusal(answerable=True)])
    assert (figures["first_token_p50_ms"], figures["first_token_p95_ms"]) == (50.0, 95.0)


@pytest.mark.parametrize("rows", [[], [refusal(answerable=True)]])
def test_figures_that_cannot_be_had_are_null_in_valid_json(rows: list[MeasuredAnswer]) -> None:
    figures = json.loads(json.dumps(summarise_answers(rows), allow_nan=False))
    known = {name for name, value in figures.items() if value is not None}
    assert known - {"partial_answerable"} == NEVER_NULL
    assert figures["follow_ups"] == {
        **dict.fromkeys(("hit@1", "hit@5", "source_precision", "source_recall")),
        "n": 0,
    }
