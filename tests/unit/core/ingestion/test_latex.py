"""LaTeX: what a reader of the printed page sees goes in; macros and files stay within bounds."""

from itertools import pairwise
from pathlib import Path

import pytest

from core.ingestion.document import BlockRole, ParsedDocument
from core.ingestion.formats.latex import parse_latex
from core.ingestion.sources.sources import detect_site
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
    assert read.parsed["book.tex"].warnings == ("The included file chapters/gone.tex is missing.",)
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


def shown(body: str, preamble: str = "", **files: str) -> str:
    """Return the words of a document with this body, on one line."""
    text = f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}"
    return " / ".join(texts(text, **files))


def counted(body: str, preamble: str = "") -> dict[str, int]:
    """Return how many words were left out, by kind."""
    text = f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}"
    return {one.kind: one.words for one in parsed(text).left_out}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"10\textsuperscript{6} m, 10$^{12}$ m", "10⁶ m, 10¹² m"),
        (r"H\textsubscript{2}O, CO$_2$, $x^2$", "H₂O, CO₂, $x^2$"),
        (
            r"the 5\textsuperscript{th}, x\textsuperscript{max}, 20$^\circ$C",
            "the 5th, x^(max), 20°C",
        ),
        (r"\ce{H2SO4 + 2NaOH -> SO4^2-}", "H₂SO₄ + 2NaOH → SO₄²⁻"),
        (r"\SI{5.2}{\kilo\gram}, \qty{3e8}{\metre\per\second}", "5.2 kg, 3 × 10⁸ m/s"),
        (r"\SI{9.81}{m/s^2}, \unit{\joule\per\mole\per\kelvin}", "9.81 m/s², J/(mol K)"),
        (r"\qty{5}{\per\second\squared}, \si{\micro\ohm}", "5 s⁻², µΩ"),
        (r"\SIrange{10}{20}{\celsius}, \numrange{1}{2}", "10 to 20 °C, 1 to 2"),
        (r"\numlist{10;30;50}, \SIlist{1;2}{\metre}", "10, 30 and 50, 1 m and 2 m"),
        (r"\ang{45;30}, \num{1.2 +- 0.1}, \num{.5e-3}", "45°30′, 1.2 ± 0.1, .5 × 10⁻³"),
        (r"\qty{7}{\quid}, $v = \qty{3}{\metre}$", r"7 GBP, $v = \text{3 m}$"),
        (r"\nicefrac{1}{2} cup, \enquote{so}", "1/2 cup, “so”"),
        (r"\url{https://x.org/a_b%20c~d} first", "https://x.org/a_b%20c~d first"),
        (r"\href{https://x.org/%7Ea#b}{The \emph{site}} says", "The site says"),
        (r"\nolinkurl{a%b} and \verb|c%d| end", "a%b and `c%d` end"),
    ],
)
def test_a_number_an_address_and_a_unit_read_as_they_are_printed(body: str, words: str) -> None:
    assert shown(body, r"\DeclareSIUnit{\quid}{GBP}") == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"\ifsol Yes.\else No.\fi", "No."),
        (r"\soltrue\ifsol Yes.\else No.\fi", "Yes."),
        (r"\iffalse Dead. \ifsol x\fi \ifwhat y\fi Dead.\fi Live.", "Live."),
        (r"\iftrue Live.\else Dead.\fi", "Live."),
        (r"\ifdefined\given There.\else Missing.\fi", "There."),
        (r"\ifx\undefined\foo Missing.\else There.\fi", "Missing."),
        (r"\ifnum\level>1 Deep.\else Flat.\fi", "Deep."),
        (r"\unless\ifsol Unless.\fi", "Unless."),
        (r"\ifbool{sol}{A}{B}, \iftoggle{t}{C}{D}", "B, C"),
        (r"\ifthenelse{\equal{\given}{me}}{A}{B}, \ifthenelse{\boolean{sol}}{C}{D}", "A, D"),
        (r"\answer{nine} end", "(blank) end"),
        ("A % \\fi comment\nB", "A B"),
        ("\\begin{comment}\nC\n\\end{comment}\nD", "D"),
        ("\\begin{hidden}C\\end{hidden}D", "D"),
        ("\\begin{trick}C\\end{trick}D", "D"),
        (r"A\end{document} B", "A"),
        (
            r"\ifcase 1 zero\or one\or two\else more\fi, \ifcase 7 zero\or one\else more\fi",
            "one, more",
        ),
    ],
)
def test_only_the_branch_that_is_switched_on_is_read(body: str, words: str) -> None:
    preamble = r"""\newif\ifsol \solfalse \newcommand{\given}{me} \def\level{3}
        \newtoggle{t}\toggletrue{t}
        \newcommand{\answer}[1]{\ifsol #1\else (blank)\fi} \excludecomment{hidden}
        \newenvironment{trick}{\comment}{\endcomment}"""
    assert shown(body, preamble) == words


def test_solutions_of_an_exam_are_read_where_they_are_printed() -> None:
    solution = "\\begin{solution}Nine.\\end{solution}"
    body = f"\\begin{{questions}}\\question[5] How deep?{solution}\\end{{questions}}"
    page = "\\documentclass{exam}PRINT\\begin{document}" + body + "\\end{document}"
    assert texts(page.replace("PRINT", "")) == ["1. (5 points) How deep?"]
    assert "Nine." in texts(page.replace("PRINT", "\\printanswers"))


def test_what_is_struck_or_hidden_is_counted() -> None:
    body = r"""The fee is \sout{40 euros} 30 euros, \deleted{not so} \replaced{new}{old}.
        \iffalse a b\fi
        \gone{one two three} \phantom{x} \includegraphics{p.png} \strange[opt]{kept} % a remark
        """
    assert shown(body, r"\newcommand{\gone}[1]{}") == "The fee is 30 euros, new. kept"
    assert counted(body, r"\newcommand{\gone}[1]{}") == {
        "struck text": 2,
        "hidden text": 1,
        "text that a command hides": 3,
        "picture": 0,
        "unknown command \\strange": 0,
        "comment": 2,
    }


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (r"\pair{alpha}, \pair{gamma}[delta].", "alpha with beta, gamma with delta."),
        (r"\frog{Rana}, \frog[edible]{Rana}.", "the common Rana, the edible Rana."),
        (r"\who{Ann}, \who*{Bob}[chief].", "Ann, star Bob (chief)."),
        ("\\begin{hint}Feed.\\end{hint}", "Hint: Feed. (end)"),
        ("\\begin{rule-2}Wash.\\end{rule-2}", "Rule: Wash."),
        ("\\begin{hint}[Tip]Feed.\\end{hint}", "Tip: Feed. (end)"),
        ("\\begin{task}{One}Do it.\\end{task}", "One Do it."),
        ("\\begin{box}{Beware}Eels.\\end{box}", "Beware / Eels."),
        (
            "\\begin{tcolorbox}[colback=red,title={Red, box}]Eels.\\end{tcolorbox}",
            "Red, box / Eels.",
        ),
        (r"\gls{dna} and \gls{dna}, \glspl{silt}.", "acid of life (DNA) and DNA, silts."),
        (r"\acrlong{dna}, \acs{dna}, \Gls{silt}", "acid of life, DNA, Silt"),
        (r"\bi\item One \item Two \ei End.", "- One / - Two / End."),
        (r"\printglossary", "DNA: acid of life / silt: fine sand"),
    ],
)
def test_what_a_document_defines_is_put_in(body: str, words: str) -> None:
    preamble = r"""\NewDocumentCommand{\pair}{m O{beta}}{#1 with #2}
        \newcommand{\frog}[2][common]{the #1 #2}
        \NewDocumentCommand\who{s m o}{\IfBooleanT{#1}{star }#2\IfNoValueF{#3}{ (#3)}}
        \newenvironment{rule-2}{\textbf{Rule:} }{}
        \newenvironment{hint}[1][Hint]{\par\textbf{#1:} }{ (end)\par}
        \NewDocumentEnvironment{task}{m}{\begin{center}#1 }{\end{center}}
        \newtcolorbox{box}[1]{colback=red,title={#1}}
        \newcommand{\bi}{\begin{itemize}} \def\ei{\end{itemize}}
        \newacronym{dna}{DNA}{acid of life}
        \newglossaryentry{silt}{name=silt,description={fine sand}}"""
    assert shown(body, preamble) == words


def test_slides_are_read_without_the_steps_in_which_they_appear() -> None:
    frame = r"""\begin{frame}<1->[fragile]{Rain}{Where}
        \begin{block}{Drops}<2-> A \textbf<2>{drop}.\end{block}
        \begin{itemize}[<+->]\item<1-> It \only<2>{grows}\only<3>{falls}.\end{itemize}
        \begin{columns}[T]\column{.5\textwidth} Left.\column{.5\textwidth} Right.\end{columns}
        \mode<article>{Article.} $a<b>c$\pause
        \end{frame}"""
    page = f"\\documentclass{{beamer}}\\begin{{document}}{frame}\\end{{document}}"
    assert texts(page) == [
        "Rain",
        "Where",
        "Drops",
        "A drop.",
        "- It grows falls.",
        "Left.",
        "Right.",
        "$a<b>c$",
    ]


def test_lists_are_numbered_as_they_are_printed() -> None:
    lists = r"""\begin{enumerate}\item a\begin{enumerate}\item b\end{enumerate}\end{enumerate}
        \begin{enumerate}[label=(\roman*),start=3]\item c\item[x)] d\end{enumerate}
        \begin{enumerate}[Step 1:]\item e\end{enumerate}"""
    assert shown(lists) == "1. a / (a) b / (iii) c / x) d / Step 1: e"
    set_on = r"""\begin{enumerate}\setcounter{enumi}{4}\item a\end{enumerate}
        \begin{enumerate}[resume]\item b\addtocounter{enumi}{2}\item c\end{enumerate}"""
    assert shown(set_on) == "5. a / 6. b / 9. c"


def test_a_cell_over_several_columns_keeps_the_others_in_place() -> None:
    table = r"""\begin{longtable}{ll}\caption{Ponds}\\
        \multicolumn{2}{c}{Both} & Last \\ \cmidrule(lr){1-2}
        \endfirsthead again & again & again \\ \endhead a & b & c \\ \end{longtable}"""
    assert shown(table) == "Ponds / | Both |  | Last |\n| --- | --- | --- |\n| a | b | c |"


def test_files_are_read_as_the_document_chooses_them() -> None:
    preamble = "\\includeonly{one}"
    body = "\\include{one}\\include{two}\\lstinputlisting[language=C]{a.c}"
    files = {"one.tex": "First.", "two.tex": "Second.", "a.c": "int x; % y"}
    assert shown(body, preamble, **files) == "First. / ```c\nint x; % y\n```"


def test_a_paragraph_that_begins_with_an_own_command_has_the_line_where_it_stands() -> None:
    document = parsed(
        "\\newcommand{\\name}{Arden}\n\\begin{document}\n\n\\name{} is deep.\n\\end{document}"
    )
    assert [dict(block.locator) for block in document.blocks] == [{"line_start": 4, "line_end": 4}]
