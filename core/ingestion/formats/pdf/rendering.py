"""Draws pages of a PDF, for those that have no text but pictures of it."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pypdfium2 import PdfBitmap, PdfDocument, PdfiumError

from core.ingestion.formats.pdf.scans import MOST_PIXELS, PagePicture

_DPI = 300
"""What tesseract was trained for."""
_MOST_PIXELS_A_SIDE = 20_000
_POINTS_AN_INCH = 72


@dataclass(frozen=True, slots=True)
class PageRenderer:
    """The pages of an open PDF."""

    document: PdfDocument

    def picture(self, number: int) -> PagePicture | None:
        """Return a page, counted from 1; none where it cannot be drawn or is all of one shade.

        It has 300 pixels an inch, or so many fewer that they are not too many. What
        annotations and forms show is left out.
        """
        try:
            page = self.document[number - 1]
            dpi = _dpi(*page.get_size())
            if not dpi:
                return None
            bitmap = page.render(
                scale=dpi / _POINTS_AN_INCH,
                grayscale=True,
                may_draw_forms=False,
                draw_annots=False,
            )
        except (PdfiumError, IndexError, ValueError):
            return None
        pixels = _pixels(bitmap)
        if bitmap.width * bitmap.height > MOST_PIXELS or pixels.count(pixels[:1]) == len(pixels):
            return None
        return PagePicture(bitmap.width, bitmap.height, dpi, pixels)


@contextmanager
def opened_renderer(data: bytes) -> Iterator[PageRenderer | None]:
    """Give what draws the pages of a PDF without a password; none where it is too damaged."""
    try:
        document = PdfDocument(data)
    except PdfiumError:
        yield None
        return
    try:
        yield PageRenderer(document)
    finally:
        document.close()


def _dpi(width: float, height: float) -> int:
    """Return how many pixels an inch a page of so many points is drawn with; 0: it is not."""
    if not (width > 0 and height > 0 and math.isfinite(width * height)):
        return 0
    least = math.sqrt(0.99 * MOST_PIXELS / (width * height))
    longest = _MOST_PIXELS_A_SIDE / max(width, height)
    return int(min(_DPI, _POINTS_AN_INCH * least, _POINTS_AN_INCH * longest))


def _pixels(bitmap: PdfBitmap) -> bytes:
    """Return the pixels without what fills up the rows."""
    raw = memoryview(bitmap.buffer).cast("B")
    if bitmap.stride == bitmap.width:
        return bytes(raw)
    rows = range(0, bitmap.stride * bitmap.height, bitmap.stride)
    return b"".join(raw[start : start + bitmap.width] for start in rows)
