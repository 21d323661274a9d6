"""How sure an answer may be: that its place is right, and that it is right and whole."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from core.index.terms import TermStatistics
from core.models import AgentConfiguration, EvidenceSignals, Outcome
from core.text.logistic import probability, shipped

WEIGHTS = Path(__file__).with_name("confidence.json")
"""What `python -m tests.bench.reading fit` writes."""
SHARE = 3.6
COVERAGE = 1.9
OFFSET = -2.15
"""Log odds that an answer cites the right place, by the leading document's share of the
evidence and the leading chunk's coverage of the question."""

_COVERAGE, _DOCUMENT_SHARE = 0.5, 0.3
"""What the leading chunk's coverage and the leading document's share add to the best score."""
_ABOVE_MARK = 0.4
"""How far above a course's mark this sum has to be for evidence below the mark to be shown."""
COVERED = Path(__file__).with_name("covered.json")
"""What `python -m tests.bench.fit_covered` writes."""


def coverage_figures(signals: EvidenceSignals) -> dict[str, float]:
    """Return what is looked at to see whether the book answers a question."""
    return {
        "score": signals.best_score,
        "coverage": signals.coverage,
        "whole": float(signals.coverage >= 1.0),
        "question": math.log1p(signals.question_words),
    }


def is_close(signals: EvidenceSignals, mark: float) -> bool:
    """Return whether evidence below a course's mark is shown as the closest all the same.

    The score, the leading chunk's coverage and the leading document's share, weighed, are well
    above the mark then. docs/measuring.md says on what the weights were set.

    Args:
        mark: The score, 0 to 1, from which the course answers.
    """
    added = _COVERAGE * signals.coverage + _DOCUMENT_SHARE * signals.document_share
    return signals.best_score + added >= mark + _ABOVE_MARK


def is_covered(signals: EvidenceSignals) -> bool:
    """Return whether passages of this evidence may be shown as an answer.

    What is not is marked as the closest that the book comes. Fitted on questions about two
    textbooks, near the topic and answered there; docs/measuring.md has the figures.
    """
    return shipped(COVERED).log_odds(coverage_figures(signals)) >= 0


def located_of(signals: EvidenceSignals, supported_share: float = 1.0) -> float:
    """Return the probability, 0 to 1, that an answer from this evidence cites the right place.

    `supported_share` is the part of the draft's claims that their quotes carry: a writer that
    invents some of its sentences is trusted less with the others.
    """
    log_odds = SHARE * signals.document_share + COVERAGE * signals.coverage + OFFSET
    return supported_share * probability(log_odds)


def answer_figures(
    signals: EvidenceSignals,
    question: str,
    answer: str,
    passages: int,
    statistics: TermStatistics,
    encode_terms: Callable[[str], Sequence[int]],
) -> dict[str, float]:
    """Return what the confidence of a finished answer is worked out from.

    Args:
        answer: The text that is shown.
        passages: How many it cites.
        encode_terms: Gives the distinct terms of a text in the book's language.
    """
    terms = encode_terms(question)
    rarity = statistics.rarity(terms)
    shown = set(encode_terms(answer))
    held = sum(weight for term, weight in zip(terms, rarity, strict=True) if term in shown)
    return {
        "score": signals.best_score,
        "coverage": signals.coverage,
        "question": math.log1p(signals.question_words),
        "held": float(held / rarity.sum()) if len(terms) else 0.0,
        "passages": math.log1p(passages),
    }


def confidence_of(figures: dict[str, float], located: float, supported_share: float = 1.0) -> float:
    """Return the probability, 0 to 1, that an answer is right and whole.

    It is at most `located`: what stands at the wrong place is not the answer. Fitted on answers
    that readers judged; docs/measuring.md says who read.
    """
    chance = probability(shipped(WEIGHTS).log_odds(figures))
    return min(located, supported_share * chance)


def outcome_of(located: float, configuration: AgentConfiguration) -> Outcome:
    """Return the band that the probability of the right place falls into."""
    if located >= configuration.answered_from:
        return Outcome.ANSWERED
    return Outcome.PARTIAL if located >= configuration.partial_from else Outcome.ABSTAINED
