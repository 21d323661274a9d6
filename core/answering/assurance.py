"""How one draft of an answer fared, and how sure the answer may be by that."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.generation.base import ClaimKind, Fallen
from core.grounding.confidence import answer_figures, confidence_of, outcome_of
from core.grounding.judge import Verdict
from core.models import AgentConfiguration, EvidenceSignals, Outcome
from core.retrieval.retrieval import Retrieval

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
    is_answerable: bool
    """Whether the evidence reaches the course's mark."""
    is_cited: bool
    by_model: bool
    """Whether a language model wrote it."""
    stands_in_book: bool
    """Whether a quote was given and found."""
    names_row: bool
    """Whether the question names a row of a table, and is shown it for that alone."""
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
            in_vain = refused or self.is_misquoted or tally.not_covered
            in_vain = in_vain or 0 == tally.released < tally.written
            return Outcome.PARTIAL if in_vain else Outcome.ANSWERED
        doubted = tally.not_covered or refused or self.is_misquoted or tally.is_beside_the_point
        if self.by_model:  # the judge has read what no figure of a search can tell
            return Outcome.PARTIAL if doubted or tally.fallen else Outcome.ANSWERED
        outcome = outcome_of(located, configuration)
        doubted = doubted or not self.is_answerable or self.is_foreign
        if self.stands_in_book or tally.released:
            doubted = doubted or tally.supported_share < WELL_SUPPORTED
        if (self.stands_in_book or self.names_row) and outcome is Outcome.ABSTAINED:
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
