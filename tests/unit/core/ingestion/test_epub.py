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


def test_what_a_style_sheet_raises_or_strikes_keeps_its_meaning() -> None:
    page = '<html><head><link rel="stylesheet" href="../s.css"/></head><p>10<i class="up">6</i> l'
    sheet = ".up {vertical-align: super}"
    book = parse_epub(
        epub({"a.xhtml": ""}, others={"OEBPS/text/a.xhtml": page, "OEBPS/s.css": sheet})
    )
    assert [block.text for block in book.blocks] == ["10⁶ l"]


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


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ('<a epub:type="noteref" href="#n">1</a>', '<aside epub:type="footnote" id="n">{}</aside>'),
        ('<a role="doc-noteref" href="#n">*</a>', '<div role="doc-footnote" id="n">{}</div>'),
        (
            '<sup><a epub:type="noteref" href="#n">[1]</a></sup>',
            '<aside epub:type="footnote" id="n" hidden="until-found">{}</aside>',
        ),
        ('<a href="#n" id="r">1</a>', '<p id="n"><a href="#r">1</a>. {}</p>'),
    ],
)
def test_notes_are_read_and_marked(mark: str, note: str) -> None:
    page = f"<p>Silt{mark} is in 10<sup>6</sup> rivers.</p>" + note.format("Finer than sand.")
    sign = "*" if "*" in mark else "1"
    assert [block.text for block in parse_epub(epub({"a.xhtml": page})).blocks] == [
        f"Silt[{sign}] is in 10⁶ rivers.",
        f"[{sign}] Finer than sand.",
    ]


def test_notes_on_a_page_of_their_own_are_marked_in_the_text() -> None:
    pages = {
        "a.xhtml": '<p>Silt<a id="r" href="b.xhtml#n" epub:type="noteref"><sup>1</sup></a>.</p>',
        "b.xhtml": '<ol epub:type="endnotes"><li id="n"><p>Finer. <a href="a.xhtml#r" '
        'role="doc-backlink">↩</a></p></li></ol>',
    }
    assert [block.text for block in parse_epub(epub(pages)).blocks] == ["Silt[1].", "1. Finer."]


def test_parts_of_a_book_have_their_roles() -> None:
    page = (
        '<section epub:type="titlepage"><p>By Reed</p></section><section epub:type="index">'
        '<p>silt, 4</p></section><section epub:type="assessment"><p>Why?</p></section><p>Text</p>'
    )
    assert [block.role for block in parse_epub(epub({"a.xhtml": page})).blocks] == [
        BlockRole.FRONT_MATTER,
        BlockRole.NAVIGATION,
        BlockRole.EXERCISE,
        BlockRole.TEXT,
    ]


def test_landmarks_tell_what_a_page_is_for() -> None:
    navigation = (
        '<nav epub:type="landmarks" hidden=""><a epub:type="copyright-page" href="text/a.xhtml">x'
        '</a></nav><nav epub:type="toc"><a href="text/a.xhtml">Imprint</a></nav>'
    )
    page = f"<html><body>{navigation}</body></html>"
    book = epub({"a.xhtml": "<p>All rights.</p>"}, others={"OEBPS/nav.xhtml": page})
    heading, text = parse_epub(book).blocks
    assert (heading.text, text.role) == ("Imprint", BlockRole.FRONT_MATTER)


def test_what_is_not_read_of_a_book_is_counted() -> None:
    pages = {
        "a.xhtml": "<h1>Tides</h1><p><del>Old</del> New. <img src='x' alt='A map'/></p>",
        "b.xhtml": "<p>Beside the order.</p>",
    }
    document = parse_epub(epub(pages, spine=["a.xhtml"]))
    assert [(one.kind, one.where, one.words) for one in document.left_out] == [
        ("struck text", 'under "Tides"', 1),
        ("picture", 'under "Tides"', 0),
        ("page outside the reading order", "b.xhtml", 3),
    ]


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
