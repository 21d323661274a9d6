"""Writes code and tables the one way in which every parser hands them on."""

import re
from collections.abc import Sequence

_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


def fenced(code: str, language: str = "") -> str:
    """Return `code` in a fence that its own backticks cannot close."""
    longest = max(map(len, re.findall("`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    label = language.lower() if _LANGUAGE.fullmatch(language) else ""
    body = code.strip("\n").rstrip()
    return f"{fence}{label}\n{body}\n{fence}" if body.strip() else ""


def inline_code(code: str) -> str:
    """Return `code` between backticks, more of them where it has some itself."""
    code = re.sub(r"\s+", " ", code).strip()
    if not code:
        return ""
    ticks = "`" * (max(map(len, re.findall("`+", code)), default=0) + 1)
    return f"{ticks}{code}{ticks}" if len(ticks) == 1 else f"{ticks} {code} {ticks}"


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Return `rows` as a pipe table whose header is the first row.

    Short rows are filled up; rows and last columns without text are left out. A table without
    any text is empty.
    """
    filled = [row for row in map(_cells, rows) if row]
    if not filled:
        return ""
    width = max(map(len, filled))
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in filled]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _cells(row: Sequence[str]) -> list[str]:
    """Return the cells of a row up to the last that has any text."""
    cells = [re.sub(r"\s+", " ", text).strip().replace("|", "\\|") for text in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells
