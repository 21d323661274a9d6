"""What a parser hands on: one document as plain text, and its structure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain import links as writing
from core.domain.markdown import code_spans


class BlockKind(StrEnum):
    """What a block is, which decides where it may be cut."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"


class BlockRole(StrEnum):
    """What a block is for: only text answers questions."""

    TEXT = "text"
    EXERCISE = "exercise"
    CAPTION = "caption"
    NAVIGATION = "navigation"
    BOILERPLATE = "boilerplate"
    FRONT_MATTER = "front_matter"


class EntryPart(StrEnum):
    """Where in an entry a block stands: in a term or option with what is said of it."""

    START = "start"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item, table, fence, formula or heading.

    `text` is never blank. Inline markup is gone (links and emphasis are their own words),
    inline code keeps its backticks, formulas their dollar signs, code its fence with the
    language, tables are pipe tables with their header row, list items keep a bullet or number.
    """

    kind: BlockKind
    text: str
    level: int = 0
    """1 to 6 for a heading, otherwise in how many lists it lies: counted for list items, and for
    paragraphs of one."""
    anchor: str | None = None
    """For a heading: the fragment its published page gives it, without `#`."""
    locator: Mapping[str, int] = field(default_factory=dict)
    """Where it stood in the source, counted from 1: `page`, `slide`, `cell`, or `line_start` and
    `line_end` (inclusive); and `second`, from 0, in a recording."""
    role: BlockRole = BlockRole.TEXT
    """As its markup says; otherwise judged by where the block stands."""
    linked: float = 0.0
    """The share of its letters that stand in links, 0 to 1."""
    recognised: bool = False
    """Whether a program read it from a picture of the page, as of a scan."""
    entry: EntryPart | None = None
    """Its part in an entry of a definition or option list; the first block begins with the term.
    None outside of one."""


@dataclass(frozen=True, slots=True)
class Omission:
    """An element of a document that its text does not have, such as a text box or struck words."""

    kind: str
    """A singular noun for people: `text box`, `equation`, `struck text`, `comment`."""
    where: str = ""
    """Where it stood, for people: `page 3`, `slide 4`, `line 12`; empty where that is not known."""
    words: int = 0
    """How many words it held; 0 where it held none, or they cannot be counted."""
    count: int = 1
    """How many such elements it stands for: more than one where a document has very many."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document after parsing: its title and its blocks in reading order."""

    title: str | None
    """From front matter or metadata, else none; the first heading is used instead."""
    blocks: tuple[Block, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What front matter or document properties say: `slug`, `sidebar_label`, `author` ..."""
    warnings: tuple[str, ...] = ()
    """One sentence for each thing left out: a missing include, a page without text."""
    left_out: tuple[Omission, ...] = ()
    """Every element that was not read, in reading order."""
    format: str = ""
    """The name of the entry of its format; empty while its reader is at work."""


def document_of(
    title: str | None,
    blocks: Iterable[Block],
    *,
    metadata: Mapping[str, str] | None = None,
    warnings: Iterable[str] = (),
    left_out: Iterable[Omission] = (),
) -> ParsedDocument:
    """Return a document with its blank blocks dropped."""
    kept = tuple(block for block in blocks if block.text.strip())
    return ParsedDocument(title, kept, dict(metadata or {}), tuple(warnings), tuple(left_out))


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_FOOTNOTE_SIGNS = "*†‡§"
_CHINESE = "〇一二三四五六七八九"
_COUNTED_IN_CHINESE = frozenset(
    {
        *("chineseCounting", "chineseCountingThousand", "japaneseCounting"),
        *("taiwaneseCounting", "taiwaneseCountingThousand"),
    }
)
_ENCLOSED = {
    "decimalEnclosedCircle": "①",
    "decimalEnclosedCircleChinese": "①",
    "decimalEnclosedParen": "⑴",
    "decimalEnclosedFullstop": "⒈",
}
_ENCLOSED_UP_TO = 20


def counted(number: int, shape: str) -> str:
    """Return a number as a number format of Word writes it; one that is unknown is decimal."""
    match shape:
        case "none":
            return ""
        case "decimalZero":
            return f"{number:02}"
        case "lowerLetter" | "upperLetter":
            return _cased(_lettered(number, _LATIN), shape)
        case "russianLower" | "russianUpper":
            return _cased(_lettered(number, _RUSSIAN), shape)
        case "lowerRoman" | "upperRoman":
            return _cased(_roman(number), shape)
        case "ordinal":
            return f"{number}{_ending(number)}"
        case "numberInDash":
            return f"- {number} -"
        case "chicago":
            return _lettered(number, _FOOTNOTE_SIGNS)
        case _ if shape in _ENCLOSED and 0 < number <= _ENCLOSED_UP_TO:
            return chr(ord(_ENCLOSED[shape]) + number - 1)
        case _ if shape in _COUNTED_IN_CHINESE and 0 < number < 100:
            return _in_chinese(number)
    return str(number)


def is_known(shape: str) -> bool:
    """Return whether numbers are written in a format as it asks for, not as decimal ones."""
    return shape == "decimal" or counted(1, shape) != "1"


def _cased(text: str, shape: str) -> str:
    return text.upper() if shape.startswith("upper") or shape.endswith("Upper") else text


def _lettered(number: int, letters: str) -> str:
    """Return a, b ... z, aa, bb ... as Word counts with letters."""
    if number < 1:
        return ""
    rounds, place = divmod(number - 1, len(letters))
    return letters[place] * (min(rounds, 30) + 1)


def _roman(number: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        text += sign * min(times, 30)
    return text


def _ending(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _in_chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    text = ("" if tens == 1 else _CHINESE[tens]) + "十" if tens else ""
    return text + (_CHINESE[ones] if ones else "")


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
