"""Searches for each part of a question by itself, where what is found bears the parts out."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from itertools import chain, zip_longest
from typing import TypeVar
from uuid import UUID

from core.domain import RetrievalToolInput, RetrievedChunk
from core.domain.i18n import LANGUAGES, Message, in_language
from core.domain.sentences import sentences
from core.retrieval.ranking import terms_in
from core.retrieval.retrieval import Retrieval, RetrievedPart
from core.retrieval.retriever import Retriever

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
        return _parts_in_turn(PartsForm.NUMBERED, items, lead=lead)
    if len(asking) > 1:
        starts = [0, *asking[1:]]
        ends = [*(place for place in starts[1:]), len(said)]
        texts = [" ".join(said[a:b]) for a, b in zip(starts, ends, strict=True)]
        words = [said[place] for place in asking]
        return (
            _parts_in_turn(PartsForm.SENTENCES, texts, words=words) if len(texts) <= MOST else None
        )
    if len(said) != 1:
        return None
    if compared := _compared(said[0]):
        return compared
    joined = [one.strip(_ENDS) for one in _joints().split(said[0])]
    return _parts_in_turn(PartsForm.JOINED, joined) if 1 < len(joined) <= MOST else None


def _numbered(question: str) -> list[str]:
    """Return what stands before the first number, and what stands after each of 1, 2, …"""
    marks = [*_NUMBER.finditer(question)]
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != [*range(1, len(marks) + 1)]:
        return []
    bounds = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(question)]
    return [question[a:b].strip() for a, b in zip(bounds, ends, strict=True)]


def _parts_in_turn(
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


_ALIKE = 8
"""So many of the files that the whole question finds may hold what a part finds; what is compared
may stand in any of them."""
_GAIN = 0.1
"""What a part's passage has of the part's words beyond what the whole question's has of them."""
_NAMED = 3
"""Sections that are named as read."""

One = TypeVar("One")


async def retrieve(
    retriever: Retriever,
    course_id: str,
    asked: RetrievalToolInput,
    earlier: Sequence[str],
    mark: float,
) -> Retrieval:
    """Return what the course holds about a question, in parts where it has some.

    A question that its structure divides is searched as a whole, and then its parts at once. They
    are taken where they find passages apart from one another, in files that the whole question
    finds as well; a numbered question has the parts that it says.

    Args:
        mark: The best score from which a part is found.

    Raises:
        BotError: as `Retriever.retrieve`.
    """
    whole = await retriever.retrieve(course_id, asked, earlier)
    divided = None if asked.selected_text is not None else parts_of(whole.question)
    if divided is None or not (
        divided.form is PartsForm.NUMBERED or _are_apart(whole, divided.parts)
    ):
        return whole
    files = whole.documents[: None if divided.form is PartsForm.COMPARED else _ALIKE]

    async def search(part: QuestionPart, before: Sequence[str]) -> Retrieval:
        own = asked.model_copy(update={"query_text": part.question})
        alone = await retriever.retrieve(course_id, own, before)
        if not part.before or _leads_to(alone, files):
            return alone
        leaning = await retriever.retrieve(course_id, own, [*before, *part.before])
        return leaning if leaning.leans else alone

    first, *others = divided.parts
    found = await asyncio.gather(search(first, earlier), *(search(one, ()) for one in others))
    if any(own.generation != whole.generation for own in found):
        return whole  # the book was replaced meanwhile: an answer has one edition
    rows = [*zip(divided.parts, found, strict=True)]
    held = [one for one in rows if one[1].evidence and one[1].signals.best_score >= mark]
    if not held or (divided.form is PartsForm.JOINED and len(held) < len(rows)):
        return whole
    if divided.form is not PartsForm.NUMBERED:
        if not _is_borne_out(whole, held, files):
            return whole
        held = [(part, _within(own, files)) for part, own in held]
    return _joined(whole, divided, held)


def _are_apart(whole: Retrieval, parts: Sequence[QuestionPart]) -> bool:
    """Return whether each part has words of its own; "why or why not?" has none."""
    terms = [{*whole.encode_terms(part.words)} for part in parts]
    others = [set[int]().union(*terms[:n], *terms[n + 1 :]) for n in range(len(terms))]
    return all(own - known for own, known in zip(terms, others, strict=True))


def _leads_to(found: Retrieval, files: Sequence[str]) -> bool:
    """Return whether the best of what was found stands in one of the files."""
    return found.documents[:1] != () and found.documents[0] in files


def _is_borne_out(
    whole: Retrieval, held: Sequence[tuple[QuestionPart, Retrieval]], files: Sequence[str]
) -> bool:
    """Return whether each part finds a passage of its own that the whole question does not.

    One that stands alone may find the very passage that leads the whole;
    any other part's has more of its words than that one, and stands in one of the files.
    """
    if not whole.evidence:
        return False
    leader = whole.evidence[0].chunk
    best = [found.evidence[0].chunk for _, found in held]
    if len({chunk.chunk_id for chunk in best}) < len(held):
        return False
    return all(
        (chunk.chunk_id == leader.chunk_id and not found.leans)
        or (
            _leads_to(found, files)
            and _share(whole, part, chunk) > _share(whole, part, leader) + _GAIN
        )
        for (part, found), chunk in zip(held, best, strict=True)
    )


def _share(whole: Retrieval, part: QuestionPart, chunk: RetrievedChunk) -> float:
    """Return the share, by rarity, of a part's words that a chunk or its headings have."""
    terms = [*whole.encode_terms(part.words)]
    rarity = whole.statistics.rarity(terms)
    held = {*terms_in(chunk, whole.encode_terms)}
    found = sum(float(rare) for term, rare in zip(terms, rarity, strict=True) if term in held)
    return found / (float(rarity.sum()) or 1.0)


def _within(found: Retrieval, files: Sequence[str]) -> Retrieval:
    """Return what was found without what is read of other files."""
    own = [one for one in found.evidence if one.chunk.source_file in files]
    return replace(found, evidence=tuple(own))


def _joined(
    whole: Retrieval, divided: QuestionParts, rows: Sequence[tuple[QuestionPart, Retrieval]]
) -> Retrieval:
    """Return all that was found as one: the parts take turns, and the weakest one is the sign."""
    held = [found for _, found in rows]
    chunks = _in_turn(found.output.retrieved_chunks for found in held)
    excerpts = _in_turn(found.evidence for found in held)
    return replace(
        whole,
        output=whole.output.model_copy(
            update={"retrieved_chunks": tuple(_once(chunks, lambda chunk: chunk.chunk_id))}
        ),
        evidence=tuple(_once(excerpts, lambda excerpt: excerpt.chunk.chunk_id)),
        signals=min((found.signals for found in held), key=lambda signals: signals.best_score),
        documents=(*dict.fromkeys(_in_turn(found.documents for found in held)),),
        near_sections=(*dict.fromkeys(_in_turn(f.near_sections for f in held)),)[:_NAMED],
        mended=(*dict.fromkeys(chain(*(found.mended for found in (whole, *held)))),),
        parts=tuple(_part(part, dict(rows).get(part)) for part in divided.parts),
        parts_left=divided.left,
    )


def _part(part: QuestionPart, found: Retrieval | None) -> RetrievedPart:
    if found is None:
        return RetrievedPart(part.words, part.question, ())
    chunk_ids = tuple(one.chunk.chunk_id for one in found.evidence)
    before = " ".join(part.before) if found.leans else None
    return RetrievedPart(part.words, found.question, chunk_ids, before)


def _once(found: Iterable[One], key: Callable[[One], UUID]) -> Iterable[One]:
    """Return each once, where it comes first."""
    known: dict[UUID, One] = {}
    for one in found:
        known.setdefault(key(one), one)
    return known.values()


def _in_turn(lists: Iterable[Sequence[One]]) -> list[One]:
    """Return the first of each, then the second of each, and so on."""
    return [one for turn in zip_longest(*lists) for one in turn if one is not None]
