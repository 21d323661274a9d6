"""Reads the numbers that sections go by: "§ 12 (3)", "Chapter 4", "3.2"."""

import re
from dataclasses import dataclass
from typing import Self

NUMBER = r"\d+(?:\.\d+)*[a-z]?"
"""Pattern of a section's number; a letter after it belongs to it: § 12a is not § 12."""
_NAMES = {
    "section": "section subsection sec abschnitt",
    "§": "paragraf paragraph",
    "chapter": "chapter ch chap kapitel kap chapitre capítulo",
    "article": "article art artikel",
    "part": "part teil",
    "lesson": "lesson lektion",
    "module": "module modul",
    **{name: name for name in ("unit", "lecture", "week", "experiment")},
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_DIVISIONS = _NAMES.keys() - {"§", "article", "experiment"}
"""Kinds that readers take for one another; an article or a § is never a chapter."""
LABEL = rf"§§?|(?:{'|'.join(_KINDS)})\b\.?"
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


@dataclass(frozen=True, slots=True)
class SectionNumber:
    """A section's number and what the section is called: a chapter, an article."""

    kind: str | None
    number: str

    @classmethod
    def of(cls, label: str | None, number: str) -> Self:
        """Return the number with one name for each kind."""
        kind = label.casefold().rstrip(".").replace("§§", "§") if label else None
        return cls(_KINDS.get(kind, kind) if kind else None, number.casefold())

    def distance(self, heading: Self) -> int | None:
        """Return how far the heading's kind is from the asked one; None: it is not meant.

        0 is the same kind, 1 a number without any, 2 another word for a division of a book.
        """
        if self.number != heading.number:
            return None
        if self.counts_like(heading):
            return 0
        kinds = {self.kind, heading.kind}
        return 1 if None in kinds else 2 if kinds <= _DIVISIONS else None

    def counts_like(self, heading: Self) -> bool:
        """Return whether both are numbers of one kind; "section" is a word for the sign, too."""
        return self.kind == heading.kind or {self.kind, heading.kind} == {"§", "section"}


def read_number(name: str) -> tuple[SectionNumber, str | None] | None:
    """Return the number that a name consists of, and the paragraph's; None for other names."""
    match = _NAME.fullmatch(name.strip())
    if match is None:
        return None
    return SectionNumber.of(match["label"], match["number"]), paragraph_number(match["paragraph"])


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
