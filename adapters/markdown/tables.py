"""Draws tables for platforms that show none: columns of one width, in rows of characters."""

from collections.abc import Sequence

from wcwidth import width

WIDEST = 60
"""Columns that a phone held upright nearly shows, and any other screen does."""

Rows = Sequence[Sequence[str]]


def drawn(rows: Rows, alignments: Sequence[str]) -> list[str] | None:
    """Return a header, a rule and the rows as aligned lines; None when they are too wide.

    `alignments` has `left`, `right` or `center` for each column; a header is the first row.
    """
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    if sum(widths) + 3 * (len(widths) - 1) > WIDEST:
        return None
    lines = [_line(row, widths, alignments) for row in rows]
    rule = "─┼─".join("─" * columns for columns in widths)
    return [lines[0], rule, *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int], alignments: Sequence[str]) -> str:
    cells = (_aligned(*cell) for cell in zip(row, widths, alignments, strict=True))
    return " │ ".join(cells).rstrip()


def _aligned(cell: str, columns: int, alignment: str) -> str:
    room = columns - width(cell)
    left = {"right": room, "center": room // 2}.get(alignment, 0)
    return " " * left + cell + " " * (room - left)
