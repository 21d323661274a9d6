"""What an answer must not share with a solution that students are to find themselves."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal

from core.grounding.amounts import amounts
from core.index.sparse import Bm25Encoder
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
_HUNDRED = 100
_WORD = re.compile(r"[^\W_]+")
_SMALL = 4
_UNREADABLE = re.compile(r"[A-Za-z0-9+/]{36,}|(?<!\w)(?:[^\W\d_][ \u00a0.·_-]+){7,}[^\W\d_](?!\w)")
"""Words without blanks, or letters with some: written so, nothing can be compared."""
_CODE_SIGNS = frozenset("=(){}[];<>:+*/&|%!")


class WithheldSolution:
    """Compares sentences with a solution, which it never shows.

    Only what is compared is kept: word stems, numbers and lines of code.
    """

    __slots__ = ("_code", "_encoder", "_final", "_runs")

    def __init__(self, text: str, given: str = "", language: str = "en") -> None:
        """Read a solution.

        Args:
            text: The solution.
            given: The assignment, whose own numbers and code may be said.
            language: BCP 47 tag; where its stop words are known, these do not count as content.
        """
        self._encoder = Bm25Encoder(language)
        text, given = _plain(text), _plain(given)
        self._runs = frozenset(self._runs_of(text, given))
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
        if _UNREADABLE.search(plain):
            return True
        return self.shares_words(text) or self._shares_number(plain) or self._shares_code(plain)

    def shares_words(self, text: str) -> bool:
        """Return whether a text shares a run of words with it."""
        text = _plain(text)
        lengths = {len(run) for run in self._runs}
        words = self._stems(text)
        tight = self._stems(_SPACED.sub(lambda found: _SPACER.sub("", found.group()), text))
        return any(
            run in self._runs
            for said in (words, tight, words[::-1])
            for length in lengths
            for run in _windows(said, length)
        )

    def _stems(self, text: str) -> tuple[int, ...]:
        """Return the content words of a text, code included, by their stems and in order."""
        return tuple(term for word in _WORD.findall(text) for term in self._encoder.terms(word)[:1])

    def _runs_of(self, text: str, given: str) -> Iterator[tuple[int, ...]]:
        """Yield the runs of words that are withheld; a short solution or line is one by itself."""
        prose = _FENCE.sub("\n", text)
        words = self._stems(prose)
        yield from _windows(words, min(_RUN, len(words)) or _RUN)
        known = set(self._stems(given))
        for line in prose.splitlines():
            for sentence in sentences(_NUMBERING.sub("", line)):
                stems = self._stems(sentence)
                if _SHORT_LINE <= len(stems) < _RUN and not known.issuperset(stems):
                    yield stems

    def _shares_number(self, text: str) -> bool:
        return bool(self._final) and not self._final.isdisjoint(_numbers(text))

    def _shares_code(self, text: str) -> bool:
        tight = _tight(text)
        return any(line in tight for line in self._code)


def _plain(text: str) -> str:
    """Return a text in which equal letters are equal characters, and none is invisible."""
    return unicodedata.normalize("NFKC", visible(text)).translate(_LOOKS_LIKE)


def _windows(words: Sequence[int], length: int) -> Iterator[tuple[int, ...]]:
    return (tuple(words[n : n + length]) for n in range(len(words) - length + 1))


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
    """Yield every number of a text, whatever its sign, also those in code and in words."""
    text = _SCALE_AND.sub(r"\1 ", text.replace("`", " ").replace("*", " ").replace("_", " "))
    said = Decimal(0)
    for found in amounts(text):
        for value in found.values:
            yield abs(value).normalize()
        value = max(found.values)
        # Three hundred sixty.
        said = said + value if said >= _HUNDRED and said % _HUNDRED == 0 and value < said else value
        yield abs(said).normalize()


def _code_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that are code, without their blanks."""
    for line in text.splitlines():
        tight = _tight(line)
        signs = sum(character in _CODE_SIGNS for character in tight)
        if len(tight) >= _SHORTEST_CODE and signs >= 2 and any(map(str.isalnum, tight)):
            yield tight


def _tight(text: str) -> str:
    return "".join(text.split()).casefold()
