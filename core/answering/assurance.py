"""How one draft of an answer fared, and how sure the answer may be by that."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from core.grounding.confidence import answer_figures, confidence_of, outcome_of
from core.grounding.judge.base import Verdict
from core.models import AgentConfiguration, EvidenceSignals, Outcome
from core.retrieval.retrieval import Retrieval

WELL_SUPPORTED = 0.5
"""An answer that lost a larger part of its draft is marked as `partial`."""
_UNCOVERED = 0.1
"""What an answer that cites nothing may claim at most."""
_DOUBTED = 0.3
"""What an answer may claim that only says where the quoted passage stands, or is about one that
stands nowhere in the book or says otherwise than it, or that a model found no answer in."""
_BY_WORDS = 0.7
"""What an answer may claim of which a claim's words alone were compared."""


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
    translated: bool = False
    """A claim is in another language than its quotes."""
    unchecked: bool = False
    """Nothing but the certain checks compared such a claim with its quotes."""
    by_words_only: bool = False
    """Of a claim nothing but the words was compared."""
    relevance: Verdict | None = None
    """What a judge says of whether the answer answers the question; None: not known."""
    poisoned: set[UUID] = field(default_factory=set)
    """Ids of the chunks that something planted is left out of."""

    @property
    def supported_share(self) -> float:
        """The part of the claims that passed, 0 to 1; 1 when none was offered."""
        return min(self.released / self.written, 1.0) if self.written else 1.0

    @property
    def dropped(self) -> int:
        """Claims that did not pass."""
        return max(self.written - self.released, 0)

    @property
    def is_beside_the_point(self) -> bool:
        """Whether a judge found that it answers another question."""
        return self.relevance is not None and not self.relevance.holds

    @property
    def emptiness(self) -> Emptiness | None:
        """Why there is nothing to show of the draft; None: there is something."""
        if self.released:
            return None
        return Emptiness.REFUSED if self.not_covered else Emptiness.NOTHING_HELD


class Sureness(NamedTuple):
    """How sure an answer is, 0 to 1 each."""

    located: float
    """Of its place."""
    confidence: float
    """Of being right and whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What decides, besides the evidence, how sure an answer may be."""

    tally: DraftTally
    is_answerable: bool
    """Whether the evidence reaches the course's mark."""
    is_cited: bool
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

    def outcome(self, located: float, configuration: AgentConfiguration) -> Outcome:
        """Return how the answer is marked, by the probability of the right place.

        An answer that cites nothing is an abstention, and where a quote stands is always shown.
        """
        tally = self.tally
        if not self.is_cited:
            return Outcome.ABSTAINED
        refused = tally.instead_of is Emptiness.REFUSED
        if self.explains:
            in_vain = refused or self.is_misquoted or tally.not_covered or bool(tally.poisoned)
            in_vain = in_vain or 0 == tally.released < tally.written
            return Outcome.PARTIAL if in_vain else Outcome.ANSWERED
        outcome = outcome_of(located, configuration)
        doubted = not self.is_answerable or tally.not_covered or tally.translated
        doubted = doubted or refused or self.is_misquoted or tally.is_beside_the_point
        doubted = doubted or self.is_foreign or bool(tally.poisoned)
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
        if refused or self.is_misquoted or self.tally.poisoned:
            return min(located, _DOUBTED)
        if self.explains and outcome is Outcome.ANSWERED:
            return max(located, self.likeness)
        if not self.tally.released or self.is_foreign or self.tally.unchecked:
            return min(located, _DOUBTED)
        return located

    def limited(self, confidence: float) -> float:
        """Return the probability of a right and whole answer as far as its checks bear it out."""
        if self.tally.by_words_only:
            confidence = min(confidence, _BY_WORDS)
        relevance = self.tally.relevance
        return confidence if relevance is None else min(confidence, relevance.probability)


def right_and_whole(
    retrieval: Retrieval,
    signals: EvidenceSignals,
    question: str,
    answer: str,
    *,
    passages: int,
    located: float,
    supported_share: float,
) -> float:
    """Return the probability that an answer is right and whole, 0 to `located`.

    Args:
        signals: Of the best evidence that was looked at.
        passages: How many the answer cites.
        supported_share: The part of the writer's claims that passed.
    """
    figures = answer_figures(
        signals,
        retrieval.question or question,
        answer,
        passages,
        retrieval.statistics,
        retrieval.encode_terms,
    )
    return confidence_of(figures, located, supported_share)
