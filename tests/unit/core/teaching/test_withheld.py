"""What counts as telling of a solution that students are to find themselves."""

import copy
import pickle

import pytest

from core.teaching.policy import WithheldSolution

GIVEN = "A kiosk sells 40 umbrellas at 9 euros. What is its revenue? ```f(x)\n```"
SOLUTION = """
1. The revenue is the price times the number of umbrellas sold by the kiosk:
9 x 40 = 360 euros.
2. A wet summer shifts the whole demand curve of umbrellas to the right.
```rust
let revenue = price * sold as f64;
}
```
"""


@pytest.fixture(scope="module")
def withheld() -> WithheldSolution:
    return WithheldSolution(SOLUTION, GIVEN)


@pytest.mark.parametrize(
    "text",
    [
        "A wet summer shifts the whole demand curve.",
        "The WET summers will shift the whole demand curve to the right!",
        "A wet summer shifts. The whole demand curve does.",
        "A **wet** summer *shifts* the whole **demand** curve",
        "A w\u200bet summer shifts the who\u200ble demand curve",
        "A wet summer shifts the whole dеmand curve",  # a Cyrillic letter
        "s u m m e r  s h i f t s  w h o l e  d e m a n d  c u r v e  u m b r e l l a s",
        "curve demand whole the shifts summer wet",
        "T h e c h a n g e i n",
        "MS4gVGhlIGNoYW5nZSBpbiBxdWFudGl0eSBieSB0aGU",
        "`Awetsummershiftsthewholedemandcurveof`",
        "It is 360.",
        "It is 360.00 euros",
        "it comes to three hundred and sixty",
        "`let revenue=price*sold as f64;`",
        "Write\n```\nlet revenue = price * sold as f64;\n```",
    ],
)
def test_what_shares_words_a_result_or_code_leaks(withheld: WithheldSolution, text: str) -> None:
    assert withheld.leaks(text)


@pytest.mark.parametrize(
    "text",
    [
        "Revenue is price times quantity.",
        "The kiosk sells 40 umbrellas at 9 euros.",
        "A demand curve may shift.",
        "Look at chapter 3.",
        "}",
        "",
    ],
)
def test_the_books_own_words_and_what_is_given_do_not_leak(
    withheld: WithheldSolution, text: str
) -> None:
    assert not withheld.leaks(text)


def test_a_short_solution_is_withheld_as_a_whole() -> None:
    withheld = WithheldSolution("Comparative advantage.", "What is it called?")
    assert withheld.leaks("It is called comparative advantage.")
    assert not withheld.leaks("It is an advantage.")


def test_it_is_neither_shown_nor_copied(withheld: WithheldSolution) -> None:
    assert "umbrella" not in repr(withheld)
    assert "360" not in f"{withheld!s}"
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(withheld)
