"""How a question may be answered in a place, until when, and what decides between two policies."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from core.answering.assurance import titles_of
from core.answering.grounding.certain import amounts
from core.domain import PolicyMode, RetrievedChunk
from core.domain.errors import EmbeddingError
from core.domain.i18n import date_of, text
from core.domain.links import beginning, one_line, prose_without_links
from core.domain.sentences import sentences, visible
from core.index.terms import Bm25Encoder
from core.providers.embeddings.base import Embedder
from core.retrieval.ranking import BUILT_IN

_STRICTNESS = {mode: strictness for strictness, mode in enumerate(PolicyMode)}


@dataclass(frozen=True, slots=True)
class Assignment:
    """What students are to work out themselves."""

    name: str
    text: str
    """What they are given, word for word."""
    sections: tuple[str, ...] = ()
    """Headings of the book that it is about."""
    solution: "WithheldSolution | None" = field(default=None, repr=False)
    """None: there is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How a course's questions are answered in a place, about a section, or for an assignment."""

    key: str
    """Identifies it within its course."""
    course_id: str
    mode: PolicyMode
    place: str | None = None
    """A channel, category, server or workspace by the platform's id; None: everywhere."""
    section: str | None = None
    """A heading of the book; None: whatever the question is about."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    """From then on it does not hold any more."""
    assignment: Assignment | None = None
    """It holds for the questions that belong to it alone, and for those in every place."""
    tenant: str | None = None
    """Whose staff set it, as `discord:42`: it holds there. None: the operator, everywhere."""

    def is_valid(self, moment: datetime) -> bool:
        """Return whether it holds at a moment."""
        begun = self.valid_from is None or self.valid_from <= moment
        return begun and (self.valid_until is None or moment < self.valid_until)


@dataclass(frozen=True, slots=True)
class AskedAt:
    """Where and when a question was asked."""

    places: tuple[str, ...]
    """The ids of the places around it, narrowest first."""
    moment: datetime
    tenants: frozenset[str] = frozenset()
    """Whose people ask: the tenant of the place; in direct messages all that the asker is in."""


def valid_at(policies: Iterable[AnswerPolicy], asked: AskedAt) -> list[AnswerPolicy]:
    """Return the policies that may hold for a question, whatever it is about."""
    return [
        policy
        for policy in policies
        if policy.is_valid(asked.moment)
        and (policy.place is None or policy.place in asked.places)
        and (policy.tenant is None or policy.tenant in asked.tenants)
    ]


def in_force(
    valid: Iterable[AnswerPolicy], asked: AskedAt, about: Sequence[AnswerPolicy]
) -> AnswerPolicy | None:
    """Return the policy that a question is answered by; None: in full.

    Of those without an assignment the narrowest place wins, about a section before about
    anything, then the strictest mode. One with an assignment holds in every place for what
    belongs to it: the stricter of the two wins, and of equals the one with the assignment.

    Args:
        valid: What `valid_at` returned.
        about: Those of them whose assignment or section the question belongs to.
    """
    known = {policy.key for policy in about}
    holding = [
        policy
        for policy in valid
        if policy.key in known or (policy.assignment is None and policy.section is None)
    ]
    placed = [policy for policy in holding if policy.assignment is None]
    assigned = [policy for policy in holding if policy.assignment is not None]
    narrowest = min(placed, key=lambda policy: _width(policy, asked), default=None)
    rivals = [*assigned, *([narrowest] if narrowest is not None else [])]
    winner = max(rivals, key=_weight, default=None)
    return None if winner is None or winner.mode is PolicyMode.FULL else winner


def _width(policy: AnswerPolicy, asked: AskedAt) -> tuple[int, bool, int]:
    """Return what the narrowest policy has least of."""
    everywhere = len(asked.places)
    place = everywhere if policy.place is None else asked.places.index(policy.place)
    return place, policy.section is None, -_STRICTNESS[policy.mode]


def _weight(policy: AnswerPolicy) -> tuple[int, bool]:
    return _STRICTNESS[policy.mode], policy.assignment is not None


_LONGEST = 160
"""Characters of a place."""


def place_name(chunk: RetrievedChunk) -> str:
    """Return the headings that lead to a chunk, on one line."""
    return beginning(one_line(prose_without_links(" › ".join(titles_of(chunk)))), _LONGEST)


def why(policy: AnswerPolicy, zone: ZoneInfo) -> str:
    """Return the sentence that says what holds, until when and for what."""
    name = None if policy.assignment is None else one_line(policy.assignment.name)
    until = None if policy.valid_until is None else day(policy.valid_until, zone)
    match policy.mode, until, name:
        case PolicyMode.HINTS, None, None:
            return text("policy-why-hints")
        case PolicyMode.HINTS, _, None:
            return text("policy-why-hints-until", until=until)
        case PolicyMode.HINTS, None, _:
            return text("policy-why-hints-for", name=name)
        case PolicyMode.HINTS, _, _:
            return text("policy-why-hints-until-for", until=until, name=name)
        case PolicyMode.SECTIONS, None, None:
            return text("policy-why-sections")
        case PolicyMode.SECTIONS, _, None:
            return text("policy-why-sections-until", until=until)
        case PolicyMode.SECTIONS, None, _:
            return text("policy-why-sections-for", name=name)
        case PolicyMode.SECTIONS, _, _:
            return text("policy-why-sections-until-for", until=until, name=name)
        case _, None, None:
            return text("policy-why-closed")
        case _, _, None:
            return text("policy-why-closed-until", until=until)
        case _, None, _:
            return text("policy-why-closed-for", name=name)
        case _:
            return text("policy-why-closed-until-for", until=until, name=name)


def day(moment: datetime, zone: ZoneInfo) -> str:
    """Return a moment as a reader of the current language writes it: "1 Dec 2026"."""
    local = moment.astimezone(zone)
    if (local.hour, local.minute) == (0, 0):
        return date_of(local)
    return f"{date_of(local)}, {local:%H:%M}"


WEIGHTS = Path(__file__).with_name("solving.npy")
"""(dimensions + 1,) float16: the weights, and then the bias."""
SURE = 0.4

_Vector = npt.NDArray[np.float32] | npt.NDArray[np.float64]


async def wants_it_done(question: str, embedder: Embedder) -> bool:
    """Return whether a question asks for a task's result, rather than how it is found.

    It does not wherever the head's own model is not at hand.
    """
    if embedder.name != BUILT_IN:
        return False
    try:
        [vector] = await embedder.embed_queries([question])
    except EmbeddingError:
        return False
    return probability(vector, weights()) >= SURE


def probability(vector: _Vector, head: _Vector) -> float:
    """Return the probability, 0 to 1, that a text with this vector wants a task done."""
    return float(1 / (1 + np.exp(-(vector @ head[:-1] + head[-1]))))


@cache
def weights() -> npt.NDArray[np.float32]:
    """Return the weights that the package ships; read at their first use."""
    stored: npt.NDArray[np.float32] = np.load(WEIGHTS).astype(np.float32)
    return stored


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
