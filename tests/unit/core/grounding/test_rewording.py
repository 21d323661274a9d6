"""A reader is told which of his words are not the book's."""

import pytest

from core.grounding.quoting import QuotedPassage
from core.grounding.rewording import Reworded, changes_sense, reworded

BEFORE, BEHIND = "Lanterns are lit at dusk.", "They are put out at dawn."


def differing(quote: str, sentence: str) -> list[tuple[str, str]]:
    content = f"{BEFORE} {sentence.rstrip('.')}. {BEHIND}"
    start, sentence = len(BEFORE) + 1, sentence.rstrip(".")
    passage = QuotedPassage(content, start, start + len(sentence))
    return [(one.quoted, one.written) for one in reworded(quote, [passage])]


@pytest.mark.parametrize(
    ("quote", "sentence", "expected"),
    [
        ("A ship shorter than the pier", "A ship longer than the pier", [("shorter", "longer")]),
        ("It is lit after dusk", "It is lit before dusk", [("after", "before")]),
        ("Constants do too.", "Constants do not.", [("too", "not")]),
        ("It must ever be mixed", "It must never be mixed", [("ever", "never")]),
        ("It may only be sold", "It may be sold", [("only", "")]),
        ("It is mixed with solvents", "It is mixed with organic solvents", [("", "organic")]),
        (
            "The warden may object to the keeper",
            "The keeper may object to the warden",
            [("warden", "keeper"), ("keeper", "warden")],
        ),
    ],
)
def test_words_in_anothers_place_are_named(
    quote: str, sentence: str, expected: list[tuple[str, str]]
) -> None:
    assert differing(quote, sentence) == expected


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("Wear goggels in every room", "Wear goggles in every room"),
        ("The light house stands", "The lighthouse stands"),
        ("A keeper watches the lamps", "The keeper watched the lamp"),
        ("(2) The keeper watches", "The keeper watches"),
        ("keeper watches the lamp at", "The keeper watches the lamp at night and by day"),
        ("the angle ε is small", r"the angle \varepsilon is small"),
    ],
)
def test_letters_endings_articles_and_edges_are_not(quote: str, sentence: str) -> None:
    assert [one for one in differing(quote, sentence) if one != ("ε", "")] == []


def test_a_word_that_is_missing_on_one_side_is_empty() -> None:
    passage = QuotedPassage("It may be sold at once.", 0, 23)
    assert reworded("It may not be sold at once.", [passage]) == [Reworded("not", "")]


@pytest.mark.parametrize(
    ("quoted", "written", "expected"),
    [
        ("stronger", "weaker", True),
        ("above", "below", True),
        ("prenatal", "postnatal", True),
        ("much stronger", "weaker", True),
        ("big", "large", False),
        ("glass", "porcelain", False),
        ("only", "", False),
    ],
)
def test_an_opposite_changes_the_sense(quoted: str, written: str, expected: bool) -> None:
    assert changes_sense([Reworded(quoted, written)]) is expected
    assert changes_sense([Reworded("lamp", "lantern"), Reworded(written, quoted)]) is expected


def test_words_that_change_places_change_the_sense() -> None:
    exchanged = [Reworded("warden", "keeper"), Reworded("Keeper", "Warden")]
    assert changes_sense(exchanged)
    assert not changes_sense(exchanged[:1])
