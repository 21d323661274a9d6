"""What the staff of a course answered, and checked, once for all who ask the same."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self
from uuid import NAMESPACE_URL, UUID, uuid5

from core.domain import AgentRequest, ConversationTurn, RetrievedChunk
from core.domain.i18n import text
from core.domain.markdown import outside_code
from core.domain.sentences import MARKS, count_tokens
from core.storage.access import Tenant

_CODE = re.compile(r"(`+)(.+?)\1", re.S)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_AT_THE_END = f" \t\n?!.…{MARKS}"


def fold(question: str) -> str:
    """Return the question without what changes no meaning: case, blanks, and its last marks.

    Case counts inside of code. No other sign goes: `x != y` and `C++` stay what they are.

    >>> fold("  What is\\na Heap??")
    'what is a heap'
    >>> fold("Is `Some` a type?") == fold("Is `some` a type?")
    False
    """
    text = unicodedata.normalize("NFC", question).translate(_QUOTES).translate(_DASHES)
    parts, place = list[str](), 0
    for code in _CODE.finditer(text):
        parts += [text[place : code.start()].casefold(), code.group()]
        place = code.end()
    parts.append(text[place:].casefold())
    return " ".join("".join(parts).split()).strip(_AT_THE_END)


LONGEST_QUESTION = 300
"""Characters of a question; every platform shows it on one line of a card."""
LONGEST_ANSWER = 4_000
"""Characters; both platforms' modals take no more."""
MOST_CITATIONS = 6
MOST_PHRASINGS = 50
"""Wordings of others that are kept of one answer, those that staff refused not counted."""

_NAMESPACE = uuid5(NAMESPACE_URL, "urn:glossator:verified")
_STANDING_MARKER = re.compile(r"(?P<before>^|(?<=\s))\[(?P<number>\d+)\]", re.M)


class VerifiedState(StrEnum):
    """CURRENT ones answer; STALE ones wait for staff; RETIRED ones are kept and never shown."""

    CURRENT = "current"
    STALE = "stale"
    RETIRED = "retired"


class StaleBecause(StrEnum):
    """Why an answer has to be looked at again."""

    QUOTE_GONE = "quote_gone"
    """Words that it cites do not stand in the new edition."""
    SECTION_CHANGED = "section_changed"
    """The words stand, and something else in their section changed."""
    QUESTION_REMOVED = "question_removed"
    """Its question was in the words of a user, who had them removed."""


class PhrasingState(StrEnum):
    """What staff said of another wording: that a reader pressed a button is no judgement."""

    PROPOSED = "proposed"
    """A reader asked it, and read the answer when it was offered."""
    CONFIRMED = "confirmed"
    """It is answered as the staff's own question is."""
    REFUSED = "refused"
    """It asks something else; kept, so that it is not proposed again."""


class ScopeKind(StrEnum):
    """What a question is asked of."""

    COURSE = "course"
    """The whole book; it stands by itself."""
    SECTION = "section"
    QUOTE = "quote"
    PLACE = "place"
    """One conversation, of which it goes on."""


@dataclass(frozen=True, slots=True)
class VerifiedScope:
    """What a question is about; answers are found for questions of the same scope alone."""

    kind: ScopeKind = ScopeKind.COURSE
    value: str = ""
    """The folded name of a section, the fingerprint of a quote, or a conversation's id."""

    @classmethod
    def of(cls, request: AgentRequest, *, leans: bool) -> Self:
        """Return the scope of a question.

        Args:
            leans: Whether it is understood by what was said before it.
        """
        return cls.read(request.section_filter, request.selected_text, request.session_id, leans)

    @classmethod
    def of_turn(cls, turn: ConversationTurn) -> Self:
        """Return the scope of a question that was answered."""
        response = turn.agent_response
        leans = response.leans or response.shows_again is not None
        session = response.conversation_id
        return cls.read(turn.section_filter, turn.selected_text, session, leans)

    @classmethod
    def read(
        cls, section: str | None, quote: str | None, session: UUID | None, leans: bool
    ) -> Self:
        """Return the scope of a question by what came with it."""
        if leans:
            return cls(ScopeKind.PLACE, str(session or ""))
        if quote is not None:
            return cls(ScopeKind.QUOTE, str(uuid5(_NAMESPACE, fold(quote))))
        if section is not None:
            return cls(ScopeKind.SECTION, fold(section))
        return cls()


@dataclass(frozen=True, slots=True)
class VerifiedCitation:
    """A passage of the book that an answer of the staff rests on."""

    marker: int
    """The number that stands for it in the answer."""
    quote: str
    """Verbatim from the chunk."""
    chunk: RetrievedChunk
    """The passage as it stood when the answer was checked."""
    section_print: str | None = None
    """A fingerprint of its whole section then; None: it could not be read."""

    @property
    def document(self) -> str:
        """The source file that it is from."""
        return self.chunk.source_file

    @property
    def headings(self) -> tuple[str, ...]:
        """The path of headings above it."""
        return self.chunk.headings


@dataclass(frozen=True, slots=True)
class ChangedPassage:
    """What became of a cited passage in a new edition."""

    marker: int
    because: StaleBecause
    before: str
    """The words that were cited."""
    after: str
    """What stands there now; empty: nothing like it."""


@dataclass(frozen=True, slots=True)
class Phrasing:
    """How another user asked the same."""

    phrasing_id: UUID
    text: str
    state: PhrasingState


@dataclass(frozen=True, slots=True)
class Draft:
    """What staff say: the next revision of an answer, or a new one."""

    course_id: str
    question: str
    answer_text: str
    """Markdown, with markers such as `[1]` of its citations."""
    citations: tuple[VerifiedCitation, ...]
    scope: VerifiedScope
    verified_by: str
    """A pseudonym."""
    tenant: Tenant
    """The one whose staff says it."""
    generation: UUID | None
    """The edition that it was checked against; None: the course has no text."""
    asked_by: str | None = None
    """The pseudonym of the person whose own words the question is; None: staff's."""


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """An answer of a course's staff, as its latest revision says."""

    answer_id: UUID
    course_id: str
    tenant: Tenant
    scope: VerifiedScope
    state: VerifiedState
    revision: int
    question: str
    answer_text: str
    citations: tuple[VerifiedCitation, ...]
    verified_by: str
    verified_at: datetime
    generation: UUID | None
    phrasings: tuple[Phrasing, ...] = ()
    changed: tuple[ChangedPassage, ...] = ()
    """Why it is STALE, passage by passage."""
    because: StaleBecause | None = None

    @property
    def wordings(self) -> tuple[str, ...]:
        """All questions that it answers: the staff's own first, then those that they confirmed."""
        return (self.question, *(one.text for one in self.confirmed))

    @property
    def confirmed(self) -> tuple[Phrasing, ...]:
        """The wordings of others that staff confirmed."""
        return self._phrased(PhrasingState.CONFIRMED)

    @property
    def proposed(self) -> tuple[Phrasing, ...]:
        """The wordings that wait for staff to say whether they ask the same."""
        return self._phrased(PhrasingState.PROPOSED)

    def _phrased(self, state: PhrasingState) -> tuple[Phrasing, ...]:
        return tuple(one for one in self.phrasings if one.state is state)


def answer_id_for(name: str) -> UUID:
    """Return the id of the answer that one act of staff makes: done again, it is the same."""
    return uuid5(_NAMESPACE, name)


def phrasing_id_for(answer_id: UUID, text: str) -> UUID:
    """Return the id of a wording of an answer: the same one twice is one."""
    return uuid5(answer_id, fold(text))


def passages_of(turn: ConversationTurn) -> tuple[VerifiedCitation, ...]:
    """Return what staff may cite of the bot's turn: its citations, then what else was found.

    All of it is the book's; what staff said before is no source of theirs, and neither is what
    the asker wrote, which others would read then.

    Always the same for the same turn: a modal that shows them is read back by their numbers.
    """
    response = turn.agent_response
    chunks = {chunk.chunk_id: chunk for chunk in response.grounding_chunks}
    cited = [
        VerifiedCitation(one.marker, one.quote, chunks[one.chunk_id])
        for one in response.citations
        if _is_of_book(chunks[one.chunk_id])
    ]
    number = max((one.marker for one in response.citations), default=0)
    for chunk in response.retrieved_chunks:
        if len(cited) >= MOST_CITATIONS:
            break
        if chunk.chunk_id not in chunks and _is_of_book(chunk):
            number += 1
            cited.append(VerifiedCitation(number, chunk.content_text, chunk))
    return tuple(cited[:MOST_CITATIONS])


def _is_of_book(chunk: RetrievedChunk) -> bool:
    return chunk.verified_on is None and not chunk.is_askers


def cited_in(
    answer_text: str, passages: Sequence[VerifiedCitation]
) -> tuple[str, tuple[VerifiedCitation, ...]]:
    """Return an answer whose markers without a passage are escaped, and the passages it cites."""
    known, named = {passage.marker for passage in passages}, set[int]()

    def marked(match: re.Match[str]) -> str:
        number = int(match["number"])
        if number not in known:
            return f"{match['before']}\\[{number}]"
        named.add(number)
        return match[0]

    text = outside_code(answer_text.strip(), lambda prose: _STANDING_MARKER.sub(marked, prose))
    return text, tuple(passage for passage in passages if passage.marker in named)


_MARKER = re.compile(r"[ \t]*\\?\[\d+\]")


_INSTRUCTION = (
    "A passage below “{place}” is what the course's staff answered to the question that stands "
    "above it. Cite it like any other passage, and use it only where that question asks the same "
    "as this one: in the same case, with the same numbers, names and conditions."
)


def instruction() -> str:
    """Return what a language model has to know of such passages.

    It names them as `passage_of` does in the same task: in the language of who is answered.
    """
    return _INSTRUCTION.format(place=text("verified-place"))


def passage_of(answer: VerifiedAnswer, generation: UUID) -> RetrievedChunk | None:
    """Return an answer as a passage; None: its text is nothing but markers.

    It stands below the staff's name in the language of who is answered, where a fallback that
    quotes it shows it.

    Args:
        generation: The edition that is answered from.
    """
    said = outside_code(answer.answer_text, lambda prose: _MARKER.sub("", prose)).strip()
    if not said:
        return None
    place = text("verified-place")
    return RetrievedChunk(
        chunk_id=uuid5(answer.answer_id, str(answer.revision)),
        course_id=answer.course_id,
        document_id=answer.answer_id,
        generation=generation,
        content_text=said,
        source_file=place,
        page_title=place,
        headings=(answer.question,) if answer.question else (),
        chunk_index=0,
        total_chunks=1,
        token_count=count_tokens(said),
        char_start=0,
        char_end=len(said),
        metadata={"verified": answer.verified_at.date().isoformat()},
        similarity_score=1.0,
    )
