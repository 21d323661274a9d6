"""Decides whether what was found can answer at all, or is only the closest that there is."""

import math
from collections.abc import Mapping, Sequence

from core.retrieval.logistic import probability, shipped
from core.retrieval.scoring import ANSWERABLE, ScoredChunk, Terms

FITTED_ON = "all-MiniLM-L6-v2"
"""The embedding model whose cosines the weights are for; `tests.bench.fit_gate` fits them."""
_DEPTH = 10


def gate_figures(
    scored: Sequence[ScoredChunk], weights: Mapping[int, float], terms: Terms, chunks: int
) -> dict[str, float]:
    """Return what the gate looks at; `scored` has one chunk at least.

    Args:
        weights: How rare each term of the question is.
        terms: Gives the terms of a text.
        chunks: How many the course has.
    """
    cosines = sorted((one.evidence.cosine for one in scored), reverse=True)
    leader = scored[0]
    chunk = leader.ranked.candidate.chunk
    held = set(chunk.terms or terms("\n".join((*chunk.headings, chunk.content_text))))
    missing = max((weight for term, weight in weights.items() if term not in held), default=0.0)
    return {
        "cosine": cosines[0],
        "coverage": leader.evidence.coverage,
        "share": leader.ranked.document_share,
        "margin": cosines[0] - cosines[min(_DEPTH, len(cosines)) - 1],
        "missing": missing / math.log(max(chunks, 2)),
        "words": math.log1p(len(weights)),
    }


def answerable(best_score: float, figures: Mapping[str, float], embedding_model: str) -> float:
    """Return how well the evidence answers, 0 to 1; below 0.5 it does not.

    The gate's probability, shifted so that 0.5 is what all but 1 of 20 answerable questions reach;
    for other embedding models than it was fitted on, the best chunk's score.
    """
    if embedding_model != FITTED_ON:
        return best_score
    gate = shipped("gate")
    return probability(gate.log_odds(figures) - gate.marks["refused"])


def close_below(embedding_model: str) -> float:
    """Return the `answerable` below which an answer is only the closest that the book comes.

    Of the questions that a book answers, 4 of 5 reach it.
    """
    if embedding_model != FITTED_ON:
        return ANSWERABLE
    marks = shipped("gate").marks
    return probability(marks["close"] - marks["refused"])
