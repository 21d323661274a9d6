"""Recognises a question for the text of a section, by its number or its heading."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.retrieval.named_sections.numbers import (
    LABEL,
    NUMBER,
    PARAGRAPH,
    SectionNumber,
    paragraph_number,
    read_number,
)

_THE = r"(?:the|der|die|das|dem|den|des) "
_OPENING = re.compile(
    r"(?:(?:and|und|please|bitte|can you) ){0,2}(?:(?:(?:what|how) about|(?:what|was)(?:['’]s| is"
    r"| are| does| do| ist| steht| sagt| regelt)?(?: written| said| mit)?"
    r"|(?:summari[sz]e|explain|describe|outline|quote|read|fasse?)(?: bitte)?|worum geht es) )?"
    r"(?:(?:in|im|under|unter) )?",
    re.IGNORECASE,
)
"""What stands before the name of a section whose text is asked for."""
_CLOSING = re.compile(
    r" (?:say|state|cover|contain|about|zusammen|please|bitte"
    r"|(?:of|in) (?:the|this) (?:book|course|text|regulation|law))$",
    re.IGNORECASE,
)
_PARAGRAPH_OF = re.compile(rf"({PARAGRAPH})(?: (?:of|in|under|von|des|der|aus) (.+))?", re.I)
_NUMBERED = re.compile(rf"(?:{LABEL})\s*{NUMBER}.*|\d+(?:\.\d+)+", re.IGNORECASE)
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_FURTHER = re.compile(r"(?:(?:and|und|what|how|about|was|ist|mit|in) )*\d[\d.]*\W*", re.I)
"""How a question goes on to another number."""
_DIVISION = r"(?:section|chapter|abschnitt|kapitel)"
_ABOUT = re.compile(rf"{_DIVISION} (?:on|about|called|über|zu) (?:{_THE})?(.+)", re.I)
_HEADED = re.compile(rf"(.+) {_DIVISION}|{_DIVISION} (.+)", re.IGNORECASE)
_AS_NAMED = re.compile(r"\W*[\"'“„‚‘«A-ZÄÖÜ]")
"""How a name begins where no article shows that a section is meant."""
_AT_HAND = re.compile(rf"(?:this|the|dies\w*) (?:{_DIVISION}|page|part|module)", re.I)
_POINTING = re.compile(r"it|this|that|summari[sz]e|explain", re.IGNORECASE)
_ENDS = " \t\r\n?!.…"
_QUOTES = "\"'“”„‚‘’«»"


@dataclass(frozen=True, slots=True)
class SectionReference:
    """A section whose text is asked for."""

    name: str = ""
    """How the question calls it; empty: the section that is searched anyway."""
    number: SectionNumber | None = None
    by_words: bool = False
    """Whether the name may be a part of the heading."""
    paragraph: str | None = None
    """The number of the one paragraph that is asked for."""


def read_references(
    question: str, *, alone: bool = True, before: Sequence[str] = ()
) -> list[SectionReference]:
    """Return what a question may mean that asks for a section's text; none for other questions.

    The likelier meaning comes first; whether there is such a section only the book tells.

    Args:
        alone: Nothing was said before that an "it" may stand for.
        before: The questions before this one, oldest first; where they asked for a section by
            its number, "and 2.5?" asks for another one.
    """
    name = _named(question)
    if _AT_HAND.fullmatch(name) or (alone and _POINTING.fullmatch(name)):
        return [SectionReference()]
    if _DOTTED.fullmatch(name) and not alone and not _speak_of_numbers(before):
        return []
    bare = re.sub(f"^{_THE}", "", name, count=1, flags=re.I)
    if numbered := _by_number(bare, alone=alone):
        return numbered
    if about := _ABOUT.fullmatch(bare):
        return [SectionReference(about[1].strip(_QUOTES), by_words=True)]
    headed = _HEADED.fullmatch(bare)
    words = (headed[1] or headed[2]) if headed else ""
    if words and (bare != name or _AS_NAMED.match(words)):
        return [SectionReference(one.strip(_QUOTES)) for one in (bare, words)]
    return []


def asks_for_section_at_hand(question: str) -> bool:
    """Return whether a question names nothing but the section that it is limited to."""
    return any(not reference.name for reference in read_references(question))


def _named(question: str) -> str:
    """Return what a question names, without what opens and closes it."""
    asked = " ".join(question.split()).strip(_ENDS)
    name = _OPENING.sub("", asked, count=1)
    while (shorter := _CLOSING.sub("", name)) != name:
        name = shorter
    return name.strip(_ENDS + ",")


def _speak_of_numbers(before: Sequence[str]) -> bool:
    """Return whether the latest question that was no mere number asked for a section by one."""
    whole = [question for question in before if not _FURTHER.fullmatch(question.strip())]
    return any(read.number for question in whole[-1:] for read in read_references(question))


def _by_number(name: str, *, alone: bool) -> list[SectionReference]:
    """Return the references by number, such as "§ 12 (3)" or "paragraph 3 of section 12"."""
    found: list[SectionReference] = []
    paragraph = None
    if within := _PARAGRAPH_OF.fullmatch(name):
        paragraph = paragraph_number(within[1])
        name = re.sub(f"^{_THE}", "", within[2] or "", count=1, flags=re.I)
        if not name:
            found.append(SectionReference(paragraph=paragraph))
            name, paragraph = (within[1], None) if alone else ("", None)
    if _NUMBERED.fullmatch(name) and (read := read_number(name)) is not None:
        number, own = read
        found.append(SectionReference(name, number, paragraph=paragraph or own))
    return found
