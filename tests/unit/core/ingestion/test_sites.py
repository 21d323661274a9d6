"""Folders: what publishes them, their pages in order, and where each page is published."""

from pathlib import Path

import pytest

from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.sites.site import include_reader
from core.ingestion.sites.site_settings import Site, SiteKind
from core.ingestion.sources.sources import detect_site


def folder(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def rows(site: Site) -> list[tuple[str, str, str, str | None]]:
    return [(page.path, page.url_path, page.module, page.title) for page in site.pages]


def reasons(site: Site) -> dict[str, str]:
    return {left.path: left.reason for left in site.left_out}


SUMMARY = """\
# Summary

[Preface](preface.md)

# Basics

- [Supply](supply/README.md)
    - [Curves](supply/the%20curves.md)
- [Draft]()

# Further

1. [Demand `d`](demand.md)
   * [Gone](gone.md)

---

[Credits](credits.md)
"""


def test_an_mdbook_is_read_from_its_summary(tmp_path: Path) -> None:
    names = ("preface", "supply/README", "supply/the curves", "demand", "credits", "extra")
    site = detect_site(
        folder(
            tmp_path,
            {
                "book.toml": '[book]\nsrc = "text"\n[output.html]\nsite-url = "https://a.b/c/"\n',
                "text/SUMMARY.md": SUMMARY,
                **{f"text/{name}.md": "x" for name in names},
            },
        )
    )
    assert (site.kind, site.base_url) == (SiteKind.MDBOOK, "https://a.b/c/")
    assert {page.dialect for page in site.pages} == {MarkdownFlavour.MDBOOK}
    assert rows(site) == [
        ("text/preface.md", "preface.html", "", "Preface"),
        ("text/supply/README.md", "supply/index.html", "Basics › Supply", "Supply"),
        ("text/supply/the curves.md", "supply/the%20curves.html", "Basics › Supply", "Curves"),
        ("text/demand.md", "demand.html", "Further › Demand d", "Demand d"),
        ("text/credits.md", "credits.html", "Further", "Credits"),
    ]
    assert site.warnings == (
        "The chapter “Draft” is a draft.",
        "The chapter “Gone” is missing: gone.md.",
    )


@pytest.mark.parametrize("place", ["SUMMARY.md", "src/SUMMARY.md"])
def test_a_summary_alone_makes_an_mdbook(tmp_path: Path, place: str) -> None:
    parent = place.removesuffix("SUMMARY.md")
    site = detect_site(folder(tmp_path, {place: "- [A](a.md)", f"{parent}a.md": "x"}))
    assert rows(site) == [(f"{parent}a.md", "a.html", "A", "A")]


def test_chapters_outside_the_folder_are_no_pages(tmp_path: Path) -> None:
    folder(tmp_path, {"secret.md": "x", "book/SUMMARY.md": "- [A](a.md)\n- [S](../secret.md)"})
    folder(tmp_path, {"book/a.md": "x"})
    site = detect_site(tmp_path / "book")
    assert [page.path for page in site.pages] == ["a.md"]
    assert site.warnings == ("The chapter “S” is missing: ../secret.md.",)


MKDOCS = """\
site_url: https://a.b/docs/
markdown_extensions:
  - toc
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
  - pymdownx.snippets:
      base_path: [shared]
extra: !ENV [SECRET, none]
nav:
  - Home: index.md
  - Supply:
      - supply/index.md
      - The curve: supply/curve.md
      - Deeper:
          - supply/more.md
  - Elsewhere: https://example.org
  - Gone: gone.md
"""


def test_a_mkdocs_site_is_read_from_its_navigation(tmp_path: Path) -> None:
    names = ("index", "supply/index", "supply/curve", "supply/more", "orphan")
    files = {"mkdocs.yml": MKDOCS, **{f"docs/{name}.md": "x" for name in names}}
    site = detect_site(folder(tmp_path, files))
    assert (site.kind, site.base_url) == (SiteKind.MKDOCS, "https://a.b/docs/")
    assert rows(site) == [
        ("docs/index.md", "", "", "Home"),
        ("docs/supply/index.md", "supply/", "Supply", None),
        ("docs/supply/curve.md", "supply/curve/", "Supply", "The curve"),
        ("docs/supply/more.md", "supply/more/", "Supply › Deeper", None),
    ]
    assert site.include_roots == ("shared", ".", "docs")
    assert site.warnings == ("The navigation names a page that is missing: gone.md.",)
    assert reasons(site) == {
        "docs/orphan.md": "is not in the navigation",
        "mkdocs.yml": "is no format that is read",
    }


def test_mkdocs_without_navigation_takes_all_pages_in_order(tmp_path: Path) -> None:
    files = {
        "mkdocs.yml": "docs_dir: text\nuse_directory_urls: false\n",
        "text/10-last.md": "x",
        "text/2-first_part/README.md": "x",
        "text/2-first_part/a.md": "x",
        "text/index.md": "x",
    }
    assert rows(detect_site(folder(tmp_path, files))) == [
        ("text/index.md", "index.html", "", None),
        ("text/2-first_part/README.md", "2-first_part/index.html", "First part", None),
        ("text/2-first_part/a.md", "2-first_part/a.html", "First part", None),
        ("text/10-last.md", "10-last.html", "", None),
    ]


CONFIG = """\
// url: 'https://wrong.example'
const config = {
  title: 'Course',
  url: 'https://a.b',
  baseUrl: '/c/',
  presets: [['classic', {
    docs: { routeBasePath: 'lessons', sidebarPath: './sidebars.js', },
    blog: { routeBasePath: 'news' },
  }]],
};
"""


def docusaurus(root: Path, files: dict[str, str]) -> Site:
    docs = {f"docs/{name}": text for name, text in files.items()}
    return detect_site(folder(root, {"docusaurus.config.js": CONFIG, **docs}))


def test_a_docusaurus_site_is_read_in_generated_order(tmp_path: Path) -> None:
    site = docusaurus(
        tmp_path,
        {
            "intro.mdx": "---\nsidebar_position: 1\nslug: /\ntitle: Welcome\n---\nx",
            "02-supply/_category_.json": '{\n\t"label": "All supply",\n\t"position": 3\n}',
            "02-supply/02-b.md": "---\nid: bee\n---\nx",
            "02-supply/1-a.md": "x",
            "02-supply/supply.md": "x",
            "02-supply/_part.mdx": "x",
            "demand/index.md": "x",
            "demand/other.md": "---\nslug: else/where\nsidebar_label: Label\n---\n",
            "10-last.md": "x",
            "7.1-version.md": "x",
            "hidden.md": "---\ndraft: true\n---\nx",
        },
    )
    assert (site.kind, site.base_url) == (SiteKind.DOCUSAURUS, "https://a.b/c/")
    assert rows(site) == [
        ("docs/intro.mdx", "lessons/", "", "Welcome"),
        ("docs/02-supply/supply.md", "lessons/supply/", "All supply", None),
        ("docs/02-supply/1-a.md", "lessons/supply/a", "All supply", None),
        ("docs/02-supply/02-b.md", "lessons/supply/bee", "All supply", None),
        ("docs/10-last.md", "lessons/last", "", None),
        ("docs/7.1-version.md", "lessons/7.1-version", "", None),
        ("docs/demand/index.md", "lessons/demand/", "Demand", None),
        ("docs/demand/other.md", "lessons/demand/else/where", "Demand", "Label"),
    ]
    assert reasons(site) == {
        "docs/02-supply/_category_.json": "is no format that is read",
        "docs/02-supply/_part.mdx": "begins with an underscore, so Docusaurus does not publish it",
        "docs/hidden.md": "is a draft",
        "docusaurus.config.js": "is no format that is read",
    }


def test_a_plain_sidebar_file_decides_order_and_modules(tmp_path: Path) -> None:
    sidebars = """
    // @ts-check
    /** @type {import('x').SidebarsConfig} */
    const sidebars = {
      course: [
        'z-first',
        { type: 'category', label: "Don't panic", link: {type: 'doc', id: 'part/top'},
          items: ['part/b', {type: 'doc', id: 'part/a', label: 'A'}], },
        { 'Short form': ['c'] },
        { type: 'autogenerated', dirName: 'auto' },
        { type: 'link', label: 'x', href: 'https://x.example' },
      ],
    };
    export default sidebars;
    """
    folder(tmp_path, {"sidebars.js": sidebars})
    names = ("a-unlisted", "auto/x", "c", "part/a", "part/b", "part/top", "z-first")
    site = docusaurus(tmp_path, {f"{name}.md": "x" for name in names})
    assert [(page.path, page.module) for page in site.pages] == [
        ("docs/z-first.md", ""),
        ("docs/part/top.md", "Don't panic"),
        ("docs/part/b.md", "Don't panic"),
        ("docs/part/a.md", "Don't panic"),
        ("docs/c.md", "Short form"),
        ("docs/auto/x.md", "Auto"),
        ("docs/a-unlisted.md", ""),
    ]


def test_a_computed_sidebar_file_leaves_the_generated_order(tmp_path: Path) -> None:
    folder(tmp_path, {"sidebars.js": "module.exports = { a: build(['b', 'a']) };"})
    site = docusaurus(tmp_path, {"b.md": "x", "a.md": "x"})
    assert [page.path for page in site.pages] == ["docs/a.md", "docs/b.md"]


def test_a_plain_folder_is_read_in_natural_order(tmp_path: Path) -> None:
    files = {
        "README.md": "x",
        "10-end.md": "x",
        "2-start.mdx": "x",
        "3-supply_and-demand/page 1.md": "x",
        "3-supply_and-demand/notes.pdf": "x",
        "_part.md": "x",
        ".hidden.md": "x",
        ".git/a.md": "x",
        "node_modules/b/c.md": "x",
        ".venv/d.md": "x",
        "image.png": "x",
    }
    site = detect_site(folder(tmp_path, files))
    assert (site.kind, site.base_url) == (SiteKind.FOLDER, None)
    assert reasons(site) == {
        ".hidden.md": "is a hidden file",
        ".venv/d.md": "is in a hidden folder",
        "image.png": "is no format that is read",
        "node_modules/b/c.md": "is in node_modules, which holds installed packages",
    }
    assert rows(site) == [
        ("README.md", "", "", None),
        ("2-start.mdx", "2-start", "", None),
        (
            "3-supply_and-demand/notes.pdf",
            "3-supply_and-demand/notes.pdf",
            "Supply and demand",
            None,
        ),
        (
            "3-supply_and-demand/page 1.md",
            "3-supply_and-demand/page%201",
            "Supply and demand",
            None,
        ),
        ("10-end.md", "10-end", "", None),
        ("_part.md", "_part", "", None),
    ]
    assert site.pages[1].dialect is MarkdownFlavour.DOCUSAURUS


def test_the_suffix_of_published_pages_can_be_told(tmp_path: Path) -> None:
    site = detect_site(folder(tmp_path, {"a/b.md": "x"}), page_suffix=".html")
    assert site.pages[0].url_path == "a/b.html"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mkdocs.yml", "nav: [unclosed"),
        ("mkdocs.yml", "- a list"),
        ("mkdocs.yml", "docs_dir: ../.."),
        ("mkdocs.yml", "[" * 5000),
        ("book.toml", "[book"),
        ("book.toml", "book = 3"),
        ("book.toml", '[book]\nsrc = "../.."'),
        ("docusaurus.config.ts", "export default {docs: {path: '../..'}}"),
        ("docusaurus.config.js", ""),
        ("SUMMARY.md", "no links"),
    ],
)
def test_a_broken_configuration_is_a_warning_and_a_plain_folder(
    tmp_path: Path, name: str, text: str
) -> None:
    site = detect_site(folder(tmp_path, {name: text, "a.md": "x"}))
    assert site.kind is SiteKind.FOLDER
    assert "a.md" in [page.path for page in site.pages]
    assert "looks like" in site.warnings[0]
    assert len(site.warnings) == 1


@pytest.mark.costly
def test_a_navigation_that_multiplies_itself_ends(tmp_path: Path) -> None:
    levels = "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 12))
    files = {"mkdocs.yml": f"x0: &x0 [a.md]\n{levels}\nnav: *x11\n", "docs/a.md": "x"}
    assert [page.path for page in detect_site(folder(tmp_path, files)).pages] == ["docs/a.md"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    folder(tmp_path, {"outside/secret.md": "x", "book/a.md": "x", "book/sub/b.md": "x"})
    book = tmp_path / "book"
    (book / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (book / "linked").symlink_to(tmp_path / "outside")
    (book / "loop").symlink_to(book)
    (book / "inside.md").symlink_to(book / "a.md")
    (book / "broken.md").symlink_to(book / "nothing.md")
    paths = [page.path for page in detect_site(book).pages]
    assert paths == ["a.md", "inside.md", "sub/b.md"]


def test_included_files_are_found_beside_the_page_and_in_the_roots_only(tmp_path: Path) -> None:
    files = {
        "secret.txt": "no",
        "site/mkdocs.yml": "nav: [sub/a.md]",
        "site/docs/sub/a.md": "x",
        "site/docs/sub/near.txt": "near",
        "site/parts/far.txt": "far",
    }
    site = detect_site(folder(tmp_path, files) / "site")
    read = include_reader(
        site.folder, site.pages[0].path, site.include_roots, site.pages[0].dialect
    )
    assert read("near.txt") == "near"
    assert read("parts/far.txt") == read("@site/parts/far.txt") == "far"
    assert read("../../mkdocs.yml") == "nav: [sub/a.md]"
    for escape in ("../../../secret.txt", "@site/../secret.txt", str(tmp_path / "secret.txt")):
        assert read(escape) is None
    assert read("a\0b") is None
