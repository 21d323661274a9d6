"""A reader learns which words of a quote are not the book's, and not what only letters do."""

import random
import re
from pathlib import Path

import pytest

from core.answering.grounding.differences import Difference, QuotedPassage, differences
from core.domain.sentences import sentence_spans
from core.retrieval.quotes import BookText

BEES = """
The bee space is 8 mm wide: a wider gap is filled with comb, a narrower one with propolis.

Treat with formic acid in August, and with oxalic acid in December when there is no brood.
Oxalic acid does not work under capped brood. **Never** treat while honey for people is on the hive.

A colony needs 15 kg of stores for the winter, feed it until the middle of September. A swarm that
has left weighs about 1.5 kg. At its peak a colony has 60,000 workers, and all of them are sisters.

Clipping the queen's wing does not prevent swarming; it only delays it.
Do not place hives in hollows.
"""
KILN = """
The first firing takes 9 hours at 950 °C and the second one 12 hours at 1240 °C. Open the damper
once before the glaze melts and twice while the kiln cools down. Mix 30 g of copper oxide into every
bucket of 30 litres. A tray of Beech costs 18 euros and a tray of Maple costs 27 euros by now.
Leave the shelves at least 40 minutes in the warm room. Stack one layer of cups over two layers of
plates whenever the large kiln is fired.
"""
GERMAN = (
    "Oxalsäure wirkt nicht unter der verdeckelten Brut, denn sie ist zu schwach. "
    "Der Abstand der Waben ist in der Regel 8 mm breit, und das gilt für alle Beuten im Land. "
    "Man lässt die Becher mindestens 5 Stunden auf dem Brett trocknen. Das Rauchen ist in allen "
    "Hallen der Töpferei erlaubt. Man darf einen Becher aus dem warmen Ofen nehmen."
)
DENIES = re.compile(r"\b(?:no|not|never|cannot|nor|neither|none|without)\b", re.IGNORECASE)
PAGES = sorted((Path(__file__).parents[4] / "docs").glob("*.md"))


def differing(quote: str, book: str) -> list[tuple[str, str]]:
    """Return the quote's words and the book's, where the quote was found."""
    match = BookText([("book", book)]).locate(quote)
    assert match.document_id, quote
    passage = QuotedPassage(book, match.char_start, match.char_end)
    return [(one.quoted, one.written) for one in differences(quote, [passage])]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("Treat while honey for people is on the hive.", ("", "Never")),
        ("treat while honey for people is on the hive", ("", "Never")),
        ("Place hives in hollows.", ("", "Do not")),
        (
            "Work under capped brood. **Never** treat while honey for people is on the hive.",
            ("", "Oxalic acid does not"),
        ),
        ("Oxalic acid works under capped brood.", ("works", "does not work")),
        ("Oxalic acid does now work under capped brood.", ("now", "not")),
        ("Clipping the queen's wing prevents swarming.", ("prevents", "does not prevent")),
        ("Never feed it until the middle of September.", ("Never", "winter")),
    ],
)
def test_a_denial_that_one_of_both_lacks_is_told(quote: str, expected: tuple[str, str]) -> None:
    assert differing(quote, BEES) == [expected]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("Trim the wick. Polish every prism. Wind the clock.", []),
        ("- Trim the wick.\n- Polish every prism.\n- Wind the clock.", []),
        ("1. Trim the wick. 2. Polish every prism. 3. Wind the clock.", []),
        ("Polish every prism. Wind the clock. Write down the hour.", []),
        ("Trim the wick. Polish no prism. Wind the clock.", [("no", "every")]),
        ("Trim the wick. Polish every prism 4 times. Wind the clock.", [("4 times", "")]),
        ("1. Trim the wick. 2. Polish every prism. 5. Wind the clock.", [("5", "3")]),
    ],
)
def test_the_number_of_a_lists_item_is_no_word_of_it(
    quote: str, expected: list[tuple[str, str]]
) -> None:
    book = (
        "Each evening:\n\n1. Trim the wick.\n2. Polish every prism.\n3. Wind the clock.\n"
        "4. Write down the hour.\n"
    )
    assert differing(quote, book) == expected


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("The bee space is 12 mm wide: a wider gap is filled with comb", [("12", "8")]),
        ("A colony needs 51 kg of stores for the winter", [("51", "15")]),
        ("At its peak a colony has 60,001 workers", [("60,001", "60,000")]),
        ("5 kg of stores for the winter, feed it until the middle", [("5", "15")]),
        ("A swarm that has left weighs about 15 kg.", [("15", "1.5")]),
        ("A colony needs 15 g of stores for the winter", [("g", "kg")]),
    ],
)
def test_another_number_or_unit_is_told(quote: str, expected: list[tuple[str, str]]) -> None:
    assert differing(quote, BEES) == expected


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        (
            "The first firing takes 12 hours at 950 °C and the second one 9 hours at 1240 °C.",
            [("12", "9"), ("9", "12")],
        ),
        (
            "Open the damper twice before the glaze melts and once while the kiln cools down.",
            [("twice", "once"), ("once", "twice")],
        ),
        ("Mix 30 kg of copper oxide into every bucket of 30 litres.", [("kg", "g")]),
        ("Leave the shelves at most 40 minutes in the warm room.", [("most", "least")]),
        ("Leave the shelves at least 40 hours in the warm room.", [("hours", "minutes")]),
        ("Mix 30 g of copper oxide into no bucket of 30 litres.", [("no", "every")]),
        ("two layers of plates whenever the small kiln is fired", [("small", "large")]),
    ],
)
def test_what_is_exchanged_is_told(quote: str, expected: list[tuple[str, str]]) -> None:
    assert differing(quote, KILN) == expected


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("Oxalsäure wirkt unter der verdeckelten Brut", [("", "nicht")]),
        ("Der Abstand der Waben ist in der Regel 12 mm breit", [("12", "8")]),
        ("Man lässt die Becher höchstens 5 Stunden auf dem Brett", [("höchstens", "mindestens")]),
        ("Das Rauchen ist in keinen Hallen der Töpferei erlaubt.", [("keinen", "allen")]),
        ("Man darf keinen Becher aus dem warmen Ofen nehmen.", [("keinen", "einen")]),
    ],
)
def test_a_quote_in_german_is_compared_too(quote: str, expected: list[tuple[str, str]]) -> None:
    assert differing(quote, GERMAN) == expected


@pytest.mark.parametrize(
    ("quote", "book"),
    [
        ("Never treat while honey for people is on the hive.", BEES),
        ("under capped brood. Never treat while honey for people", BEES),
        ("Oxalic acid does n0t work under capped brood.", BEES),
        ("Oxalic acid doesnot work under capped brood.", BEES),
        ("I do not understand this: Oxalic acid does not work under caped brood.", BEES),
        ("At its peak a colony has 60 000 workers, and all of them are sisters.", BEES),
        (
            "A colony needs 15kg of stores for the winter,\nfeed it until the middle of "
            "September [12]",
            BEES,
        ),
        ("The bee space is 8 mm wide: a wider gap is", BEES),
        (
            "The first firing takes nine hours at 950°C and the 2nd one 12 hrs at 1,240 °C.",
            KILN,
        ),
        ("Leave the shelves at least 40 minutes [7] in a warm room.", KILN),
        ("Stack 0ne layer of cups over two layers of plates whenever the larqe kiln is", KILN),
        ("and the second one 12 hours at 1240 °C. Open the damper once", KILN),
        ("Stack 1 layer of cups over 2 layers of plates whenever the large kiln is fired.", KILN),
        ("Oxalsäure wirkt nicht unter der verdeckelten Brut", GERMAN),
        ("Man lässt die Becher mindestens fünf Stunden auf dem Brett trocknen.", GERMAN),
        ("Man darf einem Becher aus dem warmen Ofen nehmen.", GERMAN),
    ],
)
def test_letters_spaces_numerals_and_edges_are_not(quote: str, book: str) -> None:
    assert differing(quote, book) == []


def of_sentence(quote: str, sentence: str) -> list[tuple[str, str]]:
    """Return what differs from a whole sentence between two others."""
    before = "Lanterns are lit at dusk. "
    content = f"{before}{sentence}. They are put out at dawn."
    passage = QuotedPassage(content, len(before), len(before) + len(sentence))
    return [(one.quoted, one.written) for one in differences(quote, [passage])]


@pytest.mark.parametrize(
    ("quote", "sentence", "expected"),
    [
        ("A ship shorter than the pier", "A ship longer than the pier", [("shorter", "longer")]),
        ("It is lit after dusk", "It is lit before dusk", [("after", "before")]),
        ("Constants do too.", "Constants do not.", [("too", "not")]),
        ("It must ever be mixed", "It must never be mixed", [("ever", "never")]),
        ("It may only be sold", "It may be sold", [("only", "")]),
        ("It is mixed with solvents", "It is mixed with organic solvents", [("", "organic")]),
        ("The unstable kind burns", "The stable kind burns", [("unstable", "stable")]),
        ("It treats hyperglycemia", "It treats hypoglycemia", [("hyperglycemia", "hypoglycemia")]),
        (
            "The warden may object to the keeper",
            "The keeper may object to the warden",
            [("warden", "keeper"), ("keeper", "warden")],
        ),
        ("Glass is big", "Glass is large", [("big", "large")]),
    ],
)
def test_words_in_anothers_place_are_named(
    quote: str, sentence: str, expected: list[tuple[str, str]]
) -> None:
    assert of_sentence(quote, sentence) == expected


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("Wear goggels in every room", "Wear goggles in every room"),
        ("The light house stands", "The lighthouse stands"),
        ("A keeper watches the lamps", "The keeper watched the lamp"),
        ("(2) The keeper watches", "The keeper watches"),
        ("keeper watches the lamp at", "The keeper watches the lamp at night and by day"),
        ("Thc keeper watchcs the lamps at niqht", "The keeper watches the lamps at night"),
    ],
)
def test_typing_mistakes_endings_and_articles_are_not(quote: str, sentence: str) -> None:
    assert of_sentence(quote, sentence) == []


def test_a_word_that_stands_twice_at_the_edge_is_the_same() -> None:
    content = "They light lamp by lamp, each at its hour."
    passage = QuotedPassage(content, content.index("lamp,"), len(content))
    assert differences("lamp, each at its hour.", [passage]) == []


@pytest.mark.parametrize(
    "quote",
    [
        "https://arden.example.org\nLamps\nThe keeper watches the lamps at night",
        "The keeper watches the lamps at night\nfrom Ann, reading room 4",
        "> Lamps <\n\nThe keeper watches\nthe lamps at night\n\n\u2014 chapter 3",
    ],
)
def test_a_line_without_a_word_of_the_book_is_not_the_quote(quote: str) -> None:
    content = "They rest after dawn. The keeper watches the lamps at night and by day. It is cold."
    passage = QuotedPassage(content, 5, content.index(" It is"))
    assert differences(quote, [passage]) == []
    assert differences(quote.replace("night", "dusk"), [passage]) == [Difference("dusk", "night")]


def test_a_wrapped_line_of_which_a_word_is_the_books_is_compared() -> None:
    content = "The keeper watches the lamps at night."
    passage = QuotedPassage(content, 0, len(content))
    quote = "The guard\nwatches the lamps at night."
    assert differences(quote, [passage]) == [Difference("guard", "keeper")]


def test_what_only_one_of_both_has_is_empty_on_the_other_side() -> None:
    passage = QuotedPassage("It may be sold at once.", 0, 23)
    assert differences("It may not be sold at once.", [passage]) == [Difference("not", "")]
    assert differences("anything", []) == []


@pytest.mark.parametrize(
    ("quote", "told"),
    [
        ("about 1.5 × 10^7 K on 3 m^2 of H2O", []),
        ("about 1.5 × 10**7 K on 3 m2 of H_2O", []),
        ("about 1.5 × 10⁷ K on 3 m² of H₂O", []),
        ("about 1.5 × 10^{7} K on 3 m² of H₂O", []),
        ("about 1.5 × 107 K on 3 m² of H₂O", [Difference("107", "10^7")]),
        ("about 1.5 × 10^6 K on 3 m² of H₂O", [Difference("10^6", "10^7")]),
    ],
)
def test_a_power_is_compared_as_one_however_it_is_typed(quote: str, told: list[Difference]) -> None:
    content = "about 1.5 × 10⁷ K on 3 m² of H₂O"
    assert differences(quote, [QuotedPassage(content, 0, len(content))]) == told


@pytest.mark.costly
def test_honest_quotes_of_the_handbook_are_believed_wherever_they_are_cut() -> None:
    chance = random.Random(7)
    for page in chance.sample(PAGES, 10):
        text = page.read_text("utf-8")
        book, spans = BookText([("page", text)]), sentence_spans(text)
        for span in chance.sample(spans[:-1], 6):
            end = spans[spans.index(span) + chance.randrange(2)].end
            words = [m.span() for m in re.finditer(r"\S+", text[: span.start + 1500])]
            words = [w for w in words if span.start <= w[0] and w[1] <= end]
            first, last = (chance.randrange(1 + len(words) // 4) for _ in range(2))
            quote = text[words[first][0] : words[len(words) - 1 - last][1]]
            if DENIES.search(text[span.start : words[first][0]]):
                continue  # what was cut off is to be told
            match = book.locate(quote)
            first = max(match.char_start - 2_000, 0)  # as long as chunks and their neighbours are
            near = text[first : match.char_end + 2_000]
            passage = QuotedPassage(near, match.char_start - first, match.char_end - first)
            assert not match.document_id or differences(quote, [passage]) == [], quote
