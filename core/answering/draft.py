"""One answer while it is put together: our own sentences, and the claims that hold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from core.answering.assurance import (
    NEAR_AT_LEAST,
    ON_TOPIC,
    Circumstances,
    DraftTally,
    Emptiness,
    Leading,
    Sureness,
    is_short,
    located_of,
    notices,
    place_in_book,
    quoted_part,
    right_and_whole,
)
from core.answering.grounding import citations as wording
from core.answering.grounding.certain import missing_codes
from core.answering.grounding.citations import (
    CitationLedger,
    CitedPlace,
    below_mark,
    is_in_another_language,
    presentable,
)
from core.answering.grounding.differences import QuotedPassage, sentences_around
from core.answering.writers.base import Claim, ClaimKind, ModelCall, Passage
from core.domain import (
    EXPLAIN_QUOTE,
    NOBODY,
    AgentConfiguration,
    AgentRequest,
    ChunkState,
    ConversationTurn,
    Outcome,
    QuoteStatus,
    RetrievedChunk,
    i18n,
)
from core.domain.links import unread_instead
from core.domain.markdown import is_block
from core.domain.sentences import count_tokens, visible
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import Retrieval

if TYPE_CHECKING:
    from core.answering.grounding.differences import Difference


_HALF = 0.5
_MOST_NEAR = 3
"""Sections that are named instead of an answer."""


class Material:
    """The chunks that may be cited, each by a number that it keeps."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        excerpts = {e.chunk.chunk_id: e for e in retrieval.evidence}
        self.chunks = [excerpt.chunk for excerpt in excerpts.values()]
        """Best first; those of a second look follow."""
        self.reads = [(excerpt.start, excerpt.end) for excerpt in excerpts.values()]
        """The part of each chunk that a writer reads."""
        self.signals = retrieval.signals
        """Of the best search so far."""
        self.carried: set[UUID] = set()
        """Ids of the chunks that the turn before cited."""
        self._found = list(retrieval.output.retrieved_chunks)

    @property
    def text(self) -> str:
        """All that a writer reads of the course."""
        parts = zip(self.chunks, self.reads, strict=True)
        return "\n\n".join(
            chunk.content_text[start:end] for chunk, (start, end) in parts if not chunk.is_askers
        )

    def contents(self) -> Iterator[str]:
        """Yield the whole text of every chunk of the course that may be cited or was found."""
        chunks = (*self.chunks, *self._found)
        return (chunk.content_text for chunk in chunks if not chunk.is_askers)

    def take_given(self, words: str, place: str, course_id: str) -> Passage | None:
        """Take up what a person wrote, so that it may be cited; None: there is nothing to read.

        Args:
            words: The question, a quote, or pasted text.
            place: What it is called in a footnote.
            course_id: Of the course that it was asked in.
        """
        shown = visible(words).strip()
        if not shown:
            return None
        name = uuid5(NAMESPACE_URL, f"urn:glossator:asker:{course_id}:{shown}")
        chunk = RetrievedChunk(
            chunk_id=name,
            course_id=course_id,
            document_id=name,
            generation=self._retrieval.generation or UUID(int=0),
            content_text=shown,
            source_file=place,
            page_title=place,
            chunk_index=0,
            total_chunks=1,
            token_count=count_tokens(shown),
            char_start=0,
            char_end=len(shown),
            metadata={"asker": 1},
            similarity_score=1.0,
        )
        return Passage(self._take_up(chunk, 0, len(shown)), chunk, shown)

    def widen(self, excerpts: Sequence[Excerpt]) -> None:
        """Let a writer read more of what was found; what it has keeps its number."""
        for excerpt in excerpts:
            self._take_up(excerpt.chunk, excerpt.start, excerpt.end)

    def carry(self, turn: ConversationTurn) -> bool:
        """Keep what the turn before cited within reach; return whether this edition has any.

        What staff said is not kept: it may have been set aside since.
        """
        for chunk in turn.agent_response.grounding_chunks:
            is_current = chunk.generation == self._retrieval.generation
            if is_current and chunk.verified_on is None and not chunk.is_askers:
                kept = chunk.model_copy(update={"state": ChunkState.RETRIEVED})
                self._take_up(kept, 0, len(kept.content_text))
                self._found.append(kept)
                self.carried.add(kept.chunk_id)
        return bool(self.carried)

    def look_up(self, retrieval: Retrieval, excerpts: Sequence[Excerpt]) -> list[Passage]:
        """Take up what a second look found, and return it with the numbers to cite it by.

        Args:
            excerpts: What is read of it.
        """
        if retrieval.generation != self._retrieval.generation:
            return []  # the book was replaced in mid-answer: an answer has one edition
        self._found.extend(retrieval.output.retrieved_chunks)
        self.signals = max(self.signals, retrieval.signals, key=lambda s: s.best_score)
        passages = []
        for excerpt in excerpts:
            number = self._take_up(excerpt.chunk, excerpt.start, excerpt.end)
            passages.append(Passage(number, self.chunks[number], excerpt.text))
        return passages

    def retrieved(self, cited: Sequence[RetrievedChunk]) -> tuple[RetrievedChunk, ...]:
        """Return all chunks that were found or are cited, each once, in the order found."""
        known = {chunk.chunk_id: chunk for chunk in reversed([*self._found, *cited])}
        return tuple(chunk.told() for chunk in known.values())[::-1]

    def _take_up(self, chunk: RetrievedChunk, start: int, end: int) -> int:
        """Return the chunk's number; one that is known is read as far as both say."""
        for number, known in enumerate(self.chunks):
            if known.chunk_id == chunk.chunk_id:
                before = self.reads[number]
                self.reads[number] = (min(before[0], start), max(before[1], end))
                return number
        self.chunks.append(chunk)
        self.reads.append((start, end))
        return len(self.chunks) - 1


class AnswerDraft:
    """One writer's answer: its text and citations, and how it fared."""

    def __init__(
        self,
        retrieval: Retrieval,
        *,
        by_model: bool = False,
        instead_of: Emptiness | None = None,
        material: Material | None = None,
    ) -> None:
        """Begin an answer from one search.

        Args:
            by_model: Whether a language model writes it.
            instead_of: What came of another writer's draft.
            material: What a first draft was made of; None: what was found.
        """
        self._retrieval = retrieval
        self.by_model = by_model
        self.author = NOBODY
        """Who writes it; no one until a writer is asked."""
        self.calls: list[ModelCall] = []
        """What its writer's model used."""
        self.material = material or Material(retrieval)
        self.tally = DraftTally(instead_of=instead_of)
        self.text = ""
        """What of it may be shown."""
        self._ledger = CitationLedger(self.material.chunks)
        self._origin: str | None = None
        """Whose words the text rests on since a line said so; None: the course's."""
        self._leading: Leading | None = None
        self._mark = 1.0
        """The `best_score` from which on a book speaks of what is asked; the course's."""
        self._before = Sureness(0.0, 0.0)
        """Of the turn before."""
        self._differences: Sequence[Difference] = ()
        """Words of the quote that are not the book's."""

    def note_call(self, call: ModelCall) -> None:
        """Take note of a call of its writer's model, whose name stands below the answer."""
        self.calls.append(call)
        self.author = self.calls[0].model

    @property
    def emptiness(self) -> Emptiness | None:
        """Why there is nothing to show of what was written; None: there is, or no one wrote."""
        return None if self.author == NOBODY else self.tally.emptiness

    @property
    def stands_in_book(self) -> bool:
        """Whether a quote was given and found."""
        location = self._retrieval.quote_location
        return location is not None and location.status is not QuoteStatus.NOT_FOUND

    @property
    def tells_again(self) -> bool:
        """Whether the answer rests on nothing but what the turn before cited."""
        cited = {chunk.chunk_id for chunk in self._ledger.grounding_chunks}
        return bool(cited) and cited <= self.material.carried

    def quoted_passages(self) -> Iterator[tuple[RetrievedChunk, QuotedPassage]]:
        """Yield the chunks that the quote was found in, each with the part that was quoted."""
        location = self._retrieval.quote_location
        if location is not None:
            yield from (
                (chunk, quoted_part(chunk, location)) for chunk in self._retrieval.quoted_chunks
            )

    def open(self, request: AgentRequest) -> None:
        """Say where the quoted passage stands, with a citation of it."""
        location = self._retrieval.quote_location
        if not self.stands_in_book or location is None:
            return
        from core.answering.grounding.differences import (
            differences,  # only a quote waits for its library
        )

        chunks = list(self._retrieval.quoted_chunks)
        passages = [passage for _, passage in self.quoted_passages()]
        quote = request.selected_text or ""
        self._differences = differences(quote, passages)
        if not self._differences:
            chunks, passages = chunks[:1], passages[:1]
        passages = [sentences_around(passage) for passage in passages]
        place = place_in_book(chunks[0])
        sentence = wording.quote_place(location.status, place, self._differences)
        if places := list(self._places(chunks, passages)):
            self._append(self._ledger.cite(sentence, places), "\n\n")

    def _places(
        self, chunks: Sequence[RetrievedChunk], passages: Sequence[QuotedPassage]
    ) -> Iterator[CitedPlace]:
        """Yield where the passages of chunks of the evidence stand, without blanks around."""
        numbers = {known.chunk_id: number for number, known in enumerate(self.material.chunks)}
        for chunk, passage in zip(chunks, passages, strict=True):
            if chunk.chunk_id in numbers and (words := passage.text.strip()):
                start = passage.start + passage.text.index(words)
                yield CitedPlace(numbers[chunk.chunk_id], start, start + len(words))

    def carry(self, turn: ConversationTurn) -> bool:
        """Keep what the turn before cited within reach; return whether this edition has any."""
        self._before = Sureness(turn.agent_response.located, turn.agent_response.confidence)
        return self.material.carry(turn)

    def locate(self, claim: Claim) -> list[CitedPlace]:
        """Return where the claim's quotes stand; none where one of them stands nowhere."""
        places = [self._ledger.locate(q.chunk_number, q.text, q.start) for q in claim.quotes]
        found = [place for place in places if place is not None]
        return found if len(found) == len(places) else []

    def add_checked(
        self, claim: Claim, places: Sequence[CitedPlace], *, is_of_others: bool = False
    ) -> None:
        """Take up what a model says and checks let pass, by its kind.

        Args:
            is_of_others: Whether its words are not the course's, whatever else it cites.
        """
        tally, said = self.tally, presentable(claim.text)
        match claim.kind:
            case ClaimKind.EXAMPLE:
                tally.examples += 1
                self._append(i18n.text("answer-own-example", example=said), "\n\n")
            case ClaimKind.TALK:
                tally.talk += 1
                self._append(said, self._glue(claim))
            case ClaimKind.QUESTION if not places:
                tally.talk += 1
                self._append(said, self._glue(claim))
            case _:
                origin = self._origin_of(places, is_of_others=is_of_others)
                places = places if is_of_others else self._of_course_first(places)
                if origin not in (None, self._origin):
                    lead = claim.lead if claim.lead and claim.lead.strip() else ""
                    self._append(f"{i18n.text('answer-from-other', origin=origin)}", "\n\n")
                    claim = replace(claim, lead=lead or " ")
                self._origin = origin
                self.add(claim, places)

    def add_lead(self, claim: Claim) -> None:
        """Take up the line above a list, a table or code that is shown: a line of its own."""
        lead = claim.lead if claim.lead and claim.lead.strip() else "\n\n"
        self._append(presentable(claim.text), lead)

    def add_gap(self, claim: Claim) -> None:
        """Say in place of an item of a list that it is left out."""
        self._append(i18n.text("answer-item-left-out"), self._glue(claim))

    def _of_course_first(self, places: Sequence[CitedPlace]) -> Sequence[CitedPlace]:
        """Return the places to cite: where the course says it, nobody's own question is cited."""
        chunks = self.material.chunks
        of_course = [one for one in places if not chunks[one.chunk_number].is_askers]
        return of_course or places

    def _origin_of(self, places: Sequence[CitedPlace], *, is_of_others: bool) -> str | None:
        """Return whose words a claim rests on where they are not the course's; None: they are."""
        chunks = [self.material.chunks[place.chunk_number] for place in places]
        others = [chunk for chunk in chunks if chunk.is_askers or not chunk.is_trusted]
        if not others or (len(others) < len(chunks) and not is_of_others):
            return None
        if others[0].is_askers:  # an asker knows what they wrote themselves; the footnote says so
            place = others[0].page_title
            return None if place == i18n.text("answer-asker-message") else place
        url = others[0].source_url or others[0].source_file
        host = urlsplit(url).hostname or url
        return i18n.text("answer-page-of-others", host=host)

    def add(self, claim: Claim, places: Sequence[CitedPlace]) -> None:
        """Take up a claim that holds, below the heading that it brings."""
        text = claim.text
        if claim.first is not None:
            bare = claim.first.removeprefix("> ")
            text = text.removeprefix(f"**{bare}**" if text.startswith("**") else bare).lstrip()
        piece = self._ledger.cite(below_mark(text, claim.lead), places)
        first = self._ledger.cite(claim.first, places) if claim.first is not None else ""
        if claim.likeness and self._leading is None:
            chunk = self.material.chunks[places[0].chunk_number]
            self._leading = Leading(claim.first or text, claim.likeness, place_in_book(chunk))
        self.tally.released += 1
        above = [
            self._append(one, "\n\n")
            for one in (
                presentable(wording.heading(claim.part, 2)) if claim.part else "",
                first,
                presentable(wording.heading(claim.heading)) if claim.heading else "",
            )
            if one
        ]
        self._append(piece, "\n\n" if above else self._glue(claim))

    def add_without(self, part: str, *, within: bool) -> str:
        """Say that there is nothing on a part of the question."""
        said = (presentable(wording.heading(part, 2)), wording.part_without(within=within))
        return self._append("\n\n".join(said), "\n\n")

    def holds(self, request: AgentRequest, configuration: AgentConfiguration) -> bool:
        """Return whether the answer, whole as it is, is sure enough to be shown."""
        located = located_of(self.material.signals, self.tally.supported_share)
        confidence = self._confidence(request, located)
        outcome = self._circumstances(request).outcome(confidence, configuration)
        return outcome is not Outcome.ABSTAINED

    def finish(self, request: AgentRequest, configuration: AgentConfiguration) -> dict[str, Any]:
        """Return the fields of the finished response."""
        self._mark = configuration.score_threshold
        located = located_of(self.material.signals, self.tally.supported_share)
        confidence = self._confidence(request, located)
        if self.tells_again:
            located = max(located, self._before.located)
        circumstances = self._circumstances(request)
        outcome = circumstances.outcome(confidence, configuration)
        asks_nothing = self.by_model and not self._ledger.citations and self.emptiness is None
        if outcome is Outcome.ABSTAINED and not asks_nothing:
            self.text = self._abstention(request)
            if request.unread:
                self.text = f"{self.text} {unread_instead(request.unread)}"
            self._ledger = CitationLedger(self.material.chunks)
        located = circumstances.bounded(located, outcome)
        if outcome is Outcome.ABSTAINED or self._explains(request):
            confidence = located
        within = request.section_filter is not None
        is_refused = outcome is Outcome.ABSTAINED and not asks_nothing
        nearest = self._nearest(request, within=within) if is_refused else ()
        misquoted = bool(self._differences)
        told = notices(
            request,
            outcome,
            self._retrieval,
            self.tally,
            is_misquoted=misquoted,
            is_unreadable=self._is_unreadable(request, answered=True) and not self.by_model,
            by_model=self.by_model,
        )
        return {
            "response_text": self.text,
            "outcome": outcome,
            "asks_nothing": asks_nothing,
            "nearest_sections": nearest,
            "confidence": circumstances.limited(min(confidence, located)),
            "located": located,
            "retrieved_chunks": self.material.retrieved(self._ledger.grounding_chunks),
            "grounding_chunks": tuple(_returned(c.told()) for c in self._ledger.grounding_chunks),
            "citations": tuple(self._ledger.citations),
            "sources": self._ledger.sources,
            "context_used": self._told() or self.material.text,
            "generation": self._retrieval.generation,
            "notices": tuple(told),
            "quote_location": self._retrieval.quote_location,
            "claims_written": self.tally.written,
            "claims_dropped": self.tally.dropped,
            "claims_unjudged": self.tally.unjudged,
        }

    def _circumstances(self, request: AgentRequest) -> Circumstances:
        location = self._retrieval.quote_location
        return Circumstances(
            tally=self.tally,
            is_cited=bool(self._ledger.citations),
            by_model=self.by_model,
            stands_in_book=self.stands_in_book,
            explains=self._explains(request),
            is_misquoted=bool(self._differences),
            is_foreign=self._asks_about_foreign(request),
            likeness=location.score if location else 0.0,
        )

    def _confidence(self, request: AgentRequest, located: float) -> float:
        """Return the probability that it is right and whole; of a quote explained, its place's."""
        if self._explains(request) or self._retrieval.in_order:
            return located
        confidence = right_and_whole(
            self._retrieval,
            self.material.signals,
            request.query_text,
            self.text,
            self._leading or Leading(self.text, self.material.signals.cosine),
            supported_share=self.tally.supported_share,
        )
        if self.material.signals.best_score >= ON_TOPIC and self.tally.released:
            confidence = max(confidence, NEAR_AT_LEAST)
        return max(confidence, self._before.confidence) if self.tells_again else confidence

    def _told(self) -> str:
        """Return what a writer's model was sent of the book and the quote."""
        return "\n\n".join(call.context for call in self.calls if call.context)

    def _abstention(self, request: AgentRequest) -> str:
        """Return what is said instead of an answer; the book is not blamed for the writer.

        Where only a section was searched nothing is said of the book, and where the question is
        in a language that the search cannot read, neither.
        """
        within = request.section_filter is not None
        if self._retrieval.missing_section is not None:
            return wording.no_section(self._retrieval.missing_section)
        if self._is_unreadable(request):
            return wording.other_language(self._retrieval.language)
        in_vain = 0 == self.tally.released < self.tally.written and not self.tally.not_covered
        if in_vain or self.tally.instead_of is Emptiness.NOTHING_HELD:
            return wording.not_carried(within=within)
        return wording.not_covered(within=within, is_near=self._speaks_of(request))

    def _speaks_of(self, request: AgentRequest) -> bool:
        """Return whether the book speaks of what is asked, whatever it says of it.

        It does where what was found is like the question, has half of its words, or stands below a
        heading whose words the question has.
        """
        signals, found = self.material.signals, self._retrieval
        if signals.best_score >= self._mark or signals.coverage >= _HALF:
            return True
        asked = {*found.encode_terms(found.question or request.query_text)}
        names = (chunk.headings[-1] for chunk in self.material.chunks if chunk.headings)
        named = ({*found.encode_terms(name)} for name in names)
        return any(name and name <= asked for name in named)

    def _is_unreadable(self, request: AgentRequest, *, answered: bool = False) -> bool:
        """Return whether the question is in a language that the search cannot read."""
        found, question = self._retrieval, request.query_text
        if not found.reads_one_language or question == EXPLAIN_QUOTE:
            return False
        return is_in_another_language(question, found.language, answered=answered)

    def _nearest(self, request: AgentRequest, *, within: bool) -> tuple[str, ...]:
        """Return where to look instead of an answer: sections that were not searched alone."""
        if self._retrieval.missing_section is not None:
            return self._retrieval.near_sections
        searched = self._retrieval.section if within else None
        names = self._retrieval.near_sections
        if not names and self._speaks_of(request):
            own = (chunk.section_heading or chunk.page_title for chunk in self.material.chunks)
            names = (*dict.fromkeys(own),)[:_MOST_NEAR]
        return tuple(name for name in names if name != searched)

    def _explains(self, request: AgentRequest) -> bool:
        """Return whether the reader only wants to know about a passage that was found."""
        return self.stands_in_book and request.query_text == EXPLAIN_QUOTE

    def _asks_about_foreign(self, request: AgentRequest) -> bool:
        """Return whether the question is about something that was not found in the book.

        That is a quoted passage, long enough to be found, or a code such as `E044`. A question
        that was only found together with what it leans on is so, too, where the book does not have
        one of its words: it leaves the topic.
        """
        location = self._retrieval.quote_location
        given = location is not None and not self.stands_in_book
        if given and not is_short(request.selected_text):
            return True
        found = self._retrieval
        if location is None and found.leans and found.reads_one_language:
            terms = found.encode_terms(found.question or request.query_text)
            if not found.statistics.knows(terms):
                return True
        return bool(missing_codes(request.query_text, self.material.contents()))

    def _glue(self, claim: Claim) -> str:
        """Return what stands between the text so far and the claim."""
        lead = claim.lead or ""
        tail = self.text.rsplit("\n\n", 1)[-1]
        is_first = self.stands_in_book and self.tally.released + self.tally.talk <= 1
        if is_first or is_block(claim.text) or is_block(tail):
            lead = "\n\n" + lead.lstrip()
        return lead or " "

    def _append(self, piece: str, glue: str) -> str:
        added = f"{glue}{piece}" if self.text else f"{glue.lstrip()}{piece}"
        self.text += added
        return added


def _returned(chunk: RetrievedChunk) -> RetrievedChunk:
    return chunk.advance(ChunkState.VALIDATED).advance(ChunkState.RETURNED)
