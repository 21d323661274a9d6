"""Fits how sure an answer is to what readers found, and says how well that carries over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.answering.assurance import answer_figures, confidence_of
from core.domain.text_features import Logistic, probability
from core.retrieval.calibration import Floats
from core.teaching.evaluation.report import auroc, calibration_error
from tests.bench.asked import Asked
from tests.bench.logistic_fit import fit
from tests.bench.reading.drawing import digest_of
from tests.bench.reading.labels import Judged
from tests.bench.shares import interval

FOLDS = 10
_SHUFFLED = 0
_RIDGE = 15.0
"""For some hundred answers, whose figures say much the same."""
_BANDS = (0.0, 0.25, 0.5, 0.75, 1.01)


@dataclass(frozen=True, slots=True)
class Labelled:
    """An answer of the program as it is, that was read."""

    figures: dict[str, float]
    located: float
    whole: bool
    """Whether it was right and whole to all its readers."""
    at_place: bool
    """Whether the place was right to all its readers."""


def labelled(judged: Sequence[Judged], asked: Sequence[Asked]) -> list[Labelled]:
    """Return the answers that still say what was read; refusals are left out."""
    by_question = {(one.course, one.row.id): one for one in asked}
    rows = []
    for one in judged:
        now = by_question.get((one.course, one.question))
        if now is None or one.is_refusal or digest_of(now.response) != one.digest:
            continue
        figures = answer_figures(
            now.retrieval.signals,
            now.retrieval.question or now.response.query_text,
            now.response.response_text,
            len(now.response.citations),
            now.retrieval.statistics,
            now.retrieval.encode_terms,
        )
        rows.append(Labelled(figures, now.response.located, one.whole, one.at_place))
    return rows


def fitted(rows: Sequence[Labelled]) -> Logistic:
    """Return the confidence that the rows give, each counting alike."""
    wanted = np.array([row.whole for row in rows], dtype=np.float64)
    return fit([row.figures for row in rows], wanted, np.ones(len(rows)), ridge=_RIDGE)


def across_folds(rows: Sequence[Labelled]) -> Floats:
    """Return each row's confidence by weights fitted without it and its fold, (n,)."""
    folds = np.random.default_rng(_SHUFFLED).permutation(len(rows)) % min(FOLDS, len(rows))
    sure = np.zeros(len(rows))
    for fold in range(folds.max() + 1):
        head = fitted([row for row, of in zip(rows, folds, strict=True) if of != fold])
        for n in np.flatnonzero(folds == fold).tolist():
            sure[n] = min(rows[n].located, probability(head.log_odds(rows[n].figures)))
    return sure


def report(rows: Sequence[Labelled]) -> Iterator[str]:
    """Yield how reliable the confidence is, cross-validated, and the shipped `located`."""
    sure = across_folds(rows)
    yield f"confidence, fitted in {FOLDS} folds: {len(rows)} answers"
    yield from _reliability(sure.tolist(), [row.whole for row in rows])
    yield "confidence, as shipped (fitted on some of these answers)"
    shipped = [confidence_of(row.figures, row.located) for row in rows]
    yield from _reliability(shipped, [row.whole for row in rows])
    yield "located, as shipped, against whether the place is right"
    yield from _reliability([row.located for row in rows], [row.at_place for row in rows])


def _reliability(sure: Sequence[float], right: Sequence[bool]) -> Iterator[str]:
    """Yield the calibration error, the AUROC, the Brier score, and what is right in each band."""
    error, area = calibration_error(sure, right), auroc(sure, right)
    mean = f"mean {np.mean(sure):.3f}, right {np.mean(right):.3f}"
    brier = float(np.mean((np.array(sure) - np.array(right)) ** 2))
    base = float(np.mean((np.mean(right) - np.array(right)) ** 2))
    yield f"  {mean}, calibration error {error:.3f}, AUROC {area:.3f}"
    yield f"  Brier score {brier:.3f}; of the share of right ones for each, {base:.3f}"
    for low, high in pairwise(_BANDS):
        those = [ok for value, ok in zip(sure, right, strict=True) if low <= value < high]
        if those:
            bounds = interval(sum(those), len(those))
            spread = f"[{bounds[0]:.2f}, {bounds[1]:.2f}]"
            yield f"    {low:.2f} to {min(high, 1.0):.2f}: {sum(those)} of {len(those)} {spread}"
