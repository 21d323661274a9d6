"""How one draft of an answer fared, and how sure the answer may be by that."""

import logging
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from core.answering.grounding.citations import other_language
from core.answering.grounding.differences import QuotedPassage
from core.answering.grounding.judge import Verdict
from core.answering.writers.base import ClaimKind, Fallen
from core.domain import (
    AgentConfiguration,
    AgentRequest,
    Chunk,
    EvidenceSignals,
    Outcome,
    QuoteLocation,
    QuoteStatus,
    RetrievedChunk,
)
from core.domain.i18n import text
from core.domain.links import unread_besides
from core.domain.text_features import probability, shipped
from core.index.terms import TermStatistics
from core.retrieval.retrieval import Retrieval

logger = logging.getLogger(__name__)

WEIGHTS = Path(__file__).with_name("confidence.json")
"""What `python -m tests.bench.fit_words` writes."""
SHARE = 3.6
COVERAGE = 1.9
OFFSET = -2.15
"""Log odds that an answer cites the right place, by the leading document's share of the
evidence and the leading chunk's coverage of the question."""


def located_of(signals: EvidenceSignals, supported_share: float = 1.0) -> float:
    """Return the probability, 0 to 1, that an answer from this evidence cites the right place.

    `supported_share` is the part of the draft's claims that their quotes carry: a writer that
    invents some of its sentences is trusted less with the others.
    """
    log_odds = SHARE * signals.document_share + COVERAGE * signals.coverage + OFFSET
    return supported_share * probability(log_odds)


@dataclass(frozen=True, slots=True)
class Leading:
    """The words that stand first in an answer without a model."""

    text: str = ""
    likeness: float = 0.0
    """Their cosine with the question."""
    place: str = ""
    """The headings that they stand below."""


def answer_figures(
    signals: EvidenceSignals,
    question: str,
    answer: str,
    leading: Leading,
    statistics: TermStatistics,
    encode_terms: Callable[[str], Sequence[int]],
) -> dict[str, float]:
    """Return what the confidence of a finished answer is worked out from.

    Args:
        answer: The text that is shown.
        leading: What of it answers.
        encode_terms: Gives the distinct terms of a text in the book's language.
    """
    terms = encode_terms(question)
    rarity = statistics.rarity(terms)

    def held(text: str) -> float:
        known = {*encode_terms(text)}
        found = sum(weight for term, weight in zip(terms, rarity, strict=True) if term in known)
        return float(found / rarity.sum()) if len(terms) else 0.0

    return {
        "score": signals.best_score,
        "coverage": signals.coverage,
        "question": math.log1p(signals.question_words),
        "share": signals.document_share,
        "held": held(answer),
        "first": held(f"{leading.place} {leading.text}"),
        "likeness": leading.likeness,
    }


def confidence_of(figures: dict[str, float], supported_share: float = 1.0) -> float:
    """Return the probability, 0 to 1, that an answer is right and whole.

    docs/measuring.md says on what it is fitted.
    """
    return supported_share * probability(shipped(WEIGHTS).log_odds(figures))


def outcome_of(confidence: float, configuration: AgentConfiguration) -> Outcome:
    """Return the word that the probability of a right and whole answer is told with."""
    if confidence >= configuration.answered_from:
        return Outcome.ANSWERED
    return Outcome.PARTIAL if confidence >= configuration.partial_from else Outcome.ABSTAINED


ON_TOPIC = 0.6
"""The `best_score` from which on what was found is about the same as the question ..."""
NEAR_AT_LEAST = 0.3
"""... so that an answer from it is near, as far as a course does not ask for more."""
WELL_SUPPORTED = 0.5
"""An answer that lost a larger part of its draft is marked as `partial`."""
_UNCOVERED = 0.1
"""What an answer that cites nothing may claim at most."""
_DOUBTED = 0.3
"""What an answer may claim that only says where the quoted passage stands, or is about one that
stands nowhere in the book or says otherwise than it, or that a model found no answer in."""
_UNJUDGED = 0.7
"""What an answer may claim of which no judge has read a claim."""
_REPAIRED_FROM = 1 / 3
"""Share of a draft's claims that fell, above which it is written once more."""


class Emptiness(StrEnum):
    """Why a model's draft came to nothing, so that the book's own passage is shown."""

    REFUSED = "refused"
    """It said that the passages do not answer the question."""
    NOTHING_HELD = "nothing held"
    """No claim of it passed, or it had none."""


@dataclass
class DraftTally:
    """How a draft fared."""

    written: int = 0
    """Claims that the writer offered."""
    released: int = 0
    """Claims that passed."""
    not_covered: bool = False
    """The writer said that the passages do not answer the question, or a part of it."""
    cut_short: bool = False
    instead_of: Emptiness | None = None
    """What came of the draft that this one is shown for; None: this is the first."""
    unjudged: int = 0
    """Claims that are shown though no judge has read them."""
    is_judged: bool = False
    """Whether a judge was there to read the claims."""
    talk: int = 0
    """Lines that are shown and say nothing about the subject."""
    examples: int = 0
    """Examples of the writer's own that are shown."""
    fallen: list[Fallen] = field(default_factory=list)
    """What is not shown, in the order of the draft."""
    lost_first: bool = False
    """Whether the first claim about the subject is not shown."""
    relevance: Verdict | None = None
    """What a judge says of whether the answer answers the question; None: not known."""

    @property
    def supported_share(self) -> float:
        """The part of the claims that passed, 0 to 1; 1 when none was offered."""
        return min(self.released / self.written, 1.0) if self.written else 1.0

    @property
    def dropped(self) -> int:
        """Claims that did not pass."""
        return max(self.written - self.released, 0)

    @property
    def needs_revision(self) -> bool:
        """Whether the answer does not stand without what fell of it."""
        facts = self.written - self.released
        return self.lost_first or facts > _REPAIRED_FROM * self.written

    @property
    def is_begun(self) -> bool:
        """Whether anything was taken up, or is known not to be."""
        return bool(self.released or self.talk or self.fallen)

    def is_better_than(self, first: "DraftTally") -> bool:
        """Return whether a second draft shows more of what was asked than the first."""
        if not self.released:  # it only talks
            return False
        return self._merit() > first._merit()

    def _merit(self) -> tuple[bool, float, int]:
        return not self.lost_first, self.supported_share, self.released

    def note_fallen(self, fallen: Fallen, kind: ClaimKind) -> None:
        """Take note of what is not shown, if it says something about the subject."""
        if kind not in (ClaimKind.FACT, ClaimKind.QUESTION):
            return  # nothing of the subject is lost with it
        self.lost_first = self.lost_first or (self.written == 1 and not self.released)
        self.fallen.append(fallen)

    @property
    def is_beside_the_point(self) -> bool:
        """Whether a judge found that it answers another question."""
        return self.relevance is not None and not self.relevance.holds

    @property
    def emptiness(self) -> Emptiness | None:
        """Why there is nothing to show of the draft; None: there is something."""
        said = self.talk or (self.examples and self.is_judged)
        if self.released or (said and not self.not_covered):
            return None
        return Emptiness.REFUSED if self.not_covered else Emptiness.NOTHING_HELD


class Sureness(NamedTuple):
    """How sure an answer is, 0 to 1 each."""

    located: float
    """Of its place."""
    confidence: float
    """Of being right and whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What decides, besides the evidence, how sure an answer may be."""

    tally: DraftTally
    is_cited: bool
    by_model: bool
    """Whether a language model wrote it."""
    stands_in_book: bool
    """Whether a quote was given and found."""
    explains: bool
    """Whether the reader only wants to know about that quote."""
    is_misquoted: bool
    """Whether some words of the quote are not the book's."""
    is_foreign: bool
    """Whether the question is about what was not found in the book."""
    likeness: float
    """How like the book the quote is, 0 to 1."""

    def outcome(self, confidence: float, configuration: AgentConfiguration) -> Outcome:
        """Return how the answer is marked, by the probability that it is right and whole.

        An answer that cites nothing is an abstention, and where a quote stands is always shown.
        """
        tally = self.tally
        if not self.is_cited:
            return Outcome.ABSTAINED
        refused = tally.instead_of is Emptiness.REFUSED
        if self.explains:
            in_vain = refused or self.is_misquoted or tally.not_covered
            in_vain = in_vain or 0 == tally.released < tally.written
            return Outcome.PARTIAL if in_vain else Outcome.ANSWERED
        doubted = tally.not_covered or refused or self.is_misquoted or tally.is_beside_the_point
        if self.by_model:  # the judge has read what no figure of a search can tell
            return Outcome.PARTIAL if doubted or tally.fallen else Outcome.ANSWERED
        outcome = outcome_of(confidence, configuration)
        doubted = doubted or self.is_foreign
        if self.stands_in_book or tally.released:
            doubted = doubted or tally.supported_share < WELL_SUPPORTED
        if self.stands_in_book and outcome is Outcome.ABSTAINED:
            return Outcome.PARTIAL
        return Outcome.PARTIAL if doubted and outcome is Outcome.ANSWERED else outcome

    def bounded(self, located: float, outcome: Outcome) -> float:
        """Return the probability of the right place as far as such an answer may claim it."""
        if outcome is Outcome.ABSTAINED:
            return min(located, _UNCOVERED)
        refused = self.tally.instead_of is Emptiness.REFUSED
        if refused or self.is_misquoted:
            return min(located, _DOUBTED)
        if self.explains and outcome is Outcome.ANSWERED:
            return max(located, self.likeness)
        if not self.tally.released or (self.is_foreign and not self.by_model):
            return min(located, _DOUBTED)
        return located

    def limited(self, confidence: float) -> float:
        """Return the probability of a right and whole answer as far as its checks bear it out.

        Where a judge has read every claim of a model and the whole, its word counts, and no figure
        of the search.
        """
        tally, relevance = self.tally, self.tally.relevance
        if not self.by_model:
            return confidence if relevance is None else min(confidence, relevance.probability)
        is_read = tally.is_judged and not tally.unjudged
        if is_read and relevance is not None:
            return relevance.probability * tally.supported_share
        return min(confidence, _UNJUDGED)


def right_and_whole(
    retrieval: Retrieval,
    signals: EvidenceSignals,
    question: str,
    answer: str,
    leading: Leading,
    *,
    supported_share: float,
) -> float:
    """Return the probability that an answer is right and whole.

    Args:
        signals: Of the best evidence that was looked at.
        leading: What of it answers.
        supported_share: The part of the writer's claims that passed.
    """
    asked = retrieval.question or question
    figures = answer_figures(
        signals, asked, answer, leading, retrieval.statistics, retrieval.encode_terms
    )
    logger.debug("the figures of an answer", extra={"figures": figures})
    return confidence_of(figures, supported_share)


_CLOSING = re.compile(r"[.!?…,;:]*[\"'”’»)\]]*")
"""What ends a sentence after its last letter."""
_FEWEST_LETTERS = 12
"""A quote with fewer letters and digits is looked for in vain: any book may hold it."""


def place_in_book(chunk: RetrievedChunk) -> str:
    """Return the headings that lead to a chunk."""
    return " › ".join(titles_of(chunk))


def titles_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the page's title and the headings below it."""
    return tuple(dict.fromkeys((chunk.page_title, *chunk.headings)))


def quoted_part(chunk: RetrievedChunk, location: QuoteLocation) -> QuotedPassage:
    """Return the part of a chunk that a quote was found in, with the stops after it."""
    text = chunk.content_text
    start = max((location.char_start or 0) - chunk.char_start, 0)
    end = min((location.char_end or 0) - chunk.char_start, len(text))
    closing = _CLOSING.match(text, end)
    end = closing.end() if closing else end
    return QuotedPassage(text, start, end, titles_of(chunk))


def is_short(quote: str | None) -> bool:
    """Return whether a quote may stand in any book."""
    return sum(letter.isalnum() for letter in quote or "") < _FEWEST_LETTERS


def notices(
    request: AgentRequest,
    outcome: Outcome,
    retrieval: Retrieval,
    tally: DraftTally,
    *,
    is_misquoted: bool,
    is_unreadable: bool = False,
    by_model: bool = False,
) -> Iterator[str]:
    """Yield what a reader learns of how an answer came about, then of what it lacks.

    Args:
        by_model: Whether a model wrote it, which has read the question as it was asked.
        is_misquoted: Whether the reader's quote says otherwise than the book.
        is_unreadable: Whether the question is in a language that neither search nor writer reads.
    """
    if is_unreadable and outcome is not Outcome.ABSTAINED:
        yield other_language(retrieval.language)
    yield from _of_search(request, outcome, retrieval, by_model=by_model)
    if outcome is not Outcome.ABSTAINED:
        yield from _of_draft(request, outcome, tally, is_misquoted=is_misquoted)


def _of_search(
    request: AgentRequest, outcome: Outcome, retrieval: Retrieval, *, by_model: bool
) -> Iterator[str]:
    location = retrieval.quote_location
    if request.selected_text_cut:
        yield text("notice-quote-cut")
    if request.thread_partly_seen:
        yield text("notice-thread-partly-seen")
    if request.unread and outcome is not Outcome.ABSTAINED:
        yield unread_besides(request.unread)
    if retrieval.mended and not by_model:
        words = ", ".join(text("answer-name", name=word) for word in retrieval.mended)
        yield text("notice-mended", words=words)
    if retrieval.parts_left and not by_model:
        yield text("notice-parts-left", count=len(retrieval.parts))
    if retrieval.by_words:
        yield text("notice-searched-by-words")
    if location is not None and location.status is QuoteStatus.NOT_FOUND:
        short = is_short(request.selected_text)
        yield text("notice-quote-too-short") if short else text("notice-quote-not-found")


def _of_draft(
    request: AgentRequest, outcome: Outcome, tally: DraftTally, *, is_misquoted: bool
) -> Iterator[str]:
    within = request.section_filter is not None
    if tally.instead_of is Emptiness.NOTHING_HELD:
        yield text("notice-nothing-held")
    if tally.cut_short:
        yield text("notice-cut-short")
    if tally.instead_of is Emptiness.REFUSED:
        yield text("notice-no-answer-read")
    elif tally.is_beside_the_point:
        yield text("notice-near-within") if within else text("notice-near")
    elif tally.not_covered:
        yield text("notice-partly-covered-within") if within else text("notice-partly-covered")
    elif tally.fallen:
        yield text("notice-left-out", count=len(tally.fallen))
    elif tally.supported_share < WELL_SUPPORTED:
        yield text("notice-left-out", count=tally.dropped)
    elif outcome is Outcome.PARTIAL and not is_misquoted:
        yield text("notice-near-within") if within else text("notice-near")
    if tally.unjudged:
        yield text("notice-unjudged", count=tally.unjudged)
