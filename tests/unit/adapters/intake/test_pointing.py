"""The head that tells a question that only points from one that names a subject."""

from pathlib import Path

import numpy as np
import pytest

from adapters.context.pointing import WEIGHTS, Pointing
from bot.providers.offline_model import installed_model
from core.embeddings.local import LocalEmbedder
from tests.bench.pointing.__main__ import embedded, fit
from tests.bench.pointing.lines import HELD_OUT_NAMES, HELD_OUT_POINTS, NAMES, POINTS, lines
from tests.embedding import HashingEmbedder


@pytest.fixture(scope="module")
def embedder(models: Path) -> LocalEmbedder:
    return LocalEmbedder(installed_model(), models, threads=1)


@pytest.mark.costly
async def test_held_out_lines_are_told_apart(embedder: LocalEmbedder) -> None:
    pointing = Pointing(embedder)
    found = [await pointing.only_points(line) for line in lines(HELD_OUT_POINTS)]
    kept = [not await pointing.only_points(line) for line in lines(HELD_OUT_NAMES)]
    assert sum(found) / len(found) >= 0.9
    assert sum(kept) / len(kept) >= 0.95


async def test_a_long_question_names_something(embedder: LocalEmbedder) -> None:
    assert not await Pointing(embedder).only_points("can you answer that? " * 10)


async def test_no_question_only_points_for_a_model_of_other_dimensions() -> None:
    assert not await Pointing(HashingEmbedder(dimensions=256)).only_points("can you answer that?")


@pytest.mark.costly
async def test_the_shipped_weights_are_those_that_the_lines_give(models: Path) -> None:
    train = [*lines(POINTS), *lines(NAMES)]
    labels = np.array([1.0] * len(lines(POINTS)) + [0.0] * len(lines(NAMES)))
    fitted = fit(await embedded(train, models), labels)
    shipped = np.load(WEIGHTS).astype(np.float64)
    cosine = fitted @ shipped / (np.linalg.norm(fitted) * np.linalg.norm(shipped))
    assert cosine > 0.999


def test_no_held_out_line_is_trained_on() -> None:
    trained = {*lines(POINTS), *lines(NAMES)}
    assert not trained & {*lines(HELD_OUT_POINTS), *lines(HELD_OUT_NAMES)}
