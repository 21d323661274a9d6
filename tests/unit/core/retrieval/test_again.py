"""A wish to see an answer again is known, and a question about something else is not one."""

from pathlib import Path

import pytest

from bot.embedders import installed_model
from core.domain import Again
from core.providers.embeddings.local import LocalEmbedder
from core.retrieval.questions import wanted_again
from tests.embedding import HashingEmbedder


@pytest.fixture(scope="module")
def embedder(models: Path) -> LocalEmbedder:
    return LocalEmbedder(installed_model(), models, threads=1)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Shorter", Again.SHORTER),
        ("Could you make it shorter, please?", Again.SHORTER),
        ("Simpler please", Again.SHORTER),
        ("Kürzer bitte", Again.SHORTER),
        ("Geht das einfacher?", Again.SHORTER),
        ("Longer", Again.LONGER),
        ("Tell me more about that", Again.LONGER),
        ("Mehr dazu", Again.LONGER),
        ("Where is that?", Again.WHERE),
        ("Which page is that on?", Again.WHERE),
        ("Wo steht das?", Again.WHERE),
    ],
)
async def test_a_wish_is_known(embedder: LocalEmbedder, text: str, wanted: Again) -> None:
    assert await wanted_again(text, embedder) is wanted


@pytest.mark.parametrize(
    "text",
    [
        "And why?",
        "How old is the kiln?",
        "Where is the kiln?",
        "Where does the supply boat land?",
        "Who pays the rent of the server?",
        "And who deletes them then?",
        "What about Mars?",
        "How long does it take?",
        "Is the short run shorter than the long run?",
        "What is a summary?",
        "Thanks!",
        "Und im Winter?",
        "shorter " * 9,
    ],
)
async def test_another_question_is_none(embedder: LocalEmbedder, text: str) -> None:
    assert await wanted_again(text, embedder) is None


async def test_without_the_heads_model_nothing_is_taken_for_a_wish() -> None:
    assert await wanted_again("Shorter", HashingEmbedder(dimensions=64)) is None
