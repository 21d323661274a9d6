"""Finds the sections that a reader means by a name, forgiving about case and spelling."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate, islice, pairwise, zip_longest
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Self
from urllib.parse import unquote, urlsplit

from core.domain import Chunk
from core.domain.errors import UnknownSection
from core.domain.i18n import Message, in_language
from core.domain.links import one_line, prose_without_links
from core.domain.sentences import count_tokens, sentence_spans
from core.index.base import VectorIndex
from core.retrieval.editions import EditionReader
from core.retrieval.evidence import BUDGET, Excerpt
from core.retrieval.retrieval import retrieved, whole
from core.storage.catalogue import Catalogue, DocumentRecord, Edition, SectionRecord

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
_NUMBERS_DIGITS = re.compile(NUMBER, re.IGNORECASE)


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
    found = _NUMBERS_DIGITS.search(paragraph or "")
    return found.group().casefold() if found else None


def number_of(heading: str) -> SectionNumber | None:
    """Return the number that a heading begins with."""
    match = _HEADING.match(heading)
    return SectionNumber.of(match["label"], match["number"]) if match else None


def without_number(heading: str) -> str:
    """Return the heading's own words: "Offences" of "§ 12 Offences"."""
    match = _HEADING.match(heading)
    return heading[match.end() :] if match else heading


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
    if numbered := _references_by_number(bare, alone=alone):
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


def _references_by_number(name: str, *, alone: bool) -> list[SectionReference]:
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


MOST = 3
"""Sections that are named where the book does not have the one asked for."""
_CLOSE_ENOUGH, _ALIKE = 86.0, 65.0
"""The likeness of spelling, up to 100, of what is meant, and of what may be meant."""
_MARKS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_NUMBERED_FILE = re.compile(
    r"^(?:chapter|chap|ch|section|sec|part|unit|module|lesson|lecture|week)?[-_ ]?"
    r"(\d+)(?:[-_.](\d+)(?=\D|$))?",
    re.IGNORECASE,
)


def resolve_section(name: str, sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    """Return the ids of the sections called `name`, in book order.

    A name is matched against module, heading, heading path ("Chapter > Section"), page title,
    file name and URL: first exactly (case, accents, punctuation aside), then by its number,
    then as the whole words of a heading, then by spelling, which a number does not allow.

    Raises:
        UnknownSection: naming the headings that come near, if any do.
    """
    read, folded = read_number(name), _fold(name)
    found = [s for s in sections if _by_url(name, s)]
    found = found or [section for section in sections if folded in _names(section)]
    found = found or (_by_number(read[0], sections) if read else [])
    if read is None or (read[0].kind is None and "." not in read[0].number):
        found = found or _by_words(folded, sections)
    if found:
        return tuple(dict.fromkeys(section.section_id for section in found))
    ranked = _by_spelling(folded, sections)
    best = ranked[0][0] if ranked else 0.0
    if best >= _CLOSE_ENOUGH and read is None:
        return tuple(dict.fromkeys(s.section_id for score, s in ranked if score == best))
    alike = tuple(dict.fromkeys(s.title for score, s in ranked if score >= _ALIKE))[:MOST]
    raise UnknownSection(name, near_number(read[0], sections) if read else alike)


def find_sections(
    reference: SectionReference, sections: Sequence[SectionRecord]
) -> list[SectionRecord]:
    """Return the sections that a question names, in book order; spelling forgives nothing."""
    if reference.number is not None:
        return _by_number(reference.number, sections)
    folded = _fold(reference.name)
    alike = (s for s in sections if folded in {_fold(s.title), _fold(without_number(s.title))})
    exact = list(alike) if folded else []
    likely = [] if exact or not reference.by_words else _by_words(folded, sections)
    return exact or (likely if len({section.title for section in likely}) == 1 else [])


def counts_sections_like(number: SectionNumber, sections: Sequence[SectionRecord]) -> bool:
    """Return whether the book numbers its sections this way, so that one can be missing."""
    numbers = [known for section in sections if (known := number_of(section.title))]
    if number.kind in {"section", "chapter"} and any(known.kind is None for known in numbers):
        return True
    return number.kind is not None and any(number.counts_like(known) for known in numbers)


def near_number(number: SectionNumber, sections: Sequence[SectionRecord]) -> tuple[str, ...]:
    """Return the headings whose numbers come near one, nearest first.

    Near are the sections of the same chapter, what the number is a part of, its own parts, and
    of whole chapters the one before and the one after.
    """
    near: list[tuple[tuple[int, int], str]] = []
    for section in sections:
        known = number_of(section.title)
        if known is None or replace(known, number=number.number).distance(number) is None:
            continue
        asked, have = ([int(n) for n in _DIGITS.findall(one.number)] for one in (number, known))
        depth, gap = min(len(asked), len(have)), abs(asked[-1] - have[-1])
        is_beside = asked[:-1] == have[:-1] and (depth > 1 or gap <= 1)
        if is_beside or (len(asked) != len(have) and asked[:depth] == have[:depth]):
            near.append(
                ((0, gap) if is_beside else (1, abs(len(asked) - len(have))), section.title)
            )
    return tuple(dict.fromkeys(title for _, title in sorted(near, key=itemgetter(0))))[:MOST]


def holds(
    section: SectionRecord, source_file: str, headings: Sequence[str], module: str | None
) -> bool:
    """Return whether what stands under these headings belongs to the section."""
    if not section.path and section.module is not None and section.title == section.module:
        return module == section.module
    own = tuple(headings[: len(section.path)]) == section.path
    return own and source_file == section.source_file


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _MARKS.sub(" ", plain).strip()


def _names(section: SectionRecord) -> set[str]:
    """Return what a section may be called, folded."""
    path, file = " ".join(section.path), PurePosixPath(section.source_file)
    names = [section.title, without_number(section.title), path, *section.path[-1:]]
    names += [str(file), file.stem, f"{section.module} {path}" if section.module else ""]
    return {_fold(name) for name in names} - {""}


def _by_url(name: str, section: SectionRecord) -> bool:
    if section.url is None or not {"/", "#"} & {*name}:
        return False
    wanted, have = unquote(name.strip()), unquote(section.url)
    parts = urlsplit(have)
    local = parts.path + (f"#{parts.fragment}" if parts.fragment else "")
    return wanted.rstrip("/") in {have.rstrip("/"), local.rstrip("/"), local.lstrip("/")}


def _by_number(number: SectionNumber, sections: Sequence[SectionRecord]) -> list[SectionRecord]:
    """Return the sections whose number it is, of the kind asked for where there are some.

    A chapter is also its numbered files; a section or § is one only where no heading is.
    """
    distances = [
        number.distance(known) if (known := number_of(section.title)) else None
        for section in sections
    ]
    nearest = min((d for d in distances if d is not None), default=None)
    in_files = number.kind != "§" and (nearest is None or number.kind != "section")
    return [
        section
        for section, distance in zip(sections, distances, strict=True)
        if (distance is not None and distance == nearest)
        or (in_files and not section.path and _file_has_number(section.source_file, number.number))
    ]


def _file_has_number(source_file: str, number: str) -> bool:
    """Return whether a file is chapter `number`, or one of its sections: `ch04-01-slices.md`."""
    match = _NUMBERED_FILE.match(PurePosixPath(source_file).stem)
    have = [int(part) for part in match.groups() if part] if match else []
    wanted = [int(part) for part in _DIGITS.findall(number)]
    return number[-1].isdigit() and have[: len(wanted)] == wanted


def _by_words(wanted: str, sections: Sequence[SectionRecord]) -> list[SectionRecord]:
    words = set(wanted.split())
    return [one for one in sections if words and words <= {*_fold(one.title).split()}]


def _by_spelling(
    wanted: str, sections: Sequence[SectionRecord]
) -> list[tuple[float, SectionRecord]]:
    """Return every section with its best likeness (0 to 100), best first, then in book order."""
    from rapidfuzz import fuzz

    likeness = [max(fuzz.ratio(wanted, known) for known in _names(one)) for one in sections]
    pairs = zip(likeness, sections, strict=True)
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1].ordinal))


_MARKER = re.compile(r"^[ \t*_]*\((\d+[a-z]?)\)", re.MULTILINE)
"""What a numbered paragraph of a statute begins with."""


@dataclass(frozen=True, slots=True)
class NamedSection:
    """What a question's reference came to."""

    sections: tuple[SectionRecord, ...]
    """In book order; none: the book has no such section."""
    name: str
    """The heading, or how the question calls what is missing."""
    paragraph: str | None
    near: tuple[str, ...]
    """Headings of where to look when the section, or the paragraph of it, is missing."""


class SectionReader:
    """Finds what a question names in an edition, and reads it."""

    def __init__(self, catalogue: Catalogue, index: VectorIndex) -> None:
        self._catalogue = catalogue
        self._reader = EditionReader(index)

    async def find(
        self, edition: Edition, references: Sequence[SectionReference], limited_to: str | None
    ) -> NamedSection | None:
        """Return the section whose text is asked for; None: the question is an ordinary one.

        Args:
            limited_to: The section that alone is searched.

        Raises:
            UnknownSection: when there is none called `limited_to`.
        """
        sections = await self._catalogue.sections(edition.generation)
        if not sections:
            return None
        searched: list[SectionRecord] = []
        paragraph = None
        if limited_to is not None:
            wanted = resolve_section(limited_to, sections)
            searched = [section for section in sections if section.section_id in wanted]
            _, paragraph = read_number(limited_to) or (None, None)
        return named_section(references, sections, searched, paragraph)

    async def chunks(self, edition: Edition, named: NamedSection) -> list[Chunk]:
        """Return the text of the section in book order."""
        files = dict.fromkeys(section.source_file for section in named.sections)
        modules = {section.module for section in named.sections if section.module}
        documents = await self._catalogue.documents(edition.generation)
        return [
            chunk
            for document in documents
            if document.source_file in files or document.module in modules
            async for chunk in self._reader.scroll(edition, document.document_id)
            if any(
                holds(section, chunk.source_file, chunk.headings, chunk.module_name)
                for section in named.sections
            )
        ]


def named_section(
    references: Sequence[SectionReference],
    sections: Sequence[SectionRecord],
    searched: Sequence[SectionRecord],
    paragraph: str | None,
) -> NamedSection | None:
    """Return the section that is asked for; None: the question is an ordinary one.

    Args:
        searched: The sections that alone are searched; empty: the whole book.
        paragraph: The paragraph of them that the reader limited the question to.
    """
    for reference in references:
        found, own = list(searched), reference.paragraph or paragraph
        if reference.name:
            named, own = find_sections(reference, sections), reference.paragraph
            found = [
                s
                for s in named
                if not searched or any(holds(o, s.source_file, s.path, s.module) for o in searched)
            ]
        if found:
            titles = tuple(dict.fromkeys(one.title for one in found))
            return NamedSection(tuple(found), titles[0], own, titles[:MOST])
        number = reference.number
        if number and not searched and counts_sections_like(number, sections):
            return NamedSection((), reference.name, None, near_number(number, sections))
    return None


def excerpts_of(chunks: Sequence[Chunk], paragraph: str | None, most: int) -> list[Excerpt]:
    """Return what a writer reads of a section: its beginning, or the paragraph asked for.

    None at all when the paragraphs have numbers and none of them has this one.
    """
    if paragraph and any(_MARKER.search(chunk.content_text) for chunk in chunks):
        return list(islice(_paragraph_of(chunks, paragraph), most))
    lengths = accumulate(chunk.token_count for chunk in chunks)
    fit = max(1, sum(length <= BUDGET for length in lengths))
    return [whole(retrieved(chunk, 1.0)) for chunk in chunks[: min(fit, most)]]


def _paragraph_of(chunks: Sequence[Chunk], number: str) -> Iterator[Excerpt]:
    """Yield the paragraph marked "(number)", which may go on in the next chunk of its section."""
    headings, marked = None, ""
    for chunk in chunks:
        marked = marked if chunk.headings == headings else ""
        headings, text = chunk.headings, chunk.content_text
        marks = [(mark.start(), mark[1].casefold()) for mark in _MARKER.finditer(text)]
        for (start, name), (end, _) in pairwise([(0, marked), *marks, (len(text), "")]):
            if name == number and text[start:end].strip():
                yield Excerpt(retrieved(chunk, 1.0), start, end, count_tokens(text[start:end]))
            marked = name


_DOCUMENTS = 40
"""Documents that are looked into, spread over the course."""
_LONGEST = 60
"""Characters of a heading that is asked about."""
_MOST_WORDS = 4
"""Of a heading that may name a thing."""
_BEFORE = 1
"""Words that a sentence may have before what it defines, such as an article."""
_NUMBER = re.compile(r"^(?:\d+[.)]|\d+(?:\.\d+)+\.?)\s+")
_INSIDE = re.compile(r"[\w,;]\s+\Z")
"""What stands before a word inside of a sentence."""
_WORDS = re.compile(r"\w+(?:['’-]\w+)*")


class Likely(IntEnum):
    """How likely a heading is to be asked about, likeliest first."""

    ASKS = 0
    """The heading is a question itself."""
    IS = 1
    """Its section says what the one thing is that the heading names."""
    ARE = 2
    """Its section says what the things are that the heading names."""
    BEGINS = 3
    """A sentence of its section begins with what the heading names."""
    STANDS = 4
    """There is such a heading, and no more is known."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A heading as something to ask about."""

    name: str
    """Without its number."""
    heading: str
    likely: Likely
    said: str | None = None
    """How its document's text writes the name inside of a sentence; None: it does not."""


class Topics:
    """Reads an edition for headings to ask about."""

    def __init__(self, catalogue: Catalogue, index: VectorIndex) -> None:
        """Prepare to read."""
        self._catalogue = catalogue
        self._reader = EditionReader(index)

    async def of(self, edition: Edition, language: str) -> list[Topic]:
        """Return headings to ask about, likeliest first; each document has its turn.

        Args:
            language: The course's, in which a thing is said to be something.

        Raises:
            StoreError, VectorIndexError: when the course cannot be read.
        """
        documents = await self._catalogue.documents(edition.generation)
        found = list[list[Topic]]()
        for document in spread(documents)[:_DOCUMENTS]:
            chunks = await self._reader.document(edition, document.document_id)
            found.append(sorted(topics_in(chunks, language), key=lambda topic: topic.likely))
        turns = [topic for turn in zip_longest(*found) for topic in turn if topic is not None]
        ordered = sorted(turns, key=lambda topic: topic.likely >= Likely.BEGINS)
        return list({topic.name: topic for topic in reversed(ordered)}.values())[::-1]


def topics_in(chunks: Sequence[Chunk], language: str) -> Iterator[Topic]:
    """Yield the headings of one document, in order, each with how likely it is asked about."""
    sections = dict[tuple[str, ...], list[str]]()
    for chunk in chunks:
        sections.setdefault(chunk.headings or (chunk.page_title,), []).append(chunk.content_text)
    whole = "\n\n".join(chunk.content_text for chunk in chunks)
    for path, texts in sections.items():
        heading = one_line(path[-1])
        name = one_line(prose_without_links(_NUMBER.sub("", heading)))
        if name and len(name) <= _LONGEST:
            text = "\n\n".join(texts)
            yield Topic(name, heading, _likely(name, text, language), _said(name, whole))


def spread(documents: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """Return documents so that the first few are spread over all of them."""
    return [documents[place] for place in _spread(len(documents))]


def _spread(count: int) -> Iterable[int]:
    """Yield the numbers below `count`, each as far from those before as halving gets it.

    Source: van der Corput's sequence in base 2.
    """
    bits = max(count - 1, 0).bit_length()
    mirrored = (int(f"{number:0{bits}b}"[::-1], 2) if bits else 0 for number in range(1 << bits))
    return (number for number in mirrored if number < count)


def _likely(name: str, text: str, language: str) -> Likely:
    if name.endswith("?"):
        return Likely.ASKS
    wanted = _folded(name)
    if not wanted or len(wanted) > _MOST_WORDS or read_number(name) is not None:
        return Likely.STANDS
    found = Likely.STANDS
    copulas = {
        in_language(Message("suggestion-is"), language): Likely.IS,
        in_language(Message("suggestion-are"), language): Likely.ARE,
    }
    for span in sentence_spans(text):
        words = _folded(text[span.start : span.end])
        for start in range(_BEFORE + 1):
            end = start + len(wanted)
            if words[start:end] == wanted and len(words) > end:
                found = min(found, copulas.get(words[end], Likely.BEGINS))
    return found


def _said(name: str, text: str) -> str | None:
    spelt = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    found = (one[0] for one in spelt if _INSIDE.search(text, 0, one.start()))
    return next(found, None)


def _folded(text: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(text)]
