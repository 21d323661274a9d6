"""How good rankings, answers and confidences are; every figure with its interval."""

import math
import re
import string
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "“”„‘’‚«»‹›–—‐‑…·", " "))
_BOOTSTRAPS = 1_000
_BINS = 10


def hit_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1.0 when a relevant document is among the first `k` distinct ones, else 0.0."""
    return float(any(name in relevant for name in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return 1 / rank of the first relevant document, 0.0 beyond `k`."""
    for rank, name in enumerate(ranking[:k], 1):
        if name in relevant:
            return 1.0 / rank
    return 0.0


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain with gains of 0 and 1.

    Source: Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002).
    """
    gain = sum(1 / math.log2(r + 1) for r, name in enumerate(ranking[:k], 1) if name in relevant)
    ideal = sum(1 / math.log2(r + 1) for r in range(1, min(len(relevant), k) + 1))
    return gain / ideal if ideal else 0.0


def contains_answer(text: str, answers: Collection[str]) -> bool:
    """Return whether a reference answer stands in `text` as whole words.

    Case, articles, punctuation and compatibility forms make no difference.
    """
    folded = f" {_fold(text)} "
    wanted = (_fold(answer) for answer in answers)
    return any(f" {answer} " in folded for answer in wanted if answer)


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Return the expected calibration error over ten bins of equal mass, NaN for no rows.

    Rows of equal confidence share their outcome, so that their order makes no difference.
    Source: Naeini et al., Obtaining Well Calibrated Probabilities Using Bayesian Binning (2015).
    """
    if not confidences:
        return math.nan
    values = np.asarray(confidences, np.float64)
    distinct, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    shares = np.bincount(places, weights=np.asarray(right, np.float64)) / counts
    sure, true = np.repeat(distinct, counts), np.repeat(shares, counts)
    parts = zip(np.array_split(sure, _BINS), np.array_split(true, _BINS), strict=True)
    gaps = sum(len(s) * abs(float(s.mean() - t.mean())) for s, t in parts if len(s))
    return gaps / len(sure)


def auroc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Return the chance that a positive scores above a negative; ties count half.

    NaN where one of the two classes is missing. Source: the Mann-Whitney U statistic.
    """
    values = np.asarray(scores, np.float64)
    mask = np.asarray(positive, bool)
    if mask.all() or not mask.any():
        return math.nan
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    n_positive, n_negative = int(mask.sum()), int((~mask).sum())
    u = float(ranks[mask].sum()) - n_positive * (n_positive + 1) / 2
    return u / (n_positive * n_negative)


def interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean; NaN for no values."""
    if not values:
        return math.nan, math.nan
    data: npt.NDArray[np.float64] = np.asarray(values, np.float64)
    draws = np.random.default_rng(seed).integers(0, len(data), (_BOOTSTRAPS, len(data)))
    low, high = np.percentile(data[draws].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def percentile(values: Sequence[float], q: float) -> float:
    """Return the q-th percentile (0 to 100); NaN for no values."""
    return float(np.percentile(np.asarray(values), q)) if values else math.nan
