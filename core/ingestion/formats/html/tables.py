"""Turns an HTML table into rows of equal width, spans filled in."""

from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborNode

from core.ingestion.formats.html.visibility import is_hidden

_MAX_COLUMNS = 60
_MAX_ROW_SPAN = 200


def is_layout(table: LexborNode) -> bool:
    """Return whether a table only arranges the page: its cells hold headings, code, tables."""
    if table.attributes.get("role") in {"presentation", "none"}:
        return True
    return any(inner.mem_id != table.mem_id for inner in table.css("table,pre,h1,h2,h3,h4,h5,h6"))


def table_rows(table: LexborNode, cell_text: Callable[[LexborNode], str]) -> list[list[str]]:
    """Return the text of the cells; a cell that spans rows is repeated in each of them."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for tr in table.css("tr"):
        if not is_hidden(tr):
            rows.append(_row(tr, hanging, cell_text))
    return rows


def _row(
    tr: LexborNode,
    hanging: dict[int, tuple[int, str]],
    cell_text: Callable[[LexborNode], str],
) -> list[str]:
    row: list[str] = []
    for cell in _cells(tr):
        _hang(row, hanging)
        text = cell_text(cell)
        width = min(_span(cell, "colspan"), _MAX_COLUMNS - len(row))
        height = min(_span(cell, "rowspan"), _MAX_ROW_SPAN)
        for offset in range(width):
            if height > 1:
                hanging[len(row)] = (height - 1, text if offset == 0 else "")
            row.append(text if offset == 0 else "")
    _hang(row, hanging)
    return row


def _hang(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Fill the next columns of `row` from cells above that reach down."""
    while len(row) in hanging:
        left, text = hanging.pop(len(row))
        if left > 1:
            hanging[len(row)] = (left - 1, text)
        row.append(text)


def _cells(tr: LexborNode) -> Iterator[LexborNode]:
    child = tr.first_child
    while child is not None:
        if child.tag in {"td", "th"} and not is_hidden(child):
            yield child
        child = child.next


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attributes.get(name) or "").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 6 else 1
