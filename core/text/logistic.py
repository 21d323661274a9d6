"""A small logistic regression over named figures, with its weights in a file of the package."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Logistic:
    """Gives the probability of what it was fitted on, by the figures of one question."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    """One for each figure, which is shifted by its mean and divided by its scale before."""
    bias: float

    def log_odds(self, figures: Mapping[str, float]) -> float:
        """Return the log odds; every name that was fitted must be in `figures`."""
        rows = zip(self.names, self.means, self.scales, self.weights, strict=True)
        return self.bias + sum(w * (figures[name] - m) / s for name, m, s, w in rows)

    def save(self, path: Path) -> None:
        """Write the weights that the package ships, rounded to four digits."""
        table = {
            figure: [round(value, 4) for value in row]
            for figure, *row in zip(self.names, self.means, self.scales, self.weights, strict=True)
        }
        stored = {"figures": table, "bias": round(self.bias, 4)}
        path.write_text(json.dumps(stored, indent=1) + "\n")

    @classmethod
    def of(cls, rows: Mapping[str, Sequence[float]], bias: float) -> Self:
        """Return the regression with (mean, scale, weight) for each figure."""
        means, scales, weights = (tuple(column) for column in zip(*rows.values(), strict=True))
        return cls(tuple(rows), means, scales, weights, bias)


def probability(log_odds: float) -> float:
    """Return the probability, 0 to 1."""
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, log_odds))))


@cache
def shipped(path: Path) -> Logistic:
    """Return the regression that the package ships in this file; read at its first use."""
    stored = json.loads(path.read_text("utf-8"))
    return Logistic.of(stored["figures"], stored["bias"])
