"""reStructuredText and Sphinx: blocks with their lines, the links of Sphinx, nothing opened."""

from itertools import pairwise
from pathlib import Path

import pytest

from core.ingestion.document import BlockKind, BlockRole, ParsedDocument
from core.ingestion.formats.rst import parse_rst
from core.ingestion.sites.site_settings import SiteKind
from core.ingestion.sources.sources import detect_site
from tests.books import write_files
from tests.format_courses.reading import ReadCourse, read_course
from tests.format_courses.sphinx import COURSE


def parsed(text: str, **files: str) -> ParsedDocument:
    return parse_rst(text, read_include=files.get)


def texts(text: str, **files: str) -> list[str]:
    return [block.text for block in parsed(text, **files).blocks]


def test_a_site_is_its_toctrees_and_then_the_other_pages(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, COURSE))
    assert (site.kind, site.base_url) == (SiteKind.SPHINX, "https://course.example/book/")
    assert [(page.path, page.url_path, page.module, page.title) for page in site.pages] == [
        ("index.rst", "index.html", "", None),
        ("tides.rst", "tides.html", "Water", None),
        ("waves/index.rst", "waves/index.html", "Water", "Waves at sea"),
        ("waves/north/breakers.rst", "waves/north/breakers.html", "Water", None),
        ("more.md", "more.html", "", None),
        ("orphan.rst", "orphan.html", "", None),
    ]
    assert site.warnings == ("A toctree names a page that is missing: gone.",)
    assert {left.path: left.reason for left in site.left_out} == {
        "_build/html/index.html": "is in _build, which Sphinx fills",
        "_parts/deeper.inc": "is read with the pages that include it",
        "_parts/note.inc": "is read with the pages that include it",
        "_templates/page.html": "is a template",
        "code/rise.py": "is read with the pages that include it",
        "conf.py": "is no format that is read",
        "drafts/later.rst": "is excluded by conf.py",
        "edition-2023/index.rst": "is excluded by conf.py",
    }


@pytest.mark.costly
async def test_a_page_keeps_all_that_a_reader_sees(tmp_path: Path) -> None:
    read = await read_course(tmp_path, COURSE)
    assert read.failed == {}
    assert read.blocks("tides.rst") == [
        ("heading", "Tides"),
        (
            "paragraph",
            "The tide rises twice a day, see Tides, other page, waves index and the waves; `rise` "
            "and `sea.Tide` compute it, |unset|. A footnote , $h = a$, and `x y`; `role words`.",
        ),
        ("paragraph", "Said in a note."),
        ("heading", "Summary"),
        ("list_item", "1. Wait for the moon."),
        ("paragraph", "Then look again."),
        ("list_item", "2. Measure:"),
        ("list_item", "- the height"),
        ("list_item", "- the hour"),
        ("paragraph", "Ebb: The falling tide."),
        ("paragraph", "It lasts six hours."),
        *(("paragraph", text) for text in ("Warning", "Mind the tide.", "It comes fast.")),
        *(("paragraph", text) for text in ("On foot", "Never alone.", "Rise")),
        ("code", "```python\ndef rise():\n    return 4\n```"),
        ("formula", "$$\nh = a \\cos t\n$$"),
        *(("paragraph", text) for text in ("A gauge", "A gauge in its pipe.", "Heights")),
        ("table", "| harbour | height |\n| --- | --- |\n| Arden | 4 m |"),
        *(("paragraph", text) for text in ("A note of all pages.", "Deeper still.")),
        ("code", "```python\ndef rise():\n    return 4\n```"),
        *(("paragraph", text) for text in ("In winter", "Tides are higher.")),
        ("paragraph", "`rise(harbour, *, day=1)`: Return the height."),
        *(("paragraph", text) for text in ("Added in version 2.0", "of some extension")),
        *(("paragraph", text) for text in ("Its words stay.", "Only on the web.")),
        ("heading", "Summary"),
        ("table", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("code", "```\n.. list-table:: Broken\n\n   no list at all\n```"),
    ]
    assert read.parsed["tides.rst"].warnings == (
        "Markup that could not be read was kept as it is written: line 106.",
    )


@pytest.mark.costly
async def test_lines_levels_roles_and_links_are_those_of_the_page(tmp_path: Path) -> None:
    read: ReadCourse = await read_course(tmp_path, COURSE)
    lines = COURSE["tides.rst"].split("\n")
    for text in ("Tides are higher.", "Its words stay.", "Return the height.", "Then look again."):
        [block] = [block for block in read.parsed["tides.rst"].blocks if block.text.endswith(text)]
        assert lines[block.locator["line_start"] - 1].strip() == text
    blocks = {block.text: block for block in read.parsed["tides.rst"].blocks}
    assert [blocks[text].level for text in ("1. Wait for the moon.", "- the hour")] == [1, 2]
    assert read.anchors("tides.rst") == ["tides", "summary", "id2"]
    assert read.anchors("waves/index.rst") == ["waves"]
    last = read.chunks("tides.rst")[-1]
    assert last.source_url == "https://course.example/book/tides.html#id2"
    assert last.headings == ("Tides", "Summary")


def test_includes_take_their_part_and_code_shows_them() -> None:
    note = "before\n.. start\n\nOne.\n\nTwo.\n\n.. end\nafter"
    page = ".. include:: note\n   :start-after: .. start\n   :end-before: .. end\n"
    assert texts(page, note=note) == ["One.", "Two."]
    assert texts("In rst::\n\n   .. include:: note\n", note=note)[1] == (
        "```\n.. include:: note\n```"
    )
    assert texts(".. include:: note\n   :code: python\n", note="x = 1") == ["```python\nx = 1\n```"]
    gone = parsed(".. include:: gone\n\n.. include:: self\n\nText.\n", self=".. include:: self\n")
    assert [block.text for block in gone.blocks] == ["Text."]
    assert gone.warnings == (
        "The included file gone is missing.",
        "The file self includes itself and was left out there.",
    )


def test_captions_are_captions() -> None:
    blocks = parsed(".. figure:: x.png\n   :alt: A gauge\n\n   In its pipe.\n\nText.\n").blocks
    assert [block.role for block in blocks] == [BlockRole.CAPTION] * 2 + [BlockRole.TEXT]


def test_formulas_in_lists_and_tables_in_boxes_stay_what_they_are() -> None:
    page = "- .. math:: x\n\n.. note::\n\n   == ==\n   a  b\n   == ==\n   1  2\n   == ==\n"
    assert [block.kind for block in parsed(page).blocks] == [
        BlockKind.FORMULA,
        BlockKind.PARAGRAPH,
        BlockKind.TABLE,
    ]


_GROWING = (f".. |{b}| replace:: {f'|{a}| ' * 9}\n" for a, b in pairwise("abcdefghi"))
HOSTILE = {
    "substitutions": ".. |a| replace:: x x x x x x x x\n" + "".join(_GROWING) + "\n|i|\n",
    "deep lists": "".join("  " * depth + "- x\n\n" for depth in range(500)),
    "deep boxes": "".join("   " * depth + ".. note::\n\n" for depth in range(300))
    + " " * 900
    + "x",
    "long line": "`" * 300_000,
    "backquotes": "*" * 2_000 + "\n\n" + "`a " * 2_000,
    "includes itself": ".. include:: includes itself.rst\n" * 50,
    "the machine": ".. include:: /etc/passwd\n.. literalinclude:: ../../../../etc/passwd\n"
    ".. csv-table::\n   :file: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n\n"
    ".. figure:: /etc/passwd\n   :figwidth: image\n\nText.\n",
    "the web": ".. csv-table::\n   :url: http://127.0.0.1:9/\n\n"
    ".. raw:: html\n   :url: http://127.0.0.1:9/\n\nText.\n",
    "table": "=" * 2_000 + " " + "=" * 2_000 + "\n" + "x\n" * 5_000,
    "headings": "".join(f"x\n{mark * 3}\n\n" for mark in "=-~^+*#<>_:;.,'`") * 50,
}


@pytest.mark.costly
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_pages_end_in_text_or_a_sentence(tmp_path: Path, name: str) -> None:
    files = {f"{name}.rst": HOSTILE[name], "good.rst": "Good\n====\n\nDemand falls.\n"}
    read = await read_course(tmp_path, files)
    assert read.blocks("good.rst")[1] == ("paragraph", "Demand falls.")
    assert (f"{name}.rst" in read.documents) != (f"{name}.rst" in read.failed)
    said = str(read.parsed.get(f"{name}.rst")) + str(read.failed)
    assert "root:" not in said
    assert not name.startswith("the ") or "Text." in said


CONF = """project = "Tides"
release = version = "3.2"
room = f"Hall {7}"
rst_prolog = ".. |room| replace:: " + room + "\\n.. role:: strike\\n"
tags.add("open")
"""


def words(text: str, **files: str) -> str:
    document = parse_rst(text, read_include={"@site/conf.py": CONF, **files}.get)
    return " / ".join(block.text for block in document.blocks)


def kinds(text: str) -> dict[str, int]:
    document = parse_rst(text, read_include={"@site/conf.py": CONF}.get)
    return {one.kind: one.words for one in document.left_out}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"H\ :sub:`2`\ O, 10\ :sup:`6` m, the 5\ :sup:`th`", "H₂O, 10⁶ m, the 5th"),
        (r"The :strike:`old fee` new fee.", "The new fee."),
        ("In |room|, release |release| of |project|.", "In Hall 7, release 3.2 of Tides."),
        ("The |nope| stays.", "The |nope| stays."),
        (".. only:: latex\n\n   Print.\n\n.. only:: not latex\n\n   Web.", "Web."),
        (".. only:: html and latex\n\n   Both.\n\n.. only:: html or man\n\n   One.", "One."),
        (".. ifconfig:: release == '1'\n\n   Old.\n\n.. ifconfig:: x > 1\n\n   Any.", "Any."),
        (".. todo:: Mend this.\n\nText.", "Text."),
        (
            ".. csv-table::\n   :file: d.csv\n   :header-rows: 1",
            "| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
        (".. |br| raw:: html\n\n   <br>\n\nOne |br| two.", "One two."),
        (".. _here:\n\nTop\n===\n\nSee :numref:`Chapter %s <here>`.", "Top / See Chapter “Top”."),
        (
            "(a) one\n(b) two\n\nText.\n\niv. four\nv. five",
            "(a) one / (b) two / Text. / iv. four / v. five",
        ),
        ("Press :guilabel:`&Save` & go.", "Press Save & go."),
        (":orphan:\n\nText in |room|.", "Text in Hall 7."),
    ],
)
def test_a_page_is_read_as_the_site_publishes_it(written: str, shown: str) -> None:
    assert words(written, **{"d.csv": "A,B\n1,2\n"}) == shown


def test_cells_over_several_rows_and_columns_keep_the_others_in_place() -> None:
    table = """
+-----+-----+-----+
| a   | b   | c   |
+=====+=====+=====+
| wide      | z   |
+-----+-----+-----+
| tall| y   | w   |
|     +-----+-----+
|     | v   | u   |
+-----+-----+-----+
"""
    rows = ["| a | b | c |", "| --- | --- | --- |", "| wide |  | z |", "| tall | y | w |"]
    assert words(table) == "\n".join([*rows, "| tall | v | u |"])


def test_what_is_not_shown_is_counted() -> None:
    page = (
        ".. two words\n\n:strike:`one` |nope|\n\n.. only:: latex\n\n   Print it.\n\n"
        ".. raw:: html\n\n   <b>x y</b>\n\n.. image:: x.png\n\n.. todo::\n\n   Mend this.\n"
    )
    assert kinds(page) == {
        "comment": 2,
        "struck text": 1,
        "value that is not known": 0,
        "hidden text": 2,
        "directive raw": 2,
        "picture": 0,
        "note of the author": 2,
    }
