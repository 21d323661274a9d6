"""Reads the numbers that sections go by: "§ 12 (3)", "Chapter 4", "3.2"."""

import re
from dataclasses import dataclass
from typing import Self

NUMBER = r"\d+(?:\.\d+)*[a-z]?"
"""Pattern of a section's number; a letter after it belongs to it: § 12a is not § 12."""
LABEL = (
    r"§§?|(?:subsection|section|sec|chapter|chap|ch|part|article|art|unit|module|lesson|lecture"
    r"|week|experiment|abschnitt|kapitel|kap|teil|artikel|paragra(?:f|ph)|lektion|modul|chapitre"
    r"|capítulo)\b\.?"
)
PARAGRAPH = (
    r"(?:(?:paragraph|para|par|subsection|absatz|absatzes|abs)\b\.?\s*"
    rf"(?:\(\s*{NUMBER}\s*\)|{NUMBER})|\(\s*{NUMBER}\s*\))"
)
"""Pattern of a paragraph's number after that of its section."""

_NAME = re.compile(
    rf"(?:(?P<label>{LABEL})\s*)?0*(?P<number>{NUMBER})"
    rf"(?:\s*,?\s*(?P<paragraph>{PARAGRAPH})(?:\s*\([a-z]\))?)?",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"\s*(?:(?P<label>§+|[^\W\d_]+\.?)\s*)?0*(?P<number>{NUMBER})(?!\w|\.\d)[\W_]*", re.IGNORECASE
)
_DIGITS = re.compile(NUMBER, re.IGNORECASE)
_OTHER_NAMES = {
    "section": "sec subsection abschnitt",
    "§": "paragraf paragraph",
    "chapter": "ch chap kapitel kap chapitre capítulo",
    "article": "art artikel",
    "part": "teil",
    "lesson": "lektion",
    "module": "modul",
}
_SAME_KINDS = {name: kind for kind, names in _OTHER_NAMES.items() for name in names.split()}
_DIVISIONS = frozenset(
    {"section", "chapter", "part", "unit", "module", "lesson", "lecture", "week"}
)
"""Kinds that readers take for one another; an article or a § is never a chapter."""


@dataclass(frozen=True, slots=True)
class SectionNumber:
    """A section's number and what the section is called: a chapter, an article."""

    kind: str | None
    number: str

    @classmethod
    def of(cls, label: str | None, number: str) -> Self:
        """Return the number with one name for each kind."""
        kind = label.casefold().rstrip(".") if label else None
        kind = "§" if kind and kind.startswith("§") else kind
        return cls(_SAME_KINDS.get(kind, kind) if kind else None, number.casefold())

    def distance(self, heading: Self) -> int | None:
        """Return how far the heading's kind is from the asked one; None: it is not meant.

        0 is the same kind, 1 a number without any, 2 another word for a division of a book.
        """
        if self.number != heading.number:
            return None
        if self.counts_like(heading):
            return 0
        if self.kind is None or heading.kind is None:
            return 1
        return 2 if {self.kind, heading.kind} <= _DIVISIONS else None

    def counts_like(self, heading: Self) -> bool:
        """Return whether both are numbers of one kind; "section" is a word for the sign, too."""
        return self.kind == heading.kind or {self.kind, heading.kind} == {"§", "section"}


def read_number(name: str) -> tuple[SectionNumber, str | None] | None:
    """Return the number that a name consists of, and the paragraph's; None for other names."""
    match = _NAME.fullmatch(name.strip())
    if match is None:
        return None
    number = SectionNumber.of(match["label"], match["number"])
    return number, paragraph_number(match["paragraph"])


def paragraph_number(paragraph: str | None) -> str | None:
    """Return the number in "paragraph 3", "Abs. 3" or "(3)"."""
    found = _DIGITS.search(paragraph or "")
    return found.group().casefold() if found else None


def number_of(heading: str) -> SectionNumber | None:
    """Return the number that a heading begins with."""
    match = _HEADING.match(heading)
    return SectionNumber.of(match["label"], match["number"]) if match else None


def without_number(heading: str) -> str:
    """Return the heading's own words: "Offences" of "§ 12 Offences"."""
    match = _HEADING.match(heading)
    return heading[match.end() :] if match else heading
