"""Recognises a question that asks what a section says, by its number or its heading."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from core.retrieval.section_numbers import (
    LABEL,
    NUMBER,
    PARAGRAPH,
    SectionNumber,
    paragraph_number,
    read_number,
)
from core.text.courtesy import asked_plainly
from core.text.step_questions import names_no_subject

_ASKS_FOR_TEXT = (
    r"what (?:does|do|did) (?P<what>.+?) (?:say|state|cover|contain|provide|regulate|discuss"
    r"|deal with|talk about|tell(?: me| us)?)(?: exactly)?",
    r"what(?:['’]s| is| are| stands| does it say)(?: written| said| stated)? (?:in|under)"
    r" (?P<what>.+)",
    r"(?:summari[sz]e|recap|quote|outline) (?P<what>.+?)(?: for me| briefly)*",
    r"was (?:steht|stehen|ist)(?: genau)? (?:in|im|unter) (?P<what>.+)",
    r"was (?:be)?sagt (?P<what>.+?)(?: aus)?",
    r"was (?:regelt|enthält|behandelt|bestimmt|beschreibt) (?P<what>.+)",
    r"fass(?:e|en sie)?(?: bitte| mir)*+ (?P<what>.+?)(?: bitte| kurz)* zusammen",
)
"""What is asked for in these ways is a text, also by "the summary of Loops"."""
_MAY_ASK_FOR_TEXT = (
    r"what(?:['’]s| is| are) (?P<what>.+?)(?: all)? about",
    r"what(?:['’]s| is| are) (?P<what>.+)",
    r"(?:explain|describe|show(?: me)?|read|tell (?:me|us) about)"
    r" (?P<what>.+?)(?: to me| for me| briefly)*",
    r"(?:what (?:is|are) |give (?:me |us )?)?(?:an? |the )?(?:short |brief )?"
    r"(?:summary|overview|outline|contents?|text|wording) of (?P<what>.+)",
    r"(?:worum|um was) geht es (?:in|im|bei) (?P<what>.+)",
    r"wovon handelt (?P<what>.+)",
    r"(?:erklär|erkläre|erläutere|beschreibe|zeig|zeige)(?: mir| uns| bitte)* (?P<what>.+)",
    r"(?:was ist )?(?:die |der |eine )?(?:zusammenfassung|inhalt|wortlaut) (?:von|des|der)"
    r" (?P<what>.+)",
)
_TEXT = tuple(re.compile(frame, re.I) for frame in _ASKS_FOR_TEXT)
_ANY = tuple(re.compile(frame, re.I) for frame in (*_ASKS_FOR_TEXT, *_MAY_ASK_FOR_TEXT))
_ARTICLE = re.compile(r"^(?:the|der|die|das|dem|den|des) (?=\S)", re.I)
_OF_THE_BOOK = re.compile(
    r" (?:of|in|from) (?:the|this) (?:book|course|text|regulation|act|law|statute|code|manual"
    r"|document|guide)| (?:des|der|im|in der) (?:buch(?:e?s)?|gesetz(?:es)?|kurs(?:es)?|verordnung"
    r"|textes)",
    re.I,
)
_PARAGRAPH_OF = re.compile(
    rf"(?P<paragraph>{PARAGRAPH}) (?:of|in|under|von|des|der|aus|in|im) (?P<section>.+)", re.I
)
_LABELLED = re.compile(rf"(?:{LABEL})\s*{NUMBER}.*", re.I)
_DOTTED = re.compile(r"\d+(?:\.\d+)+", re.I)
_ABOUT = (
    re.compile(
        r"(?:section|subsection|chapter|part|page|article)"
        r" (?:on|about|called|titled|named|entitled) (?P<name>.+)",
        re.I,
    ),
    re.compile(
        r"(?:abschnitt|kapitel|teil|artikel) (?:über|zu|zum|zur|namens)"
        r" (?:(?:der|die|das|dem|den) )?(?P<name>.+)",
        re.I,
    ),
)
_HEADED = (
    re.compile(r"(?P<name>.+) (?:section|chapter)", re.I),
    re.compile(r"(?:section|subsection|chapter|abschnitt|kapitel) (?P<name>.+)", re.I),
)
"""What a heading stands before, or behind: "the Waste section", "the section Waste"."""
_AS_NAMED = re.compile(r"\W*[\"'“„‚‘«A-ZÄÖÜ]")
"""How a name begins where nothing else shows that a section is meant."""
_PART_OF = re.compile(r"(?P<name>.+?) (?:of|in|von|des|der) (?P<parent>.+)", re.I)
_AT_HAND = re.compile(
    r"(?:this|the) (?:section|subsection|chapter|part|page|module|article)"
    r"|(?:dies(?:e[rsmn]?)|der|dem|den|das) (?:abschnitt|kapitel|teil|artikel|seite)",
    re.I,
)
_POINTING = re.compile(r"it|this|that|es|dies|das", re.I)
_ONLY_AT_HAND = re.compile(r"summari[sz]e|explain", re.I)
_FURTHER = re.compile(
    r"^(?:(?:and|und) )?(?:(?:what|how) about |was ist mit )?(?:(?:in|under|unter) )?",
    re.I,
)
"""What a question goes on with, as in "and § 4?"."""
_ENDS = " \t\r\n?!.…"
_QUOTES = "\"'“”„‚‘’«»"


@dataclass(frozen=True, slots=True)
class SectionReference:
    """A section whose text is asked for."""

    name: str = ""
    """How the question calls it; empty: the section that is searched anyway."""
    number: SectionNumber | None = None
    parent: str | None = None
    """The heading or page that the section lies in."""
    by_words: bool = False
    """Whether the name may be a part of the heading."""
    paragraph: str | None = None
    """The number of the one paragraph that is asked for."""


def read_references(
    question: str, *, alone: bool = True, before: Sequence[str] = ()
) -> list[SectionReference]:
    """Return what a question may mean that asks for a section's text; none for other questions.

    The likelier meaning comes first; whether there is such a section only the book tells: a
    heading may hold a word that is else courtesy.

    Args:
        alone: Nothing was said before that an "it" may stand for.
        before: The questions before this one, oldest first; where they asked for a section by
            its number, "and 2.5?" asks for another one.
    """
    readings = dict.fromkeys((question, asked_plainly(question, lambda words: False)))
    counts = alone or _speak_of_numbers(before)
    found = (_references(reading, alone=alone, counts=counts) for reading in readings)
    return list(dict.fromkeys(chain.from_iterable(found)))


def asks_for_section_at_hand(question: str) -> bool:
    """Return whether a question names nothing but the section that it is limited to."""
    return any(not reference.name for reference in read_references(question))


def _speak_of_numbers(before: Sequence[str]) -> bool:
    """Return whether the latest question that was no mere number asked for a section by one."""
    for question in reversed(before):
        if not _DOTTED.fullmatch(_further(question)):
            return any(read.number for read in read_references(question, alone=False))
    return False


def _further(question: str) -> str:
    """Return what a question names, without the words by which it goes on."""
    return _FURTHER.sub("", " ".join(question.split()).strip(_ENDS), count=1)


def _references(question: str, *, alone: bool, counts: bool) -> list[SectionReference]:
    """Return what these very words may mean; `counts`: a mere number may be a section's."""
    asked = " ".join(question.split()).strip(_ENDS)
    if _ONLY_AT_HAND.fullmatch(asked) or names_no_subject(asked):
        return [SectionReference()] if alone else []
    further = _further(question)
    if _DOTTED.fullmatch(further) and not counts:
        return []
    if bare := _numbered(further, alone=alone):
        return bare
    for frame in _ANY:
        match = frame.fullmatch(asked)
        found = _read(match["what"], alone=alone, text=frame in _TEXT) if match else []
        if found:
            return found
    return []


def _read(what: str, *, alone: bool, text: bool) -> list[SectionReference]:
    """Return what may be meant by what stands in the question for the section."""
    if _AT_HAND.fullmatch(what) or (alone and _POINTING.fullmatch(what)):
        return [SectionReference()]
    what, articles = _ARTICLE.subn("", what, count=1)
    if end := next((m for m in _OF_THE_BOOK.finditer(what) if m.end() == len(what)), None):
        what = what[: end.start()]
    if numbered := _numbered(what, alone=alone):
        return numbered
    for about in _ABOUT:
        if match := about.fullmatch(what):
            return [SectionReference(name=match["name"].strip(_QUOTES), by_words=True)]
    headed = [match["name"] for pattern in _HEADED if (match := pattern.fullmatch(what))]
    if names := [name for name in headed if text or articles or _AS_NAMED.match(name)]:
        return [SectionReference(name=name.strip(_QUOTES)) for name in (what, *names)]
    if text and (match := _PART_OF.fullmatch(what)):
        return [SectionReference(name=match["name"], parent=match["parent"].strip(_QUOTES))]
    return []


def _numbered(what: str, *, alone: bool) -> list[SectionReference]:
    """Return the references by number, such as "§ 12 (3)" or "paragraph 3 of section 12"."""
    paragraph = None
    if re.fullmatch(PARAGRAPH, what, re.I):
        at_hand = SectionReference(paragraph=paragraph_number(what))
        return [at_hand, *(_by_number(what, None) if alone else [])]
    if match := _PARAGRAPH_OF.fullmatch(what):
        paragraph, what = paragraph_number(match["paragraph"]), match["section"]
        what = _ARTICLE.sub("", what, count=1)
    return _by_number(what, paragraph)


def _by_number(what: str, paragraph: str | None) -> list[SectionReference]:
    if not _LABELLED.fullmatch(what) and not _DOTTED.fullmatch(what):
        return []
    if (read := read_number(what)) is None:
        return []
    number, own = read
    return [SectionReference(name=what, number=number, paragraph=paragraph or own)]
