"""Writes small PDF files by hand, so that a test decides over every operator."""

import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from types import MappingProxyType

from pypdfium2 import PdfDocument


def pdf(
    *contents: str | bytes,
    outline: Sequence[tuple[str, int]] = (),
    title: str = "",
    compress: bool = False,
    objects: Mapping[int, bytes] = MappingProxyType({}),
    resources: str = "",
) -> bytes:
    """Return a PDF with one page for each content stream.

    Fonts: /F1 Helvetica, /F2 Courier. `outline` has titles and page numbers from 1. Further
    `objects` have numbers from 1,000, and `resources` of all pages may refer to them.
    """
    first = 6
    pages = [first + 2 * index for index in range(len(contents))]
    entries = [first + 2 * len(contents) + index for index in range(len(outline))]
    objects = {
        **objects,
        1: f"<</Type/Catalog/Pages 2 0 R{'/Outlines 5 0 R' if outline else ''}>>".encode(),
        2: f"<</Type/Pages/Kids[{_references(pages)}]/Count {len(pages)}>>".encode(),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        4: b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>",
        5: _outlines(entries),
    }
    for number, content in zip(pages, contents, strict=True):
        objects[number] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {number + 1} 0 R"
            f"/Resources<</Font<</F1 3 0 R/F2 4 0 R>>{resources}>>>>"
        ).encode()
        objects[number + 1] = _stream(content, compress)
    for index, (name, page) in enumerate(outline):
        following = f"/Next {entries[index + 1]} 0 R" if index + 1 < len(entries) else ""
        objects[entries[index]] = (
            f"<</Title({name})/Parent 5 0 R/Dest[{pages[page - 1]} 0 R/Fit]{following}>>"
        ).encode()
    information = max(objects) + 1
    objects[information] = f"<</Title({title})>>".encode()
    return _file(objects, information)


def scan_of(*contents: str, beside: Sequence[str] = (), dpi: int = 150) -> bytes:
    """Return a PDF with a picture of each page, and before them pages with text, `beside`."""
    pictures = [_drawn(content, dpi) for content in contents]
    pages = [f"q 612 0 0 792 0 0 cm /P{number} Do Q" for number in range(len(pictures))]
    names = "".join(f"/P{number} {1000 + number} 0 R" for number in range(len(pictures)))
    return pdf(
        *beside,
        *pages,
        objects={1000 + number: picture for number, picture in enumerate(pictures)},
        resources=f"/XObject<<{names}>>",
    )


def _drawn(content: str, dpi: int) -> bytes:
    """Return a page as a picture in shades of grey, as an object of a PDF."""
    with closing(PdfDocument(pdf(content))) as document:
        bitmap = document[0].render(scale=dpi / 72, grayscale=True)
        pixels = bytes(bitmap.buffer)
        width, height = bitmap.width, bitmap.height
    assert len(pixels) == width * height
    size = f"/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceGray/BitsPerComponent 8"
    return _stream(pixels, compress=True, facts=f"/Type/XObject{size}")


def lines(*texts: str, size: float = 11, top: float = 700, x: float = 72, font: str = "F1") -> str:
    """Return a content stream that shows `texts` one below the other."""
    shown = "".join(f"({text}) Tj 0 {-1.2 * size:.1f} Td " for text in texts)
    return f"BT /{font} {size} Tf {x} {top} Td {shown}ET\n"


def _references(numbers: Sequence[int]) -> str:
    return " ".join(f"{number} 0 R" for number in numbers)


def _outlines(entries: Sequence[int]) -> bytes:
    if not entries:
        return b"null"
    return f"<</First {entries[0]} 0 R/Last {entries[-1]} 0 R/Count {len(entries)}>>".encode()


def _stream(content: str | bytes, compress: bool, facts: str = "") -> bytes:
    data = content.encode("latin-1") if isinstance(content, str) else content
    packed = zlib.compress(data, 9) if compress else data
    kind = b"/Filter/FlateDecode" if compress else b""
    described = kind + facts.encode()
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(packed), described, packed)


def _file(objects: dict[int, bytes], information: int) -> bytes:
    body = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, content in sorted(objects.items()):
        places[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(body)
    body += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in places.items():
        body += b"%d 1\n%010d 00000 n \n" % (number, place)
    body += b"trailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        max(objects) + 1,
        information,
        table,
    )
    return bytes(body)
