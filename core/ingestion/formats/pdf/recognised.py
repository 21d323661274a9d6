"""Reads the lines of scanned pages from what a program recognised on their pictures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from core.ingestion.formats.pdf.lines import PdfLine
from core.ingestion.formats.pdf.rendering import opened_renderer
from core.ingestion.formats.pdf.scans import PagePicture, Scans

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
