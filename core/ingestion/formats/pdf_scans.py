"""Reads the lines of scanned pages from what a program recognised on their pictures."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from pypdfium2 import PdfBitmap, PdfDocument, PdfiumError

from core.ingestion.formats.pdf_lines import PdfLine
from core.ingestion.formats.scans import MOST_PIXELS, PagePicture, Scans

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


_LEAST_CERTAIN = 50.0
"""Percent, over the words of a line; what is read into a drawing is less certain."""
_SAME_SIZE = 0.2
"""How far the measured size of type strays among lines of one size, as a share of it."""
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_BOX = re.compile(r"\bbbox (\d+) (\d+) (\d+) (\d+)")
_BASELINE = re.compile(rf"\bbaseline {_NUMBER} {_NUMBER}")
_SIZE = re.compile(rf"\bx_size {_NUMBER}")
_CERTAINTY = re.compile(rf"\bx_wconf {_NUMBER}")
Pages = dict[int, list[PdfLine]]


def recognised_pages(data: bytes, numbers: Sequence[int], scans: Scans, body: float) -> Pages:
    """Return the lines of those of the pages, counted from 1, on which text was recognised.

    Args:
        body: the size of the text on the other pages, in points; 0: there is none.
    """
    pages: Pages = {}
    with opened_renderer(data) as renderer:
        for number in numbers[: scans.most_pages] if renderer else ():
            assert renderer is not None
            if (picture := renderer.picture(number)) and (said := scans.read(picture)):
                pages[number] = list(_lines(said, picture, number))
    return _evened({number: lines for number, lines in pages.items() if lines}, body)


def _lines(hocr: bytes, picture: PagePicture, page: int) -> Iterator[PdfLine]:
    try:
        root = fromstring(hocr)
    except (ParseError, DefusedXmlException, ValueError):
        return
    points = 72 / picture.dpi
    for element in root.iter():
        title = element.get("title", "")
        box, size = _BOX.search(title), _SIZE.search(title)
        if box is None or size is None:
            continue
        text, certainty = _words(element)
        if not text or certainty < _LEAST_CERTAIN:
            continue
        baseline = _BASELINE.search(title)
        bottom = int(box[4]) + (float(baseline[2]) if baseline else 0.0)
        yield PdfLine(
            text,
            x=int(box[1]) * points,
            y=(picture.height - bottom) * points,
            size=float(size[1]) * points,
            monospaced=False,
            page=page,
            recognised=True,
        )


def _words(line: Element) -> tuple[str, float]:
    """Return the words of a line, and how certain they are, in percent."""
    found = [
        ("".join(word.itertext()).strip(), _CERTAINTY.search(word.get("title", "")))
        for word in line
    ]
    words = [(text, float(certainty[1])) for text, certainty in found if text and certainty]
    if not words:
        return "", 0.0
    certain = fmean((certainty for _, certainty in words), [len(text) for text, _ in words])
    return " ".join(text for text, _ in words), certain


def _evened(pages: Pages, body: float) -> Pages:
    """Return the pages with the sizes of type that a document has, not as each was measured.

    What lies near the size of most of the text is given that size, which is `body` where the
    other pages say so.
    """
    sizes = sorted(line.size for lines in pages.values() for line in lines for _ in line.text)
    if not sizes:
        return pages
    usual = sizes[len(sizes) // 2]
    whole = body or round(usual, 1)
    return {
        number: [replace(line, size=_even(line.size / usual, whole)) for line in lines]
        for number, lines in pages.items()
    }


def _even(share: float, whole: float) -> float:
    return whole if abs(share - 1) <= _SAME_SIZE else round(share * whole, 1)
