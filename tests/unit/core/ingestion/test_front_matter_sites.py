"""Sites of Jekyll and Hugo: their order, their links, their templates, and what they hide."""

from pathlib import Path

import pytest

from core.ingestion.sites.detection import detect_site
from core.ingestion.sites.site import Site, SiteKind
from tests.books import write_files
from tests.format_courses.front_matter import HUGO, JEKYLL, JEKYLL_NAVIGATION
from tests.format_courses.reading import read_course


def rows(site: Site) -> list[tuple[str, str, str, str | None]]:
    return [(page.path, page.url_path, page.module, page.title) for page in site.pages]


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


async def test_the_tags_of_liquid_are_gone_and_headings_are_linked(tmp_path: Path) -> None:
    read = await read_course(tmp_path, JEKYLL, base_url=None)
    assert [text for _, text in read.blocks("tides.md")] == [
        "The moon pulls.",
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
