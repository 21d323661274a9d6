"""Puts the measurements of single questions together into one report."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from core.evaluation.metrics import (
    auroc,
    calibration_error,
    contains_answer,
    hit_at,
    interval,
    ndcg,
    percentile,
    reciprocal_rank,
)
from core.evaluation.questions import GoldQuestion


@dataclass(frozen=True, slots=True)
class Measured:
    """What one question gave."""

    question: GoldQuestion
    ranking: tuple[str, ...]
    """Distinct source files, best first."""
    cited: tuple[tuple[str, str], ...]
    """(source file, quote) of each citation, in order of the answer."""
    evidence: tuple[str, ...]
    """Source files of the chunks given to the generator."""
    evidence_tokens: int
    refused: bool
    located: float
    retrieval_ms: float
    """Embedding and search."""

    @property
    def is_right(self) -> bool:
        """Whether a cited chunk lies in a gold document."""
        return any(source in self.question.relevant for source, _ in self.cited)

    def answered_within(self, sentences: int) -> float:
        """Return 1.0 when a reference answer stands in the first cited sentences."""
        text = " ".join(quote for _, quote in self.cited[:sentences])
        return float(contains_answer(text, self.question.answers))


_RANKING: dict[str, Callable[[Measured], float]] = {
    "hit@1": lambda m: hit_at(m.ranking, m.question.relevant, 1),
    "hit@5": lambda m: hit_at(m.ranking, m.question.relevant, 5),
    "hit@20": lambda m: hit_at(m.ranking, m.question.relevant, 20),
    "ndcg@10": lambda m: ndcg(m.ranking, m.question.relevant),
    "mrr@10": lambda m: reciprocal_rank(m.ranking, m.question.relevant),
}
_ANSWERS: dict[str, Callable[[Measured], float]] = {
    "answer@1": lambda m: m.answered_within(1),
    "answer@3": lambda m: m.answered_within(3),
}


def summarise(rows: Sequence[Measured]) -> dict[str, Any]:
    """Return the report that `eval --json` prints; figures that cannot be had are null.

    Rankings are judged by source document over the answerable rows that name relevant files,
    answers over those with reference answers, refusals over all, confidence over the
    answerable rows with relevant files (a refusal there counts as not right).
    """
    report: dict[str, Any] = {"n": len(rows), **_figures(rows)}
    by_kind: dict[str, list[Measured]] = {}
    for row in rows:
        by_kind.setdefault(row.question.kind or "none", []).append(row)
    report["by_kind"] = {
        kind: {"n": len(by_kind[kind]), **_figures(by_kind[kind])} for kind in sorted(by_kind)
    }
    report["ci95"] = _intervals(rows)
    return report


def _located(rows: Sequence[Measured]) -> list[Measured]:
    return [row for row in rows if row.question.answerable and row.question.relevant]


def _with_answers(rows: Sequence[Measured]) -> list[Measured]:
    return [row for row in rows if row.question.answerable and row.question.answers]


def _figures(rows: Sequence[Measured]) -> dict[str, float | None]:
    located, answered = _located(rows), _with_answers(rows)
    figures = {name: mean([measure(m) for m in located]) for name, measure in _RANKING.items()}
    figures |= {name: mean([measure(m) for m in answered]) for name, measure in _ANSWERS.items()}
    figures["refused_unanswerable"] = _refused([m for m in rows if not m.question.answerable])
    figures["refused_answerable"] = _refused([m for m in rows if m.question.answerable])
    claimed = [m.located for m in located]
    right = [m.is_right for m in located]
    figures["calibration_error"] = number(calibration_error(claimed, right))
    figures["confidence_auroc"] = number(auroc(claimed, right))
    figures["right"] = mean([float(value) for value in right])
    figures["evidence_tokens"] = mean([float(m.evidence_tokens) for m in rows])
    in_evidence = [float(any(s in m.question.relevant for s in m.evidence)) for m in located]
    figures["evidence_hit"] = mean(in_evidence)
    figures["p50_ms"] = number(percentile([m.retrieval_ms for m in rows], 50))
    figures["p95_ms"] = number(percentile([m.retrieval_ms for m in rows], 95))
    return figures


def _intervals(rows: Sequence[Measured]) -> dict[str, tuple[float, float] | None]:
    located, answered = _located(rows), _with_answers(rows)
    samples = {name: [measure(m) for m in located] for name, measure in _RANKING.items()}
    samples |= {name: [measure(m) for m in answered] for name, measure in _ANSWERS.items()}
    for name, wanted in (("refused_unanswerable", False), ("refused_answerable", True)):
        samples[name] = [float(m.refused) for m in rows if m.question.answerable is wanted]
    return {
        name: _rounded(interval(values)) if values else None for name, values in samples.items()
    }


def _refused(rows: Sequence[Measured]) -> float | None:
    return mean([float(row.refused) for row in rows])


def mean(values: Iterable[float]) -> float | None:
    """Return the mean as a figure of a report, null for no values."""
    known = list(values)
    return number(fmean(known)) if known else None


def number(value: float, *, places: int = 4) -> float | None:
    """Return the value as a figure of a report, null for NaN."""
    return None if math.isnan(value) else round(value, places)


def _rounded(bounds: tuple[float, float]) -> tuple[float, float]:
    return round(bounds[0], 4), round(bounds[1], 4)
