"""The tables of an answer as Slack's own, one in a message.

Limits of docs.slack.dev/reference/block-kit/blocks/table-block, read 2026-11-27: one table a
message, 100 rows of 20 cells, 10,000 characters in all; no cell is empty; `column_settings` says
how a column is aligned and whether its cells go on in a next line, which they do not by default.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markdown_it.tree import SyntaxTreeNode

from adapters.markdown.dialects import alignments_of, cells
from adapters.markdown.visible import without_controls
from adapters.slack.markup.dialect import MARKDOWN
from adapters.slack.markup.rich_text import rich_text
from core.markdown.blocks import lines_of
from core.markdown.parser import parser

Row = tuple[dict[str, Any], ...]

LONGEST = 5_000
"""Characters of a table, so that a message has room for the text around it."""
_MOST_ROWS = 100
_MOST_COLUMNS = 20
_EMPTY = "\u00a0"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or a part of one with its header, that fits a message."""

    rows: tuple[Row, ...]
    """Rows of cells, the header first."""
    alignments: tuple[str, ...]
    length: int
    """Characters of all cells."""

    @property
    def block(self) -> dict[str, Any]:
        """The block that shows it."""
        settings = [{"align": one or "left", "is_wrapped": True} for one in self.alignments]
        rows = [list(row) for row in self.rows]
        return {"type": "table", "rows": rows, "column_settings": settings}


class Around(NamedTuple):
    """A text, divided by its first table that Slack can show as one."""

    before: str
    tables: tuple[Table, ...]
    """The table in as many parts as it needs; none where there is no such table."""
    after: str


def around_table(markdown: str) -> Around:
    """Return an answer's text in front of its first table, the table, and the text after it."""
    markdown = without_controls(markdown)
    tree = SyntaxTreeNode(parser().parse(markdown))
    found = next((node for node in tree.children if node.type == "table" and node.map), None)
    if found is None or found.map is None:
        return Around(markdown, (), "")
    rows = cells(found, MARKDOWN)
    if len(rows[0]) > _MOST_COLUMNS or any(2 * _length(row) > LONGEST for row in rows):
        return Around(markdown, (), "")
    lines, (first, end) = lines_of(markdown), found.map
    tables = tuple(_parts(rows, alignments_of(found)))
    return Around("".join(lines[:first]), tables, "".join(lines[end:]))


def _parts(rows: Sequence[Sequence[str]], alignments: tuple[str, ...]) -> Iterator[Table]:
    """Yield a table in parts that Slack takes, each with the header."""
    header, *body = rows
    part = [header]
    for row in body:
        if len(part) == _MOST_ROWS or sum(map(_length, [*part, row])) > LONGEST:
            yield _table(part, alignments)
            part = [header]
        part.append(row)
    yield _table(part, alignments)


def _table(rows: Sequence[Sequence[str]], alignments: tuple[str, ...]) -> Table:
    shown = tuple(tuple(_cell(cell) for cell in row) for row in rows)
    return Table(shown, alignments, sum(map(_length, rows)))


def _length(row: Sequence[str]) -> int:
    return sum(map(len, row))


def _cell(markdown: str) -> dict[str, Any]:
    shown = rich_text(markdown) if markdown.strip() else []
    nothing = {"type": "rich_text_section", "elements": [{"type": "text", "text": _EMPTY}]}
    return {"type": "rich_text", "elements": shown or [nothing]}
