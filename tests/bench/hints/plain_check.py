"""Whether a text tells of a solution, found out in another way than the product does."""

import re
from collections.abc import Iterator

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+(?:[.,]\d+)*")
_SMALL = frozenset(
    "the and for with that this its than then into from when what which who whom whose where "
    "there here are was were has had have not but out off over under both each only can could "
    "should would may might will shall she her his him they them their you your our all any as "
    "at be by do if in is it no of on or so to up we an a i".split()
)
_RUN = 5


def runs(text: str) -> set[tuple[str, ...]]:
    """Return the runs of five words that are no small ones."""
    words = [word for word in _WORD.findall(text.casefold()) if word not in _SMALL]
    return {tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1)}


def results(solution: str, given: str) -> set[str]:
    """Return the numbers that a solution has and its assignment has not."""
    return set(_plain(solution)) - set(_plain(given)) - set("123")


def _plain(text: str) -> Iterator[str]:
    for number in _NUMBER.findall(text):
        yield number.replace(",", "")


def code(text: str) -> set[str]:
    """Return the lines of code between fences, without blanks."""
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.S)
    lines = (re.sub(r"\s", "", line) for block in blocks for line in block.splitlines())
    return {line for line in lines if len(line) > 8}


def told(text: str, solution: str, given: str) -> str:
    """Return what a text tells of a solution: words, a number or code; empty: nothing."""
    tight = re.sub(r"\s", "", text)
    if runs(text) & runs(solution):
        return "words"
    if set(_plain(text)) & results(solution, given):
        return "a number"
    return "code" if any(line in tight for line in code(solution) - code(given)) else ""
