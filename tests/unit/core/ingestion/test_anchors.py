"""Anchors: each publisher's own way to name headings, and to number equal ones."""

import pytest

from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.formats.markdown_inline import anchor_slugs


@pytest.mark.parametrize(
    ("dialect", "heading", "anchor"),
    [
        (MarkdownFlavour.MDBOOK, "`--passes`: add more", "--passes-add-more"),
        (MarkdownFlavour.MDBOOK, "Method-call 🐙 expressions", "method-call--expressions"),
        (MarkdownFlavour.MDBOOK, "中文標題 CJK title", "中文標題-cjk-title"),
        (MarkdownFlavour.MDBOOK, "Über", "Über"),
        (MarkdownFlavour.MDBOOK, "_-_12345", "_-_12345"),
        (MarkdownFlavour.MKDOCS, "Supply & demand!", "supply-demand"),
        (MarkdownFlavour.MKDOCS, "Über  größe", "uber-groe"),
        (MarkdownFlavour.MKDOCS, "a - b_c", "a-b_c"),
        (MarkdownFlavour.MKDOCS, "中文", "_1"),
        (MarkdownFlavour.DOCUSAURUS, "Supply & demand!", "supply--demand"),
        (MarkdownFlavour.DOCUSAURUS, "🚀 Launch: it’s 1.0", "-launch-its-10"),
        (MarkdownFlavour.MARKDOWN, "Über größe_1", "über-größe_1"),
        (MarkdownFlavour.MARKDOWN, "中文, 標題", "中文-標題"),
    ],
)
def test_a_heading_gets_the_anchor_of_its_publisher(
    dialect: MarkdownFlavour, heading: str, anchor: str
) -> None:
    assert anchor_slugs(dialect).anchor(heading) == anchor


@pytest.mark.parametrize(
    ("dialect", "anchors"),
    [
        (MarkdownFlavour.MDBOOK, ["a", "a-1", "a-1", "a-2"]),
        (MarkdownFlavour.MKDOCS, ["a", "a_1", "a-1", "a_2"]),
        (MarkdownFlavour.DOCUSAURUS, ["a", "a-1", "a-1-1", "a-2"]),
    ],
)
def test_equal_headings_are_numbered_as_each_publisher_does(
    dialect: MarkdownFlavour, anchors: list[str]
) -> None:
    slugs = anchor_slugs(dialect)
    assert [slugs.anchor(heading) for heading in ("a", "a", "a-1", "a")] == anchors


def test_python_markdown_counts_on_from_a_number() -> None:
    slugs = anchor_slugs(MarkdownFlavour.MKDOCS)
    headings = ("x_1", "x_1", "x", "x", "x_1")
    assert [slugs.anchor(heading) for heading in headings] == ["x_1", "x_2", "x", "x_3", "x_4"]


def test_an_own_id_wins_and_counts_as_taken() -> None:
    slugs = anchor_slugs(MarkdownFlavour.MARKDOWN)
    assert [slugs.anchor("A", "b"), slugs.anchor("b")] == ["b", "b-1"]
