"""Reads the parts of a question off its structure: numbers, question marks, coordination.

Whether a question is answered in these parts is for what is found to decide.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from core.i18n import LANGUAGES, Message, in_language
from core.text.sentences import sentences

MOST = 4
"""Parts that one question may have."""
_SHORTEST = 3
"""Characters of a part."""
_NUMBER = re.compile(r"(?:(?<=\s)|^)\(?(\d)[.)](?=\s)")
_GAP = "…"
"""Stands in a pattern of a catalogue for what is compared."""
_ENDS = " \t\r\n,;:?."
_LONGEST_NAME = 9
"""Words of a thing that is compared, half of them where it begins the question; what is longer is
a clause of its own."""


class PartsForm(Enum):
    """What shows that a question has parts."""

    NUMBERED = auto()
    SENTENCES = auto()
    JOINED = auto()
    COMPARED = auto()


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """A part of a question."""

    words: str
    """The asker's own."""
    question: str
    """What is searched for."""
    before: tuple[str, ...] = ()
    """What it may lean on: what the asker says before it."""


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """The parts that a question may have."""

    form: PartsForm
    parts: tuple[QuestionPart, ...]
    left: int = 0
    """Numbered parts beyond the most that one answer has."""


def parts_of(question: str) -> QuestionParts | None:
    """Return the parts that a question's structure shows, two to four; None: it has none."""
    said = sentences(question)
    asking = [place for place, one in enumerate(said) if one.rstrip("\"'”’)").endswith("?")]
    if len(numbered := _numbered(question)) > 1:
        lead, *items = numbered
        return _in_turn(PartsForm.NUMBERED, items, lead=lead)
    if len(asking) > 1:
        starts = [0, *asking[1:]]
        ends = [*(place for place in starts[1:]), len(said)]
        texts = [" ".join(said[a:b]) for a, b in zip(starts, ends, strict=True)]
        words = [said[place] for place in asking]
        return _in_turn(PartsForm.SENTENCES, texts, words=words) if len(texts) <= MOST else None
    if len(said) != 1:
        return None
    if compared := _compared(said[0]):
        return compared
    joined = [one.strip(_ENDS) for one in _joints().split(said[0])]
    return _in_turn(PartsForm.JOINED, joined) if 1 < len(joined) <= MOST else None


def _numbered(question: str) -> list[str]:
    """Return what stands before the first number, and what stands after each of 1, 2, …"""
    marks = [*_NUMBER.finditer(question)]
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != [*range(1, len(marks) + 1)]:
        return []
    bounds = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(question)]
    return [question[a:b].strip() for a, b in zip(bounds, ends, strict=True)]


def _in_turn(
    form: PartsForm, texts: Sequence[str], *, words: Sequence[str] = (), lead: str = ""
) -> QuestionParts | None:
    """Return parts of which each may lean on those before it."""
    if min(map(len, texts)) < _SHORTEST:
        return None
    before = [lead] if lead else []
    rows = [*zip(words or texts, texts, strict=True)][:MOST]
    parts = [
        QuestionPart(said, text, (*before, *texts[:place])[-2:])
        for place, (said, text) in enumerate(rows)
    ]
    return QuestionParts(form, tuple(parts), max(len(texts) - MOST, 0))


def _compared(sentence: str) -> QuestionParts | None:
    """Return the things that a sentence compares, each to be searched for by itself."""
    folded = sentence.casefold()
    for words, form, question in _comparisons():
        if not all(word in folded for word in words):  # spares most patterns
            continue
        if (match := _pattern(form).search(sentence)) is None:
            continue
        first, last = match.groups()
        longest = _LONGEST_NAME if match.start(1) else _LONGEST_NAME // 2
        names = [one.strip(_ENDS) for one in (*first.split(", "), last)]
        names = [name for name in names if name]
        fit = (len(one) >= _SHORTEST and len(one.split()) <= longest for one in names)
        if len(names) <= MOST and all(fit):
            parts = [QuestionPart(name, question.replace(_GAP, name)) for name in names]
            return QuestionParts(PartsForm.COMPARED, tuple(parts))
    return None


@cache
def _comparisons() -> list[tuple[list[str], str, str]]:
    """Return how each language compares two things, and how it asks for one of them.

    Each comes with the words, in lower case, without which nothing is compared in that form.
    """
    return [
        (
            form.replace(_GAP, " ").casefold().split(),
            form,
            in_language(Message("parts-asked"), language),
        )
        for language in LANGUAGES
        for form in _listed(Message("parts-compared"), language)
    ]


@cache
def _pattern(form: str) -> re.Pattern[str]:
    words = (r"\s+".join(map(re.escape, one.split(" "))) for one in form.split(_GAP))
    opening, between, closing = words
    start = rf"\b{opening}" if opening else "^"
    return re.compile(f"{start}(.+?){between}(.+?){closing or '$'}", re.I)


@cache
def _joints() -> re.Pattern[str]:
    """Return what joins two questions in any of the languages; the second begins after it."""
    listed = [one for lang in LANGUAGES for one in _listed(Message("parts-joints"), lang)]
    joints = (r"{}\s+(?={}\b)".format(*map(re.escape, one.split())) for one in listed)
    return re.compile(rf",?\s+(?:{'|'.join(joints)})", re.I)


def _listed(message: Message, language: str) -> Iterator[str]:
    return (one.strip() for one in in_language(message, language).split(";"))
