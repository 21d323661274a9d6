"""Draws a PDF page without a canvas: the visible text with its places, the pictures and the rules.

The library parses the page and knows its fonts. Its own text is not taken: it joins what is drawn
by rules of thumb, and does not say where a piece of text ends.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mode
from typing import Any

from pypdf import PageObject
from pypdf.generic import ContentStream
from pypdf.generic._font import Font

_MONOSPACED = (
    "courier",
    "mono",
    "consolas",
    "menlo",
    "cmtt",
    "cmitt",
    "sltt",
    "typewriter",
    "inconsolata",
)
_FIXED_PITCH = 1
_LEAST_GAP, _MOST_GAP = 0.1, 0.2
"""Between which a gap is that of a word, as a share of the size of type, whatever the font says."""
_MOST_KNOWN = 10_000
_RIGHT_TO_LEFT = (range(0x0590, 0x0900), range(0xFB1D, 0xFE00), range(0xFE70, 0xFEFF))
_SIGNS: Mapping[str, Mapping[str, str]] = {
    "cmex": {
        **dict.fromkeys("PX", "∑"),
        **dict.fromkeys("QY", "∏"),
        **dict.fromkeys("RZ", "∫"),
        **dict.fromkeys("HI", "∮"),
        **dict.fromkeys("S[", "⋃"),
        **dict.fromkeys("T\\", "⋂"),
        **dict.fromkeys("pqrst", "√"),
        **dict.fromkeys("\x00\x10\x12\x20", "("),
        **dict.fromkeys("\x01\x11\x13\x21", ")"),
        **dict.fromkeys("\x02\x14\x22h", "["),
        **dict.fromkeys("\x03\x15\x23i", "]"),
        **dict.fromkeys("\x08\x1a\x28n", "{"),
        **dict.fromkeys("\x09\x1b\x29o", "}"),
    },
    "msam": {"\x03": "□", "\x04": "■", "\x07": "♦", "I": "▶", "J": "◀", "N": "▲", "H": "▼"},
}
"""What fonts of mathematics show that do not say so themselves."""
_HANGING: Mapping[str, Mapping[str, float]] = {
    "cmex": {
        **dict.fromkeys("PQRHST", 0.78),
        **dict.fromkeys("XY[\\", 0.95),
        **dict.fromkeys("ZI", 1.36),
        **dict.fromkeys("\x00\x01\x02\x03\x08\x09hijno", 0.83),
        **dict.fromkeys("\x10\x11\x1a\x1b\x14\x15pq", 1.15),
        **dict.fromkeys("\x12\x13\x22\x23\x28\x29rs", 1.45),
        **dict.fromkeys("\x20\x21t", 1.75),
    },
    "cmsy": {"p": 0.7},
}
"""How far below their origin such signs stand on the line, as a share of the size of type."""


class PageFont:
    """A font of a page: what its codes mean, and how wide they are."""

    def __init__(self, resource: Mapping[str, Any] | None) -> None:
        self._resource = resource  # kept, so that no other one has its address as its number
        self._known: dict[bytes, tuple[str, float, int, int]] = {}
        self._characters: dict[str, tuple[str, float]] = {}
        font = Font.from_font_resource(resource) if resource is not None else None  # type: ignore[arg-type]
        self._font = font
        self._signs: Mapping[str, str] = {}
        self._hanging: Mapping[str, float] = {}
        name = font.name.lower() if font else ""
        name = name.replace("lmmathextension", "cmex").replace("lmmathsymbols", "cmsy")
        fixed = bool(font and font.font_descriptor.flags & _FIXED_PITCH)
        for family, signs in _SIGNS.items():
            if family in name:
                self._signs = signs
        for family, hanging in _HANGING.items():
            if family in name:
                self._hanging = hanging
        self.monospaced = fixed or any(part in name for part in _MONOSPACED)
        self._scale = 0.001
        if font and font.sub_type == "Type3" and resource is not None:
            matrix = resource.get("/FontMatrix") or [0.001]
            self._scale = abs(float(matrix[0])) or 0.001
        space = float(font.space_width) * self._scale if font else 0.25
        if self.monospaced and font and (widths := [*font.character_widths.values()]):
            space = float(mode(widths)) * self._scale or space
        self.word_gap = min(max(space / 2, _LEAST_GAP), _MOST_GAP)
        self.space = space

    def read(self, code: bytes) -> tuple[str, float, int, int]:
        """Return the text of codes, their width, their number, and how many are a lone 32."""
        found = self._known.get(code)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[code] = self._read(code)
        return found

    def drop(self, code: bytes) -> float:
        """Return how far below its origin a lone sign stands on the line, usually not at all."""
        return self._hanging.get(chr(code[0]), 0.0) if len(code) == 1 and self._hanging else 0.0

    def _read(self, code: bytes) -> tuple[str, float, int, int]:
        font = self._font
        if font is None:
            return "\ufffd" * len(code), 0.5 * len(code), len(code), code.count(32)
        if isinstance(font.encoding, str):
            try:
                raw = code.decode(font.encoding, "surrogatepass")
            except (UnicodeDecodeError, LookupError):
                raw = code.decode("utf-16-be", "replace")
            spaces = 0
        else:
            raw = code.decode("latin-1")
            spaces = raw.count(" ")
        texts, width = [], 0.0
        for character in raw:
            one = self._characters.get(character) or self._character(font, character)
            texts.append(one[0])
            width += one[1]
        return "".join(texts), width, len(raw), spaces

    def _character(self, font: Font, raw: str) -> tuple[str, float]:
        coded = font.encoding.get(ord(raw), raw) if isinstance(font.encoding, dict) else raw
        text = self._signs.get(raw) or font.character_map.get(coded, coded)
        if len(text) > 1 and is_right_to_left(text[0]):
            text = text[::-1]  # a line from right to left is turned around as a whole
        is_space = raw == font.space_char
        width = font.space_width if is_space else font.get_text_width(raw)
        self._characters[raw] = text, float(width) * self._scale
        return self._characters[raw]


def is_right_to_left(character: str) -> bool:
    """Return whether a letter is of a script that runs from right to left."""
    return any(ord(character) in letters for letters in _RIGHT_TO_LEFT)


_MIN_SIZE = 1.5
_INVISIBLE_MODES = frozenset({3, 7})
WIDE_GAP = 0.8
"""What is between columns and cells and seldom between words, as a share of the size of type."""
_MOST_FORMS = 5_000
_DEEPEST_FORM = 20
_MOST_RULES = 5_000
_RULE_HEIGHT = 2.0
_SLANT = 0.1
_BULLET_SIZE = 12.0
_OPAQUE = 0.05
Line = tuple[float, float, float]
"""From where to where a thin line leads, and its place across."""
Matrix = tuple[float, float, float, float, float, float]
_PLAIN: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class DrawnText:
    """Text that stands on one baseline without a wide gap.

    Places are those of the page turned so that the text runs from left to right.
    """

    text: str
    x: float
    right: float
    y: float
    size: float
    font: PageFont
    turned: int
    """By how many degrees it is turned against the page: 0, 90, 180 or 270."""
    parts: list[tuple[float, float, str]]
    """From where to where on the baseline each piece of the text stands."""
    spaced: tuple[bool, bool] = (False, False)
    """Whether it begins and ends with a space."""
    shift: int = 0
    """1 where it is raised, as an exponent is; -1 where it is lowered."""


@dataclass(slots=True)
class PageContent:
    """What a reader sees of a page, and what of it is not read."""

    spans: list[DrawnText] = field(default_factory=list)
    rules: list[Line] = field(default_factory=list)
    """Thin level lines: from where to where, and their height."""
    bars: list[Line] = field(default_factory=list)
    """Thin upright lines: from which height to which, and their place."""
    pictures: list[int] = field(default_factory=list)
    """The numbers of their objects; negative for one that stands in the page itself."""
    bullets: list[tuple[float, float]] = field(default_factory=list)
    """Where small drawings stand, as before the items of a list on a slide."""
    unread: list[tuple[str, str]] = field(default_factory=list)
    """Words that are not read: a kind and a text."""


def page_content(
    page: PageObject, fonts: dict[int, PageFont], hidden_layers: frozenset[int], *, all_ink: bool
) -> PageContent:
    """Return what a page shows, in the order in which it is drawn.

    Args:
        fonts: those of the document that are known so far, by the number of their object.
        hidden_layers: the numbers of the layers that are switched off.
        all_ink: also what cannot be seen, as the text that was recognised on a scan.
    """
    drawing = _Drawing(page, fonts, hidden_layers, all_ink)
    contents = page.get("/Contents")
    if contents is not None:
        stream = ContentStream(contents.get_object(), page.pdf, "bytes")
        drawing.draw(stream.operations, page.get("/Resources") or {})
    return drawing.content


@dataclass(slots=True)
class _State:
    """The graphics state, as far as it decides where text stands and whether it is seen."""

    matrix: Matrix = _PLAIN
    font: PageFont | None = None
    size: float = 12.0
    spacing: float = 0.0
    word_spacing: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    rise: float = 0.0
    mode: int = 0
    white: bool = False
    clear: bool = False

    def copy(self) -> "_State":
        return _State(*(getattr(self, name) for name in _STATE))


_STATE = tuple(_State.__dataclass_fields__)


@dataclass(slots=True)
class _Mark:
    """Content that is marked: for a replacement of its text, as hidden, or as a running head."""

    kind: str = ""
    replacement: str | None = None
    first: int = 0
    """The number of the spans before it."""


class _Drawing:
    def __init__(
        self,
        page: PageObject,
        fonts: dict[int, PageFont],
        hidden_layers: frozenset[int],
        all_ink: bool,
    ) -> None:
        self.content = PageContent()
        self._pdf = page.pdf
        box = page.mediabox
        self._left, self._right = float(box.left) - 1, float(box.right) + 1
        self._bottom, self._top = float(box.bottom) - 1, float(box.top) + 1
        self._fonts = fonts
        self._hidden_layers = hidden_layers
        self._all_ink = all_ink
        self._now = _State()
        self._stack: list[_State] = []
        self._line = self._text = _PLAIN
        self._marks: list[_Mark] = []
        self._painted = False
        self._forms = 0
        self._depth = 0
        self._parsed: dict[int, Any] = {}
        """The operators of forms, by the number of their object."""
        self._path: list[tuple[float, float, float, float]] = []
        """Boxes that are being drawn: left, bottom, right, top."""
        self._pen = (0.0, 0.0)
        self._resources: Any = {}
        self._operators: dict[bytes, Callable[[Sequence[Any]], None]] = {
            b"q": lambda _: self._stack.append(self._now.copy()),
            b"Q": self._restore,
            b"cm": lambda o: setattr(self._now, "matrix", _product(_matrix(o), self._now.matrix)),
            b"BT": self._begin,
            b"Tf": self._select_font,
            b"Td": self._move,
            b"TD": self._move_leading,
            b"Tm": self._place,
            b"T*": lambda _: self._move((0, -self._now.leading)),
            b"Tj": lambda o: self._show(o[:1]),
            b"TJ": lambda o: self._show(o[0]),
            b"'": self._show_next,
            b'"': self._show_spaced,
            b"Tc": lambda o: setattr(self._now, "spacing", _number(o[0])),
            b"Tw": lambda o: setattr(self._now, "word_spacing", _number(o[0])),
            b"Tz": lambda o: setattr(self._now, "stretch", _number(o[0]) / 100 or 1.0),
            b"TL": lambda o: setattr(self._now, "leading", _number(o[0])),
            b"Ts": lambda o: setattr(self._now, "rise", _number(o[0])),
            b"Tr": lambda o: setattr(self._now, "mode", int(_number(o[0]))),
            b"gs": self._set_state,
            b"Do": self._object,
            b"BDC": self._mark,
            b"BMC": lambda _: self._marks.append(_Mark()),
            b"EMC": self._end_mark,
            b"re": self._rectangle,
            b"m": lambda o: setattr(self, "_pen", (_number(o[0]), _number(o[1]))),
            b"l": self._stroke_to,
            b"INLINE IMAGE": self._inline_picture,
            b"sh": lambda _: setattr(self, "_painted", True),
        }
        for operator in (b"g", b"rg", b"k", b"sc", b"scn"):
            self._operators[operator] = self._colour(operator)
        for operator in (b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"):
            self._operators[operator] = self._fill
        for operator in (b"S", b"s"):
            self._operators[operator] = self._stroke
        self._operators[b"n"] = lambda _: self._path.clear()

    def draw(self, operations: Sequence[tuple[Any, bytes]], resources: Any) -> None:
        """Carry out the operators of a page or of a form."""
        before, self._resources = self._resources, _resolved(resources)
        operators = self._operators
        for operands, operator in operations:
            carry_out = operators.get(operator)
            if carry_out is not None:
                try:
                    carry_out(operands)
                except (IndexError, KeyError, TypeError, ValueError, AttributeError):
                    if operator == b"Do":
                        self.content.unread.append(("damaged part of a page", ""))
                    # another operator without what it needs is skipped, as viewers do
        self._resources = before

    # --- text

    def _begin(self, _: Sequence[Any]) -> None:
        self._line = self._text = _PLAIN

    def _restore(self, _: Sequence[Any]) -> None:
        if self._stack:
            self._now = self._stack.pop()

    def _select_font(self, operands: Sequence[Any]) -> None:
        self._now.size = _number(operands[1])
        self._now.font = self._font_of(_raw(_resolved(self._resources["/Font"]), operands[0]))

    def _font_of(self, reference: Any) -> PageFont:
        number = getattr(reference, "idnum", 0) or id(reference)
        font = self._fonts.get(number)
        if font is None:
            try:
                font = PageFont(_resolved(reference))
            except (AttributeError, TypeError, KeyError, ValueError):
                font = PageFont(None)
            self._fonts[number] = font
        return font

    def _move(self, operands: Sequence[Any]) -> None:
        x, y = _number(operands[0]), _number(operands[1])
        a, b, c, d, e, f = self._line
        self._line = self._text = (a, b, c, d, x * a + y * c + e, x * b + y * d + f)

    def _move_leading(self, operands: Sequence[Any]) -> None:
        self._now.leading = -_number(operands[1])
        self._move(operands)

    def _place(self, operands: Sequence[Any]) -> None:
        self._line = self._text = _matrix(operands)

    def _show_next(self, operands: Sequence[Any]) -> None:
        self._move((0, -self._now.leading))
        self._show(operands[:1])

    def _show_spaced(self, operands: Sequence[Any]) -> None:
        self._now.word_spacing, self._now.spacing = _number(operands[0]), _number(operands[1])
        self._show_next(operands[2:])

    def _show(self, pieces: Sequence[Any]) -> None:
        """Take the text of one operator, and move on to its end."""
        now = self._now
        font = now.font or self._font_of(None)
        placed = _product(self._text, now.matrix)
        a, b, c, d, e, f = placed
        along = math.hypot(a, b) or 1.0
        size = abs(now.size) * math.hypot(c, d)
        shown: list[tuple[float, float, str]] = []
        pen = drop = 0.0
        for piece in pieces:
            if isinstance(piece, (bytes, str)):
                code = piece if isinstance(piece, bytes) else piece.encode("latin-1", "replace")
                text, width, count, spaces = font.read(code)
                start = pen
                pen += width * now.size + now.spacing * count + now.word_spacing * spaces
                if text:
                    drop = font.drop(code) if not shown else 0.0
                    shown.append((start, pen, text))
            else:
                pen -= _number(piece) / 1000 * now.size
        stretch = now.stretch
        ta, tb, tc, td, te, tf = self._text
        self._text = (ta, tb, tc, td, te + pen * stretch * ta, tf + pen * stretch * tb)
        if not shown:
            return
        gap = font.word_gap * abs(now.size)
        words, end = "", 0.0
        for start, after, text in shown:
            words += f" {text}" if words and start - end > gap else text
            end = after
        kind = "" if self._all_ink else self._unseen_as(e, f, size)
        if not kind and abs(b) > _SLANT * along and abs(a) > _SLANT * along:
            kind = "slanted text"
        if kind:
            if words.strip():
                self.content.unread.append((kind, words))
            return
        rise = now.rise - drop * now.size
        e, f = e + rise * c, f + rise * d
        turned = (0 if a > 0 else 180) if abs(a) >= abs(b) else (90 if b > 0 else 270)
        x, y = _turned(e, f, turned)
        self._take(shown, x, y, size, along * stretch, font, turned)

    def _take(
        self,
        shown: Sequence[tuple[float, float, str]],
        x: float,
        y: float,
        size: float,
        scale: float,
        font: PageFont,
        turned: int,
    ) -> None:
        """Keep text as spans, cut where the gap is wide; other gaps of words become spaces."""
        if scale < 0 or shown[0][0] > shown[-1][1]:
            shown = sorted(shown)
        span: DrawnText | None = None
        for start, end, text in shown:
            left, right = x + start * scale, x + end * scale
            stripped = text.lstrip(" \u00a0")
            if len(stripped) < len(text):
                left += (len(text) - len(stripped)) * font.space * size
            bare = stripped.rstrip(" \u00a0")
            if len(bare) < len(stripped):
                right -= (len(stripped) - len(bare)) * font.space * size
            led, trailed = stripped != text, bare != stripped
            if not bare:
                if span is not None:
                    span.spaced = (span.spaced[0], True)
                continue
            right = max(right, left)
            gap = left - span.right if span is not None else 0.0
            if span is None or gap > WIDE_GAP * size or gap < -size:
                span = DrawnText(bare, left, right, y, size, font, turned, [], (led, trailed))
                self.content.spans.append(span)
            elif font.monospaced:
                width = font.space * size or 1.0
                span.text += " " * round(gap / width) + bare
            elif gap > font.word_gap * size or led or span.spaced[1]:
                span.text += " " + bare
            else:
                span.text += bare
            span.right = max(span.right, right)
            span.spaced = (span.spaced[0], trailed)
            span.parts.append((left, right, bare))

    def _unseen_as(self, x: float, y: float, size: float) -> str:
        """Return as what text is not seen that begins at a place; empty where it is seen."""
        now = self._now
        marked = next((mark.kind for mark in self._marks if mark.kind), "")
        if marked:
            return marked
        if now.mode in _INVISIBLE_MODES or now.clear or (now.white and not self._painted):
            return "hidden text"
        on_page = self._left <= x <= self._right and self._bottom <= y <= self._top
        return "" if on_page and size >= _MIN_SIZE else "hidden text"

    # --- marks

    def _mark(self, operands: Sequence[Any]) -> None:
        properties = operands[1] if len(operands) > 1 else {}
        number = 0
        if isinstance(properties, str):
            reference = _raw(_resolved(self._resources.get("/Properties", {})), properties)
            number = getattr(reference, "idnum", 0)
            properties = _resolved(reference) or {}
        mark = _Mark(first=len(self.content.spans))
        if operands[0] == "/OC" and self._is_hidden_layer(number, properties):
            mark.kind = "hidden text"
        elif operands[0] == "/Artifact" and properties.get("/Type") == "/Pagination":
            mark.kind = "header or footer"
        elif (replacement := properties.get("/ActualText")) is not None:
            mark.replacement = _string(replacement)
        self._marks.append(mark)

    def _is_hidden_layer(self, number: int, properties: Any) -> bool:
        """Return whether a layer, or all layers of a group, are switched off."""
        if number in self._hidden_layers:
            return True
        members = properties.get("/OCGs") if properties.get("/Type") == "/OCMD" else None
        if members is None:
            return False
        group = members if isinstance(members, list) else [properties.raw_get("/OCGs")]
        numbers = [getattr(one, "idnum", 0) for one in group]
        return bool(numbers) and all(one in self._hidden_layers for one in numbers)

    def _end_mark(self, _: Sequence[Any]) -> None:
        if not self._marks:
            return
        mark = self._marks.pop()
        spans = self.content.spans[mark.first :]
        if mark.replacement is None or not spans or len({round(one.y) for one in spans}) > 1:
            return
        first = spans[0]
        text = mark.replacement.strip()
        left, right = min(one.x for one in spans), max(one.right for one in spans)
        del self.content.spans[mark.first :]
        if text:
            first.text, first.x, first.right = text, left, right
            first.parts = [(left, right, text)]
            self.content.spans.append(first)

    # --- everything else that is drawn

    def _set_state(self, operands: Sequence[Any]) -> None:
        states = _resolved(self._resources["/ExtGState"])
        state = _resolved(states[operands[0]])
        if "/Font" in state:
            font = state["/Font"]
            self._now.size = _number(font[1])
            self._now.font = self._font_of(font[0])
        if "/ca" in state:
            self._now.clear = _number(_resolved(state["/ca"])) <= _OPAQUE

    def _object(self, operands: Sequence[Any]) -> None:
        reference = _raw(_resolved(self._resources["/XObject"]), operands[0])
        drawn = _resolved(reference)
        self._painted = True
        if drawn.get("/Subtype") == "/Image":
            self.content.pictures.append(getattr(reference, "idnum", 0))
        elif drawn.get("/Subtype") == "/Form":
            self._form(drawn, getattr(reference, "idnum", 0))

    def _form(self, form: Any, number: int) -> None:
        self._forms += 1
        layer = form.raw_get("/OC") if "/OC" in form else None
        if layer is not None and self._is_hidden_layer(getattr(layer, "idnum", 0), form["/OC"]):
            return
        if self._forms > _MOST_FORMS or self._depth >= _DEEPEST_FORM:
            return
        before, stack, text = self._now, self._stack, (self._line, self._text)
        spans = len(self.content.spans)
        self._now, self._stack = before.copy(), []
        self._now.matrix = _product(_matrix(form.get("/Matrix") or _PLAIN), before.matrix)
        self._depth += 1
        try:
            operations = self._parsed.get(number)
            if operations is None:
                operations = ContentStream(form, self._pdf, "bytes").operations
                self._parsed[number] = operations
            matrix = self._now.matrix
            self.draw(operations, form.get("/Resources") or self._resources)
            if len(self.content.spans) == spans:
                self._note_bullet(form, matrix)
        finally:
            self._depth -= 1
            self._now, self._stack, (self._line, self._text) = before, stack, text

    def _note_bullet(self, form: Any, matrix: Matrix) -> None:
        """Keep the place of a form without text that is so small that it may be a bullet."""
        a, b, c, d, e, f = matrix
        left, bottom, right, top = map(_number, form.get("/BBox") or (0, 0, 0, 0))
        is_small = max(abs(a * (right - left)), abs(d * (top - bottom))) <= _BULLET_SIZE
        if is_small and not (b or c):
            self.content.bullets.append((a * left + e, d * (top + bottom) / 2 + f))

    def _inline_picture(self, _: Sequence[Any]) -> None:
        self._painted = True
        self.content.pictures.append(-1 - len(self.content.pictures))

    def _colour(self, operator: bytes) -> Callable[[Sequence[Any]], None]:
        def take(operands: Sequence[Any]) -> None:
            self._now.white = _is_white(operator, operands)

        return take

    def _rectangle(self, operands: Sequence[Any]) -> None:
        x, y, width, height = map(_number, operands[:4])
        self._note_box(x, y, x + width, y + height)

    def _stroke_to(self, operands: Sequence[Any]) -> None:
        x, y = _number(operands[0]), _number(operands[1])
        self._note_box(*self._pen, x, y)
        self._pen = (x, y)

    def _note_box(self, left: float, bottom: float, right: float, top: float) -> None:
        a, b, c, d, e, f = self._now.matrix
        if not (b or c) and len(self._path) < _MOST_RULES:
            start, end = sorted((left * a + e, right * a + e))
            low, high = sorted((bottom * d + f, top * d + f))
            self._path.append((start, low, end, high))

    def _fill(self, _: Sequence[Any]) -> None:
        if not self._now.white:
            self._painted = True
            self._draw_lines()
        self._path.clear()

    def _stroke(self, _: Sequence[Any]) -> None:
        """Draw lines, and boxes as their four sides."""
        boxes = [box for box in self._path if min(box[2] - box[0], box[3] - box[1]) > _RULE_HEIGHT]
        for left, low, right, high in boxes:
            self._path += [(left, y, right, y) for y in (low, high)]
            self._path += [(x, low, x, high) for x in (left, right)]
        self._draw_lines()
        self._path.clear()

    def _draw_lines(self) -> None:
        content = self.content
        if len(content.rules) + len(content.bars) > _MOST_RULES:
            return
        for left, low, right, high in self._path:
            width, height = right - left, high - low
            if height <= _RULE_HEIGHT and width > 2 * height:
                content.rules.append((left, right, (low + high) / 2))
            elif width <= _RULE_HEIGHT and height > 2 * width:
                content.bars.append((low, high, (left + right) / 2))


def _turned(x: float, y: float, by: int) -> tuple[float, float]:
    """Return a place on the page turned so that text at an angle runs from left to right."""
    match by:
        case 90:
            return y, -x
        case 180:
            return -x, -y
        case 270:
            return -y, x
    return x, y


def _product(one: Matrix, other: Matrix) -> Matrix:
    a, b, c, d, e, f = one
    p, q, r, s, t, u = other
    return (
        *(a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s),
        *(e * p + f * r + t, e * q + f * s + u),
    )


def _matrix(operands: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = map(_number, operands[:6])
    return a, b, c, d, e, f


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _resolved(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _raw(mapping: Any, name: Any) -> Any:
    """Return the entry of a dictionary as a reference, where it is one."""
    return mapping.raw_get(name) if hasattr(mapping, "raw_get") else mapping[name]


def _string(value: Any) -> str:
    value = _resolved(value)
    if isinstance(value, bytes):
        encoding = "utf-16" if value[:2] in (b"\xfe\xff", b"\xff\xfe") else "latin-1"
        return value.decode(encoding, "replace")
    return str(value)


def _is_white(operator: bytes, operands: Sequence[Any]) -> bool:
    """Return whether a colour is white; one operand of `scn` may be any colour space."""
    values = [_number(value) for value in operands]
    if operator == b"g":
        return values[:1] == [1.0]
    if len(values) == 3:
        return min(values) >= 0.98
    return len(values) == 4 and max(values) <= 0.02
