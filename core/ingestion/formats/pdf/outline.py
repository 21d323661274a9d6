"""Finds the headings that a PDF's outline (its bookmarks) names on the pages themselves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader
from pypdf.generic import Destination

from core.ingestion.formats.pdf.layout import normalised
from core.ingestion.formats.pdf.lines import PdfLine

_MAX_LINES = 3
_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class PdfOutline:
    """The entries of an outline whose destinations resolve."""

    levels: Mapping[tuple[int, str], int]
    """Level from 1, by page number and title as `_key` writes it."""
    depth: int
    """The deepest level, 0 for no outline."""

    @classmethod
    def of(cls, reader: PdfReader) -> "PdfOutline":
        """Return the outline of a document; entries without a page are left out."""
        levels: dict[tuple[int, str], int] = {}
        for entry, level in _entries(reader.outline, 1):
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0 and (key := _key(str(entry.title))):
                levels.setdefault((page + 1, key), min(level, _MAX_LEVEL))
        return cls(levels, max(levels.values(), default=0))

    def heading_at(self, lines: Sequence[PdfLine], position: int) -> tuple[int, int]:
        """Return level and height of the outline's heading at this line, or zeros.

        A heading may run over three lines, and its number may be missing from the outline.
        """
        if not self.levels:
            return 0, 0
        text = ""
        for height, line in enumerate(lines[position : position + _MAX_LINES], start=1):
            text = f"{text} {line.text}"
            for key in (_key(text), _key(re.sub(r"^\W*(chapter\s)?[\d.]+", "", text.lower()))):
                if key and (level := self.levels.get((line.page, key))):
                    return level, height
        return 0, 0


def _entries(outline: Sequence[Any], level: int) -> Iterator[tuple[Destination, int]]:
    """Yield the entries depth first; the library nests children as lists after their parent."""
    for entry in outline:
        if isinstance(entry, list):
            yield from _entries(entry, level + 1)
        else:
            yield entry, level


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", normalised(text).lower())
