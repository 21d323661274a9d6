"""What passes between the reader of a PDF and the program that recognises its scanned pages."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

MOST_PIXELS = 12_000_000
"""Of a page: A4 at 300 dots an inch has 8.7 million."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page in shades of grey, a byte a pixel, row by row from the top."""

    width: int
    height: int
    dpi: int
    """Pixels an inch, 72 points."""
    pixels: bytes


@dataclass(frozen=True, slots=True)
class Scans:
    """How pages without text are read while a document is parsed."""

    read: Callable[[PagePicture], bytes]
    """Returns the lines of text on a page as hOCR; empty where it cannot be recognised."""
    most_pages: int
    """Of one document; 0: none are recognised."""
    missing: str
    """Where none are: why, and what is to be done; it follows what says that there is no text."""
    loading: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while the library that draws pages is loaded, before the first one is drawn."""


UNREAD = Scans(lambda picture: b"", 0, "")
"""Pages without text are named, and not read."""
