"""Folders as people have them: every file goes in or is named, and links to its own page."""

from pathlib import Path

import pytest

from core.ingestion.coverage import IngestionRefused
from tests.library import BOOK, COURSE, Library, failures

pytestmark = pytest.mark.costly

# --- links --------------------------------------------------------------------------------


async def test_chunks_link_to_the_heading_on_the_published_page(library: Library) -> None:
    course = COURSE.model_copy(update={"base_url": "https://tides.example.org/book/"})
    await library.ingest("book", course=course)
    links = await library.links()
    assert links["Spring tides"] == "https://tides.example.org/book/moon#spring-tides"
    assert all(str(link).startswith("https://tides.example.org/book/") for link in links.values())


async def test_a_new_base_url_changes_every_link_and_embeds_nothing(library: Library) -> None:
    await library.ingest("book")
    assert set((await library.links()).values()) == {None}
    course = COURSE.model_copy(update={"base_url": "https://tides.example.org/"})
    report = await library.ingest("book", course=course)
    assert (sorted(report.changed), report.embedded) == (sorted(BOOK), 0)
    assert None not in (await library.links()).values()


PAGE = "# Waves\n\nWind makes waves.\n\n## Wave length\n\nIt is measured from crest to crest.\n"
SITES = {
    "an mdBook": (
        {
            "book.toml": '[output.html]\nsite-url = "https://sea.example.org/guide/"\n',
            "src/SUMMARY.md": "# Summary\n\n- [Waves](sea/waves.md)\n",
            "src/sea/waves.md": PAGE,
        },
        "https://sea.example.org/guide/sea/waves.html#wave-length",
    ),
    "a MkDocs site": (
        {
            "mkdocs.yml": "site_url: https://sea.example.org/guide/\n",
            "docs/sea/waves.md": PAGE,
        },
        "https://sea.example.org/guide/sea/waves/#wave-length",
    ),
    "a Docusaurus site": (
        {
            "docusaurus.config.js": "module.exports = {\n"
            "  url: 'https://sea.example.org',\n  baseUrl: '/guide/',\n};\n",
            "docs/sea/02-waves.md": PAGE,
        },
        "https://sea.example.org/guide/docs/sea/waves#wave-length",
    ),
}


@pytest.mark.parametrize("site", SITES)
async def test_a_site_says_itself_where_its_headings_are_published(
    library: Library, site: str
) -> None:
    files, link = SITES[site]
    library.write(files, "site")
    report = await library.ingest("site")
    assert (len(report.added), report.failed) == (1, [])
    assert (await library.links())["Wave length"] == link


# --- ordinary folders ---------------------------------------------------------------------


async def test_nothing_ordinary_stops_a_folder(library: Library) -> None:
    pages: dict[str, str | bytes] = {
        "pictures.md": "# Pictures\n\n![tide](../img/tide.png) See [that](gone.md#x) page.\n",
        "latin.md": "# Île\n\nLa marée monte très vite à côté de la jetée.\n".encode("latin-1"),
        "sixteen.md": "# Wide\n\nEvery letter of this text takes two bytes.\n".encode("utf-16"),
        "marked.md": b"\xef\xbb\xbf# Marked\n\nThis text begins with a mark.\n",
        "dos.md": b"# Dos\r\n\r\nLines end with two characters.\r\n",
        "page.html": "<h1>Page</h1><p>Text with a <img src='x.png'> picture.</p>",
        "notes.txt": "Plain notes about the tide of last May.\n",
        "odd name & #1?.md": "# Odd\n\nThis name has odd characters.\n",
    }
    library.write({**pages, "picture.png": b"\x89PNG", "script.py": "print()", ".hidden.md": "x"})
    (library.folder / "book" / "dangling.md").symlink_to("nowhere.md")
    report = await library.ingest("book")
    assert report.failed == []
    assert sorted(report.added) == sorted([*BOOK, *pages])
    texts = " ".join(chunk.content_text for chunk in await library.chunks())
    for words in ("marée monte très vite", "takes two bytes", "odd characters", "See that page"):
        assert words in texts
    assert "\r" not in texts
    assert "\ufeff" not in texts


async def test_links_that_lead_out_of_the_folder_are_named(library: Library) -> None:
    library.write({"out.md": "# Out\n\nText.", "shared/more.md": "# More\n\nText."}, "elsewhere")
    book = library.folder / "book"
    (book / "out.md").symlink_to(library.folder / "elsewhere" / "out.md")
    (book / "chapter").symlink_to(library.folder / "elsewhere" / "shared")
    report = await library.ingest("book")
    assert {left.path: left.reason for left in report.left_out} == {
        "chapter": "is a link to a folder elsewhere",
        "out.md": "is a link that leads out of the folder",
    }
    assert all(left.is_missed for left in report.left_out)
    assert (report.share.read, report.share.of) == (len(BOOK), len(BOOK) + 2)


async def test_a_folder_of_links_alone_names_them_as_the_reason(library: Library) -> None:
    library.write({"more.md": "# More\n\nText."}, "elsewhere")
    empty = library.folder / "links"
    empty.mkdir()
    (empty / "chapters").symlink_to(library.folder / "elsewhere")
    with pytest.raises(IngestionRefused, match=r"1 file \(is a link to a folder elsewhere\)"):
        await library.ingest("links")


def write_in_latin_1(folder: Path, name: str, text: str) -> None:
    """Write a file whose name on disk is no UTF-8."""
    path = Path((bytes(folder) + b"/" + name.encode("latin-1")).decode(errors="surrogateescape"))
    try:
        path.parent.mkdir()
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    path.write_text(text)


async def test_a_name_in_another_encoding_goes_in(library: Library) -> None:
    write_in_latin_1(library.folder / "book", "île/marée.md", "# Tide\n\nThe tide goes out.\n")
    course = COURSE.model_copy(update={"base_url": "https://tides.example.org/"})
    report = await library.ingest("book", course=course)
    assert report.failed == []
    assert "\N{REPLACEMENT CHARACTER}le/mar\N{REPLACEMENT CHARACTER}e.md" in report.added
    assert (await library.links())["Tide"] == "https://tides.example.org/%EEle/mar%E9e#tide"
    again = await library.ingest("book", course=course)
    assert again.generation == report.generation


async def test_missing_includes_and_broken_links_of_a_site_are_told(library: Library) -> None:
    library.write(
        {
            "book.toml": "[book]\n",
            "src/SUMMARY.md": "# Summary\n\n- [Waves](waves.md)\n- [Gone](gone.md)\n",
            "src/waves.md": "# Waves\n\nWind makes waves.\n\n{{#include missing.md}}\n",
        },
        "site",
    )
    (library.folder / "site" / "src" / "dangling.rs").symlink_to("nowhere.rs")
    report = await library.ingest("site")
    assert (report.added, report.failed) == (["src/waves.md"], [])
    told = " ".join(warning.reason for warning in report.warnings)
    assert "gone.md" in told
    assert "missing.md" in told
    assert (await library.ingest("site")).unchanged == ["src/waves.md"]


async def test_a_picture_that_changes_does_not_change_the_pages(library: Library) -> None:
    library.write({"tide.png": b"\x89PNG 1"})
    first = await library.ingest("book")
    library.write({"tide.png": b"\x89PNG 2, larger"})
    assert (await library.ingest("book")).generation == first.generation


async def test_a_document_that_is_too_large_is_named(library: Library) -> None:
    library.write({"large.md": "# Large\n\n" + "All the tides of a year. " * 50_000})
    report = await library.ingest("book")
    assert failures(report) == {"large.md": "is larger than 1 MB"}
