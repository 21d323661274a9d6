"""Where the inline constructs of Markdown stand: code, formulas, links, markers, emphasis."""

import re
from collections.abc import Iterator
from typing import NamedTuple

CODE_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t>]*\n).){1,4000}?(?<!`)(?P=ticks)(?!`)"
_RUN = re.compile(r"\\[^\w\s]|(?P<ticks>`+)|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*>")
"""Backticks, and before them what keeps them from opening code."""
_TICKS = re.compile("`+")
_GAP = re.compile(r"\n[ \t>]*\n")
FORMULA = (
    r"\$\$(?P<display>(?:(?!\n[ \t>]*\n)[^$]){1,4000}?)\$\$"
    r"|\\\[(?P<bracketed>(?:(?!\n[ \t>]*\n).){1,4000}?)\\\]"
    r"|\\\((?P<parenthesised>(?:(?!\n[ \t>]*\n).){1,1000}?)\\\)"
    r"|(?<![\w$\\])\$(?P<inline>(?=\S)(?:\\.|(?!\n[ \t>]*\n)[^$\\]){1,1000}?(?<=\S))\$(?![\w$])"
)
"""A formula of LaTeX between its marks; the content is in one of the four named groups."""
_MOST_OPENED = 20
"""Marks that may open an emphasis, of which a closing one is looked for."""
_CONSTRUCT = re.compile(
    rf"(?P<formula>{FORMULA})"
    rf"|(?P<code>{CODE_SPAN})"
    r"|(?P<escape>\\[^\w\s])"
    r"|(?P<link>!?\[(?:[^\[\]\\\n]|\\.|\n(?!\s*\n)){0,1000}\](?:\([^()\s]{0,2000}(?:\s+\"[^\"\n]*\")?\)|\[[^\[\]\n]{0,200}\]))"
    r"|(?P<marker>\[\d+\])"
    r"|(?P<address><[^<>\s]{1,2000}>|\b[a-z]{2,12}://[^\s<>]{1,2000})"
    r"|(?P<delimiter>\*+|_+|~~|\|\|)"
    r"|(?P<gap>\n[ \t>]*\n)",
    re.DOTALL,
)


class CodeSpan(NamedTuple):
    """A half-open range between two runs of as many backticks, these included."""

    start: int
    end: int


def code_spans(text: str, start: int, end: int) -> Iterator[CodeSpan]:
    """Yield the spans of code between two offsets of a text, in which no block of code is."""
    while (opening := _opening(text, start, end)) is not None:
        closing = _closing(text, opening, end)
        if closing is not None:
            yield CodeSpan(opening.start("ticks"), closing)
        start = closing or opening.end()


def _opening(text: str, start: int, end: int) -> re.Match[str] | None:
    return next((run for run in _RUN.finditer(text, start, end) if run["ticks"]), None)


def _closing(text: str, opening: re.Match[str], end: int) -> int | None:
    """Return where a span ends that a run of backticks opens; None where nothing closes it."""
    gap = _GAP.search(text, opening.end(), end)
    stop = gap.start() if gap else end
    runs = _TICKS.finditer(text, opening.end(), stop)
    return next((run.end() for run in runs if len(run.group()) == len(opening["ticks"])), None)


class Construct(NamedTuple):
    """A half-open range that is to stay whole."""

    start: int
    end: int
    mark: str
    """What closes it at a cut and opens it again after; empty where nothing can."""


def constructs(text: str, start: int, end: int) -> Iterator[Construct]:
    """Yield the inline constructs between two offsets, inner ones before outer ones."""
    opened: list[tuple[str, int]] = []
    for match in _CONSTRUCT.finditer(text, start, end):
        kind = match.lastgroup
        if kind == "gap":
            opened.clear()
        elif kind == "delimiter":
            yield from _emphasis(text, match, opened)
        else:
            yield Construct(match.start(), match.end(), match["ticks"] or "")


def _emphasis(
    text: str, match: re.Match[str], opened: list[tuple[str, int]]
) -> Iterator[Construct]:
    """Close the pair that this run of delimiters ends, or remember that it may open one."""
    mark, behind = match.group(), text[match.end() : match.end() + 1]
    before = text[max(match.start() - 1, 0) : match.start()]
    within_word = mark[0] == "_"
    marks = [pair[0] for pair in opened]
    if before.strip() and mark in marks and not (within_word and behind.isalnum()):
        index = len(marks) - 1 - marks[::-1].index(mark)
        yield Construct(opened[index][1], match.end(), mark)
        del opened[index:]
    elif behind.strip() and not (within_word and before.isalnum()):
        opened.append((mark, match.start()))
        del opened[:-_MOST_OPENED]
