"""Fits the scale of `similarity_score`: the weights of the raw evidence and the two marks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.retrieval.scoring import ScoreScale
from tests.bench.raw_evidence import Floats, Found

STEPS = 20
"""The weights are multiples of 1 / STEPS and sum to 1."""
RELEVANT_KEPT = 0.98
ANSWERABLE_KEPT = 0.95
_PLACES = 10
"""How deep in the ranking a relevant chunk counts for the mark 0.3."""

Answerable = Mapping[str, Sequence[Found]]
"""Questions asked of a book that answers them, by name."""
OffTopic = Mapping[str, Sequence[Found]]
"""Questions asked of a book on something else, by name."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One choice of weights, with the marks that follow from it."""

    scale: ScoreScale
    refused: float
    """What `mean_refused` gives."""


def best_trials(answerable: Answerable, off_topic: OffTopic, count: int) -> list[Trial]:
    """Return the weights that refuse most off-topic questions, best first.

    The marks are such that every set of answerable questions keeps its share.
    """
    trials = [_trial(weights, answerable, off_topic) for weights in _grid()]
    return sorted(trials, key=lambda trial: -trial.refused)[:count]


def below_answerable(scale: ScoreScale, found: Sequence[Found]) -> float:
    """Return the share of the questions whose best chunk is below the mark 0.5."""
    return float(np.mean(_best(_weights(scale), found) < scale.answerable_at))


def mean_refused(scale: ScoreScale, off_topic: OffTopic) -> float:
    """Return the share of off-topic questions below the mark 0.5, averaged over their sets."""
    return float(np.mean([below_answerable(scale, found) for found in off_topic.values()]))


def relevant_below_usable(scale: ScoreScale, found: Sequence[Found]) -> float:
    """Return the share of the relevant chunks found that are below the mark 0.3."""
    return float(np.mean(_relevant(_weights(scale), found) < scale.usable_at))


def _grid() -> Iterator[Floats]:
    for bm25 in range(STEPS // 2 + 1):
        for coverage in range(STEPS // 2 + 1 - bm25):
            yield np.array([STEPS - bm25 - coverage, bm25, coverage]) / STEPS


def _trial(weights: Floats, answerable: Answerable, off_topic: OffTopic) -> Trial:
    usable = min(
        np.quantile(_relevant(weights, found), 1 - RELEVANT_KEPT) for found in answerable.values()
    )
    mark = min(
        np.quantile(_best(weights, found), 1 - ANSWERABLE_KEPT) for found in answerable.values()
    )
    cosine, bm25, coverage = (float(weight) for weight in weights)
    scale = ScoreScale(cosine, bm25, coverage, float(usable), float(mark))
    return Trial(scale, mean_refused(scale, off_topic))


def _weights(scale: ScoreScale) -> Floats:
    return np.array([scale.cosine, scale.bm25, scale.coverage])


def _best(weights: Floats, found: Sequence[Found]) -> Floats:
    return np.array([(f.evidence @ weights).max() for f in found])


def _relevant(weights: Floats, found: Sequence[Found]) -> Floats:
    rows = [f.evidence[:_PLACES][f.relevant[:_PLACES]] for f in found]
    return np.concatenate(rows) @ weights
