"""Whether a sentence stands in a text, and its numbers and names do."""

import pytest

from core.evaluation.agreement import names_agree, numbers_agree, stands_in


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("A tax falls on buyers.", "A *tax*\nfalls on “buyers”."),
        ("See example.org for more.", "See https://www.example.org/a?b=c for more."),
        ("Growth was −2.5% (in 2009).", "Growth was -2.5% [in 2009]."),
        ("x = a + b", "```\nx = a + b\n```"),
        ("Wood burns.", "It is dry. Wood burns. So it is warm."),
        ("See ch. 2. Wood burns.", "It is dry. See ch. 2. Wood burns."),
        ("wood burns", "1. wood burns\n2. stone does not"),
    ],
)
def test_layout_makes_no_difference_to_what_stands_in_a_text(sentence: str, text: str) -> None:
    assert stands_in(sentence, text)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("A tax falls on buyers.", "A tax falls mostly on buyers."),
        ("Prices fall.", "It is wrong that prices fall."),
        ("Growth was 2.5%.", "Growth was -2.5%."),
        ("x = a / b", "x = a + b"),
    ],
)
def test_any_other_word_or_sign_does(sentence: str, text: str) -> None:
    assert not stands_in(sentence, text)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("It costs $4 million.", "The price was $4 million then."),
        ("It costs $1,200.50.", "They paid 1200.50 dollars."),
        ("A fall of 5 percent.", "It fell by 5%."),
        ("Between 5 and 10%.", "From 5% to 10%."),
        ("There are three limits.", "The 3 limits are these."),
        ("It fell to -2%.", "It stood at −2 percent."),
        ("No number at all.", "Nothing."),
    ],
)
def test_numbers_agree_in_any_way_of_writing_them(sentence: str, text: str) -> None:
    assert numbers_agree(sentence, text)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("It costs $4 billion.", "The price was $4 million."),
        ("It costs €4.", "The price was $4."),
        ("A fall of 5%.", "It fell by 5 million."),
        ("In 1974.", "In 1973 and 19740."),
        ("There are four limits.", "There are three limits."),
        ("It was 3.5.", "It was 35 or 3."),
    ],
)
def test_other_numbers_and_units_do_not_agree(sentence: str, text: str) -> None:
    assert not numbers_agree(sentence, text)


@pytest.mark.parametrize(
    ("sentence", "text", "agree"),
    [
        ("As Keynes wrote, GDP fell.", "keynes said that GDP fell", True),
        ("The U.S. economy grew.", "The US economy grew.", True),
        ("A part of Keynes’s law and O'Brien's.", "The law of Keynes, of O’Brien.", True),
        ("Markets clear.", "A market clears.", True),
        ("It says: Markets clear.", "A market clears.", True),
        ("As Hayek wrote, GDP fell.", "Keynes said that GDP fell.", False),
        ("It is a part of M2.", "It is a part of M1.", False),
        ("M2 is money.", "M1 is money.", False),
    ],
)
def test_every_name_has_to_stand_in_the_text(sentence: str, text: str, agree: bool) -> None:
    assert names_agree(sentence, text) is agree
