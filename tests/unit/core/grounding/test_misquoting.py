"""A quote that says otherwise than the book is told from one that is only worded otherwise."""

import random
import re
from pathlib import Path

import pytest

from core.grounding.misquoting import Misquote, misquote_of
from core.grounding.quoting import QuotedPassage
from core.retrieval.quote_location.matching import BookText
from core.text.sentences import sentence_spans

BEES = """
The bee space is 8 mm wide: a wider gap is filled with comb, a narrower one with propolis.

Treat with formic acid in August, and with oxalic acid in December when there is no brood.
Oxalic acid does not work under capped brood. **Never** treat while honey for people is on the hive.

A colony needs 15 kg of stores for the winter, feed it until the middle of September. A swarm that
has left weighs about 1.5 kg. At its peak a colony has 60,000 workers, and all of them are sisters.

Clipping the queen's wing does not prevent swarming; it only delays it.
Do not place hives in hollows.
"""
GERMAN = (
    "Oxalsäure wirkt nicht unter der verdeckelten Brut, denn sie ist zu schwach. "
    "Der Abstand der Waben ist in der Regel 8 mm breit, und das gilt für alle Beuten im Land."
)
DENIES = re.compile(r"\b(?:no|not|never|cannot)\b", re.IGNORECASE)
PAGES = sorted((Path(__file__).parents[4] / "docs").glob("*.md"))


def judged(quote: str, book: str = BEES) -> Misquote | None:
    match = BookText([("book", book)]).locate(quote)
    assert match.document_id, quote
    return misquote_of(quote, [QuotedPassage(book, match.char_start, match.char_end)])


@pytest.mark.parametrize(
    "quote",
    [
        "Treat while honey for people is on the hive.",
        "treat while honey for people is on the hive",
        "Place hives in hollows.",
        "Work under capped brood. **Never** treat while honey for people is on the hive.",
    ],
)
def test_a_denial_that_was_cut_off_is_hidden(quote: str) -> None:
    assert judged(quote) is Misquote.HIDDEN


@pytest.mark.parametrize(
    "quote",
    [
        "Oxalic acid works under capped brood.",
        "Oxalic acid does now work under capped brood.",
        "Clipping the queen's wing prevents swarming.",
        "Never feed it until the middle of September.",
    ],
)
def test_a_quote_that_says_the_opposite_differs_in_a_denial(quote: str) -> None:
    assert judged(quote) is Misquote.NEGATION


@pytest.mark.parametrize(
    "quote",
    [
        "The bee space is 12 mm wide: a wider gap is filled with comb",
        "A colony needs 51 kg of stores for the winter",
        "5 kg of stores for the winter, feed it until the middle",
        "A swarm that has left weighs about 15 kg.",
        "A colony needs 15 g of stores for the winter",
    ],
)
def test_a_quote_with_another_number_differs_in_it(quote: str) -> None:
    assert judged(quote) is Misquote.NUMBER


def test_a_quote_of_a_german_book_is_compared_too() -> None:
    assert judged("Oxalsäure wirkt unter der verdeckelten Brut", GERMAN) is Misquote.NEGATION
    assert judged("Der Abstand der Waben ist in der Regel 12 mm breit", GERMAN) is Misquote.NUMBER
    assert judged("Oxalsäure wirkt nicht unter der verdeckelten Brut", GERMAN) is None


@pytest.mark.parametrize(
    "quote",
    [
        "Never treat while honey for people is on the hive.",
        "under capped brood. Never treat while honey for people",
        "Oxalic acid does n0t work under capped brood.",
        "Oxalic acid doesn't work under capped brood.",
        "Oxalic acid doesnot work under capped brood.",
        "I do not understand this: Oxalic acid does not work under caped brood.",
        "At its peak a colony has 60 000 workers, and all of them are sisters.",
        "A colony needs 15kg of stores for the winter,\nfeed it until the middle of September [12]",
        "The bee space is 8",
        "The bee space is 8 mm",
    ],
)
def test_other_letters_spaces_and_edges_are_no_misquote(quote: str) -> None:
    match = BookText([("book", BEES)]).locate(quote)
    passage = QuotedPassage(BEES, match.char_start, match.char_end)
    assert not match.document_id or misquote_of(quote, [passage]) is None


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
            passage = QuotedPassage(text, match.char_start, match.char_end)
            assert not match.document_id or misquote_of(quote, [passage]) is None, quote


KILN = """
The first firing takes 9 hours at 950 °C and the second one 12 hours at 1240 °C. Open the damper
once before the glaze melts and twice while the kiln cools down. Mix 30 g of copper oxide into every
bucket of 30 litres. A tray of Beech costs 18 euros and a tray of Maple costs 27 euros by now.
Leave the shelves at least 40 minutes in the warm room. Stack one layer of cups over two layers of
plates whenever the large kiln is fired.
"""
GERMAN_KILN = (
    "Der Ofen wird vor dem Brand einmal gereinigt, und die Platten werden danach zweimal "
    "gestrichen. Der Ton ruht im Keller eine Woche und die Glasur im Schrank drei Monate."
    " Man lässt die Becher"
    " mindestens 5 Stunden auf dem Brett trocknen. Das Rauchen ist in allen Hallen der Töpferei"
    " erlaubt. Man darf einen Becher aus dem warmen Ofen nehmen."
)


@pytest.mark.parametrize(
    "quote",
    [
        "The first firing takes 12 hours at 950 °C and the second one 9 hours at 1240 °C.",
        "The first firing takes 9 hours at 1240 °C and the second one 12 hours at 950 °C.",
        "Open the damper twice before the glaze melts and once while the kiln cools down.",
        "Open the damper twice before the glaze melts and twice while the kiln cools down.",
        "Mix 30 kg of copper oxide into every bucket of 30 litres.",
        "A tray of Beech costs 27 euros and a tray of Maple costs 18 euros by now.",
        "a tray of Beech costs 27 euros and a tray of Maple costs 18 euros",
        "Leave the shelves at most 40 minutes in the warm room.",
        "Leave the shelves at least 40 hours in the warm room.",
        "Stack two layers of cups over one layer of plates whenever the large kiln is fired.",
    ],
)
def test_a_number_that_belongs_to_something_else_is_another_one(quote: str) -> None:
    assert judged(quote, KILN) is Misquote.NUMBER


@pytest.mark.parametrize(
    "quote",
    [
        "The first firing takes nine hours at 950°C and the second one 12 hrs at 1,240 °C.",
        "The first firing takes 9 hours at 950 °C, the 2nd one 12 hours at 1240 °C.",
        "A tray of Maple costs 27 euros, and a tray of Beech costs 18 euros by now.",
        "Open the damper one time before the glaze melts and two times while the kiln cools.",
        "A tray of Maple costs 27 euros and a tray of Beech costs 18 euros by now.",
        "A tray of Beech is 18 euros, and a tray of Maple costs 27 euros.",
        "Leave the shelves for at least 40 minutes in the warm room.",
        "Leave the shelves at least 40 minutes [7] in a warm room.",
        "Stack 0ne layer of cups over two layers of plates whenever the larqe kiln is fired.",
        "and the second one 12 hours at 1240 °C. Open the damper once",
    ],
)
def test_numbers_in_other_words_or_with_what_they_belong_to_are_the_same(quote: str) -> None:
    assert judged(quote, KILN) is None


@pytest.mark.parametrize(
    "quote",
    [
        "Der Ofen wird vor dem Brand dreimal gereinigt, und die Platten werden danach zweimal",
        "vor dem Brand zweimal gereinigt, und die Platten werden danach einmal gestrichen.",
        "Der Ton ruht im Keller drei Monate und die Glasur im Schrank eine Woche.",
        "Der Ton ruht im Keller eine Woche und die Glasur im Schrank drei Jahre.",
        "Man lässt die Becher höchstens 5 Stunden auf dem Brett trocknen.",
        "Man lässt die Becher höchstens fünf Stunden auf dem Brett trocknen.",
    ],
)
def test_times_units_and_bounds_are_told_in_german(quote: str) -> None:
    assert judged(quote, GERMAN_KILN) is Misquote.NUMBER


@pytest.mark.parametrize(
    "quote",
    [
        "vor dem Brand einmal gereinigt, und die Platten werden danach 2mal gestrichen.",
        "Der Ton ruht im Keller eine Woche und die Glasur im Schrank 3 Monate.",
        "Man lässt die Becher wenigstens fünf Stunden auf dem Brett trocknen.",
        "Man darf einem Becher aus dem warmen Ofen nehmen.",
    ],
)
def test_german_numbers_in_other_words_are_the_same(quote: str) -> None:
    assert judged(quote, GERMAN_KILN) is None


@pytest.mark.parametrize("form", "kein keine keinen keinem keiner keines keinerlei".split())
def test_every_form_of_kein_denies(form: str) -> None:
    quote = f"Das Rauchen ist in {form} Hallen der Töpferei erlaubt."
    assert judged(quote, GERMAN_KILN) is Misquote.NEGATION


def test_a_denial_is_no_damaged_article() -> None:
    quote = "Man darf keinen Becher aus dem warmen Ofen nehmen."
    assert judged(quote, GERMAN_KILN) is Misquote.NEGATION


def test_a_short_sentence_is_read_in_the_language_of_the_text_around_it() -> None:
    book = f"{GERMAN_KILN} Nachbarn bringen Kindern gern Lehm mit."
    assert judged("Nachbarn bringen Kindern keinen Lehm mit.", book) is Misquote.NEGATION
