"""How sure an answer may be, from the evidence alone."""

import math

from core.models import EvidenceSignals, Outcome

ANSWERED_FROM = 0.5
"""Below this confidence an answer is more often wrong than right: it is told as `partial`."""
SHARE = 3.6
COVERAGE = 1.9
OFFSET = -2.15
"""Log odds that an answer cites the right place, by the leading document's share of the
evidence and the leading chunk's coverage of the question."""


def confidence_of(signals: EvidenceSignals) -> float:
    """Return the probability, 0 to 1, that an answer from this evidence cites the right place."""
    log_odds = SHARE * signals.document_share + COVERAGE * signals.coverage + OFFSET
    return 1 / (1 + math.exp(-log_odds))


def outcome_of(signals: EvidenceSignals, confidence: float, threshold: float) -> Outcome:
    """Return how an answer from this evidence is told.

    `threshold` is the `similarity_score` that the best chunk must reach.
    """
    if signals.best_score < threshold:
        return Outcome.ABSTAINED
    return Outcome.ANSWERED if confidence >= ANSWERED_FROM else Outcome.PARTIAL
