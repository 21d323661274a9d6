"""One answer while it is put together: our own sentences, and the claims that hold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.generation.base import Claim
from core.grounding import wording
from core.grounding.citations import CitationLedger, is_block
from core.models import (
    EXPLAIN_QUOTE,
    AgentRequest,
    ChunkState,
    Outcome,
    QuoteStatus,
    RetrievedChunk,
)
from core.retrieval.retrieval import Retrieval

_CLOSING = re.compile(r"[.!?…,;:]*[\"'”’»)\]]*")
"""What ends a sentence behind its last letter."""
_FEWEST_LETTERS = 12
"""A quote with fewer letters and digits is looked for in vain: any book may hold it."""
_UNCOVERED_CONFIDENCE = 0.1
"""What an answer that cites nothing may claim at most."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the answer, in the order it is to be read."""

    text: str


class Composition:
    """Collects an answer's text and citations from one retrieval."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        excerpts = {e.chunk.chunk_id: e for e in retrieval.evidence}
        self.evidence = tuple(excerpt.chunk for excerpt in excerpts.values())
        """The chunks that may be cited, best first."""
        self.reads = tuple((excerpt.start, excerpt.end) for excerpt in excerpts.values())
        """The part of each chunk that a writer reads."""
        self._ledger = CitationLedger(self.evidence)
        self._text = ""
        self._claims = 0

    @property
    def stands_in_book(self) -> bool:
        """Whether a quote was given and found."""
        location = self._retrieval.quote_location
        return location is not None and location.status is not QuoteStatus.NOT_FOUND

    def open(self, request: AgentRequest) -> Iterator[TextDelta]:
        """Say where the quoted passage stands, with a citation of it."""
        location = self._retrieval.quote_location
        if not self.stands_in_book or location is None:
            return
        chunk = self._retrieval.quoted_chunks[0]
        start = max((location.char_start or 0) - chunk.char_start, 0)
        end = min((location.char_end or 0) - chunk.char_start, len(chunk.content_text))
        sentence = wording.quote_place(location.status, place_in_book(chunk))
        number = [known.chunk_id for known in self.evidence].index(chunk.chunk_id)
        if closing := _CLOSING.match(chunk.content_text, end):
            end = closing.end()
        quote = chunk.content_text[start:end].strip()
        if (piece := self._ledger.admit(sentence, number, quote)) is not None:
            yield self._append(piece, "\n\n")

    def add(self, claim: Claim) -> TextDelta | None:
        """Take up a claim, or none when its quote does not stand in its chunk."""
        piece = self._ledger.admit(claim.text, claim.chunk_number, claim.quote)
        if piece is None:
            return None
        self._claims += 1
        tail = self._text.rsplit("\n\n", 1)[-1]
        apart = self._claims == 1 or is_block(piece) or is_block(tail)
        return self._append(piece, "\n\n" if apart else " ")

    def finish(self, request: AgentRequest, outcome: Outcome, confidence: float) -> dict[str, Any]:
        """Return the fields of the finished response.

        `outcome` and `confidence` are what the evidence allows; an answer that cites nothing
        is an abstention, and where the quoted passage stands is always an answer.
        """
        if not self._ledger.citations:
            outcome, confidence = Outcome.ABSTAINED, min(confidence, _UNCOVERED_CONFIDENCE)
            self._text = wording.not_covered(self._retrieval.nearest_sections)
        elif self.stands_in_book and request.query_text == EXPLAIN_QUOTE:
            outcome, confidence = Outcome.ANSWERED, max(confidence, self._likeness())
        elif outcome is Outcome.ABSTAINED:
            outcome = Outcome.PARTIAL
        retrieval = self._retrieval
        return {
            "response_text": self._text,
            "outcome": outcome,
            "confidence": confidence,
            "retrieved_chunks": retrieval.output.retrieved_chunks,
            "grounding_chunks": tuple(_returned(c) for c in self._ledger.grounding_chunks),
            "citations": tuple(self._ledger.citations),
            "sources": self._ledger.sources,
            "context_used": "\n\n".join(excerpt.text for excerpt in retrieval.evidence),
            "generation": retrieval.generation,
            "notices": tuple(self._notices(request, outcome)),
            "quote_location": retrieval.quote_location,
        }

    def _append(self, piece: str, glue: str) -> TextDelta:
        added = f"{glue}{piece}" if self._text else piece
        self._text += added
        return TextDelta(added)

    def _likeness(self) -> float:
        location = self._retrieval.quote_location
        return location.score if location else 0.0

    def _notices(self, request: AgentRequest, outcome: Outcome) -> Iterator[str]:
        location = self._retrieval.quote_location
        if request.selected_text_cut:
            yield wording.QUOTE_CUT
        if location is not None and location.status is QuoteStatus.NOT_FOUND:
            letters = sum(letter.isalnum() for letter in request.selected_text or "")
            short = letters < _FEWEST_LETTERS
            yield wording.QUOTE_TOO_SHORT if short else wording.QUOTE_NOT_FOUND
        if outcome is Outcome.PARTIAL:
            yield wording.NOT_SURE


def place_in_book(chunk: RetrievedChunk) -> str:
    """Return the headings that lead to a chunk."""
    path = [chunk.page_title, *(title for title in chunk.headings if title != chunk.page_title)]
    return " › ".join(path)


def _returned(chunk: RetrievedChunk) -> RetrievedChunk:
    return chunk.advance(ChunkState.VALIDATED).advance(ChunkState.RETURNED)
