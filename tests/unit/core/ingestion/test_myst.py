"""MyST: what a reader of a Jupyter Book sees goes in, nothing else does."""

from pathlib import Path

import pytest

from core.ingestion.document import ParsedDocument
from core.ingestion.formats.markdown import parse_markdown
from core.ingestion.sources.sources import detect_site
from tests.books import write_files
from tests.format_courses.quarto import JUPYTER_BOOK
from tests.format_courses.reading import read_course


def parsed(text: str, **files: str) -> ParsedDocument:
    return parse_markdown(text, dialect="myst", read_include=files.get)


def texts(text: str, **files: str) -> list[str]:
    return [block.text for block in parsed(text, **files).blocks]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("```{note}\nMind it.\n```", ["Note", "Mind it."]),
        (":::{admonition} On *foot*\n:class: tip\nNever.\n:::", ["On foot", "Never."]),
        ("::::{tab-set}\n:::{tab-item} Winter\nCold.\n:::\n::::", ["Winter", "Cold."]),
        ("```{prf:theorem} Reed\n:label: thm\nAll ends.\n```", ["Theorem Reed", "All ends."]),
        ("```{code-cell} ipython3\n:tags: [hide]\nx = 1\n```", ["```python\nx = 1\n```"]),
        ("```{code-block} c\n---\ncaption: A loop\n---\nx;\n```", ["A loop", "```c\nx;\n```"]),
        ("```{math}\n:label: h\nh = a\n```", ["$$\nh = a\n$$"]),
        ("```{figure} x.png\n:alt: A gauge\nIn its pipe.\n```", ["A gauge", "In its pipe."]),
        ("```{toctree}\n:hidden:\na\nb\n```", []),
        ("```{strange} of something\nIts words.\n```", ["of something", "Its words."]),
        ("```python\n# {note}\n```", ["```python\n# {note}\n```"]),
        ("(a-label)=\n% a comment\nText.\n+++ {}", ["Text."]),
        (
            "{ref}`The tides <t>`, {ref}`high-tides`, {math}`x^2`, {func}`~sea.rise`{cite}`r`.",
            ["The tides, high tides, $x^2$, `rise`."],
        ),
    ],
)
def test_directives_and_roles_are_what_is_published(written: str, shown: list[str]) -> None:
    assert texts(f"Before.\n\n{written}\n\nAfter.") == ["Before.", *shown, "After."]


def test_includes_stay_in_the_course_and_end() -> None:
    page = "```{include} part.md\n```\n\n```{literalinclude} code.py\n:language: python\n```\n"
    files = {"part.md": "A {doc}`part`.\n\n```{include} part.md\n```\n", "code.py": "x = 1\n"}
    assert texts(page, **files) == ["A part.", "```python\nx = 1\n```"]
    assert parsed(page).warnings == (
        "The included file part.md is missing.",
        "The included file code.py is missing.",
    )


async def test_headings_have_the_anchors_of_sphinx(tmp_path: Path) -> None:
    page = "# The 2 tides: höher!\n\nA.\n\n## Summary\n\nB.\n\n## Summary\n\nC.\n"
    read = await read_course(tmp_path, {**JUPYTER_BOOK, "water/tides.md": page})
    assert read.anchors("water/tides.md") == ["the-2-tides-hoher", "summary", "id1"]
    site = detect_site(write_files(tmp_path, {"intro.md": "```{include} orphan.md\n```\n"}))
    assert "intro.md" in {page.path for page in site.pages}


@pytest.mark.costly
@pytest.mark.parametrize(
    "hostile",
    [
        "```{note}\n" * 3_000,
        "".join("`" * (3_000 - n) + "{note}\n" for n in range(900)),
        "{ref}`" * 50_000,
        "(" * 100_000 + ")=",
        "```{code-cell}\n---\n" * 3_000,
        "```{include} hostile.md\n```\n" * 300,
    ],
)
async def test_hostile_pages_end_in_text_or_a_sentence(tmp_path: Path, hostile: str) -> None:
    files = {
        "_toc.yml": "root: good\nchapters:\n- file: hostile\n",
        "hostile.md": f"{hostile}\nx\n",
    }
    read = await read_course(tmp_path, {**files, "good.md": "# Good\n\nDemand falls.\n"})
    assert read.blocks("good.md")[1] == ("paragraph", "Demand falls.")
    assert ("hostile.md" in read.documents) != ("hostile.md" in read.failed)


HEAD = "---\nmyst:\n  substitutions:\n    weeks: 14\n---\n"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("For {{ weeks }} weeks in {{ room }}.", ["For 14 weeks in Hall 7."]),
        ("An {{ unknown }} one.", ["An {{ unknown }} one."]),
        ("H{sub}`2`O, 10{sup}`6` and {del}`old` new.", ["H₂O, 10⁶ and new."]),
        ("It is {glue:text}`mean:.2f` now.", ["It is {mean} now."]),
        (
            "(a)=\n## Start\n\n{numref}`Chapter %s <a>`, [](#a).",
            ["Start", "Chapter “Start”, Start."],
        ),
        ("{numref}`fig-pond` and [](other/page.md).", ["Figure pond and other page."]),
        (
            '```{csv-table} T\n:header: a, b\n1, "2, 3"\n```',
            ["T", "| a | b |\n| --- | --- |\n| 1 | 2, 3 |"],
        ),
        ("```{csv-table}\n:file: d.csv\n:delim: ;\n```", ["| x | y |\n| --- | --- |\n| 1 | 2 |"]),
        (
            "```{list-table}\n:header-rows: 1\n* - a\n  - b\n* - one\n    line\n  - 3 m\n```",
            ["| a | b |\n| --- | --- |\n| one line | 3 m |"],
        ),
        ("```{eval-rst}\n.. note:: At :sup:`2`.\n```", ["Note", "At ²."]),
        ("```{code-cell}\n:tags: [hide-input]\nx\n```", []),
        ("```{code-cell}\n---\ntags:\n  - remove-cell\n---\nx\n```", []),
        ("```{only} latex\nPrint.\n```\n```{dropdown} More\nFolded.\n```", ["More", "Folded."]),
        ("::::{grid} 1 2 2\n:gutter: 2\n:::{card} A card\nBody.\n:::\n::::", ["A card", "Body."]),
        ("- ```{tip}\n  In an item.\n  ```", ["- Tip", "In an item."]),
        ("{.lead #x}\nText [red]{.r} here.", ["Text red here."]),
    ],
)
def test_tables_values_and_references_are_what_is_published(written: str, shown: list[str]) -> None:
    files = {
        "d.csv": "x;y\n1;2",
        "@site/_config.yml": "parse: {myst_substitutions: {room: Hall 7}}",
    }
    assert texts(HEAD + written, **files) == shown


def test_directives_in_a_folder_that_no_site_publishes_are_read_too() -> None:
    page = "```{list-table}\n* - a\n  - b\n* - 1\n  - 2\n```\n\n```r\nx\n```"
    read = parse_markdown(page, dialect="markdown", read_include=lambda _: None)
    assert [block.text for block in read.blocks] == [
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "```r\nx\n```",
    ]
