"""The judge of words: what it counts, and in what order it puts claims."""

import pytest

from core.grounding.judge.base import CitedClaim, JudgedBy
from core.grounding.judge.lexical import LexicalJudge, figures

CEILING = (
    "A price ceiling keeps the price below its equilibrium.",
    "Quantity demanded then exceeds quantity supplied, and a shortage occurs.",
)


def claim(text: str) -> CitedClaim:
    return CitedClaim(text, CEILING, ("Price Ceilings",))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (
            "A shortage occurs when quantity demanded exceeds quantity supplied.",
            "Landlords neglect buildings when governments regulate apartments.",
        ),
        (
            "A price ceiling keeps prices below the equilibrium.",
            "A price ceiling keeps prices below the equilibrium, which bankrupts manufacturers.",
        ),
        (
            "A price ceiling keeps the price below its equilibrium.",
            "A price ceiling never keeps the price below its equilibrium.",
        ),
    ],
)
async def test_what_the_sentences_have_is_likelier(better: str, worse: str) -> None:
    one, other = [await LexicalJudge().judge(claim(text)) for text in (better, worse)]
    assert one.probability > other.probability
    assert one.by is other.by is JudgedBy.WORDS


async def test_a_claim_in_the_book_s_words_holds_and_one_without_them_does_not() -> None:
    said = "A shortage occurs because quantity demanded exceeds quantity supplied."
    near = await LexicalJudge().judge(claim(said))
    other = "Landlords neglect buildings, and governments never regulate apartments."
    far = await LexicalJudge().judge(claim(other))
    assert near.holds
    assert not far.holds


async def test_words_say_nothing_against_another_language() -> None:
    foreign = CitedClaim("Ein Höchstpreis führt zu Knappheit.", CEILING, is_translated=True)
    verdict = await LexicalJudge().judge(foreign)
    assert verdict.holds
    assert verdict.probability == 0.5


def test_other_forms_of_a_word_are_found_and_headings_count() -> None:
    assert figures(claim("Ceilings keep prices."))["recall"] == 1.0
    assert figures(claim("Floors guarantee wages."))["recall"] == 0.0


def test_a_denial_is_looked_for_in_all_that_a_claim_cites() -> None:
    refusal = "Rust won't let you drop a value by its method, but by the function."
    advice = "So use the function to drop a value."
    both = CitedClaim("Use the function to drop a value.", (refusal, advice))
    assert figures(both)["drops_denial"] == 0.0
    in_one = CitedClaim(both.text, (f"{refusal} Instead, drop a value by the function.",))
    assert figures(in_one)["drops_denial"] == 0.0
    assert figures(CitedClaim(both.text, (refusal,)))["drops_denial"] == 1.0
    reason = ("Functions of another language are unsafe to call.", "It doesn't know these rules.")
    denied = CitedClaim("Calling functions of a language that doesn't know them is unsafe.", reason)
    assert figures(denied)["adds_denial"] == 0.0
    assert figures(CitedClaim(denied.text, reason[:1]))["adds_denial"] == 1.0


def test_a_denial_of_either_side_is_counted() -> None:
    assert figures(claim("A shortage doesn't occur."))["adds_denial"] == 1.0
    denied = CitedClaim("A shortage occurs.", ("A shortage cannot occur.",))
    assert figures(denied)["drops_denial"] == 1.0


def test_a_claim_of_signs_alone_counts_as_covered() -> None:
    assert figures(CitedClaim("…", CEILING))["recall"] == 1.0


async def test_a_claim_that_shares_little_with_its_sentences_never_holds() -> None:
    claim = CitedClaim("They mean the letter a.", ("The keeper trims the wick at dusk.",))
    verdict = await LexicalJudge().judge(claim)
    assert not verdict.holds
