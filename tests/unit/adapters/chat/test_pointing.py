"""The head that tells a question that only points from one that names a subject."""

from pathlib import Path

import numpy as np
import pytest

from adapters.chat.question_context import WEIGHTS, Pointer, Pointing, is_called
from bot.embedders import installed_model
from core.providers.embeddings.local import LocalEmbedder
from tests.bench.pointing.__main__ import embedded, fit, training
from tests.bench.pointing.lines import (
    FORMS,
    HELD_OUT_NAMES,
    HELD_OUT_POINTS,
    HELD_OUT_TERMS,
    TERMS,
    lines,
    terms,
)
from tests.bench.pointing.threads import threads
from tests.embedding import HashingEmbedder


@pytest.fixture(scope="module")
def embedder(models: Path) -> LocalEmbedder:
    return LocalEmbedder(installed_model(), models, threads=1)


@pytest.mark.costly
async def test_held_out_lines_are_told_apart(embedder: LocalEmbedder) -> None:
    pointing = Pointing(embedder)
    found = [await pointing.read(line) is not None for line in lines(HELD_OUT_POINTS)]
    kept = [await pointing.read(line) is None for line in lines(HELD_OUT_NAMES)]
    assert sum(found) / len(found) >= 0.89  # a mark of a half lets few questions point in vain
    assert sum(kept) / len(kept) >= 0.95


async def test_a_long_question_names_something(embedder: LocalEmbedder) -> None:
    assert await Pointing(embedder).read("can you answer that? " * 10) is None


async def test_another_model_reads_only_what_the_words_alone_tell() -> None:
    pointing = Pointing(HashingEmbedder(dimensions=256))
    assert await pointing.read("can you answer that?") is None
    assert await pointing.read("the second one") == Pointer(place=1, is_question=True)


@pytest.mark.costly
@pytest.mark.parametrize("listed", [TERMS, HELD_OUT_TERMS])
async def test_what_is_asked_for_by_name_points_nowhere(
    embedder: LocalEmbedder, listed: str
) -> None:
    pointing = Pointing(embedder)
    for form in FORMS[:2]:
        asked = [form.format(term) for term in terms(listed)]
        assert [one for one in asked if await pointing.read(one)] == []


@pytest.mark.costly
async def test_threads_have_their_message_found_and_never_another(embedder: LocalEmbedder) -> None:
    pointing = Pointing(embedder)
    found = [(one, await one.found(pointing)) for one in threads()]
    assert len(found) == 40
    assert sum(thread.is_right(said) for thread, said in found) >= 36
    assert [thread.question for thread, said in found if thread.is_about_another(said)] == []


@pytest.mark.parametrize(
    ("name", "names", "is_one"),
    [
        ("José", ["jose_92", "José Luis"], True),
        ("Ana Maria", ["ana maria"], True),
        ("answer Ana", ["Ana"], True),
        ("Ana", ["Anabel"], False),
        ("Ana", [], False),
    ],
)
def test_a_name_is_a_persons_or_a_part_of_it(name: str, names: list[str], is_one: bool) -> None:
    assert is_called(name, names) is is_one


@pytest.mark.costly
async def test_the_shipped_weights_are_those_that_the_lines_give(models: Path) -> None:
    points, names = training()
    labels = np.array([1.0] * len(points) + [0.0] * len(names))
    fitted = fit(await embedded([*points, *names], models), labels)
    shipped = np.load(WEIGHTS).astype(np.float64)
    cosine = fitted @ shipped / (np.linalg.norm(fitted) * np.linalg.norm(shipped))
    assert cosine > 0.999


def test_no_held_out_line_is_trained_on() -> None:
    trained = {one for part in training() for one in part}
    assert not trained & {*lines(HELD_OUT_POINTS), *lines(HELD_OUT_NAMES)}
