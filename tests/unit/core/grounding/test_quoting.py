import time

import pytest

from core.grounding.quoting import locate_quote

CHUNK = (
    "Prices matter. The **law of demand** states that\na higher [price](http://a.example/c) "
    "doesn’t typically raise demand &amp; supply. Caf\u00e9s sell `Vec<T>` things. It costs 1.5 "
    "percent of in\u00adcome.\n\n- Free lunch\n- Paid dinner\n"
)
SECOND = CHUNK[CHUNK.index("The **law") : CHUNK.index(" Caf\u00e9s")]


def quoted(quote: str, content: str = CHUNK) -> str | None:
    span = locate_quote(content, quote)
    return None if span is None else content[slice(*span)]


@pytest.mark.parametrize(
    "quote",
    [
        "The law of demand states that a higher price doesn't typically raise demand & supply.",
        "LAW OF DEMAND states that a higher [price](http://other.example)",
        "“a higher price doesn't typically raise”",
        "The law of demand … doesn't typically raise",
        "law of demand states [...] raise demand & supply",
    ],
)
def test_a_quote_is_found_whatever_its_marks_and_widened_to_its_sentence(quote: str) -> None:
    assert quoted(quote) == SECOND


@pytest.mark.parametrize(
    "quote",
    [
        "The law of demand states that a lower price",
        "aw of demand states that a higher",
        "It costs 15 percent of income.",
        "raise demand … law of demand states",
        "",
        "…",
        "the law",
        "a higher",
    ],
)
def test_other_words_halves_of_words_and_scraps_are_not_found(quote: str) -> None:
    assert quoted(quote) is None


def test_a_cut_off_denial_comes_back_with_the_whole_sentence() -> None:
    content = "It is not the case that prices always rise. They fall."
    assert quoted("prices always rise", content) == "It is not the case that prices always rise."


def test_short_words_count_as_a_whole_item_and_as_code() -> None:
    assert quoted("Free lunch") == "- Free lunch"
    assert quoted("Vec<T>") == "Cafés sell `Vec<T>` things."
    assert quoted("lunch") is None


def test_invisible_characters_and_accents_make_no_difference() -> None:
    assert quoted("1.5 percent of income") is not None
    assert quoted("Cafe\u0301s sell `Vec<T>` thin\u200bgs") is not None


def test_parts_too_far_apart_are_no_quote() -> None:
    content = "Prices of goods rise. " + "Nothing happens here. " * 40 + "Wages fall a little."
    assert locate_quote(content, "Prices of goods … Wages fall a little") is None


@pytest.mark.parametrize("unit", ["a b ", "aa", "rises. ", "… "])
def test_long_repetitive_texts_take_no_time(unit: str) -> None:
    content = unit * (8_000 // len(unit))
    started = time.perf_counter()
    locate_quote(content, unit * 300 + "z")
    locate_quote(content, (unit * 3 + "…") * 20)
    assert time.perf_counter() - started < 1
