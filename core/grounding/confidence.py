"""How sure an answer may be, from the evidence alone."""

import math

from core.models import EvidenceSignals, Outcome

ANSWERED_FROM = 0.4
"""Below this confidence an answer is told as `partial`."""


def confidence_of(signals: EvidenceSignals) -> float:
    """Return the probability, 0 to 1, that an answer from this evidence cites the right place."""
    raw = -3.0 + 4.0 * signals.best_score + 2.0 * signals.document_share
    return 1 / (1 + math.exp(-raw))


def outcome_of(signals: EvidenceSignals, confidence: float, threshold: float) -> Outcome:
    """Return how an answer from this evidence is told.

    `threshold` is the `similarity_score` that the best chunk must reach.
    """
    if signals.best_score < threshold:
        return Outcome.ABSTAINED
    return Outcome.ANSWERED if confidence >= ANSWERED_FROM else Outcome.PARTIAL
