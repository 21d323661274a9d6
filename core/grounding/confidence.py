"""How sure an answer may be, from the evidence and from what its claims withstood."""

import math

from core.models import AgentConfiguration, EvidenceSignals, Outcome

SHARE = 3.6
COVERAGE = 1.9
OFFSET = -2.15
"""Log odds that an answer cites the right place, by the leading document's share of the
evidence and the leading chunk's coverage of the question."""


def confidence_of(signals: EvidenceSignals, supported_share: float = 1.0) -> float:
    """Return the probability, 0 to 1, that an answer from this evidence cites the right place.

    `supported_share` is the part of the draft's claims that their quotes carry: a writer that
    invents some of its sentences is trusted less with the others.
    """
    log_odds = SHARE * signals.document_share + COVERAGE * signals.coverage + OFFSET
    return supported_share / (1 + math.exp(-log_odds))


def outcome_of(confidence: float, configuration: AgentConfiguration) -> Outcome:
    """Return the band that the confidence falls into."""
    if confidence >= configuration.answered_from:
        return Outcome.ANSWERED
    return Outcome.PARTIAL if confidence >= configuration.partial_from else Outcome.ABSTAINED
