"""One answer while it is put together: our own sentences, and the claims that hold."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core import i18n
from core.generation.base import Claim, Passage
from core.grounding import wording
from core.grounding.citations import CitationLedger, Place, is_block, presentable
from core.grounding.codes import missing_codes
from core.grounding.confidence import (
    answer_figures,
    confidence_of,
    located_of,
    outcome_of,
)
from core.grounding.languages import is_in_another_language
from core.grounding.misquoting import Misquote, misquote_of, sentences_around
from core.grounding.quoting import QuotedPassage
from core.grounding.rewording import changes_sense, reworded
from core.models import (
    EXPLAIN_QUOTE,
    AgentConfiguration,
    AgentRequest,
    ChunkState,
    ConversationTurn,
    Outcome,
    QuoteStatus,
    RetrievedChunk,
)
from core.quoted import is_short, place_in_book, quoted_part
from core.retrieval.retrieval import Retrieval
from core.tally import DraftTally
from core.text.unread import unread_besides, unread_instead

logger = logging.getLogger(__name__)

_UNCOVERED_CONFIDENCE = 0.1
"""What an answer that cites nothing may claim at most."""
_DOUBTED_CONFIDENCE = 0.3
"""What an answer may claim that only says where the quoted passage stands, or is about one that
stands nowhere in the book or says otherwise than it."""
_REWORDED_CONFIDENCE = 0.7
"""What an answer may claim that explains a quote of which some words are not the book's."""
_WELL_SUPPORTED = 0.5
"""An answer that lost a larger part of its draft is told as `partial`."""


@dataclass(frozen=True, slots=True)
class Answerable:
    """The request is not refused: that it is being answered may be shown to all who read it.

    It may come before anything is generated, so the answer may still fail or be stopped. Then what
    was shown since is removed or replaced, and the asker is told instead.
    """


@dataclass(frozen=True, slots=True)
class SectionsFound:
    """The search is over, and these parts of the book are read now."""

    headings: tuple[str, ...]
    """The nearest sections, best first, each once; one at least."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the answer, in the order it is to be read."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """What was streamed of the answer so far no longer holds."""


class Composition:
    """Collects an answer's text and citations from one retrieval, and what is found later."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        excerpts = {e.chunk.chunk_id: e for e in retrieval.evidence}
        self.evidence = [excerpt.chunk for excerpt in excerpts.values()]
        """The chunks that may be cited, best first; those of a second look follow."""
        self.reads = [(excerpt.start, excerpt.end) for excerpt in excerpts.values()]
        """The part of each chunk that a writer reads."""
        self.tally = DraftTally()
        self.told = ""
        """What a writer's model was told of the book and the quote; empty: it is the evidence."""
        self._found = list(retrieval.output.retrieved_chunks)
        self._signals = retrieval.signals
        self._ledger = CitationLedger(self.evidence)
        self._text = ""
        self._misquote: Misquote | None = None
        self._is_reworded = False
        """Whether words of the quote are not the book's."""
        self.quote_is_planted = False
        """Whether the quote stands in the book only because somebody planted it there."""

    @property
    def stands_in_book(self) -> bool:
        """Whether a quote was given and found, in what is the book's."""
        location = self._retrieval.quote_location
        return (
            not self.quote_is_planted
            and location is not None
            and location.status is not QuoteStatus.NOT_FOUND
        )

    def quoted_passages(self) -> Iterator[tuple[RetrievedChunk, QuotedPassage]]:
        """Yield the chunks that the quote was found in, each with the part that was quoted."""
        location = self._retrieval.quote_location
        if location is not None:
            yield from (
                (chunk, quoted_part(chunk, location)) for chunk in self._retrieval.quoted_chunks
            )

    def open(self, request: AgentRequest) -> Iterator[TextDelta]:
        """Say where the quoted passage stands, with a citation of it."""
        location = self._retrieval.quote_location
        if not self.stands_in_book or location is None:
            return
        chunks = list(self._retrieval.quoted_chunks)
        passages = [passage for _, passage in self.quoted_passages()]
        quote = request.selected_text or ""
        self._misquote, other_words = misquote_of(quote, passages), reworded(quote, passages)
        if self._misquote is None and changes_sense(other_words):
            self._misquote = Misquote.WORD
        self._is_reworded = bool(other_words)
        if self._misquote is None:
            chunks, passages = chunks[:1], passages[:1]
        passages = [sentences_around(passage) for passage in passages]
        place = place_in_book(chunks[0])
        sentence = wording.quote_place(location.status, place, self._misquote, other_words)
        if places := list(self._places(chunks, passages)):
            yield self._append(self._ledger.cite(sentence, places), "\n\n")

    def _places(
        self, chunks: Sequence[RetrievedChunk], passages: Sequence[QuotedPassage]
    ) -> Iterator[Place]:
        """Yield where the passages of chunks of the evidence stand, without blanks around."""
        numbers = {known.chunk_id: number for number, known in enumerate(self.evidence)}
        for chunk, passage in zip(chunks, passages, strict=True):
            if chunk.chunk_id in numbers and (words := passage.text.strip()):
                start = passage.start + passage.text.index(words)
                yield Place(numbers[chunk.chunk_id], start, start + len(words))

    def carry(self, turn: ConversationTurn) -> None:
        """Keep what the turn before cited within reach, as far as it is of the same edition."""
        cited = turn.agent_response.grounding_chunks
        for chunk in cited:
            if chunk.generation == self._retrieval.generation:
                kept = chunk.model_copy(update={"state": ChunkState.RETRIEVED})
                self._take_up(kept, 0, len(kept.content_text))
                self._found.append(kept)

    def look_up(self, retrieval: Retrieval) -> list[Passage]:
        """Take up what a second look found, and return it with the numbers to cite it by."""
        if retrieval.generation != self._retrieval.generation:
            return []  # the book was replaced in mid-answer: an answer has one edition
        self._found.extend(retrieval.output.retrieved_chunks)
        self._signals = max(self._signals, retrieval.signals, key=lambda s: s.best_score)
        passages = []
        for excerpt in retrieval.evidence:
            number = self._take_up(excerpt.chunk, excerpt.start, excerpt.end)
            passages.append(Passage(number, self.evidence[number], excerpt.text))
        return passages

    def locate(self, claim: Claim) -> list[Place]:
        """Return where the claim's quotes stand; those that stand nowhere are left out."""
        places = (self._ledger.locate(q.chunk_number, q.text, q.start) for q in claim.quotes)
        return [place for place in places if place is not None]

    def add(self, claim: Claim, places: Sequence[Place], lead_in: Claim | None = None) -> TextDelta:
        """Take up a claim that its quotes carry, and the line in front that leads in to it."""
        piece = self._ledger.cite(_below_mark(claim), places)
        self.tally.released += 1
        above = (
            self._append(presentable(wording.heading(claim.heading)), "\n\n")
            if claim.heading
            else None
        )
        before = self._append(presentable(lead_in.text), self._glue(lead_in)) if lead_in else None
        glue = "\n\n" if claim.heading else self._glue(claim, begins=before is None)
        after = self._append(piece, glue)
        return TextDelta("".join(one.text for one in (above, before, after) if one))

    def leave_out(self, chunk: RetrievedChunk) -> None:
        """Take note, and tell the operator, that a chunk holds text which may not be quoted."""
        if chunk.chunk_id in self.tally.poisoned:
            return
        self.tally.poisoned.add(chunk.chunk_id)
        logger.warning(
            "course %s, section “%s”, chunk %s: text that reads like an instruction to a machine "
            "was left out of an answer",
            chunk.course_id,
            place_in_book(chunk),
            chunk.chunk_id,
        )

    def finish(
        self, request: AgentRequest, configuration: AgentConfiguration, *, answerable: bool
    ) -> dict[str, Any]:
        """Return the fields of the finished response.

        `answerable` is whether the evidence reaches the mark. An answer that cites nothing is an
        abstention, and where the quoted passage stands is always an answer.
        """
        located = located_of(self._signals, self.tally.supported_share)
        outcome = self._outcome(request, configuration, located, answerable=answerable)
        if outcome is Outcome.ABSTAINED:
            self._text = self._abstention(request)
            if request.unread:
                self._text = f"{self._text} {unread_instead(request.unread)}"
            self._ledger = CitationLedger(self.evidence)
        located = self._bounded(request, outcome, located)
        within = request.section_filter is not None
        nearest = self._nearest(within=within) if outcome is Outcome.ABSTAINED else ()
        return {
            "response_text": self._text,
            "outcome": outcome,
            "nearest_sections": nearest,
            "confidence": self._confidence(request, outcome, located),
            "located": located,
            "retrieved_chunks": tuple(self._retrieved())[::-1],
            "grounding_chunks": tuple(_returned(c.told()) for c in self._ledger.grounding_chunks),
            "citations": tuple(self._ledger.citations),
            "sources": self._ledger.sources,
            "context_used": self.told or self._evidence_read(),
            "generation": self._retrieval.generation,
            "notices": tuple(self._notices(request, outcome)),
            "quote_location": self._retrieval.quote_location,
            "claims_written": self.tally.written,
            "claims_dropped": self.tally.dropped,
        }

    def _bounded(self, request: AgentRequest, outcome: Outcome, located: float) -> float:
        """Return the probability of the right place as far as an answer of this kind may claim."""
        if outcome is Outcome.ABSTAINED:
            return min(located, _UNCOVERED_CONFIDENCE)
        if self._misquote is not None or self.tally.poisoned:
            return min(located, _DOUBTED_CONFIDENCE)
        if self._explains(request) and outcome is Outcome.ANSWERED:
            located = max(located, self._likeness())
            return min(located, _REWORDED_CONFIDENCE) if self._is_reworded else located
        if not self.tally.released or self._asks_about_foreign(request):
            return min(located, _DOUBTED_CONFIDENCE)
        return located

    def _confidence(self, request: AgentRequest, outcome: Outcome, located: float) -> float:
        """Return the probability that the answer is right and whole.

        What is explained of a quote is as sure as its place.
        """
        if outcome is Outcome.ABSTAINED or self._explains(request):
            return located
        figures = answer_figures(
            self._signals,
            self._retrieval.plainly(request.query_text),
            self._text,
            len(self._ledger.citations),
            self._retrieval.statistics,
            self._retrieval.encode_terms,
        )
        return confidence_of(figures, located, self.tally.supported_share)

    def _retrieved(self) -> Iterator[RetrievedChunk]:
        """Yield all chunks that were found, each once, the last first."""
        yield from (c.told() for c in {c.chunk_id: c for c in reversed(self._found)}.values())

    def _evidence_read(self) -> str:
        parts = zip(self.evidence, self.reads, strict=True)
        return "\n\n".join(chunk.content_text[start:end] for chunk, (start, end) in parts)

    def _outcome(
        self,
        request: AgentRequest,
        configuration: AgentConfiguration,
        located: float,
        *,
        answerable: bool,
    ) -> Outcome:
        if not self._ledger.citations:
            return Outcome.ABSTAINED
        if self._explains(request):
            in_vain = self._misquote is not None or self.tally.not_covered
            in_vain = in_vain or bool(self.tally.poisoned)
            in_vain = in_vain or 0 == self.tally.released < self.tally.written
            return Outcome.PARTIAL if in_vain else Outcome.ANSWERED
        outcome = outcome_of(located, configuration)
        doubted = not answerable or self.tally.not_covered or self.tally.translated
        doubted = doubted or self._misquote is not None
        doubted = doubted or self._asks_about_foreign(request) or bool(self.tally.poisoned)
        if self.stands_in_book or self.tally.released:
            doubted = doubted or self.tally.supported_share < _WELL_SUPPORTED
        if self.stands_in_book and outcome is Outcome.ABSTAINED:
            return Outcome.PARTIAL
        return Outcome.PARTIAL if doubted and outcome is Outcome.ANSWERED else outcome

    def _abstention(self, request: AgentRequest) -> str:
        """Return what is said instead of an answer; the book is not blamed for the writer.

        Where only a section was searched nothing is said of the book, and where the question is
        in a language that the search cannot read, neither.
        """
        within = request.section_filter is not None
        if self._retrieval.missing_section is not None:
            return wording.no_section(self._retrieval.missing_section)
        if self._retrieval.reads_one_language and is_in_another_language(
            request.query_text, self._retrieval.language
        ):
            return wording.other_language(self._retrieval.language)
        in_vain = self.tally.poisoned or (self.tally.written and not self.tally.not_covered)
        said = wording.not_carried if in_vain else wording.not_covered
        return said(within=within)

    def _nearest(self, *, within: bool) -> tuple[str, ...]:
        """Return where to look instead of an answer: sections that were not searched alone."""
        if self._retrieval.missing_section is not None:
            return self._retrieval.near_sections
        searched = self._retrieval.section if within else None
        return tuple(name for name in self._retrieval.near_sections if name != searched)

    def _explains(self, request: AgentRequest) -> bool:
        """Return whether the reader only wants to know about a passage that was found."""
        return self.stands_in_book and request.query_text == EXPLAIN_QUOTE

    def _asks_about_foreign(self, request: AgentRequest) -> bool:
        """Return whether the question is about something that was not found in the book.

        That is a quoted passage, long enough to be found, or a code such as `E044`.
        """
        location = self._retrieval.quote_location
        given = location is not None and not self.stands_in_book
        if given and not is_short(request.selected_text):
            return True
        passages = (chunk.content_text for chunk in (*self.evidence, *self._found))
        return bool(missing_codes(request.query_text, passages))

    def _take_up(self, chunk: RetrievedChunk, start: int, end: int) -> int:
        """Return the chunk's number; one that is known is read as far as both say."""
        for number, known in enumerate(self.evidence):
            if known.chunk_id == chunk.chunk_id:
                before = self.reads[number]
                self.reads[number] = (min(before[0], start), max(before[1], end))
                return number
        self.evidence.append(chunk)
        self.reads.append((start, end))
        return len(self.evidence) - 1

    def _glue(self, claim: Claim, *, begins: bool = True) -> str:
        """Return what stands between the text so far and the claim."""
        lead = claim.lead or ""
        tail = self._text.rsplit("\n\n", 1)[-1]
        is_first = begins and self.tally.released == 1
        if is_first or is_block(claim.text) or is_block(tail):
            lead = "\n\n" + lead.lstrip()
        return lead or " "

    def _append(self, piece: str, glue: str) -> TextDelta:
        added = f"{glue}{piece}" if self._text else f"{glue.lstrip()}{piece}"
        self._text += added
        return TextDelta(added)

    def _likeness(self) -> float:
        location = self._retrieval.quote_location
        return location.score if location else 0.0

    def _notices(self, request: AgentRequest, outcome: Outcome) -> Iterator[str]:
        location = self._retrieval.quote_location
        if request.selected_text_cut:
            yield i18n.text("notice-quote-cut")
        if request.thread_partly_seen:
            yield i18n.text("notice-thread-partly-seen")
        if request.unread and outcome is not Outcome.ABSTAINED:
            yield unread_besides(request.unread)
        if self._retrieval.mended:
            words = ", ".join(
                i18n.text("answer-name", name=word) for word in self._retrieval.mended
            )
            yield i18n.text("notice-mended", words=words)
        if self._retrieval.by_words:
            yield i18n.text("notice-searched-by-words")
        if location is not None and location.status is QuoteStatus.NOT_FOUND:
            short = is_short(request.selected_text)
            yield (
                i18n.text("notice-quote-too-short")
                if short
                else i18n.text("notice-quote-not-found")
            )
        if self.tally.poisoned:
            yield i18n.text("notice-planted")
        if outcome is Outcome.ABSTAINED:
            return
        if self.tally.translated:
            yield i18n.text("notice-translated")
        if self.tally.cut_short:
            yield i18n.text("notice-cut-short")
        within = request.section_filter is not None
        if self.tally.not_covered:
            yield (
                i18n.text("notice-partly-covered-within")
                if within
                else i18n.text("notice-partly-covered")
            )
        elif self.tally.supported_share < _WELL_SUPPORTED:
            yield i18n.text("notice-left-out")
        elif outcome is Outcome.PARTIAL and self._misquote is None:
            yield i18n.text("notice-not-sure-within") if within else i18n.text("notice-not-sure")


def _below_mark(claim: Claim) -> str:
    """Return the claim's text; lines of a block move right, below the mark of their item."""
    mark = (claim.lead or "").rpartition("\n")[2]
    if not mark.strip() or not is_block(claim.text):
        return claim.text
    return claim.text.replace("\n", "\n" + " " * len(mark))


def _returned(chunk: RetrievedChunk) -> RetrievedChunk:
    return chunk.advance(ChunkState.VALIDATED).advance(ChunkState.RETURNED)
