"""E-books are read in the order of their spine; what is hostile in them harms nothing."""

import zipfile
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest

from core.ingestion.document import BlockRole
from core.ingestion.formats.epub import parse_epub
from core.ingestion.sandbox.messages import ParseJob
from tests.format_courses.epub import COURSE, epub, zipped
from tests.format_courses.reading import read_course, said_of

_PAGE = {"a.xhtml": "<h1>Tides</h1><p>The tide rises.</p>"}
_NCX = """<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "x.dtd">
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Old tides</text>
</navLabel><content src="text/a.xhtml"/></navPoint></navMap></ncx>"""


async def test_an_e_book_is_its_spine(tmp_path: Path) -> None:
    read = await read_course(tmp_path, COURSE)
    assert read.failed == {}
    assert read.blocks("sea.epub") == [
        ("heading", "Tides"),
        ("paragraph", "The tide rises."),
        ("table", "| harbour | height |\n| --- | --- |\n| Arden | 4 m |"),
        ("code", "```python\nx = 1\n```"),
        ("paragraph", "In its pipe."),
        ("heading", "Waves"),
        ("paragraph", "Waves run."),
        ("heading", "Foam"),
        ("list_item", "- Foam is air.\nAnd water."),
        ("heading", "Afterword"),
        ("paragraph", "A page without a heading."),
    ]
    book = read.parsed["sea.epub"]
    assert (book.title, dict(book.metadata)) == (
        "On the sea",
        {"language": "en", "author": "Ada Reed"},
    )
    assert book.warnings == (
        "The e-book has further editions in it, which were left out.",
        "The page gone.xhtml of the e-book is missing.",
    )
    assert {chunk.headings for chunk in read.chunks("sea.epub")} == {
        ("Tides",),
        ("Waves",),
        ("Waves", "Foam"),
        ("Afterword",),
    }
    assert {chunk.source_url for chunk in read.chunks("sea.epub")} == {
        "https://course.example/book/sea.epub"
    }


def test_roles_and_titles_of_older_e_books_are_known() -> None:
    page = "<figure><img alt='A gauge' src='x'/><figcaption>Pipe.</figcaption></figure>"
    captions = parse_epub(epub({"a.xhtml": page})).blocks
    assert captions[-1].role is BlockRole.CAPTION
    manifest = '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    book = epub({"a.xhtml": "<p>The tide.</p>"}, others={"OEBPS/toc.ncx": _NCX})
    package = book_part(book, "OEBPS/book.opf").replace("<manifest>", f"<manifest>{manifest}")
    book = epub(
        {"a.xhtml": "<p>The tide.</p>"}, others={"OEBPS/toc.ncx": _NCX, "OEBPS/book.opf": package}
    )
    assert [block.text for block in parse_epub(book).blocks] == ["Old tides", "The tide."]


def book_part(book: bytes, name: str) -> str:
    with zipfile.ZipFile(BytesIO(book)) as archive:
        return archive.read(name).decode()


_BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in pairwise("abcdefghij")
)
HOSTILE = {
    "entities in the container": (
        {"META-INF/container.xml": f"{_BOMB}]><container><rootfile full-path='x'/>&j;</container>"},
        "refused: it declares XML entities",
    ),
    "entities in the package": (
        {"OEBPS/book.opf": f"{_BOMB}]><package>&j;</package>"},
        "refused: it declares XML entities",
    ),
    "a file of the machine": (
        {"OEBPS/book.opf": "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>"},
        "refused: it declares XML entities",
    ),
    "no package": (
        {"META-INF/container.xml": "<a><rootfile full-path='x'/></a>"},
        "refused: it is a damaged e-book",
    ),
    "a broken package": ({"OEBPS/book.opf": "<package"}, "refused: it has a part that is not well"),
    "a bomb": ({"OEBPS/x.css": "\0" * 30_000_000}, "refused: it has a part packed more than"),
    "encrypted": (
        {"META-INF/encryption.xml": "<x><CipherReference URI='OEBPS/text/a.xhtml'/></x>"},
        "refused: it is encrypted",
    ),
    "deep": ({"OEBPS/text/a.xhtml": "<div>" * 3_000 + "x"}, "refused: it is nested too deeply"),
    "fonts alone are encrypted": (
        {"META-INF/encryption.xml": "<x><CipherReference URI='OEBPS/font.otf'/></x>"},
        "Tides\nThe tide rises.",
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_e_books_end_in_text_or_a_sentence(name: str) -> None:
    files, said = HOSTILE[name]
    assert (await said_of(ParseJob(epub(_PAGE, others=files), "hostile.epub"))).startswith(said)


@pytest.mark.costly
async def test_archives_that_are_no_e_books_and_broken_ones_are_named() -> None:
    whole = epub(_PAGE)
    assert await said_of(ParseJob(whole[:-200], "half.epub")) == (
        "refused: it is a damaged Office file or archive"
    )
    assert "is an archive" in await said_of(ParseJob(zipped({"a.txt": "x"}), "a.epub"))
    many = zipped({f"{n}.txt": "" for n in range(5_100)} | {"META-INF/container.xml": "<a/>"})
    assert await said_of(ParseJob(many, "many.epub")) == ("refused: it has more than 5,000 parts")
