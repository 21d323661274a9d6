"""What code is certain of: numbers with units, code, links, copies."""

import pytest

from core.grounding.judge.base import CitedClaim, Flaw
from core.grounding.judge.certain import certain_flaw, is_copied, with_code_of

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
        ("`Option` has 2 variants.", "The type `Option` has two variants."),
    ],
)
def test_a_number_may_be_written_in_other_ways(claim: str, source: str) -> None:
    assert certain_flaw(CitedClaim(claim, (source,))) is None


@pytest.mark.parametrize(
    ("claim", "flaw"),
    [
        ("It rose to 16%.", Flaw.NUMBER),
        ("It rose to $15.", Flaw.NUMBER),
        ("It rose by -15%.", Flaw.NUMBER),
        ("It rose to 15 million.", Flaw.NUMBER),
        ("It rose in 1999.", Flaw.NUMBER),
        ("It rose, and Key0123456789 with it.", Flaw.NUMBER),
        ("A family of four paid it.", Flaw.NUMBER),
        ("It rose: `levy += 15`.", Flaw.CODE),
        ("It rose, see https://levy.example/now.", Flaw.LINK),
        ("It rose, ask @levy.", Flaw.LINK),
    ],
)
def test_what_the_sentences_surely_lack_is_named(claim: str, flaw: Flaw) -> None:
    assert certain_flaw(CitedClaim(claim, (LEVY,))) is flaw


def test_a_heading_may_have_the_number() -> None:
    claim = CitedClaim("The levy of 1998 was high.", ("It was high.",), ("The levy of 1998",))
    assert certain_flaw(claim) is None


def test_a_number_inside_of_code_is_compared_as_code() -> None:
    claim = CitedClaim("The array `[3; 5]` is made.", ("Write `[3; 5]` for an array.",))
    assert certain_flaw(claim) is None


def test_a_copy_is_all_of_what_is_cited() -> None:
    assert is_copied(CitedClaim("the levy **rose**", ("The levy rose.",)))
    assert is_copied(CitedClaim("It rose. It fell.", ("It rose.", "It fell.")))
    assert not is_copied(CitedClaim("It rose.", ("It rose, then fell.",)))


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
