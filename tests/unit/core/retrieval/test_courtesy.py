"""Greetings and thanks around a question are left out; a question without any is untouched."""

from pathlib import Path

import pytest

from bot.providers.offline_model import installed_model
from core.embeddings.local import LocalEmbedder
from core.retrieval.question.courtesy import without_courtesy
from tests.embedding import HashingEmbedder

PLAIN = "How many tides does the moon raise?"


@pytest.fixture(scope="module")
def embedder(models: Path) -> LocalEmbedder:
    return LocalEmbedder(installed_model(), models, threads=1)


@pytest.mark.parametrize(
    "polite",
    [
        f"Hi everyone! {PLAIN}",
        f"{PLAIN} Thanks a lot!",
        f"Hi there, could you please tell me: {PLAIN} Thanks!",
        f"Hallo zusammen, {PLAIN} Vielen Dank!",
    ],
)
async def test_courtesy_at_the_edges_is_left_out(embedder: LocalEmbedder, polite: str) -> None:
    assert await without_courtesy(polite, embedder) == PLAIN


@pytest.mark.parametrize(
    "question",
    [
        PLAIN,
        "Thanks a lot!",
        "Hello! Thanks!",
        "In the short run, what happens to prices?",
        "A firm borrows money. What is the cost, and who pays it?",
    ],
)
async def test_what_asks_something_stays(embedder: LocalEmbedder, question: str) -> None:
    assert await without_courtesy(question, embedder) == question


async def test_without_the_heads_model_nothing_is_left_out() -> None:
    polite = f"Hi everyone! {PLAIN}"
    assert await without_courtesy(polite, HashingEmbedder(dimensions=64)) == polite
