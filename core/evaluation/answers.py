"""Puts together what `eval --answers` finds out about the answers themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.evaluation.judging import JudgedStatement
from core.evaluation.metrics import hit_at, percentile
from core.evaluation.report import Measured, mean, number
from core.models import AgentResponse, Outcome


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """What one question gave, with its answer."""

    measured: Measured
    response: AgentResponse
    statements: tuple[JudgedStatement, ...]
    fell_back: bool | None
    """Whether another writer than the one asked for wrote it; None: there is none to fall to."""

    @property
    def answered(self) -> bool:
        """Whether it says anything, be it with doubt."""
        return self.response.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}

    @property
    def answerable(self) -> bool:
        """Whether the book answers the question."""
        return self.measured.question.answerable

    @property
    def relevant(self) -> frozenset[str]:
        """The source files that hold the answer; none: not known."""
        question = self.measured.question
        return frozenset(question.relevant) if question.answerable else frozenset()


def summarise_answers(answers: Sequence[MeasuredAnswer]) -> dict[str, Any]:
    """Return the figures of `answers` in the report; those that cannot be had are null."""
    return {
        "n": len(answers),
        **_support(answers),
        **_sources(answers),
        **_refusals(answers),
        "follow_ups": _follow_ups([a for a in answers if a.measured.question.earlier_questions]),
        **_costs(answers),
    }


def _support(answers: Sequence[MeasuredAnswer]) -> dict[str, Any]:
    """Judge sentences and citations, each sentence of each answer counting once.

    `citation_precision`: citations that are right, of all. `citation_recall`: sentences that
    their passages carry together, of all; `unsupported_claims` is the rest of them.
    `dropped_claims`: claims that were not let into an answer, of those that were written.
    """
    statements = [statement for answer in answers for statement in answer.statements]
    recall = mean(statement.carried for statement in statements)
    written = sum(answer.response.claims_written for answer in answers)
    dropped = sum(answer.response.claims_dropped for answer in answers)
    return {
        "sentences": len(statements),
        "citation_precision": mean(right for s in statements for right in s.right),
        "citation_recall": recall,
        "unsupported_claims": None if recall is None else number(1 - recall),
        "dropped_claims": number(dropped / written) if written else None,
    }


def _sources(answers: Iterable[MeasuredAnswer]) -> dict[str, float | None]:
    """Compare what is cited with the relevant files, over the answers where they are known.

    `source_precision`: citations into a relevant file, of all. `source_recall`: answers with
    such a citation, of all.
    """
    located = [answer for answer in answers if answer.answered and answer.relevant]
    return {
        "source_precision": mean(
            source in answer.relevant for answer in located for source, _ in answer.measured.cited
        ),
        "source_recall": mean(answer.measured.is_right for answer in located),
    }


def _refusals(answers: Sequence[MeasuredAnswer]) -> dict[str, float | None]:
    """Count abstentions, and apart from them the answers given with doubt.

    `refusal_precision`: unanswerable questions, of those refused; null when all questions are
    answerable. `refusal_recall`: refused questions, of the unanswerable. `partial_answerable`
    and `partial_unanswerable`: questions of that kind whose answer is marked as `partial`.
    """
    refused = [answer for answer in answers if answer.measured.refused]
    answerable = [answer for answer in answers if answer.answerable]
    unanswerable = [answer for answer in answers if not answer.answerable]
    return {
        "refusal_precision": mean(not a.answerable for a in refused) if unanswerable else None,
        "refusal_recall": mean(answer.measured.refused for answer in unanswerable),
        "partial_answerable": mean(_is_partial(answer) for answer in answerable),
        "partial_unanswerable": mean(_is_partial(answer) for answer in unanswerable),
    }


def _is_partial(answer: MeasuredAnswer) -> bool:
    return answer.response.outcome is Outcome.PARTIAL


def _follow_ups(answers: Sequence[MeasuredAnswer]) -> dict[str, Any]:
    """Return the figures of the questions that continue a conversation."""
    located = [answer for answer in answers if answer.relevant]
    hits = {
        f"hit@{k}": mean(hit_at(answer.measured.ranking, answer.relevant, k) for answer in located)
        for k in (1, 5)
    }
    return {"n": len(answers), **hits, **_sources(answers)}


def _costs(answers: Sequence[MeasuredAnswer]) -> dict[str, float | None]:
    """Sum what the model calls used, and tell how long readers wait.

    `estimated_cost` is in the currency of the configured prices. `fallback_share`: of the
    answers those that another writer than the one asked for wrote. The first words' times are
    over the questions that were not refused.
    """
    costs = [a.response.estimated_cost for a in answers if a.response.estimated_cost is not None]
    answered = [answer for answer in answers if answer.answered]
    waits = [answer.response.first_token_ms for answer in answered]
    return {
        "tokens_used": sum(answer.response.tokens_used for answer in answers),
        "estimated_cost": number(sum(costs), places=6) if costs else None,
        "fallback_share": mean(a.fell_back for a in answered if a.fell_back is not None),
        "first_token_p50_ms": number(percentile(waits, 50)),
        "first_token_p95_ms": number(percentile(waits, 95)),
    }
