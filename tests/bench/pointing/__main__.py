"""Fits the head that tells whether a question only points, and prints how it does.

`python -m tests.bench.pointing` prints; with `--write` it also writes the weights.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.chat.question_context import (
    WEIGHTS,
    Pointing,
    PointingHead,
    save_weights,
    shipped_head,
)
from bot.embedders import installed_model
from core.providers.embeddings.local import LocalEmbedder
from tests.bench.pointing.lines import (
    ABOUT_MESSAGES,
    FORMS,
    HELD_OUT_NAMES,
    HELD_OUT_POINTS,
    HELD_OUT_TERMS,
    NAMES,
    POINTS,
    TERMS,
    lines,
    terms,
)
from tests.bench.pointing.threads import threads

Floats = npt.NDArray[np.float64]

_RIDGE = 0.5
"""L2 penalty on the weights; the bias is free."""
_STEPS = 50
_FORMS_A_TERM = 4
"""Ways in which each term is asked for in training."""
_POINTS_COUNT = 3
"""How often a line that points counts, as there are fewer of them."""


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
    """Return the built-in model's vectors of lines, each by itself, as the head reads them."""
    embedder = LocalEmbedder(installed_model(), models, threads=1)
    try:
        known = {one: await embedder.embed_queries([one]) for one in dict.fromkeys(listed)}
        return np.concatenate([known[one] for one in listed]).astype(np.float64)
    finally:
        embedder.close()


def table(head: PointingHead, vectors: Floats, points: int) -> str:
    """Return how many of the lines, those that point first, are read rightly."""
    marks = [head.probability(row.astype(np.float32)) >= 0.5 for row in vectors]
    found, kept = sum(marks[:points]), len(marks) - points - sum(marks[points:])
    return f"{found} of {points} that point, {kept} of {len(marks) - points} that name a subject"


def training() -> tuple[list[str], list[str]]:
    """Return the lines that the head is fitted on: those that point, and those that do not."""
    asked = [
        FORMS[(n + more) % len(FORMS)].format(term)
        for n, term in enumerate(terms(TERMS))
        for more in range(_FORMS_A_TERM)
    ]
    return [*lines(POINTS), *lines(ABOUT_MESSAGES)] * _POINTS_COUNT, [*lines(NAMES), *asked]


async def found_in_threads(pointing: Pointing, *, shows: bool) -> Iterator[str]:
    """Return the figures of threads, by part."""
    right, another, count = Counter[str](), Counter[str](), Counter[str]()
    told = list[str]()
    for thread in threads():
        found = await thread.found(pointing)
        count[thread.part] += 1
        right[thread.part] += thread.is_right(found)
        another[thread.part] += thread.is_about_another(found)
        if shows and thread.part == "fit" and not thread.is_right(found):
            told.append(f"  {thread.question!r}: {thread.meant}, found {found}")
    told += [
        f"threads ({one}): {right[one]} of {count[one]} right, {another[one]} about another"
        for one in count
    ]
    return iter(told)


async def names_kept(pointing: Pointing, listed: str) -> AsyncIterator[str]:
    """Yield of each way to ask for a term in how many it is taken to point elsewhere."""
    for form in FORMS:
        asked = [form.format(term) for term in terms(listed)]
        pointing_ones = [one for one in asked if await pointing.read(one)]
        yield f"{form:24} {len(pointing_ones)} of {len(asked)} {pointing_ones[:6] or ''}"


async def main() -> None:
    """Fit, judge, and write where it is asked for."""
    parser = argparse.ArgumentParser(prog="tests.bench.pointing")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true", help="print what is wrong in the fit part")
    parser.add_argument("--models", type=Path, help="where the prepared model lies")
    chosen = parser.parse_args()
    models = chosen.models or Path(tempfile.mkdtemp())
    known = training()
    train = await embedded([*known[0], *known[1]], models)
    labels = np.array([1.0] * len(known[0]) + [0.0] * len(known[1]))
    weights = fit(train, labels).astype(np.float32)
    head = PointingHead(weights)
    print("train:   ", table(head, train, len(known[0])))
    if chosen.write:
        save_weights(weights)
        shipped_head.cache_clear()
        print(f"written: {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")
    embedder = LocalEmbedder(installed_model(), models, threads=1)
    try:
        pointing = Pointing(embedder)
        points = [await pointing.read(one) for one in lines(HELD_OUT_POINTS)]
        names = [await pointing.read(one) for one in lines(HELD_OUT_NAMES)]
        found, kept = len(points) - points.count(None), names.count(None)
        print(f"held out: {found} of {len(points)} that point, {kept} of {len(names)} that name")
        print("\nterms that are taken to point elsewhere, of the head as it is shipped:")
        async for line in names_kept(pointing, HELD_OUT_TERMS):
            print(line)
        print()
        print("\n".join(await found_in_threads(pointing, shows=chosen.show)))
    finally:
        embedder.close()


if __name__ == "__main__":
    asyncio.run(main())
