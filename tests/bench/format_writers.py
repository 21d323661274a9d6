"""Writes a parsed page in other formats, for books that say the same in each."""

import html
import re
from collections.abc import Callable, Mapping, Sequence

from core.domain.markdown import code_in, code_spans
from core.ingestion.document import Block, BlockKind
from tests.format_courses.epub import epub

_FORMULA = re.compile(r"(?<![\\$\d])\$([^$\s](?:[^$\n]*[^$\s\\])?)\$(?!\d)")
_MARKER = re.compile(r"(?:-|(\d{1,9})[.)])\s+")
_RST_RULES = '=-~^+"'
_SECTIONS = ("chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_TEX_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "`": "{`}",
    "'": "{'}",
    "-": "{-}",
    "[": "{[}",
}

Inline = Callable[[str], str]


def _inline(text: str, plain: Inline, code: Inline, formula: Inline) -> str:
    """Return a text with its words, its spans of code and its formulas written each its way."""
    pieces, position = list[str](), 0
    for start, end in [*code_spans(text, 0, len(text)), (len(text), len(text))]:
        last = position
        for found in _FORMULA.finditer(text[position:start]):
            pieces += [plain(text[last : position + found.start()]), formula(found[1])]
            last = position + found.end()
        pieces.append(plain(text[last:start]))
        if end > start:
            (span,) = code_in(text[start:end])
            pieces.append(code(span.content))
        position = end
    return "".join(pieces)


def _fence(text: str) -> tuple[str, list[str]]:
    opening, *body = text.split("\n")
    return opening.strip("`~"), body[:-1]


def _rows(table: str) -> list[list[str]]:
    lines = [line for number, line in enumerate(table.split("\n")) if number != 1]
    cells = (re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in lines)
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def _item(block: Block) -> tuple[str | None, str]:
    """Return the number of an item, or none, and its words."""
    marker = _MARKER.match(block.text)
    return (marker[1], block.text[marker.end() :]) if marker else (None, block.text)


_LATEX_LISTS, _HTML_LISTS = ("itemize", "enumerate"), ("ul", "ol")


def _ends_list(block: Block, depth: Sequence[str], kinds: Sequence[str]) -> bool:
    """Return whether the innermost open list ends before a block."""
    inside = block.level if block.kind in {BlockKind.LIST_ITEM, BlockKind.PARAGRAPH} else 0
    is_other = block.kind is BlockKind.LIST_ITEM and len(depth) == inside > 0
    kind = kinds[_item(block)[0] is not None]
    return len(depth) > inside or (is_other and depth[-1] != kind)


# --- reStructuredText ---------------------------------------------------------------------


def as_rst(blocks: Sequence[Block]) -> str:
    """Return a page in reStructuredText."""
    return "\n\n".join(map(_rst_block, blocks)) + "\n"


def _rst_block(block: Block) -> str:
    words = _rst_words(block.text.replace("\n", " "))
    match block.kind:
        case BlockKind.HEADING:
            return f"{words}\n{_RST_RULES[block.level - 1] * (len(words) + 2)}"
        case BlockKind.CODE:
            language, lines = _fence(block.text)
            head = f".. code-block:: {language}".rstrip()
            return "\n".join([head, "", *(f"   {line}" for line in lines)])
        case BlockKind.FORMULA:
            body = block.text.strip("$").strip().split("\n")
            return "\n".join([".. math::", "", *(f"   {line}" for line in body)])
        case BlockKind.TABLE:
            return _rst_table(_rows(block.text))
        case BlockKind.LIST_ITEM:
            number, text = _item(block)
            marker = f"{number}." if number else "-"
            return (
                f"{'   ' * (block.level - 1)}{marker:<2} {_rst_words(text.replace(chr(10), ' '))}"
            )
    return f"{'   ' * block.level}{words}"


def _rst_table(rows: Sequence[Sequence[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        for number, cell in enumerate(row):
            lines.append(f"   {'*' if not number else ' '} - {_rst_words(cell)}".rstrip())
    return "\n".join(lines)


def _rst_words(text: str) -> str:
    def plain(words: str) -> str:
        return re.sub(r"([\\*`|_])", r"\\\1", words)

    def code(content: str) -> str:
        return f"\\ ``{content}``\\ "

    written = _inline(text, plain, code, lambda tex: f"\\ :math:`{tex}`\\ ")
    first = re.sub(r"^(?=(?:[-+•]|\(?\w{1,3}[.)]|\.\.)\s|[=~^\"'#.:-]{2})", r"\\", written)
    return re.sub(r"^\\ (?=``|:math)", "", first)


# --- LaTeX --------------------------------------------------------------------------------


def as_latex(blocks: Sequence[Block]) -> str:
    """Return a whole document in LaTeX."""
    parts, depth = [r"\documentclass{book}", r"\begin{document}"], list[str]()
    for block in blocks:
        while _ends_list(block, depth, _LATEX_LISTS):
            parts.append(rf"\end{{{depth.pop()}}}")
        parts += _latex_block(block, depth)
    parts += [rf"\end{{{name}}}" for name in reversed(depth)]
    return "\n\n".join([*parts, r"\end{document}"]) + "\n"


def _latex_block(block: Block, depth: list[str]) -> list[str]:
    match block.kind:
        case BlockKind.HEADING:
            return [rf"\{_SECTIONS[block.level - 1]}{{{_latex_words(block.text)}}}"]
        case BlockKind.CODE:
            language, lines = _fence(block.text)
            option = f"[language={language}]" if language else ""
            return ["\n".join([rf"\begin{{lstlisting}}{option}", *lines, r"\end{lstlisting}"])]
        case BlockKind.FORMULA:
            return ["\\[\n" + block.text.strip("$").strip() + "\n\\]"]
        case BlockKind.TABLE:
            rows = _rows(block.text)
            columns = "l" * max(map(len, rows))
            lines = [" & ".join(map(_latex_words, row)) + r" \\" for row in rows]
            return ["\n".join([rf"\begin{{tabular}}{{{columns}}}", *lines, r"\end{tabular}"])]
        case BlockKind.LIST_ITEM:
            number, text = _item(block)
            opened = list[str]()
            while len(depth) < block.level:
                depth.append(_LATEX_LISTS[number is not None])
                opened.append(rf"\begin{{{depth[-1]}}}")
            return [*opened, rf"\item {_latex_words(text)}"]
    return [_latex_words(block.text)]


def _latex_words(text: str) -> str:
    def plain(words: str) -> str:
        return "".join(_TEX_SPECIAL.get(character, character) for character in words)

    def code(content: str) -> str:
        mark = next(mark for mark in "|!+/@;:" if mark not in content)
        return rf"\verb{mark}{content}{mark}"

    return _inline(text.replace("\n", " "), plain, code, lambda tex: f"${tex}$")


# --- EPUB ---------------------------------------------------------------------------------


def as_epub(blocks: Sequence[Block]) -> bytes:
    """Return an e-book of one page."""
    return epub({"page.xhtml": "\n".join(_html_blocks(blocks))})


def _html_blocks(blocks: Sequence[Block]) -> list[str]:
    parts, depth = list[str](), list[str]()
    for block in blocks:
        while _ends_list(block, depth, _HTML_LISTS):
            parts.append(f"</li></{depth.pop()}>")
        parts += _html_block(block, depth)
    return [*parts, *(f"</li></{name}>" for name in reversed(depth))]


def _html_block(block: Block, depth: list[str]) -> list[str]:
    words = _html_words(block.text)
    match block.kind:
        case BlockKind.HEADING:
            return [f"<h{block.level}>{words}</h{block.level}>"]
        case BlockKind.CODE:
            language, lines = _fence(block.text)
            code = html.escape("\n".join(lines))
            return [f'<pre><code class="language-{language}">{code}</code></pre>']
        case BlockKind.TABLE:
            rows = (
                f"<td>{'</td><td>'.join(map(_html_words, row))}</td>" for row in _rows(block.text)
            )
            return ["<table>", *(f"<tr>{row}</tr>" for row in rows), "</table>"]
        case BlockKind.LIST_ITEM:
            number, text = _item(block)
            opened = ["</li>"] if len(depth) == block.level else []
            while len(depth) < block.level:
                depth.append(_HTML_LISTS[number is not None])
                opened.append(f'<ol start="{number}">' if number else "<ul>")
            return [*opened, f"<li><p>{_html_words(text)}</p>"]
    return [f"<p>{words}</p>"]


def _html_words(text: str) -> str:
    def code(content: str) -> str:
        return f"<code>{html.escape(content)}</code>"

    return _inline(text, html.escape, code, lambda tex: f"${html.escape(tex)}$").replace(
        "\n", "<br/>"
    )


WRITERS: Mapping[str, Callable[[Sequence[Block]], str | bytes]] = {
    ".rst": as_rst,
    ".tex": as_latex,
    ".epub": as_epub,
}
