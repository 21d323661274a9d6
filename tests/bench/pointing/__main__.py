"""Fits the head that tells whether a question only points, and prints how it does.

`python -m tests.bench.pointing` prints; with `--write` it also writes the weights.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.context.pointing import WEIGHTS, PointingHead, save_weights
from bot.providers.offline_model import installed_model
from core.embeddings.local import LocalEmbedder
from tests.bench.pointing.lines import HELD_OUT_NAMES, HELD_OUT_POINTS, NAMES, POINTS, lines

Floats = npt.NDArray[np.float64]

_RIDGE = 1.0
"""L2 penalty on the weights; the bias is free."""
_STEPS = 50


def fit(vectors: Floats, labels: Floats, ridge: float = _RIDGE) -> Floats:
    """Return a logistic regression's weights, the bias last, by Newton's method."""
    rows = np.hstack([vectors, np.ones((len(vectors), 1))])
    penalty = np.full(rows.shape[1], ridge / 10)
    penalty[-1] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (chance - labels) + penalty * weights
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


async def embedded(listed: list[str], models: Path) -> Floats:
    """Return the built-in model's vectors of lines, as the head reads them."""
    embedder = LocalEmbedder(installed_model(), models, threads=1)
    try:
        return np.asarray(await embedder.embed_queries(listed), dtype=np.float64)
    finally:
        embedder.close()


def table(head: PointingHead, vectors: Floats, points: int) -> str:
    """Return how many of the lines, those that point first, are read rightly."""
    marks = [head.probability(row.astype(np.float32)) >= 0.5 for row in vectors]
    found, kept = sum(marks[:points]), len(marks) - points - sum(marks[points:])
    return f"{found} of {points} that point, {kept} of {len(marks) - points} that name a subject"


async def main() -> None:
    """Fit, judge, and write where it is asked for."""
    parser = argparse.ArgumentParser(prog="tests.bench.pointing")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--models", type=Path, help="where the prepared model lies")
    chosen = parser.parse_args()
    models = chosen.models or Path(tempfile.mkdtemp())
    known = (lines(POINTS), lines(NAMES))
    unknown = (lines(HELD_OUT_POINTS), lines(HELD_OUT_NAMES))
    train = await embedded([*known[0], *known[1]], models)
    labels = np.array([1.0] * len(known[0]) + [0.0] * len(known[1]))
    weights = fit(train, labels).astype(np.float32)
    head = PointingHead(weights)
    print("train:   ", table(head, train, len(known[0])))
    print(
        "held out:",
        table(head, await embedded([*unknown[0], *unknown[1]], models), len(unknown[0])),
    )
    if chosen.write:
        save_weights(weights)
        print(f"written: {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    asyncio.run(main())
