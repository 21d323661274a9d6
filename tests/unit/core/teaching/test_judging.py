"""When passages carry a sentence, and which of its citations are right."""

from collections.abc import Collection, Sequence

import pytest

from core.index.terms import Bm25Encoder, TermStatistics
from core.teaching.evaluation.answers import (
    CitedPassage,
    JudgedStatement,
    PassageJudge,
    Statement,
    judged,
)
from tests.embedding import HashingEmbedder

QUOTE = "A price ceiling of $500 keeps rents from rising in Arden."
CHUNK = (
    "Price controls\nA price ceiling is a legal maximum. "
    f"{QUOTE} Fewer flats are offered, and a shortage follows."
)
PASSAGE = CitedPassage(QUOTE, CHUNK)
FAR = CitedPassage("The moon raises two tides.", "The moon raises two tides a day in every sea.")
terms = Bm25Encoder("en").terms


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def judge(embedder: HashingEmbedder) -> PassageJudge:
    statistics = TermStatistics.count([terms(CHUNK), terms(FAR.chunk)])
    return PassageJudge(embedder, statistics, terms)


async def test_a_sentence_of_the_quote_is_carried_without_asking_the_model(
    judge: PassageJudge, embedder: HashingEmbedder
) -> None:
    assert await judge.carries(QUOTE, [FAR, PASSAGE])
    assert embedder.embedded == 0


@pytest.mark.parametrize(
    "sentence",
    [
        "In Arden a price ceiling of $500 keeps rents from rising.",
        "A ceiling of $500 keeps rents in Arden from rising.",
        "Fewer flats are offered, and a shortage follows.",
    ],
)
async def test_other_words_for_the_same_are_carried(judge: PassageJudge, sentence: str) -> None:
    assert await judge.carries(sentence, [PASSAGE])


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Landlords evade a price ceiling by charging deposits and fees.", "words"),
        ("Legal rents follow a shortage in Arden.", "meaning"),
    ],
)
async def test_what_the_passage_does_not_say_is_not_carried(
    judge: PassageJudge, sentence: str, why: str
) -> None:
    assert not await judge.carries(sentence, [PASSAGE]), why


async def test_two_passages_may_carry_together_what_neither_does_alone(
    judge: PassageJudge,
) -> None:
    sentence = "A price ceiling keeps rents from rising, and the moon raises tides in every sea."
    assert await judge.carries(sentence, [PASSAGE, FAR])
    assert not await judge.carries(sentence, [PASSAGE])
    assert not await judge.carries(sentence, [FAR])


# --- citations ----------------------------------------------------------------------------


class Verdicts:
    """Says that a sentence is carried by the sets of quotes that it is told."""

    def __init__(self, *enough: str) -> None:
        self.enough = [set(quotes) for quotes in enough]
        self.asked: list[set[str]] = []

    async def carries(self, sentence: str, passages: Sequence[CitedPassage]) -> bool:
        quotes = {passage.quote for passage in passages}
        self.asked.append(quotes)
        return any(needed <= quotes for needed in self.enough)


async def judge_of(cited: str, enough: Collection[str]) -> JudgedStatement:
    passages = tuple(CitedPassage(quote, quote) for quote in cited)
    return await judged(Statement("It is so.", passages), Verdicts(*enough).carries)


@pytest.mark.parametrize(
    ("cited", "enough", "carried", "right"),
    [
        ("a", "a", True, (True,)),
        ("a", "", False, (False,)),
        ("ab", ["ab"], True, (True, True)),
        ("ab", ["a"], True, (True, False)),
        ("ab", ["a", "b"], True, (True, True)),
        ("abc", ["ab"], True, (True, True, False)),
        ("ab", [], False, (False, False)),
    ],
)
async def test_a_citation_is_right_when_it_is_enough_or_needed(
    cited: str, enough: Collection[str], carried: bool, right: tuple[bool, ...]
) -> None:
    result = await judge_of(cited, enough)
    assert (result.carried, result.right) == (carried, right)


async def test_what_cites_nothing_is_not_carried_and_nobody_is_asked() -> None:
    verdicts = Verdicts("")
    result = await judged(Statement("It is so."), verdicts.carries)
    assert (result.carried, result.right) == (False, ())
    assert verdicts.asked == []
