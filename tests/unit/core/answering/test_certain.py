"""What code is certain of: numbers with units, code, links, copies."""

import pytest

from core.answering.grounding.certain import Flaw, Support, certain_flaw, is_copied, with_code_of

LEVY = "The levy rose to 15% in 1998, and a family of three paid $1,200 a year."


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It rose to 15 percent.", LEVY),
        ("In 1998 it was fifteen percent.", LEVY),
        ("3 people paid 1200 dollars.", LEVY),
        ("The 2 banks merged.", "Zwei Banken fusionierten."),
        ("It took 1.5 km.", "Er war 1,5 km lang."),
        ("Each pays 5% at most.", "Each pays 5 or 6 percent."),
        ("It began in the 19th century.", "In the nineteenth century it began."),
        ("They paid 0.5 of it.", "They paid half of it."),
        ("It is over 65.", "It is over 65 years."),
        ("He went once and came second.", "He went and came back."),
        ("The deficit was $1.4 trillion.", "A deficit of 1.4 trillion dollars."),
        ("R² is the share explained.", "The value $R^2$ is the share explained."),
        ("The share is $R^2$.", "R² is the share explained."),
        ("It holds 10⁶ litres.", "It holds $10^6$ litres."),
        ("H₂O is water.", "Water is H$_2$O."),
        ("It held at p < 0.05.", "It held at p < .05."),
        ("`Option` has 2 variants.", "The type `Option` has two variants."),
    ],
)
def test_a_number_may_be_written_in_other_ways(claim: str, source: str) -> None:
    assert certain_flaw(claim, Support((source,))) is None


@pytest.mark.parametrize(
    ("claim", "flaw"),
    [
        ("It rose to 16%.", Flaw.NUMBER),
        ("It rose to $15.", Flaw.NUMBER),
        ("It rose by -15%.", Flaw.NUMBER),
        ("It rose to 15 million.", Flaw.NUMBER),
        ("It rose in 1999.", Flaw.NUMBER),
        ("It rose to 10⁶.", Flaw.NUMBER),
        ("It rose, and Key0123456789 with it.", Flaw.NUMBER),
        ("It rose: `levy += 15`.", Flaw.CODE),
        ("It rose, see https://levy.example/now.", Flaw.LINK),
        ("It rose, ask @levy.", Flaw.LINK),
    ],
)
def test_what_the_sentences_surely_lack_is_named(claim: str, flaw: Flaw) -> None:
    assert certain_flaw(claim, Support((LEVY,))) is flaw


def test_a_heading_may_have_the_number() -> None:
    support = Support(("It was high.",), ("The levy of 1998",))
    assert certain_flaw("The levy of 1998 was high.", support) is None


def test_what_the_asker_wrote_may_be_spoken_of() -> None:
    claim = "Your loop `for i in range(7)` runs 7 times."
    assert certain_flaw(claim, Support(("A loop repeats.",))) is Flaw.CODE
    assert certain_flaw(claim, Support(("A loop repeats.",)), ["for i in range(7): pass"]) is None


@pytest.mark.parametrize(
    ("claim", "flaw"),
    [
        ("It gives `Some(6)`.", None),
        ("It gives `Some(7)`.", Flaw.CODE),
        ("It gives `i - 6`.", Flaw.CODE),
        ("Write `match i { Some(total) => total }`.", None),
        ("Write:\n\n```rust\nSome(6)\n```", Flaw.CODE),
    ],
)
def test_a_line_of_code_may_be_made_of_what_its_passage_names(
    claim: str, flaw: Flaw | None
) -> None:
    said = "The `i` is bound, and a new `Some` has our total `6` inside."
    around = "A `match` has arms with `=>`."
    assert certain_flaw(claim, Support((said,), around=(f"{around} {said}",))) is flaw


def test_a_number_inside_of_code_is_compared_as_code() -> None:
    support = Support(("Write `[3; 5]` for an array.",))
    assert certain_flaw("The array `[3; 5]` is made.", support) is None


def test_a_copy_is_all_of_what_is_cited() -> None:
    assert is_copied("the levy **rose**", Support(("The levy rose.",)))
    assert is_copied("It rose. It fell.", Support(("It rose.", "It fell.")))
    assert not is_copied("It rose.", Support(("It rose, then fell.",)))


MAIN = "```rust\nfn main() {\n    run();\n}\n```"


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("```rust\nfn main() {\n  run();\n}\n```", MAIN),
        (
            "1. Write:\n   ```rust\n   fn main() {\n     run();\n   }\n   ```\n2. Run it.",
            "1. Write:\n   ```rust\n   fn main() {\n       run();\n   }\n   ```\n2. Run it.",
        ),
        (
            "> ```rust\n> fn main() {\n>   run();\n> }\n> ```",
            "> ```rust\n> fn main() {\n>     run();\n> }\n> ```",
        ),
        ("Call `run( )`.", "Call `run()`."),
        ("Call `walk( )`.", "Call `walk( )`."),
    ],
)
def test_code_is_shown_as_the_book_has_it_where_it_stands(claim: str, shown: str) -> None:
    assert with_code_of(claim, [f"Write this.\n\n{MAIN}"]) == shown
