"""The fonts of PDF pages: what their codes mean, how wide they are, and which run leftwards."""

from collections.abc import Mapping
from statistics import mode
from typing import Any

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
