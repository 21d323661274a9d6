"""Teaches markdown-it the tables that Pandoc draws: grid, simple and multiline; and line blocks."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

_GRID = re.compile(r"\+(?:[:=-]+\+)+\s*")
_GRID_ROW = re.compile(r"[|+].*[|+]\s*")
_DASHES = re.compile(r" *-{2,}(?: +-{2,})+ *")
_RULE = re.compile(r" {0,3}-{5,} *")
_LINE = re.compile(r"\|(?: (.*))?")
_LIST_MARK = re.compile(r"\s*[-*+] +(?=\S)")
_MOST_LINES = 2_000

Rows = list[list[str]]


def text_tables_plugin(md: MarkdownIt, *, simple: bool, verse: bool) -> None:
    """Add the token `text_table`, with rows of Markdown in `meta["rows"]`; the first is the head.

    Args:
        simple: whether tables without a frame are read; grids always are.
        verse: whether lines after a bar are verse.
    """
    md.block.ruler.before(
        "table",
        "grid_table",
        _grid_table,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    if simple:
        md.block.ruler.before("table", "simple_table", _simple_table)
    if verse:
        md.block.ruler.before("table", "line_block", _line_block)


def _text(state: StateBlock, line: int) -> str:
    start = state.bMarks[line] + min(state.tShift[line], state.blkIndent)
    return state.src[start : state.eMarks[line]]


def _grid_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]][:2] not in {
        "+-",
        "+=",
        "+:",
    }:
        return False
    lines = list[str]()
    for line in range(start, min(end, start + _MOST_LINES)):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
        if not _GRID_ROW.fullmatch(text):
            break
        lines.append(text)
    while lines and not _GRID.fullmatch(lines[-1]):
        lines.pop()
    rows = _grid_rows(lines) if len(lines) > 2 and _GRID.fullmatch(lines[0]) else None
    return rows is not None and _pushed(state, start, start + len(lines), rows, silent)


def _grid_rows(lines: Sequence[str]) -> Rows | None:
    """Return the rows of a grid; a cell that spans rows is repeated in each of them."""
    from docutils.parsers.rst.tableparser import GridTableParser, TableMarkupError
    from docutils.statemachine import StringList

    drawn = [line.replace(":", "=") if set(line) <= set("+:=") else line for line in lines]
    drawn = [line.replace(":", "-") if set(line) <= set("+:-") else line for line in drawn]
    drawn[0] = drawn[0].replace("=", "-")
    width = max(map(len, drawn))
    try:
        _, head, body = GridTableParser().parse(StringList([line.ljust(width) for line in drawn]))
    except (TableMarkupError, AssertionError, IndexError, ValueError):
        return None
    rows: Rows = []
    for number, row in enumerate([*head, *body]):
        rows += [[] for _ in range(len(rows), number + 1)]
        for column, cell in enumerate(row):
            if cell is None:
                continue
            more_rows, more_columns, _, content = cell
            for below in range(number, min(number + more_rows, len(head) + len(body) - 1) + 1):
                rows += [[] for _ in range(len(rows), below + 1)]
                rows[below] += [""] * (column + more_columns + 1 - len(rows[below]))
                rows[below][column] = _cell(content)
    return rows


def _cell(lines: Sequence[str]) -> str:
    """Return the lines of a cell as one; the items of a list in it are set apart."""
    text = ""
    for line in lines:
        mark = _LIST_MARK.match(line)
        if mark and text:
            text += "; " + line[mark.end() :].strip()
        elif line.strip():
            text += (" " if text else "") + (line[mark.end() :] if mark else line).strip()
    return text


def _simple_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table whose columns are those of the dashes under its head, or above its rows."""
    last = min(end, start + _MOST_LINES)
    first = _text(state, start)
    is_multiline = _RULE.fullmatch(first) is not None and start + 2 < last
    at = start + 1 if is_multiline else start
    while is_multiline and at < last and not _DASHES.fullmatch(_text(state, at)):
        if state.isEmpty(at):
            return False
        at += 1
    if not is_multiline and not _DASHES.fullmatch(first):
        at = start + 1
    if at >= last or not _DASHES.fullmatch(_text(state, at)) or state.isEmpty(start):
        return False
    columns = [found.start() for found in re.finditer("-+", _text(state, at))]
    edges = [*columns[1:], None]
    head = [_text(state, line) for line in range(start + is_multiline, at)]
    if not is_multiline and at + 1 < last and state.isEmpty(at + 1):
        return False
    groups, line = [head] if head else [], at + 1
    closed = False
    group = list[str]()
    while line < last:
        text = _text(state, line)
        if _RULE.fullmatch(text) or _DASHES.fullmatch(text):
            closed, line = True, line + 1
            break
        if state.isEmpty(line) and not is_multiline and head:
            break
        if state.isEmpty(line) or not (is_multiline or not group):
            groups.append(group)
            group = []
        if not state.isEmpty(line):
            group.append(text)
        line += 1
    groups += [group] if group else []
    if (is_multiline or not head) and not closed:
        return False
    rows = [
        [
            _cell([text[(left if left != columns[0] else 0) : right] for text in group])
            for left, right in zip(columns, edges, strict=True)
        ]
        for group in groups
        if group
    ]
    if not head:
        rows.insert(0, [""] * len(columns))
    return len(rows) > 1 and _pushed(state, start, line, rows, silent)


def _line_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read lines of verse, each after a bar, as a paragraph that keeps them."""
    lines, line = list[str](), start
    while line < end and (found := _LINE.fullmatch(_text(state, line))):
        lines.append(found[1] or "")
        line += 1
    if not lines or (
        start + 1 < end and re.fullmatch(r"[\s|:-]*-[\s|:-]*", _text(state, start + 1))
    ):
        return False
    if not silent:
        state.push("paragraph_open", "p", 1).map = [start, line]
        inline = state.push("inline", "", 0)
        inline.content, inline.map = "\\\n".join(one.strip() for one in lines), [start, line]
        inline.children = []
        state.push("paragraph_close", "p", -1)
        state.line = line
    return True


def _pushed(state: StateBlock, start: int, end: int, rows: Rows, silent: bool) -> bool:
    if not silent:
        token = state.push("text_table", "", 0)
        token.map, token.meta = [start, end], {"rows": rows}
        state.line = end
    return True
