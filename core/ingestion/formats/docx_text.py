"""Reads the text of Word paragraphs as they are seen, and names what is left out of it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pypdf._codecs import charset_encoding

from core.ingestion.document import counted, inline_code, is_known, lowered, raised
from core.ingestion.formats.office_math import MATH, MATH_PARAGRAPH, omml_tex

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})
_DEEPEST = 8
_PLACE = re.compile(r"%([1-9])")
Place = tuple[str, int]
"""The id of a numbering and the depth in it, from 0."""


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before a paragraph of a list."""

    text: str
    """Empty for a bullet, and where the level has no label."""
    is_exact: bool = True
    """Whether its number is written in the letters that the document asks for."""


@dataclass(frozen=True, slots=True)
class _Level:
    shape: str
    text: str
    start: int
    restarted_by: int | None
    """The levels that let it begin again are above this one; none: all above it."""
    plain: bool
    """Whether all its numbers are decimal, whatever the levels above write."""
    style: str


class ListNumbering:
    """The lists of one document, and how far each has come.

    All lists of one definition count on together, as in Word, unless one starts anew.
    """

    def __init__(self, numbering: Any, styles: Any) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._definition: dict[str, str] = {}
        self._starts: dict[Place, int] = {}
        self._begun: set[Place] = set()
        self._counts: dict[str, dict[int, int]] = {}
        if numbering is not None:
            self._read(numbering, styles)

    def depth_of_style(self, number: str, style: str) -> int:
        """Return the depth of the level that a paragraph style is linked to, 0 by default."""
        levels = self._levels.get(number, {})
        return next((depth for depth, level in levels.items() if level.style == style), 0)

    def label(self, place: Place) -> Label:
        """Count one more paragraph at a place and return its label."""
        number, depth = place
        levels = self._levels.get(number, {})
        level = levels.get(depth)
        if level is None or level.shape == "bullet":
            return Label("")
        counts = self._counts.setdefault(self._definition[number], {})
        if place in self._starts and place not in self._begun:
            counts[depth] = self._starts[place]
        else:
            counts[depth] = counts[depth] + 1 if depth in counts else level.start
        self._begun.add(place)
        for deeper in range(depth + 1, _DEEPEST + 1):
            limit = levels[deeper].restarted_by if deeper in levels else None
            if limit is None or depth < limit:
                counts.pop(deeper, None)
        shapes = [
            "decimal" if level.plain else levels[int(place) - 1].shape
            for place in _PLACE.findall(level.text)
            if int(place) - 1 in levels
        ]
        text = _PLACE.sub(lambda at: _counted(int(at[1]) - 1, levels, counts, level), level.text)
        return Label(" ".join(text.split()), all(map(is_known, shapes)))

    def _read(self, numbering: Any, styles: Any) -> None:
        definitions = {
            str(one.get(f"{W}abstractNumId")): one for one in numbering.findall(f"{W}abstractNum")
        }
        numbers = {str(one.get(f"{W}numId")): one for one in numbering.findall(f"{W}num")}
        for number, element in numbers.items():
            key = _docx_numbering_value(element, "abstractNumId")
            definition = definitions.get(key)
            if definition is None:
                continue
            if linked := _docx_numbering_value(definition, "numStyleLink"):
                key = _linked_definition(linked, numbers, styles) or key
                definition = definitions.get(key, definition)
            levels = {_own(level, "ilvl"): _level(level) for level in definition.iter(f"{W}lvl")}
            for change in element.findall(f"{W}lvlOverride"):
                depth = _own(change, "ilvl")
                for level in change.findall(f"{W}lvl"):
                    levels[depth] = _level(level)
                if (start := change.find(f"{W}startOverride")) is not None:
                    self._starts[number, depth] = _own(start, "val")
            self._levels[number], self._definition[number] = levels, key


def _counted(
    depth: int, levels: Mapping[int, _Level], counts: Mapping[int, int], of: _Level
) -> str:
    level = levels.get(depth)
    if level is None:
        return ""
    return counted(counts.get(depth, level.start), "decimal" if of.plain else level.shape)


def _level(element: Any) -> _Level:
    restart = element.find(f"{W}lvlRestart")
    legal = element.find(f"{W}isLgl")
    formats = list(_shapes(element))
    return _Level(
        shape=formats[0] if formats else "decimal",
        text=_docx_numbering_value(element, "lvlText"),
        start=_own(found, "val") if (found := element.find(f"{W}start")) is not None else 0,
        restarted_by=_own(restart, "val") if restart is not None else None,
        plain=legal is not None and legal.get(f"{W}val", "1") not in _OFF,
        style=_docx_numbering_value(element, "pStyle"),
    )


def _shapes(level: Any) -> Iterator[str]:
    """Yield the number format; a newer one stands in alternate content, `001` is `custom`."""
    for shape in level.iter(f"{W}numFmt"):
        name = str(shape.get(f"{W}val"))
        yield "decimalZero" if name == "custom" else name


def _linked_definition(style: str, numbers: Mapping[str, Any], styles: Any) -> str:
    """Return the id of the definition that a numbering style has."""
    for one in styles.findall(f"{W}style"):
        if one.get(f"{W}styleId") == style:
            number = one.find(f"{W}pPr/{W}numPr/{W}numId")
            found = numbers.get(str(number.get(f"{W}val"))) if number is not None else None
            return _docx_numbering_value(found, "abstractNumId") if found is not None else ""
    return ""


def _docx_numbering_value(element: Any, name: str) -> str:
    found = element.find(f"{W}{name}")
    return str(found.get(f"{W}val") or "") if found is not None else ""


def _own(element: Any, name: str) -> int:
    value = str(element.get(f"{W}{name}") or "")
    return int(value) if re.fullmatch(r"\d{1,5}", value) else 0


_HEADING = re.compile(r"heading ([1-9])$")
_CODE = re.compile(r"code|preformatted|source|listing|verbatim", re.IGNORECASE)
_CONTENTS = re.compile(r"toc \d|table of figures$|contents \d")
_BODY_TEXT = 9
_MAX_LEVEL = 6
_MAX_STYLE_DEPTH = 20
_TOGGLES = frozenset({"vanish", "strike", "dstrike"})
_OF_PARAGRAPHS = (*_TOGGLES, "vertAlign", "position")
"""What the style of a paragraph may say of its runs; its font and colours say what it is for."""
_OF_RUNS = (*_OF_PARAGRAPHS, "sz", "color", "highlight", "shd", "rFonts", "rStyle")


class Styles:
    """The styles of one document, looked up through the styles they are based on."""

    def __init__(self, styles: Any, numbering: ListNumbering) -> None:
        self._by_id: Mapping[str, Any] = {
            str(style.get(f"{W}styleId")): style for style in styles.findall(f"{W}style")
        }
        self._numbering = numbering

    def heading_level(self, paragraph: Any) -> int:
        """Return 1 to 6 for a title or heading, otherwise 0."""
        for properties in self._properties(paragraph):
            level = properties.find(f"{W}outlineLvl")
            if level is not None:
                rank = _integer(level, _BODY_TEXT)
                return min(rank + 1, _MAX_LEVEL) if rank < _BODY_TEXT else 0
        for name in self._names(paragraph):
            if match := _HEADING.match(name):
                return min(int(match[1]), _MAX_LEVEL)
            if name in {"title", "subtitle"}:
                return 1 if name == "title" else 0
        return 0

    def is_code(self, paragraph: Any) -> bool:
        """Return whether the paragraph is code by its style."""
        return any(map(_CODE.search, self._names(paragraph)))

    def is_contents(self, paragraph: Any) -> bool:
        """Return whether the paragraph is a line of the table of contents."""
        return any(map(_CONTENTS.match, self._names(paragraph)))

    def look(self, run: Any, paragraph: Any) -> Mapping[str, Any]:
        """Return the properties of a run that decide how it is seen; those switched off are not.

        Its own come before those of its character style, and these before its paragraph's.
        """
        found: dict[str, Any] = {}
        for properties, names in self._run_properties(run, paragraph):
            for name in names:
                if name not in found and (one := properties.find(f"{W}{name}")) is not None:
                    found[name] = one
        return {
            name: one
            for name, one in found.items()
            if name not in _TOGGLES or one.get(f"{W}val", "1") not in _OFF
        }

    def list_place(self, paragraph: Any) -> Place | None:
        """Return the numbering's id and the nesting depth from 0, or none."""
        for owner in (paragraph, *self._chain(_used(paragraph))):
            numbering = owner.find(f"{W}pPr/{W}numPr")
            if numbering is None:
                continue
            number, level = numbering.find(f"{W}numId"), numbering.find(f"{W}ilvl")
            if number is None and owner is paragraph and level is not None:
                inherited = self._style_number(paragraph)
                return (inherited, _depth(level)) if inherited else None
            place = str(number.get(f"{W}val")) if number is not None else "0"
            if place == "0":
                return None
            if level is not None:
                return place, _depth(level)
            style = str(owner.get(f"{W}styleId") or "")
            return place, self._numbering.depth_of_style(place, style)
        return None

    def _style_number(self, paragraph: Any) -> str:
        for style in self._chain(_used(paragraph)):
            number = style.find(f"{W}pPr/{W}numPr/{W}numId")
            if number is not None:
                return str(number.get(f"{W}val"))
        return ""

    def _properties(self, paragraph: Any) -> Iterator[Any]:
        """Yield the paragraph's own properties, then those of its styles."""
        for owner in (paragraph, *self._chain(_used(paragraph))):
            properties = owner.find(f"{W}pPr")
            if properties is not None:
                yield properties

    def _run_properties(self, run: Any, paragraph: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
        """Yield the properties that count, and the names of those that do."""
        own = run.find(f"{W}rPr")
        used = own.find(f"{W}rStyle") if own is not None else None
        owners = [(run, _OF_RUNS), *((style, _OF_RUNS) for style in self._chain(used))]
        owners += ((style, _OF_PARAGRAPHS) for style in self._chain(_used(paragraph)))
        for owner, names in owners:
            properties = owner.find(f"{W}rPr")
            if properties is not None:
                yield properties, names

    def _names(self, paragraph: Any) -> list[str]:
        names = (style.find(f"{W}name") for style in self._chain(_used(paragraph)))
        return [str(name.get(f"{W}val")).lower() for name in names if name is not None]

    def _chain(self, used: Any) -> Iterator[Any]:
        """Yield the style that an element names and those that it is based on."""
        for _ in range(_MAX_STYLE_DEPTH):
            style = self._by_id.get(str(used.get(f"{W}val"))) if used is not None else None
            if style is None:
                return
            yield style
            used = style.find(f"{W}basedOn")


def switched_on(properties: Any, name: str) -> bool:
    """Return whether a toggle such as `vanish` is set and not switched off."""
    toggle = properties.find(f"{W}{name}") if properties is not None else None
    return toggle is not None and toggle.get(f"{W}val", "1") not in _OFF


def _used(paragraph: Any) -> Any:
    return paragraph.find(f"{W}pPr/{W}pStyle")


def _depth(level: Any) -> int:
    return min(max(_integer(level, 0), 0), 8)


def _integer(element: Any, default: int) -> int:
    value = str(element.get(f"{W}val") or "") if element is not None else ""
    return int(value) if re.fullmatch(r"\d{1,3}", value) else default


MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
TEXT_BOX = f"{W}txbxContent"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_O = "{urn:schemas-microsoft-com:office:office}"
_V = "{urn:schemas-microsoft-com:vml}"
_PAPER = frozenset({"FFFFFF", "FEFEFE", "FDFDFD"})
_MAX_UNSEEN_HALF_POINTS = 3
_LEAST_SHIFT = 4
"""Half points by which a run of the size of the text is raised so that it is an exponent."""
_MONOSPACED = ("courier", "consolas", "mono", "menlo")
_MARKS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n"} | {
    f"{W}noBreakHyphen": "-"
}
_REMOVED = {f"{W}del": "deleted text", f"{W}moveFrom": "moved-away text"}
_GRAPHICS = {"chart": "chart", "chartex": "chart", "diagram": "diagram", "picture": "picture"}
_SYMBOLS = {
    "symbol": charset_encoding["/Symbol"],
    "zapfdingbats": charset_encoding["/ZapfDingbats"],
}
_WINGDINGS: Mapping[int, str] = {
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x75: "◆",
    0x76: "❖",
    0x77: "◆",
    0xA7: "▪",
    0xA8: "◻",
    0xB7: "•",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
    0x4A: "☺",
    0x4C: "☹",
}
Missing = tuple[str, str]
"""The kind of an element that is not read, and the words that it held."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of text that is shown in one way."""

    text: str
    code: bool = False
    shift: int = 0
    """1 for raised text, -1 for lowered."""
    is_math: bool = False


_GAP = _Piece("")
"""In the place of text that is not shown."""


@dataclass(frozen=True, slots=True)
class WordParagraph:
    """What a reader of the page sees of a paragraph."""

    text: str
    is_code: bool
    """Whether all of it is set in a typewriter font."""
    formula: str
    """The TeX of a paragraph that is nothing but a displayed equation; otherwise empty."""
    notes: tuple[tuple[str, str], ...]
    """The kind and id of the notes that it refers to."""
    diagrams: tuple[Any, ...]
    """The elements that link to what a diagram says."""
    missing: tuple[Missing, ...]


class NoteMarks:
    """Numbers the footnotes and endnotes in the order in which the text refers to them."""

    def __init__(self, settings: Any) -> None:
        self._marks: dict[tuple[str, str], str] = {}
        self._next: dict[str, int] = {}
        self._shapes: dict[str, str] = {}
        for kind, shape in (("footnote", "decimal"), ("endnote", "lowerRoman")):
            own = settings.find(f"{W}{kind}Pr") if settings is not None else None
            self._shapes[kind] = (_value(own, "numFmt") if own is not None else "") or shape
            start = _value(own, "numStart") if own is not None else ""
            self._next[kind] = int(start) if start.isdecimal() and len(start) < 6 else 1

    def mark(self, kind: str, identifier: str, *, is_custom: bool = False) -> str:
        """Return how the page marks a note; a custom mark stands behind it in the text."""
        key = (kind, identifier)
        if key not in self._marks:
            if is_custom:
                self._marks[key] = ""
            else:
                self._marks[key] = counted(self._next[kind], self._shapes[kind])
                self._next[kind] += 1
        return self._marks[key]


class WordText:
    """Reads paragraphs with the styles of their document."""

    def __init__(self, styles: Styles, notes: NoteMarks) -> None:
        self._styles = styles
        self._marks = notes

    def paragraph(self, element: Any) -> WordParagraph:
        """Return a `w:p` element as it is seen."""
        reading = _Reading(self._styles, self._marks, element)
        pieces = list(_closed_up(reading.pieces(element)))
        written = [piece for piece in pieces if piece.text.strip()]
        display = element.find(MATH_PARAGRAPH)
        formula = ""
        if display is not None and all(piece.is_math for piece in written):
            formula = " \\\\ ".join(filter(None, map(omml_tex, display.findall(MATH))))
        return WordParagraph(
            _joined(pieces),
            bool(written) and all(piece.code for piece in written),
            formula,
            tuple(reading.notes),
            tuple(reading.diagrams),
            tuple(reading.missing),
        )


class _Reading:
    """One paragraph, run by run."""

    def __init__(self, styles: Styles, marks: NoteMarks, paragraph: Any) -> None:
        self._styles = styles
        self._marks = marks
        self._paragraph = paragraph
        self._fields: list[bool] = []
        """For each open field whether its instruction, not its result, is being read."""
        self.notes: list[tuple[str, str]] = []
        self.diagrams: list[Any] = []
        self.missing: list[Missing] = []

    def pieces(self, element: Any) -> Iterator[_Piece]:
        for child in element:
            tag = child.tag
            if tag == f"{W}r":
                yield from self._run(child)
            elif tag in (MATH, MATH_PARAGRAPH):
                if tex := omml_tex(child):
                    yield _Piece(f"${tex}$", is_math=True)
                elif "".join(child.itertext()).strip():
                    self._miss("equation", child)
            elif tag in _REMOVED:
                self._miss(_REMOVED[tag], child)
                yield _GAP
            elif tag == f"{W}sdt" and is_placeholder(child):
                self._miss("form control", None)
            elif tag == f"{MC}AlternateContent":
                yield from self.pieces(shown_alternative(child))
            elif tag == f"{W}subDoc":
                self._miss("embedded document", None)
            elif isinstance(tag, str):
                yield from self.pieces(child)

    def _run(self, run: Any) -> Iterator[_Piece]:
        text = "".join(self._run_text(run, run))
        if not text:
            return
        look = self._styles.look(run, self._paragraph)
        if kind := _unseen_as(look, run):
            self.missing.append((kind, text))
            yield _GAP
            return
        yield _Piece(text, _is_code(look), _shift(look))

    def _run_text(self, parent: Any, run: Any) -> Iterator[str]:
        for child in parent:
            match child.tag:
                case _ if child.tag == f"{W}fldChar":
                    self._field(child)
                case _ if any(self._fields):
                    pass
                case _ if child.tag == f"{W}t":
                    yield _in_font(child.text or "", run)
                case _ if child.tag in _MARKS:
                    yield _MARKS[child.tag]
                case _ if child.tag == f"{W}sym":
                    yield self._symbol(child)
                case _ if child.tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
                    yield self._note(child)
                case _ if child.tag == f"{W}delText":
                    self.missing.append(("deleted text", child.text or ""))
                case _ if child.tag == f"{W}commentReference":
                    self.notes.append(("comment", str(child.get(f"{W}id"))))
                case _ if child.tag == f"{W}ruby":
                    for base in child.iterfind(f"{W}rubyBase/{W}r"):
                        yield from self._run_text(base, base)
                case _ if child.tag == f"{MC}AlternateContent":
                    yield from self._run_text(shown_alternative(child), run)
                case _ if child.tag in (f"{W}drawing", f"{W}pict", f"{W}object"):
                    self._graphic(child)

    def _field(self, mark: Any) -> None:
        kind = mark.get(f"{W}fldCharType")
        if kind == "begin":
            if (form := mark.find(f"{W}ffData")) is not None and form.find(f"{W}textInput") is None:
                self._miss("form control", None)
            self._fields.append(True)
        elif kind == "separate" and self._fields:
            self._fields[-1] = False
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _symbol(self, symbol: Any) -> str:
        code = str(symbol.get(f"{W}char") or "")
        place = int(code, 16) if code and not set(code) - set("0123456789abcdefABCDEF") else 0
        text = _translated(chr(place), str(symbol.get(f"{W}font") or "")) if place else ""
        if not text or 0xE000 <= ord(text) <= 0xF8FF:
            self._miss("symbol", None)
            return ""
        return text

    def _note(self, reference: Any) -> str:
        kind = "footnote" if reference.tag == f"{W}footnoteReference" else "endnote"
        identifier = str(reference.get(f"{W}id"))
        custom = str(reference.get(f"{W}customMarkFollows", "0")) not in {"0", "false", "off"}
        self.notes.append((kind, identifier))
        mark = self._marks.mark(kind, identifier, is_custom=custom)
        return f"[{mark}]" if mark else ""

    def _graphic(self, graphic: Any) -> None:
        """Name what a drawing shows; the text of its boxes is read behind the paragraph."""
        found = False
        for data in graphic.iter(f"{_A}graphicData"):
            kind = _GRAPHICS.get(str(data.get("uri")).rstrip("/").rpartition("/")[2])
            if kind == "diagram":
                self.diagrams.append(data)
            elif kind and not in_fallback(data):
                self._miss(kind, None)
            found = found or bool(kind)
        for embedded in graphic.iter(f"{_O}OLEObject"):
            program = str(embedded.get("ProgID") or "")
            is_equation = program.lower().startswith(("equation", "mathtype"))
            self._miss("equation" if is_equation else "embedded object", None)
            found = True
        if found or any(True for _ in graphic.iter(TEXT_BOX, f"{_V}textpath")):
            return
        is_picture = any(True for _ in graphic.iter(f"{_V}imagedata", f"{_A}blip"))
        self._miss("picture" if is_picture else "shape", None)

    def _miss(self, kind: str, element: Any) -> None:
        words = "" if element is None else " ".join(texts_of(element))
        if element is None or words.strip():
            self.missing.append((kind, words))


def texts_of(element: Any) -> Iterator[str]:
    """Yield the texts that stand anywhere in an element, deleted ones too."""
    for text in element.iter(f"{W}t", f"{W}delText"):
        yield text.text or ""


def shown_alternative(alternatives: Any) -> Any:
    """Return the element of `mc:AlternateContent` that Word shows; without any, an empty one."""
    for name in ("Choice", "Fallback"):
        found = alternatives.find(f"{MC}{name}")
        if found is not None and len(found):
            return found
    return ()


def in_fallback(element: Any) -> bool:
    """Return whether an element only repeats what stands before it for older programs."""
    around = next(element.iterancestors(f"{MC}Fallback"), None)
    return around is not None and shown_alternative(around.getparent()) is not around


def is_placeholder(control: Any) -> bool:
    """Return whether a content control only asks for its text."""
    return switched_on(control.find(f"{W}sdtPr"), "showingPlcHdr")


def _joined(pieces: list[_Piece]) -> str:
    """Return pieces as one text: what is shown alike together, so that `¹` and `⁰` are one."""
    alike = [
        replace(look, text="".join(piece.text for piece in group))
        for look, group in groupby(pieces, key=_look)
    ]
    looks = {(piece.code, piece.shift) for piece in alike if piece.text.strip()}
    whole = "".join(piece.text if len(looks) < 2 else _written(piece) for piece in alike)
    return whole.strip("\n")


def _closed_up(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Yield pieces with one blank where text between two blanks is not shown."""
    blank, gap = False, False
    for piece in pieces:
        if piece is _GAP:
            gap = True
            continue
        text = piece.text.lstrip(" ") if gap and blank else piece.text
        if text:
            yield replace(piece, text=text)
            blank, gap = text[-1] == " ", False


def _look(piece: _Piece) -> _Piece:
    return replace(piece, text="", is_math=False)


def _written(piece: _Piece) -> str:
    if piece.code:
        return inline_code(piece.text)
    if not piece.shift or not piece.text.strip():
        return piece.text
    if piece.text.strip().startswith("[") and piece.text.strip().endswith("]"):
        return piece.text  # the mark of a note
    text = piece.text
    start, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{start}{raised(text) if piece.shift > 0 else lowered(text)}{end}"


def _unseen_as(look: Mapping[str, Any], run: Any) -> str:
    """Return as what a reader of the page does not see a run; empty where it is seen."""
    size = _attribute(look.get("sz"))
    if look.get("vanish") is not None or (size.isdigit() and int(size) <= _MAX_UNSEEN_HALF_POINTS):
        return "hidden text"
    if look.get("strike") is not None or look.get("dstrike") is not None:
        return "struck text"
    is_white = _attribute(look.get("color")).upper() in _PAPER
    return "hidden text" if is_white and not _is_shaded(look, run) else ""


def _is_shaded(look: Mapping[str, Any], run: Any) -> bool:
    """Return whether the run, its paragraph, cell, table style or box may have a background."""
    if look.get("highlight") is not None or look.get("shd") is not None:
        return True
    if next(run.iterancestors(TEXT_BOX), None) is not None:
        return True
    around = (element.find(f"{element.tag}Pr") for element in run.iterancestors(*_PAINTED))
    return any(
        found is not None
        and (found.find(f"{W}shd") is not None or found.find(f"{W}tblStyle") is not None)
        for found in around
    )


_PAINTED = tuple(f"{W}{name}" for name in ("p", "tc", "tbl"))


def _is_code(look: Mapping[str, Any]) -> bool:
    fonts = look.get("rFonts")
    font = str(fonts.get(f"{W}ascii") or "").lower() if fonts is not None else ""
    style = _attribute(look.get("rStyle")).lower()
    return any(name in font for name in _MONOSPACED) or "code" in style or "verbatim" in style


def _shift(look: Mapping[str, Any]) -> int:
    align = _attribute(look.get("vertAlign"))
    if align in {"superscript", "subscript"}:
        return 1 if align == "superscript" else -1
    moved = _attribute(look.get("position"))
    by = int(moved) if moved.lstrip("-").isdecimal() and len(moved) < 6 else 0
    is_shifted = abs(by) >= (_LEAST_SHIFT if look.get("sz") is None else 1)
    return (by > 0) - (by < 0) if is_shifted else 0


def _in_font(text: str, run: Any) -> str:
    """Return text with the signs that its font shows for private characters."""
    if not any(0xF000 <= ord(character) <= 0xF0FF for character in text):
        return text
    fonts = run.find(f"{W}rPr/{W}rFonts")
    font = str(fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or "") if fonts is not None else ""
    return "".join(_translated(character, font or "symbol") for character in text)


def _translated(character: str, font: str) -> str:
    """Return the sign that a font of symbols shows in the place of a character."""
    place = ord(character) - 0xF000 if 0xF000 <= ord(character) <= 0xF0FF else ord(character)
    name = font.lower().replace(" ", "")
    if place > 0xFF:
        return character
    if name in _SYMBOLS:
        return _SYMBOLS[name][place]
    if name.startswith("wingdings"):
        return _WINGDINGS.get(place, chr(0xF000 + place)) if name == "wingdings" else chr(0xE000)
    return character


def _attribute(element: Any) -> str:
    return str(element.get(f"{W}val") or "") if element is not None else ""


def _value(properties: Any, name: str) -> str:
    return _attribute(properties.find(f"{W}{name}"))
