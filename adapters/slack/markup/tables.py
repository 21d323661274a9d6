"""The first table of an answer as the rows of a Slack table block.

Limits of docs.slack.dev/reference/block-kit/blocks/table-block, read 2026-11-25: one table a
message, 100 rows of 20 cells, 10,000 characters in all; no cell is empty.
"""

from typing import Any, NamedTuple

from markdown_it.tree import SyntaxTreeNode

from adapters.markdown.dialects import cells
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


class Around(NamedTuple):
    """A text, divided by its first table that Slack can show as one."""

    before: str
    table: tuple[Row, ...]
    """Rows of cells, the header first; none where there is no such table."""
    after: str
    length: int
    """Characters of the table."""


def around_table(markdown: str) -> Around:
    """Return an answer's text in front of its first table, the table, and the text after it."""
    markdown = without_controls(markdown)
    tree = SyntaxTreeNode(parser().parse(markdown))
    found = next((node for node in tree.children if node.type == "table" and node.map), None)
    if found is None or found.map is None:
        return Around(markdown, (), "", 0)
    rows = cells(found, MARKDOWN)
    length = sum(len(cell) for row in rows for cell in row)
    if len(rows) > _MOST_ROWS or len(rows[0]) > _MOST_COLUMNS or length > LONGEST:
        return Around(markdown, (), "", 0)
    lines, (first, end) = lines_of(markdown), found.map
    table = tuple(tuple(_cell(cell) for cell in row) for row in rows)
    return Around("".join(lines[:first]), table, "".join(lines[end:]), length)


def _cell(markdown: str) -> dict[str, Any]:
    shown = rich_text(markdown) if markdown.strip() else []
    nothing = {"type": "rich_text_section", "elements": [{"type": "text", "text": _EMPTY}]}
    return {"type": "rich_text", "elements": shown or [nothing]}
