"""Real books and hostile files: every page parses, and nothing hidden comes out."""

import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import BlockKind, ParsedDocument
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.formats.markdown import parse_markdown
from core.ingestion.sites.site import include_reader
from core.ingestion.sites.site_settings import SiteKind
from core.ingestion.sources.sources import detect_site

pytestmark = pytest.mark.costly

SHARED = Path(__file__).parents[5] / "shared"


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the project")
    return path


def parsed(text: str, dialect: str) -> ParsedDocument | None:
    try:
        return parse_markdown(text, dialect=dialect, read_include=lambda path: None)
    except UnsupportedDocument:
        return None


def assert_within(text: str, document: ParsedDocument) -> None:
    """Check that each block says which lines of its text it stands in."""
    height = text.count("\n") + 1
    for block in document.blocks:
        assert 1 <= block.locator["line_start"] <= block.locator["line_end"] <= height


def test_every_page_of_the_rust_book_parses() -> None:
    site = detect_site(shared("corpora/rust-book/book"))
    assert site.kind is SiteKind.MDBOOK
    assert (len(site.pages), site.warnings) == (120, ())
    kinds: Counter[BlockKind] = Counter()
    for page in site.pages:
        text = (site.folder / page.path).read_text(encoding="utf-8")
        document = parse_markdown(
            text,
            dialect=page.dialect,
            read_include=include_reader(site.folder, page.path, site.include_roots, page.dialect),
        )
        kinds.update(block.kind for block in document.blocks)
        assert all("is missing" in warning for warning in document.warnings)
        assert_within(text, document)
        for block in document.blocks:
            assert "<!--" not in block.text
            assert "<Listing" not in block.text
    assert kinds[BlockKind.HEADING] > 400
    assert kinds[BlockKind.CODE] > 200
    assert kinds[BlockKind.TABLE] >= 8


def test_headings_of_the_rust_book_have_the_anchors_that_its_own_links_use() -> None:
    folder = shared("corpora/rust-book/book")
    text = (folder / "ch03-01-variables-and-mutability.md").read_text(encoding="utf-8")
    document = parse_markdown(text, dialect="mdbook", read_include=lambda path: None)
    anchors = [block.anchor for block in document.blocks if block.kind is BlockKind.HEADING]
    assert anchors == ["variables-and-mutability", "constants", "shadowing"]


def test_the_economics_book_parses_at_a_good_speed() -> None:
    site = detect_site(shared("corpora/economics/book"))
    texts = [(site.folder / page.path).read_text(encoding="utf-8") for page in site.pages]
    began = time.process_time()
    documents = [parsed(text, "markdown") for text in texts]
    assert time.process_time() - began < 20
    assert len(documents) == 182
    assert all(document and document.blocks for document in documents)


@pytest.mark.parametrize("dialect", list(MarkdownFlavour))
def test_hostile_files_never_crash_the_parser(dialect: MarkdownFlavour) -> None:
    folders = ("commonmark", "markdown-it-py", "bleach", "blns", "unicode", "bipia")
    found = [path for name in folders for path in sorted(shared(f"attacks/{name}").glob("*"))]
    assert found
    for path in found:
        text = path.read_text(encoding="utf-8", errors="replace")
        document = parsed(text, dialect)
        assert document is not None, path.name
        assert_within(text, document)


@pytest.mark.parametrize("dialect", list(MarkdownFlavour))
def test_sanitiser_cases_leave_no_script(dialect: MarkdownFlavour) -> None:
    cases = json.loads((shared("attacks/dompurify") / "cases.json").read_text(encoding="utf-8"))
    for case in cases:
        parsed(case["payload"], dialect)
        document = parsed(f"a\n\n<script>\n{case['payload']}</script>\n\nb", dialect)
        assert document is not None


def test_unicode_attacks_leave_no_invisible_characters() -> None:
    lines = (shared("attacks/unicode") / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    for case in map(json.loads, lines):
        document = parsed(f"# {case['text']}\n\n{case['text']}\n", "markdown")
        for block in document.blocks if document else ():
            assert not any(0xE0000 <= ord(char) <= 0xE0FFF for char in block.text)
            assert not set(block.text) & set("\u202e\u2066\u200b\u2060\x00\x1b")


BOMBS = [
    *("<a ", "<!--", "<a b='", "<div hidden>\n\n", "<div>", "</div>\n\n", "<X a={", '<X a="'),
    *("{", "{`", "{/*", "${", "$", "$$", "\\(", "\\[a", "`` `", "[a](", "> ", "- ", "|||\n|-|-|\n"),
    *("## a_1\n", "# a\n", "!!! note\n    ", ":::note\n", "[^1]: a\n\n", "{{#include ", "--8<--\n"),
    *("import x from 'y.mdx'\n\n<x/>\n\n", "export const a = {\n\n", "<a \"'<a'\" ", "a\n: b\n"),
]


@pytest.mark.parametrize("bomb", BOMBS)
def test_repetition_costs_no_more_than_its_length(bomb: str) -> None:
    for dialect in MarkdownFlavour:
        began = time.process_time()
        parsed(bomb * (12_000 // len(bomb)), dialect)
        assert time.process_time() - began < 5


def test_random_markup_never_crashes_the_parser() -> None:
    chance = random.Random(7)
    pieces = [
        *BOMBS,
        *"\n`*_[]()<>{}!#$\\\"'=-+|:~&^",
        "\n\n",
        "    ",
        "text",
        "</X>",
        "<b>",
        "---\n",
    ]
    for _ in range(250):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 80)))
        for dialect in MarkdownFlavour:
            document = parsed(text, dialect)
            if document is not None:
                assert_within(text, document)
