"""Greetings and thanks are known, around a question or alone; a question is left untouched."""

import json
from pathlib import Path

import pytest

from bot.embedders import installed_model
from core.providers.embeddings.local import LocalEmbedder
from core.retrieval.questions import is_courtesy_alone, without_courtesy
from tests.embedding import HashingEmbedder

NEAR_TOPIC = [
    json.loads(line)["question"]
    for line in Path("tests/bench/near_topic.jsonl").read_text(encoding="utf-8").splitlines()
]
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
    assert not await is_courtesy_alone("Thanks!", HashingEmbedder(dimensions=64))


@pytest.mark.parametrize(
    "polite",
    ["hello", "Hi there!", "thanks!", "ok great, thank you", "Thanks a lot, that helps!", "Danke!"],
)
async def test_courtesy_alone_is_known(embedder: LocalEmbedder, polite: str) -> None:
    assert await is_courtesy_alone(polite, embedder)


@pytest.mark.parametrize(
    "message",
    [
        PLAIN,
        f"Hi everyone! {PLAIN}",
        "Thanks! And why?",
        "Why?",
        "Ownership",
        "I'm stuck",
        "help me please",
        "shorter please",
        "Who is glad about that?",
        "When can I see Dr Adeyemi?",
        "Is Ms Tran in today?",
        "Can I see Professor Hale tomorrow?",
        "When will I get my mark?",
    ],
)
async def test_what_asks_something_is_not_courtesy_alone(
    embedder: LocalEmbedder, message: str
) -> None:
    assert not await is_courtesy_alone(message, embedder)


async def test_no_question_of_the_measured_ones_is_courtesy_alone(embedder: LocalEmbedder) -> None:
    short = [text for text in NEAR_TOPIC if len(text.split()) <= 8]
    assert short
    assert not [text for text in short if await is_courtesy_alone(text, embedder)]
