"""Claims that put another word into a place of their quote, or a word into another place."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.embedders import installed_model
from core.embeddings.local import LocalEmbedder
from core.grounding.places import Alignments
from core.grounding.replacements import replacements
from core.grounding.support import Flaw, QuotedPassage, SupportChecker
from core.grounding.words import Reading

GLAZES = (
    "Celadon is fired at a high temperature and majolica at a low one. Celadon owes its green to "
    "iron, and majolica owes its white to tin."
)
PUMP = (
    "The feed pump fills the boiler with fresh water. The stoker then lights the coal, and the "
    "fireman opens the damper."
)
SUPPORT = "Donations and grants pay for the museum, while visitors pay for the concerts."


@pytest.fixture(scope="module")
def checker(models: Path) -> Iterator[SupportChecker]:
    embedder = LocalEmbedder(installed_model(), models)
    yield SupportChecker(embedder)
    embedder.close()


async def flaw(checker: SupportChecker, sentence: str, quote: str) -> Flaw | None:
    passage = QuotedPassage(quote, 0, len(quote))
    return await checker.flaw_of(sentence, [passage], quote)


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The feed pump fills the boiler with salt water.", PUMP),
        ("The feed pump fills the cistern with fresh water.", PUMP),
        ("The stoker then lights the straw, and the fireman opens the damper.", PUMP),
        ("Majolica owes its white to copper.", GLAZES),
        (
            "A corporate bond is repaid after ten years.",
            "A government bond is repaid after ten years.",
        ),
    ],
)
async def test_a_word_that_means_something_else_is_found_in_its_place(
    checker: SupportChecker, sentence: str, quote: str
) -> None:
    assert await flaw(checker, sentence, quote) is Flaw.WORD


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The fireman then lights the coal.", PUMP),
        ("Majolica owes its green to iron.", GLAZES),
        ("Celadon owes its green to tin, and majolica owes its white to iron.", GLAZES),
        ("Visitors pay for the museum, while donations pay for the concerts.", SUPPORT),
    ],
)
async def test_a_word_that_belongs_to_another_clause_is_found(
    checker: SupportChecker, sentence: str, quote: str
) -> None:
    assert await flaw(checker, sentence, quote) is Flaw.ROLES


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The boiler is filled with fresh water by the feed pump.", PUMP),
        ("The feed pump supplies the boiler with fresh water.", PUMP),
        ("The coal is then lit by the stoker.", PUMP),
        ("It is tin that makes majolica white.", GLAZES),
        ("Grants pay for the museum.", SUPPORT),
        ("Donations pay for the museum.", SUPPORT),
        ("Gold conducts heat well.", "Gold and silver conduct heat well."),
        ("Corporate bonds pay interest.", "Corporate bonds and government bonds pay interest."),
        ("Big firms employ many people.", "Large companies employ many people."),
    ],
)
async def test_the_same_in_other_words_passes(
    checker: SupportChecker, sentence: str, quote: str
) -> None:
    assert await flaw(checker, sentence, quote) is None


def test_a_word_is_restored_from_where_its_neighbours_stand() -> None:
    claim = Reading("The feed pump fills the cistern with fresh water.")
    (found,) = replacements(claim, Alignments(claim, Reading(PUMP)))
    assert found.restored == ("The feed pump fills the boiler with fresh water.",)


def test_words_of_other_places_are_no_replacement() -> None:
    claim = Reading("Nobody has ever seen such a machine at work.")
    assert not list(replacements(claim, Alignments(claim, Reading(PUMP))))
