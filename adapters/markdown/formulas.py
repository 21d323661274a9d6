"""Makes the formulas of an answer readable where no platform typesets LaTeX."""

import re
from dataclasses import dataclass

from adapters.markdown.latex import readable
from adapters.markdown.latex_symbols import FUNCTIONS
from core.markdown.code import outside_code
from core.markdown.spans import FORMULA
from core.markdown.writing import code_span

_FORMULA = re.compile(FORMULA, re.DOTALL)
_KINDS = ("display", "bracketed", "parenthesised", "inline")
_SPECIAL = re.compile(r"[\\`*_\[\]<>~|#]")
_QUOTE_MARK = re.compile(r"\n[ \t>]*")
_LATEX_ONLY = re.compile(r"[\\^_{}=]")
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class ReadableText:
    """Markdown whose formulas can be read, and those that still need a picture."""

    text: str
    unreadable: tuple[str, ...]
    """LaTeX that stands in the text as code, in order, each once."""


def with_readable_formulas(markdown: str) -> ReadableText:
    r"""Return the text with its formulas in Unicode, or as code where Unicode cannot show them.

    Formulas stand between `$`, `$$`, `\(` and `\)` or `\[` and `\]`. Code stays as it is, and
    so do prices: "$5 and $10" is no formula.
    """
    unreadable: dict[str, None] = {}

    def replaced(match: re.Match[str]) -> str:
        latex = _latex_of(match)
        if latex is None:
            return match.group()
        if (shown := readable(latex)) is not None:
            return _SPECIAL.sub(r"\\\g<0>", shown)
        unreadable[latex] = None
        return code_span(latex)

    text = outside_code(markdown, lambda prose: _FORMULA.sub(replaced, prose))
    return ReadableText(text, tuple(unreadable))


def plain_formulas(text: str) -> str:
    r"""Return one line of a title with its formulas in Unicode, or as bare LaTeX, without signs.

    >>> plain_formulas("Choosing $k$ by $R^2$, for $5")
    'Choosing k by R², for $5'
    """

    def replaced(match: re.Match[str]) -> str:
        latex = _latex_of(match)
        return match.group() if latex is None else readable(latex) or latex

    return _FORMULA.sub(replaced, text)


def _latex_of(match: re.Match[str]) -> str | None:
    """Return the content of a formula in one line; None for what is none."""
    latex = next(match[kind] for kind in _KINDS if match[kind] is not None)
    latex = _QUOTE_MARK.sub(" ", latex).strip()
    if not latex or (match["inline"] is not None and not _is_formula(latex)):
        return None
    return latex


def _is_formula(content: str) -> bool:
    """Return whether what stands between two dollar signs is mathematics, not prices."""
    if _LATEX_ONLY.search(content):
        return True
    words = [word for word in _WORD.findall(content) if word not in FUNCTIONS]
    return not words or (not content[0].isdigit() and all(len(word) < 3 for word in words))
