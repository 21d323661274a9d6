"""What of a passage is more than prose is kept with its span, and told what it is for."""

import pytest

from core.domain import Chunk, Course
from core.ingestion.chunking import chunk_document
from core.ingestion.document import Block, BlockKind, ParsedDocument, document_of
from core.ingestion.formats.html_blocks import html_blocks
from core.ingestion.passages import CourseDocument, Placement, course_document, with_boilerplate
from tests.unit.core.ingestion.test_markdown import parsed as markdown

COURSE = Course(course_id="tides", title="Tides")
STEPS = "1. Open the gate.\n2. Let the water in.\n\n   It takes an hour.\n\n3. Close the gate."
PAGE = f"""# The mill

The miller works on the ebb.

{STEPS}

- elm
- oak

```sh
turn --wheel
```

| part | wood |
|---|---|
| float | elm |

$$
p = rgh
$$
"""


def blocks_of(*blocks: Block) -> list[tuple[str, str]]:
    """Return each block of the passages: what it is, and its text."""
    return [
        (block.kind, passage.text[block.start : block.end])
        for passage in chunk_document(document_of(None, blocks)).passages
        for block in passage.blocks
    ]


def test_lists_code_tables_and_formulas_are_whole_blocks() -> None:
    found = dict(blocks_of(*markdown(PAGE).blocks))
    assert found["ordered_list"] == STEPS
    assert found["list"] == "- elm\n- oak"
    assert found["code"] == "```sh\nturn --wheel\n```"
    assert found["table"].startswith("| part | wood |")
    assert found["formula"].startswith("$$")
    assert len(found) == 5


def test_a_list_that_fits_is_not_cut() -> None:
    prose = Block(BlockKind.PARAGRAPH, "The tide rises twice a day. " * 30)
    items = [Block(BlockKind.LIST_ITEM, f"{n}. Turn the wheel {n} times.", 1) for n in range(1, 25)]
    [(kind, text)] = blocks_of(prose, *items, prose)
    assert kind == "ordered_list"
    assert text.count("\n") == 23


@pytest.mark.parametrize(
    ("page", "role"),
    [
        ("# A\n\n## Exercises\n\nCompute the height of the tide.", "exercise"),
        ("# A\n\n1. Why is it high?\n2. When is it low?\n3. Who knows?", "exercise"),
        ("# A\n\n[The next page](b.md)", "navigation"),
        ("# A\n\n![A wheel of elm](wheel.png)", "caption"),
    ],
)
def test_what_does_not_answer_is_told_by_its_structure(page: str, role: str) -> None:
    assert role in dict(blocks_of(*markdown(page).blocks))


def test_prose_about_exercises_and_with_links_is_text() -> None:
    page = "# Locks\n\n## The water level problem\n\nA lock mends it.\n\n# Exercise and health\n\n"
    page += "Walk, as [this page](b.md) and many others say. Why not?"
    assert blocks_of(*markdown(page).blocks) == []


def test_captions_of_web_pages_are_told_by_their_markup() -> None:
    from selectolax.lexbor import LexborHTMLParser

    page = "<figure><img><figcaption>A wheel.</figcaption></figure><p>It turns.</p>"
    root = LexborHTMLParser(page).body
    assert root is not None
    assert blocks_of(*html_blocks(root)) == [("caption", "A wheel.")]


def test_what_stands_before_the_first_heading_of_a_paged_document_leads() -> None:
    title = Block(BlockKind.PARAGRAPH, "Printed in Penwarra.", locator={"page": 1})
    heading = Block(BlockKind.HEADING, "The wheel", 1, locator={"page": 2})
    text = Block(BlockKind.PARAGRAPH, "It turns.", locator={"page": 2})
    assert blocks_of(title, heading, text) == [("front_matter", "Printed in Penwarra.")]


def document(name: str, parsed: ParsedDocument) -> CourseDocument:
    return course_document(COURSE, Placement(name, "book"), parsed, "")


def test_a_paragraph_of_many_documents_is_boilerplate() -> None:
    notice = "Access for free at the mill."
    pages = {
        f"{n}.md": document(f"{n}.md", markdown(f"# Page {n}\n\nTide {n} is high.\n\n{notice}"))
        for n in range(4)
    }
    marked = with_boilerplate(pages)
    assert all(_boilerplate(d.chunks) == [notice] for d in marked.values())
    two = dict(list(pages.items())[:2])
    assert with_boilerplate(two) == two


def _boilerplate(chunks: tuple[Chunk, ...]) -> list[str]:
    return [c.content_text[b.start : b.end] for c in chunks for b in c.blocks]
