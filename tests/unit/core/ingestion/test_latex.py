"""LaTeX: what a reader of the printed page sees goes in; macros and files stay within bounds."""

from itertools import pairwise
from pathlib import Path

import pytest

from core.ingestion.document import BlockRole, ParsedDocument
from core.ingestion.formats.latex.reader import parse_latex
from core.ingestion.sites.detection import detect_site
from tests.books import write_files
from tests.format_courses.latex import COURSE
from tests.format_courses.reading import read_course


def parsed(text: str, **files: str) -> ParsedDocument:
    return parse_latex(text, read_include=files.get)


def texts(text: str, **files: str) -> list[str]:
    return [block.text for block in parsed(text, **files).blocks]


def test_chapters_are_read_with_their_document_and_others_alone(tmp_path: Path) -> None:
    site = detect_site(write_files(tmp_path, COURSE))
    assert [page.path for page in site.pages] == [
        "book.tex",
        "edition-2/book.tex",
        "notes/alone.tex",
    ]
    assert {left.path: left.reason for left in site.left_out} == dict.fromkeys(
        ("chapters/_waves.tex", "chapters/deeper.tex", "chapters/tides.tex"),
        "is read with the pages that include it",
    )


@pytest.mark.costly
async def test_a_document_keeps_all_that_a_reader_sees(tmp_path: Path) -> None:
    read = await read_course(tmp_path, COURSE)
    assert read.failed == {}
    assert read.parsed["book.tex"].title == "On the sea"
    assert read.blocks("book.tex") == [
        ("heading", "Tides"),
        (
            "paragraph",
            "The tide — that is ebb and flow — rises twice a day, see Tides and Table heights. It "
            "costs 5 % of “all” in the harbour of Arden, 4 m deep, the harbour of Café, 5 m deep; "
            "wait and wait.",
        ),
        ("paragraph", "Said by a keeper."),
        ("heading", "Summary"),
        ("list_item", "- Wait for the moon:"),
        ("list_item", "1. new moon"),
        ("list_item", "2. full moon"),
        ("paragraph", "Then look again."),
        ("list_item", "- Ebb: the falling tide"),
        ("formula", "$$\nh = a \\cos t\n$$"),
        ("paragraph", "Then $x_1$, and $y$, follow."),
        ("formula", "$$\nz = 1\n$$"),
        ("formula", "$$\n\\begin{align}\na &= b \\\\\n  c &= d\n\\end{align}\n$$"),
        ("paragraph", "Heights of the tide"),
        ("table", "| harbour | height |\n| --- | --- |\n| Arden | 4 m |"),
        ("paragraph", "A gauge"),
        ("code", "```python\ndef rise():  # { % \\begin{x\n    return 4\n```"),
        ("paragraph", "Theorem (Reed)"),
        ("paragraph", "Every tide ends."),
        ("heading", "Summary"),
        ("paragraph", "Its words stay; a link and `x y`."),
        ("heading", "Waves"),
        ("paragraph", "Waves run."),
        ("heading", "Foam"),
        ("paragraph", "Foam is air."),
    ]
    assert read.parsed["book.tex"].warnings == (
        "The included file chapters/gone.tex is missing.",
        "Drawings were left out.",
    )
    assert read.anchors("book.tex") == ["ch:tides", None, None, None, None]
    assert {chunk.headings for chunk in read.chunks("book.tex")} == {
        ("Tides",),
        ("Tides", "Summary"),
        ("Waves",),
        ("Waves", "Foam"),
    }


def test_blocks_know_their_lines_levels_and_roles() -> None:
    document = parsed(COURSE["chapters/tides.tex"])
    lines = COURSE["chapters/tides.tex"].split("\n")
    blocks = {block.text: block for block in document.blocks}
    for text in ("Then look again.", "Every tide ends.", "1. new moon"):
        assert lines[blocks[text].locator["line_start"] - 1].strip().endswith(text[-8:])
    assert [blocks[text].level for text in ("- Wait for the moon:", "1. new moon")] == [1, 2]
    assert {block.text for block in document.blocks if block.role is BlockRole.CAPTION} == {
        "Heights of the tide",
        "A gauge",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\'{e}\"o \c{c} \ss{} \alpha{} \ldots{} 5\%", ["éö ç ß α … 5%"]),
        (r"a \verb|x $ }| b \texttt{p\_q} \lstinline|z $|", ["a `x $ }` b `p_q` `z $`"]),
        (r"A } stray \section{X} brace } d", ["A stray", "X", "brace d"]),
        (r"\begin{a} x \end{b} y \section{Z} w", ["x y", "Z", "w"]),
        (
            r"\begin{frame}{T} a \end{frame} \begin{frame}\frametitle{V} c\end{frame}",
            ["T", "a", "V", "c"],
        ),
        (r"\footnote{A note.} Said.", ["Said.", "A note."]),
        (r"{\large Big.}\vspace{1cm} \textcolor{red}{Red.}", ["Big. Red."]),
        (r"\begin{description}\item[Ebb] falls\end{description}", ["- Ebb: falls"]),
        ("One.\n\nTwo. % hidden\n\n\\begin{comment}\nHidden.\n\\end{comment}\n", ["One.", "Two."]),
    ],
)
def test_what_is_written_is_what_is_shown(text: str, shown: list[str]) -> None:
    assert texts(text) == shown


def test_an_include_from_outside_and_one_of_itself_are_left_out() -> None:
    document = parsed("\\input{self}\nText.\n", **{"self.tex": "In.\n\\input{self}\n"})
    assert [block.text for block in document.blocks] == ["In. Text."]
    assert document.warnings == ("The file self.tex includes itself and was left out there.",)


_GROWING = "".join(
    rf"\newcommand{{\m{a}}}{{\m{b}\m{b}\m{b}}}" for a, b in pairwise("abcdefghijklm")
)
HOSTILE = {
    "a macro of itself": r"\newcommand{\a}{x \a} Text. \a",
    "two macros of each other": r"\def\a{\b\b}\def\b{\a\a} Text. \a",
    "macros that grow": _GROWING + r"\newcommand{\mm}{boom } Text. \ma",
    "macros with arguments": r"\newcommand{\a}[1]{\a{#1#1}} Text. \a{x}",
    "the machine": r"\input{/etc/passwd}\input{../../../../../../etc/passwd}\include{|ls} Text.",
    "a shell": r"\write18{touch x}\immediate\write18{id}\catcode`\@=11 \csname x\endcsname Text.",
    "braces": "Text. " + "{" * 3_000 + "x",
    "environments": "Text. " + r"\begin{a}" * 3_000,
    "open dollars": "Text. " + "$x " * 2_001,
    "includes itself": "\\input{includes itself}\n" * 50 + "Text.",
    "percent": "Text. " + "\\" * 100_000 + "%",
    "options": "Text. " + r"\begin{lstlisting}[" * 3_000,
}


@pytest.mark.costly
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_documents_end_in_text_or_a_sentence(tmp_path: Path, name: str) -> None:
    files = {f"{name}.tex": HOSTILE[name], "good.tex": "\\section{Good}\nDemand falls.\n"}
    read = await read_course(tmp_path, files)
    assert read.blocks("good.tex")[1] == ("paragraph", "Demand falls.")
    assert (f"{name}.tex" in read.documents) != (f"{name}.tex" in read.failed)
    said = str(read.parsed.get(f"{name}.tex"))
    assert "root:" not in said
    assert f"{name}.tex" in read.failed or "Text." in said
    if name.startswith(("a macro", "two", "macros")):
        assert read.parsed[f"{name}.tex"].warnings == (
            "Own macros that grow without end were left out.",
        )
