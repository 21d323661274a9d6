"""Sites of Jekyll and Hugo: their order, their links, their templates, and what they hide."""

from pathlib import Path

import pytest

from core.ingestion.sites import site as path_patterns
from core.ingestion.sites.site_settings import Site, SiteKind
from core.ingestion.sources.sources import detect_site
from tests.books import write_files
from tests.format_courses.front_matter import (
    HUGO,
    HUGO_PERMALINKS,
    HUGO_TARGETS,
    JEKYLL,
    JEKYLL_DEFAULTS,
    JEKYLL_NAVIGATION,
)
from tests.format_courses.reading import read_course


def rows(site: Site) -> list[tuple[str, str, str, str | None]]:
    return [(page.path, page.url_path, page.module, page.title) for page in site.pages]


def links(site: Site) -> dict[str, str]:
    return {page.path: page.url_path for page in site.pages}


def reasons(site: Site) -> dict[str, str]:
    return {left.path: left.reason for left in site.left_out}


def test_a_jekyll_site_is_its_pages_by_order_and_parent(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, JEKYLL))
    assert (site.kind, site.base_url) == (SiteKind.JEKYLL, "https://course.example/sea/")
    assert rows(site) == [
        ("index.md", "", "", "Home"),
        ("tides.md", "tides/", "", "Tides"),
        ("waves.md", "waves/", "", "Waves"),
        ("spray.md", "spray-at-sea", "Waves", "Spray"),
        ("foam.md", "foam/", "Waves", "Foam"),
        ("_extra/more.md", "_extra/more/", "Extra", "More"),
        ("plain.md", "plain/", "", None),
        ("circle.md", "circle/", "", "Circle"),
        ("round.md", "round/", "", "Round"),
        ("_labs/01-chart.md", "labs/01-chart/", "Labs", "The chart"),
        ("_labs/02-gauge.md", "labs/02-gauge/", "Labs", "The gauge"),
        (
            "_posts/2026-03-04-spring-tide.md",
            "news/2026/03/04/spring-tide/",
            "Posts",
            "Spring tide",
        ),
    ]


def test_what_jekyll_does_not_publish_is_left_out_with_a_reason(tmp_path: Path) -> None:
    found = reasons(detect_site(write_files(tmp_path, JEKYLL)))
    underscored = "begins with an underscore, so Jekyll does not publish it"
    assert {
        "_secret/less.md": underscored,
        "_layouts/default.html": underscored,
        "_drafts/idea.md": "is a draft",
        "_notes/staff.md": "is of the collection notes, which is not published",
        "_posts/undated.md": "is a post without a date in its name",
        "hidden.md": "is not published",
        "old/waves.md": "is excluded by the configuration",
        "copy.bak.md": "is excluded by the configuration",
        "_site/index.html": "is in _site, which Jekyll fills",
        "robots.txt": "is no page of Jekyll",
    }.items() <= found.items()


@pytest.mark.costly
async def test_the_tags_of_liquid_are_gone_and_headings_are_linked(tmp_path: Path) -> None:
    read = await read_course(tmp_path, JEKYLL, base_url=None)
    assert [text for _, text in read.blocks("tides.md")] == [
        "The moon pulls{{ site.x }}.",
        "`{{ kept }}`",
        "```python\nprint(1)\n```",
    ]
    assert read.anchors("waves.md") == ["waves", "height", "height-1"]
    assert [text for kind, text in read.blocks("waves.md") if kind == "paragraph"] == [
        "Wind makes waves.",
        "One.",
        "Two.",
    ]
    links = {chunk.source_url for chunk in read.chunks("waves.md")}
    assert "https://course.example/sea/waves/#height-1" in links


def test_the_navigation_of_a_theme_comes_first(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, JEKYLL_NAVIGATION))
    assert rows(site) == [
        ("cliffs.md", "cliffs.html", "The coast", "Cliffs first"),
        ("beaches.md", "beaches.html", "The coast", "Beaches"),
        ("index.md", "", "", None),
        ("weeks/one.md", "weeks/one.html", "Weeks", "One"),
    ]
    assert site.warnings == ("The navigation names a page that is missing: gone.html.",)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("_config.yml", "- a\n- b\n"),
        ("_config.yml", "title: Notes\n"),
        ("config.toml", "title='x'"),
    ],
)
def test_a_configuration_of_another_program_makes_no_site(
    tmp_path: Path, name: str, config: str
) -> None:
    files = {name: config, "content/a.md": "# A\n\nText.\n"}
    assert detect_site(write_files(tmp_path, files)).kind is SiteKind.FOLDER


def test_a_hugo_site_is_its_sections_by_weight(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, HUGO))
    assert (site.kind, site.base_url) == (SiteKind.HUGO, "https://course.example/sea/")
    assert rows(site) == [
        ("content/_index.md", "", "", "The sea"),
        ("content/tides/_index.md", "tides/", "", "Tides"),
        ("content/tides/old.md", "archive/old-tides/", "Tides", "Old"),
        ("content/tides/spring/index.md", "tides/spring/", "Tides", "Spring tides"),
        ("content/tides/spring/table.pdf", "tides/spring/table.pdf", "Tides › Spring tides", None),
        ("content/waves/_index.md", "waves/", "", "On waves"),
        ("content/waves/height.md", "waves/how-high/", "Waves", "Height"),
        ("content/waves/Foam and spray.md", "waves/foam-and-spray/", "Waves", "Foam"),
        ("content/waves/unweighted.md", "waves/unweighted/", "Waves", "Unweighted"),
        ("content/about.md", "about/", "", "About us"),
        ("content/_drafts/now.md", "_drafts/now/", "Drafts", "Now"),
    ]
    assert site.warnings == ("The menu names a page that is missing: /gone.",)
    assert {
        "content/later.md": "is a draft",
        "content/nowhere.md": "is not published as a page",
        "content/raw.html": "has no front matter, so Hugo copies it as it is",
        "content/tides/spring/part.md": "is a part of the page tides/spring, not a page of its own",
        "content/waves/unweighted.de.md": "is a translation of the site",
        "public/index.html": "is in public, which Hugo fills",
        "themes/t/README.md": "lies outside of content, where the site has its pages",
    }.items() <= reasons(site).items()


@pytest.mark.costly
async def test_shortcodes_are_gone_and_what_they_enclose_stays(tmp_path: Path) -> None:
    read = await read_course(tmp_path, HUGO, base_url=None)
    assert [text for _, text in read.blocks("content/waves/height.md")] == [
        "Metres.",
        "Look up.",
        '```go\nprint("h")\n```',
        'Write `{{< ref "x" >}}`.',
    ]
    assert read.anchors("content/waves/Foam and spray.md") == ["air", "air-1"]
    links = {chunk.source_url for chunk in read.chunks("content/waves/Foam and spray.md")}
    assert "https://course.example/sea/waves/foam-and-spray/#air-1" in links


@pytest.mark.costly
def test_a_site_whose_configuration_is_hostile_is_read_in_time(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{one}: &{one} [*{two}, *{two}]\n"
        for one, two in zip("bcdefghijkl", "abcdefghijk", strict=True)
    )
    files = {
        "_config.yml": f"{bomb}exclude: *l\ncollections: *l\ntheme: x\n",
        "_data/navigation.yml": f"{bomb}docs: *l\n",
        "a.md": "---\ntitle: [1, 2]\nparent: {a: b}\nnav_order: 1e999\npermalink: /../../x\n---\n",
        "b.md": "---\n" + "{" * 5_000 + "\n---\nText.\n",
    }
    site = detect_site(write_files(tmp_path, files))
    assert {page.path for page in site.pages} == {"a.md", "b.md"}


def test_the_defaults_of_jekyll_say_where_pages_and_collections_are(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, JEKYLL_DEFAULTS))
    assert links(site) == {
        "index.md": "",
        "about/us.md": "about/us.html",
        "weeks/one/plan.md": "plans/weeks/one/",
        "weeks/one/notes.md": "notes/",
        "weeks/own.md": "mine.html",
        "parts/_labs/2026-02-03-read_a gauge.md": "labs/2026-02-03-read_a%20gauge",
        "parts/_labs/late/read_a gauge.md": "labs/read-a-gauge.html",
        "parts/_posts/2026-01-05-High Water.md": "2026/High-Water",
        "parts/sea/_posts/2026-01-06-low.md": "sea/ebb/news/2025/low-water",
    }
    assert reasons(site)["parts/_labs/staff/answers.md"] == "is not published"
    assert site.pages[0].path == "about/us.md"  # the one whose order the defaults say


@pytest.mark.parametrize(
    ("style", "post", "page", "lab"),
    [
        ("date", "2026/03/04/tide.html", "a.html", "labs/b.html"),
        ("pretty", "2026/03/04/tide/", "a/", "labs/b/"),
        ("ordinal", "2026/063/tide.html", "a.html", "labs/b.html"),
        ("weekdate", "2026/W10/Wed/tide.html", "a.html", "labs/b.html"),
        ("none", "tide.html", "a.html", "labs/b.html"),
        ("/:short_year-:i_month/:slug_/", "26-3/tide_/", "a/", "labs/b/"),
        ("/:long_month/:title", "March/tide", "a", "labs/b"),
    ],
)
def test_the_permalink_of_the_site_is_a_style_or_a_template(
    tmp_path: Path, style: str, post: str, page: str, lab: str
) -> None:
    head = "---\ntitle: T\n---\nText.\n"
    files = {
        "_config.yml": f"permalink: {style}\ncollections: {{labs: {{output: true}}}}\n",
        "a.md": head,
        "_labs/b.md": head,
        "_posts/2026-03-04-tide.md": head,
    }
    site = detect_site(write_files(tmp_path, files))
    assert list(links(site).values()) == [page, lab, post]


def test_the_permalinks_of_hugo_say_where_pages_and_sections_are(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, HUGO_PERMALINKS))
    assert links(site) == {
        "content/_index.md": "en/",
        "content/about.md": "en/pages/about/",
        "content/talks/_index.md": "en/all-talks/",
        "content/talks/Ebb & flow.md": "en/talks/2026/March/04/ebb-flow/",
        "content/talks/slug.md": "en/talks/2026/November/05/short/",
        "content/talks/url.md": "talks/own/",
        "content/talks/file.md": "en/own/page.html",
        "content/labs/first/_index.md": "en/labs/first/",
        "content/labs/first/loose/gauge/index.md": "en/first/gauge/",
        "content/labs/first/loose/gauge/table.pdf": "en/first/gauge/table.pdf",
        "content/notes/one.md": "en/notes/one.html",
        "content/notes/sub/_index.md": "en/notes/sub/",
    }


def test_permalinks_of_hugo_may_name_their_targets(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, HUGO_TARGETS))
    assert links(site) == {
        "content/weeks/_index.md": "book/",
        "content/weeks/one.md": "book/weeks/week-one/",
        "content/other/two.md": "rest/two/",
    }


@pytest.mark.parametrize(
    "permalinks",
    ["*b", "[*b, {pattern: [1]}, {pattern: x, target: *b}]", "{page: *b, section: 1, '': [1]}"],
)
def test_permalinks_that_are_none_change_nothing(tmp_path: Path, permalinks: str) -> None:
    config = f"a: &a [x, x]\nb: &b [*a, *a]\nlanguages: *b\npermalinks: {permalinks}\n"
    files = {"hugo.yaml": config, "content/a/b.md": "---\ntitle: [1]\nurl: {a: b}\n---\nText.\n"}
    assert links(detect_site(write_files(tmp_path, files)))["content/a/b.md"] == "a/b/"


def test_patterns_of_paths_are_compared_in_time() -> None:
    assert path_patterns.fits("/a/b/c", "/a/**")
    assert path_patterns.fits("/a", "{/a,/b}")
    assert path_patterns.fits("/a", "/a/**")
    assert not path_patterns.fits("/a/b", "/*")
    assert path_patterns.begins_with("a/b/c.md", "*/b")
    assert not path_patterns.begins_with("a/b/c.md", "*/c")
    hostile = "/".join(["**", "*a*a*a*a*b"] * 40)
    assert not path_patterns.fits("/".join(["a" * 200] * 80), hostile)
    assert not path_patterns.fits("a", "{a,b}" * 60)
