"""Puts the raw evidence for a chunk on the one scale that thresholds are written in."""

import math
from dataclasses import dataclass

USABLE = 0.3
"""The mark that 98 % of relevant retrieved chunks reach: below it, a chunk is not used."""
ANSWERABLE = 0.5
"""The mark that the best chunk of 95 % of answerable questions reaches."""


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """How raw evidence of one embedding model becomes a `similarity_score`.

    The raw evidence is a weighted sum of cosine, normalised BM25 and coverage; the scale runs
    straight between its two marks and flattens towards 0 and 1 beyond them.
    """

    cosine: float
    bm25: float
    coverage: float
    usable_at: float
    """Raw evidence at the mark 0.3."""
    answerable_at: float
    """Raw evidence at the mark 0.5."""

    def score(self, cosine: float, bm25: float, coverage: float) -> float:
        """Return the similarity score, 0 to 1, of evidence whose parts are each at most 1."""
        raw = self.cosine * cosine + self.bm25 * bm25 + self.coverage * coverage
        slope = (ANSWERABLE - USABLE) / (self.answerable_at - self.usable_at)
        linear = USABLE + slope * (raw - self.usable_at)
        return _squeeze(linear)


def _squeeze(value: float) -> float:
    """Keep 0.2 to 0.8 as it is and bend what lies beyond towards 0 and 1."""
    if value > 0.8:
        return 1 - 0.2 * math.exp(-(value - 0.8) / 0.2)
    if value < 0.2:
        return 0.2 * math.exp((value - 0.2) / 0.2)
    return value


_SCALES = {"all-MiniLM-L6-v2": ScoreScale(0.6, 0.2, 0.2, 0.35, 0.5)}
_DEFAULT = ScoreScale(0.6, 0.2, 0.2, 0.35, 0.5)


def scale_for(embedding_model: str) -> ScoreScale:
    """Return the scale fitted for a model, or one that is about right for any."""
    return _SCALES.get(embedding_model, _DEFAULT)
