"""Which lines of a plain text are its headings."""

import pytest

from core.ingestion.document import BlockKind
from core.ingestion.formats.plain import parse_plain

PROSE = "The keeper trims the wick every four hours, and writes down when the lamp was lit.\n"


def headings(*parts: str) -> list[str]:
    parsed = parse_plain("\n\n".join(parts).encode())
    return [block.text for block in parsed.blocks if block.kind is BlockKind.HEADING]


def test_three_short_lines_above_prose_are_headings() -> None:
    titles = ("The lamp", "Oil and wicks", "At night")
    assert headings(*(part for title in titles for part in (title, PROSE))) == [*titles]


def test_titles_lie_below_what_is_marked_as_a_heading() -> None:
    parsed = parse_plain("\n\n".join(["THE LIGHTHOUSE", *["The lamp", PROSE] * 3]).encode())
    levels = [block.level for block in parsed.blocks if block.kind is BlockKind.HEADING]
    assert levels == [2, 3, 3, 3]


def test_two_short_lines_are_none() -> None:
    assert headings("The lamp", PROSE, "At night", PROSE) == []


@pytest.mark.parametrize(
    ("line", "below"),
    [
        ("It burned.", PROSE),
        ("the lamp", PROSE),
        ("Say this:", PROSE),
        ("- The lamp", PROSE),
        ("    The lamp", PROSE),
        ("The lamp\nand its oil", PROSE),
        ("A lamp that burns with oil of the best kind", PROSE),
        ("The lamp", "Short prose."),
        ("The lamp", PROSE.replace(".", ",")),
        ("The lamp", f"1. {PROSE}"),
        ("The lamp", PROSE.replace(" when", "     when")),
    ],
)
def test_other_lines_are_none(line: str, below: str) -> None:
    assert headings(*[line, below] * 3) == []
