"""Fits a logistic regression over named figures."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.domain.text_features import Logistic
from core.retrieval.calibration import Floats

_RIDGE = 1.0
_STEPS = 50


def fit(
    figures: Sequence[Mapping[str, float]], wanted: Floats, mass: Floats, *, ridge: float = _RIDGE
) -> Logistic:
    """Return the regression by Newton's method.

    Args:
        wanted: (n,) the probability that each row should have.
        mass: (n,) what each row counts.
        ridge: How much large weights cost; more where there are few rows.
    """
    names = tuple(figures[0])
    rows = np.array([[row[name] for name in names] for row in figures])
    means, scales = rows.mean(0), rows.std(0) + 1e-9
    given = np.column_stack([(rows - means) / scales, np.ones(len(rows))])
    penalty = np.full(given.shape[1], ridge)
    penalty[-1] = 1e-6
    weights = np.zeros(given.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(given @ weights, -30, 30)))
        slope = given.T @ (mass * (chance - wanted)) + penalty * weights
        bend = (given * (mass * chance * (1 - chance))[:, None]).T @ given + np.diag(penalty)
        weights -= np.linalg.solve(bend, slope)
    columns = zip(means.tolist(), scales.tolist(), weights[:-1].tolist(), strict=True)
    return Logistic.of(dict(zip(names, columns, strict=True)), float(weights[-1]))
