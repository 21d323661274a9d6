"""What an answer must not share with a solution that students are to find themselves."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain

from core.grounding.numbers import quantities
from core.grounding.words import Reading
from core.text.characters import visible
from core.text.sentences import sentences

_RUN = 5
"""Content words in a row that no sentence may share."""
_SHORT_LINE = 3
"""Content words from which a line of fewer than five counts as a whole."""
_SHORTEST_CODE = 6
"""Characters of a line of code, blanks left out, from which it says something by itself."""
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.M)
_NUMBERING = re.compile(r"^\s*(?:[-*•+]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.):])\s+", re.M)
_SPACED = re.compile(r"(?<!\w)(?:\w[ \u00a0.·_-]){3,}\w(?!\w)")
_SPACER = re.compile(r"[ \u00a0.·_-]")
_LOOKS_LIKE = str.maketrans(
    "аеорсухіјѕԁԛԝАВЕКМНОРСТХІЈЅαοινρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdqwABEKMHOPCTXIJSaoivptuxABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that read as Latin ones."""
_SCALE_AND = re.compile(r"\b(hundred|thousand|million)\s+and\b", re.I)
_SMALL = 10
_CODE_SIGNS = frozenset("=(){}[];<>:+*/&|%!")


class WithheldSolution:
    """Compares sentences with a solution, which it never shows.

    Only what is compared is kept: word stems, numbers and lines of code.
    """

    __slots__ = ("_code", "_final", "_runs")

    def __init__(self, text: str, given: str = "") -> None:
        """Read a solution.

        Args:
            text: The solution.
            given: The assignment, whose own numbers and code may be said.
        """
        text, given = _plain(text), _plain(given)
        self._runs = frozenset(_runs_of(text, given))
        self._final = frozenset(_final_numbers(text, given))
        own = set(_code_lines(given))
        self._code = frozenset(line for line in _code_lines(text) if line not in own)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a withheld solution is not to be copied")

    def leaks(self, text: str) -> bool:
        """Return whether a text shares a run of words, a final number or a line of code with it.

        Runs that go over the end of a sentence count as well.
        """
        plain = _plain(text)
        return self.shares_words(text) or self._shares_number(plain) or self._shares_code(plain)

    def shares_words(self, text: str) -> bool:
        """Return whether a text shares a run of words with it."""
        text = _plain(text)
        lengths = {len(run) for run in self._runs}
        words = _stems(text)
        tight = _stems(_SPACED.sub(lambda found: _SPACER.sub("", found.group()), text))
        return any(
            run in self._runs
            for said in (words, tight, words[::-1])
            for length in lengths
            for run in _windows(said, length)
        )

    def _shares_number(self, text: str) -> bool:
        return bool(self._final) and not self._final.isdisjoint(_numbers(text))

    def _shares_code(self, text: str) -> bool:
        tight = _tight(text)
        return any(line in tight for line in self._code)


def _plain(text: str) -> str:
    """Return a text in which equal letters are equal characters, and none is invisible."""
    return unicodedata.normalize("NFKC", visible(text)).translate(_LOOKS_LIKE)


def _stems(text: str) -> tuple[str, ...]:
    """Return the content words of a text, code included, in order."""
    reading = Reading(text)
    inside = chain.from_iterable(Reading(code).content for code in reading.code)
    return tuple(word.stem for word in (*reading.content, *inside))


def _windows(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[n : n + length]) for n in range(len(words) - length + 1))


def _runs_of(text: str, given: str) -> Iterator[tuple[str, ...]]:
    """Yield the runs of words that are withheld; a short solution or line is one by itself."""
    prose = _FENCE.sub("\n", text)
    words = _stems(prose)
    yield from _windows(words, min(_RUN, len(words)) or _RUN)
    known = set(_stems(given))
    for line in prose.splitlines():
        for sentence in sentences(_NUMBERING.sub("", line)):
            stems = _stems(sentence)
            if _SHORT_LINE <= len(stems) < _RUN and not known.issuperset(stems):
                yield stems


def _final_numbers(text: str, given: str) -> Iterator[Decimal]:
    """Yield the results of a solution, and its other numbers that the assignment does not give.

    A result is the last number of a sentence or line, or what stands right after an equals sign.
    Small whole numbers that are no results say nothing.
    """
    known = set(_numbers(given))
    for line in map(_without_numbering, _FENCE.sub("\n", text).splitlines()):
        for number in _numbers(line):
            if number not in known and (number >= _SMALL or number % 1):
                yield number
        for sentence in (line, *sentences(line)):
            found = list(_numbers(sentence))
            after = list(_numbers(sentence.rpartition("=")[2])) if "=" in sentence else []
            yield from (*found[-1:], *after[:1])


def _without_numbering(line: str) -> str:
    return _NUMBERING.sub("", line)


def _numbers(text: str) -> Iterator[Decimal]:
    """Yield every number of a text, whatever its sign, also those in code."""
    text = _SCALE_AND.sub(r"\1", text.replace("`", " ").replace("*", " ").replace("_", " "))
    said = Decimal(0)
    for found in quantities(text):
        for value in found.values | found.amounts:
            yield abs(value).normalize()
        said = said + max(found.values) if found.spelled else Decimal(0)
        if said:  # three hundred sixty
            yield said.normalize()


def _code_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that are code, without their blanks."""
    for line in text.splitlines():
        tight = _tight(line)
        signs = sum(character in _CODE_SIGNS for character in tight)
        if len(tight) >= _SHORTEST_CODE and signs >= 2 and any(map(str.isalnum, tight)):
            yield tight


def _tight(text: str) -> str:
    return "".join(text.split()).casefold()
