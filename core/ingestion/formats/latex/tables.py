"""Takes the rows and cells of a LaTeX table apart."""

import re
from collections.abc import Iterator, Sequence

from pylatexenc.latexwalker import LatexMacroNode, LatexNode, LatexSpecialsNode

from core.ingestion.formats.latex.words import LatexWords

_COLUMNS = re.compile(r"\A\s*(?:\[[^\]]*\]\s*)?(?:\{(?:[^{}]|\{[^{}]*\})*\}\s*){1,2}")
_RULES = frozenset(
    {
        *("hline", "toprule", "midrule", "bottomrule", "endhead", "endfirsthead", "endfoot"),
        "endlastfoot",
    }
)


def table_rows(body: str, words: LatexWords) -> list[list[str]]:
    """Return the words of each cell of what stands between `\\begin` and `\\end` of a table."""
    return [list(map(words.of, row)) for row in _rows(words.parsed(_COLUMNS.sub("", body)))]


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
