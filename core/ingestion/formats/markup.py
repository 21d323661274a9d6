"""Writes code, tables and entries the one way in which every parser hands them on."""

import re
from collections.abc import Mapping, Sequence

from core.ingestion.document import EntryPart
from core.markdown import writing
from core.markdown.spans import code_spans

_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_BLANKS = re.compile(r"\s+")
_LONE_SHIFT = re.compile(
    r"(?:\{\})?\s*([\^_])\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\circ|\w|[-+*]|\\(?:text|mathrm)\{[^{}]*\}))"
)
_RAISED = str.maketrans("0123456789+-−–=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_RAISED_FOR_LOOKS = frozenset(
    {"st", "nd", "rd", "th", "®", "™", "©", "TM", "º", "ª", "*", "†", "‡"}
)
"""What means the same on the line."""


class Entries:
    """Gives each block its part in the entry that is being read; none outside of one.

    Of entries inside one another, the inner one begins by itself and ends the outer one.
    """

    def __init__(self) -> None:
        self._part: EntryPart | None = None

    def begin(self) -> None:
        """Let an entry begin with the next block."""
        self._part = EntryPart.START

    def end(self) -> None:
        """Let the next block be of no entry, unless one begins."""
        self._part = None

    def take(self) -> EntryPart | None:
        """Return the part of the block that is written now."""
        part = self._part
        self._part = part and EntryPart.REST
        return part


def fenced(code: str, language: str = "") -> str:
    """Return `code` in a fence that its own backticks cannot close."""
    body = code.strip("\n").rstrip()
    label = language.lower() if _LANGUAGE.fullmatch(language) else ""
    return writing.fenced(body, label) if body.strip() else ""


def inline_code(code: str) -> str:
    """Return code of a format in which any blanks are one, between backticks."""
    code = _BLANKS.sub(" ", code).strip()
    return writing.code_span(code) if code else ""


def raised(text: str) -> str:
    """Return superscript as plain text that keeps its meaning: `⁶`, `⁻¹`, `^(2,5)`; `th` stays."""
    text = _BLANKS.sub(" ", text).strip()
    return text if text in _RAISED_FOR_LOOKS else _shifted(text, _RAISED, "^")


def lowered(text: str) -> str:
    """Return subscript as plain text that keeps its meaning: `₂`, `_(max)`."""
    return _shifted(_BLANKS.sub(" ", text).strip(), _LOWERED, "_")


def _shifted(text: str, signs: Mapping[int, int], mark: str) -> str:
    if all(ord(character) in signs for character in text):
        return text.translate(signs)
    is_enclosed = text[0] == "(" and text[-1] == ")"
    return mark + text if is_enclosed else f"{mark}({text})"


def shifted_formula(body: str) -> str | None:
    """Return a formula that only raises or lowers what stands before it, as plain text; else none.

    `10$^6$` and `H$_2$O` are words with a raised or lowered part.
    """
    found = _LONE_SHIFT.fullmatch(body.strip())
    if found is None:
        return None
    inner = (found[2] or found[3] or "").replace(r"\circ", "°").strip()
    if inner == "°":
        return "°"
    inner = re.sub(r"\\(?:text|mathrm|rm)\s*\{?([^{}\\]*)\}?", r"\1", inner)
    return None if "\\" in inner else (raised if found[1] == "^" else lowered)(inner)


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
    cells = [_on_one_line(text).strip().replace("|", "\\|") for text in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _on_one_line(text: str) -> str:
    """Return the text of a cell with single blanks, and with those of its code as they are."""
    pieces, position = list[str](), 0
    for start, end in code_spans(text, 0, len(text)):
        pieces += [_BLANKS.sub(" ", text[position:start]), text[start:end].replace("\n", " ")]
        position = end
    return "".join([*pieces, _BLANKS.sub(" ", text[position:])])
