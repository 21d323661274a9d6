"""Takes the rows and cells of a LaTeX table apart."""

import re
from collections.abc import Iterator, Sequence

from pylatexenc.latexwalker import LatexMacroNode, LatexNode, LatexSpecialsNode

from core.ingestion.formats.latex.words import LatexWords, arguments

_COLUMNS = re.compile(r"\A\s*(?:\[[^\]]*\]\s*)?(?:\{(?:[^{}]|\{[^{}]*\})*\}\s*){1,2}")
_PARTIAL_RULES = re.compile(
    r"\\c(?:mid)?(?:rule|line)\*?\s*(?:\[[^\]]*\])?(?:\([^)]*\))?\s*\{[^{}]*\}"
)
_AGAIN = re.compile(r"\\endfirsthead.*?\\endhead|\\endfoot.*?\\endlastfoot", re.DOTALL)
"""The header and foot of the other pages that a long table takes."""
_MOST_COLUMNS = 60
_RULES = frozenset(
    {
        *("hline", "toprule", "midrule", "bottomrule", "endhead", "endfirsthead", "endfoot"),
        "endlastfoot",
    }
)


def table_rows(body: str, words: LatexWords) -> list[list[str]]:
    """Return the words of each cell of what stands between `\\begin` and `\\end` of a table.

    A cell over several columns is followed by empty ones, one over several rows is repeated.
    """
    plain = _AGAIN.sub("", _PARTIAL_RULES.sub("", _COLUMNS.sub("", body, count=1)))
    rows: list[list[str]] = []
    tall: dict[int, tuple[int, str]] = {}
    for cells in _rows(words.parsed(plain)):
        rows.append([])
        for cell in cells:
            column, text = len(rows[-1]), words.of(cell)
            left, above = tall.pop(column, (0, ""))
            if not text and left:
                text = above
                tall[column] = left - 1, above
            elif (height := _number(cell, "multirow")) > 1:
                tall[column] = height - 1, text
            rows[-1] += [text, *[""] * (_number(cell, "multicolumn") - 1)]
    return rows


def _number(cell: Sequence[LatexNode], name: str) -> int:
    """Return how many columns or rows a cell stands in."""
    for one in (one for one in cell if getattr(one, "macroname", "") == name):
        number = "".join(part.latex_verbatim() for part in arguments(one)[:1] if part).strip("{}")
        return min(int(number), _MOST_COLUMNS) if number.isdecimal() else 1
    return 1


def _rows(nodes: Sequence[LatexNode]) -> Iterator[list[list[LatexNode]]]:
    row: list[list[LatexNode]] = [[]]
    for node in nodes:
        if isinstance(node, LatexMacroNode) and node.macroname in {"\\", "tabularnewline"}:
            yield row
            row = [[]]
        elif isinstance(node, LatexSpecialsNode) and node.specials_chars == "&":
            row.append([])
        elif not (isinstance(node, LatexMacroNode) and node.macroname in _RULES):
            row[-1].append(node)
    yield row
