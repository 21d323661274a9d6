"""Books and websites of Quarto, and Jupyter Books: their order, their links, their references."""

from pathlib import Path

import pytest

from core.ingestion.sites.site_settings import Site, SiteKind
from core.ingestion.sources.sources import detect_site
from tests.books import write_files
from tests.format_courses.quarto import BOOK, JUPYTER_BOOK, WEBSITE
from tests.format_courses.reading import read_course


def rows(site: Site) -> list[tuple[str, str, str, str | None]]:
    return [(page.path, page.url_path, page.module, page.title) for page in site.pages]


def reasons(site: Site) -> dict[str, str]:
    return {left.path: left.reason for left in site.left_out}


def test_a_book_is_its_chapters_in_order(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, BOOK))
    assert (site.kind, site.base_url) == (SiteKind.QUARTO, "https://course.example/book/")
    assert rows(site) == [
        ("index.qmd", "", "", None),
        ("text/waves.Rmd", "text/waves.html", "First part", None),
        ("text/foam.md", "text/foam.html", "First part", "On foam"),
        ("text/part-two.qmd", "text/part-two.html", "", None),
        ("notes.ipynb", "notes.html", "Appendices", None),
    ]
    assert site.warnings == (
        "The navigation names a page that is missing: text/gone.qmd.",
        "The navigation names a page that is missing: ../../secret.qmd.",
    )
    assert reasons(site) == {
        "_book/index.html": "is in _book, which Quarto fills",
        "_quarto.yml": "is no format that is read",
        "_shared/_note.qmd": "is read with the pages that include it",
        "draft.qmd": "is no chapter of the book",
    }


def test_a_website_is_every_page_the_bars_first(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, WEBSITE))
    assert rows(site) == [
        ("weeks/1-start.qmd", "weeks/1-start.html", "Weeks", None),
        ("weeks/2-waves/index.qmd", "weeks/2-waves/", "Weeks", None),
        ("about.qmd", "about.html", "", "About us"),
        ("index.qmd", "", "", None),
        ("slides/tides.html", "slides/tides.html", "Slides", None),
    ]
    assert site.warnings == ()
    assert reasons(site) == {
        "_drafts/later.qmd": "begins with an underscore, so Quarto does not publish it",
        "_quarto.yml": "is no format that is read",
        "edition-2023/_quarto.yml": "is no format that is read",
        "edition-2023/index.qmd": "is of another Quarto project, in edition-2023",
    }


@pytest.mark.costly
async def test_references_are_words_and_labels_are_gone(tmp_path: Path) -> None:
    read = await read_course(tmp_path, BOOK)
    assert [text for _, text in read.blocks("index.qmd")] == [
        "See “Tides of the sea”, Figure gauge and (Table heights; Section elsewhere), and "
        "`@fig-code`. Write to a@fig-x.org.",
        "Tides of the sea",
        "Mind the tide",
        "It comes twice a day.",
        "A gauge in its pipe",
        "| harbour | height |\n| --- | --- |\n| Arden | 4 m |",
        "Heights of the tide",
        "$$\nh = a \\cos t\n$$",
        "The tide of a day",
        '```python\nprint("tide")\n```',
        "The note of all pages.",
        "Summary",
        "One.",
        "Summary",
        "Two.",
    ]
    assert read.anchors("index.qmd") == ["sec-tides", "summary", "summary-1"]
    assert read.chunks("index.qmd")[-1].source_url == ("https://course.example/book/#summary-1")
    assert read.blocks("text/waves.Rmd") == [("paragraph", "A wave breaks in Figure break.")]
    assert read.documents["text/waves.Rmd"].record.title == "Waves"


@pytest.mark.parametrize("closed", [False, True])
def test_a_jupyter_book_is_its_contents_and_then_the_other_pages(
    tmp_path: Path, closed: bool
) -> None:
    files = dict(JUPYTER_BOOK)
    if closed:
        files["_config.yml"] += "only_build_toc_files: true\n"
    site = detect_site(write_files(tmp_path, files))
    assert (site.kind, site.base_url) == (SiteKind.JUPYTER_BOOK, "https://course.example/jb")
    assert rows(site) == [
        ("intro.md", "intro.html", "", None),
        ("water/tides.md", "water/tides.html", "Water", None),
        ("water/heights.ipynb", "water/heights.html", "Water", None),
        *([] if closed else [("orphan.md", "orphan.html", "", None)]),
    ]
    assert site.warnings == ("The contents name a page that is missing: water/gone.",)
    assert ("orphan.md" in reasons(site)) == closed


def test_a_list_of_files_and_contents_of_myst_are_read_too(tmp_path: Path) -> None:
    pages = {"intro.md": "# A\n", "part_one/Big Waves.md": "# B\n", "x.md": "# X\n"}
    old = "- file: intro\n- part: One\n  chapters:\n  - file: part_one/Big Waves\n"
    site = detect_site(write_files(tmp_path / "old", {"_toc.yml": old, **pages}))
    assert [page.path for page in site.pages] == ["intro.md", "part_one/Big Waves.md", "x.md"]
    assert site.pages[1].module == "One"
    myst = (
        "project:\n  toc:\n    - file: intro.md\n    - title: One\n      children:\n"
        "        - pattern: 'part_*/*.md'\n"
    )
    site = detect_site(write_files(tmp_path / "myst", {"myst.yml": myst, **pages}))
    assert rows(site) == [
        ("intro.md", "intro", "", None),
        ("part_one/Big Waves.md", "big-waves", "One", None),
    ]
    assert reasons(site)["x.md"] == "is not in the contents"


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{this}: &{this} [*{last}, *{last}, *{last}, *{last}, *{last}, *{last}, *{last}, *{last}]\n"
    for last, this in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "end"),
    [("_quarto.yml", "book:\n  chapters: *j\n"), ("_toc.yml", "root: x\nchapters: *j\n")],
)
def test_contents_that_grow_without_end_are_cut_off(tmp_path: Path, name: str, end: str) -> None:
    files = {name: BOMB + end, "x.md": "# X\n", "../secret.md": "x"}
    site = detect_site(write_files(tmp_path / "book", files))
    assert [page.path for page in site.pages] == ["x.md"]


@pytest.mark.costly
@pytest.mark.parametrize(
    "hostile",
    [
        "[" + "@fig-a b " * 200_000,
        ": " + " " * 1_000_000 + "{#tbl-a",
        "[" * 40_000 + "]{.a " * 20_000,
        "# " + "{#sec-" * 200_000,
        "$$ " + " " * 1_000_000 + "{#eq-",
        "{{< include hostile.qmd >}}\n" * 2_000,
        "::: {.callout-note}\n" * 5_000 + "# x\n",
    ],
)
async def test_hostile_pages_end_in_text_or_a_reason(tmp_path: Path, hostile: str) -> None:
    files = {"hostile.qmd": hostile, "_quarto.yml": "website:\n  title: x\n"}
    read = await read_course(tmp_path, {**files, "good.qmd": "# Good\n\nDemand falls.\n"})
    assert read.blocks("good.qmd")[1] == ("paragraph", "Demand falls.")
    assert ("hostile.qmd" in read.documents) != ("hostile.qmd" in read.failed)


@pytest.mark.costly
async def test_an_include_from_outside_is_missing_and_the_page_is_read(tmp_path: Path) -> None:
    page = "{{< include ../secret.qmd >}}\n\n{{< include /../secret.qmd >}}\n\nText.\n"
    write_files(tmp_path, {"secret.qmd": "The secret."})
    read = await read_course(tmp_path / "book", {"_quarto.yml": "a: b\n", "page.qmd": page})
    assert read.blocks("page.qmd") == [("paragraph", "Text.")]
    assert read.parsed["page.qmd"].warnings == (
        "The included file ../secret.qmd is missing.",
        "The included file /../secret.qmd is missing.",
    )
