"""Judges a claim by its words alone: a logistic regression over what code can count.

It knows no meaning. Fitted by `python -m tests.bench.judge.fit` on claims that one reader labelled
(docs/measuring.md); it decides where no model is configured or none answers in time.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypedDict

from rapidfuzz.distance import LCSseq

from core.grounding.judge.base import CitedClaim, JudgedBy, Verdict
from core.grounding.judge.words import Vocabulary, denied, names, weight, words

_FILE = Path(__file__).with_name("lexical.json")
_NOT_KNOWN = 0.5
_LONGEST = 4_000
"""Characters of a claim or its sentences that are read."""


class _Fitted(TypedDict):
    figures: dict[str, tuple[float, float, float]]
    """Mean, scale and weight of each."""
    bias: float
    mark: float


class LexicalJudge:
    """Gives the probability of support by shared words, their order and denials."""

    name = "lexical"

    async def judge(self, question: str, claims: Sequence[CitedClaim]) -> list[Verdict]:
        """Return one verdict a claim, in order, in well below 5 ms each."""
        return [self.verdict(claim) for claim in claims]

    def verdict(self, claim: CitedClaim) -> Verdict:
        """Return the verdict on one claim; words of two languages say nothing against it."""
        if claim.is_translated:
            return Verdict(_NOT_KNOWN, holds=True, by=JudgedBy.WORDS)
        fitted = _fitted()
        likely = probability(figures(claim), fitted)
        return Verdict(likely, likely >= fitted["mark"], JudgedBy.WORDS)


def probability(found: Mapping[str, float], fitted: _Fitted) -> float:
    """Return the probability, 0 to 1, for the figures of a claim."""
    rows = fitted["figures"].items()
    odds = fitted["bias"] + sum(w * (found[name] - mean) / scale for name, (mean, scale, w) in rows)
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, odds))))


def figures(claim: CitedClaim) -> dict[str, float]:
    """Return what is counted of a claim: shares from 0 to 1, and numbers of denials."""
    cited = " ".join(claim.sentences)[:_LONGEST]
    own = words(claim.text[:_LONGEST])
    source = Vocabulary(f"{cited} {' '.join(claim.headings)}")
    found = [source.has(word) for word in own]
    weights = [weight(word) for word in own]
    third = max(1, len(own) // 3)
    ours, theirs = denied(claim.text), denied(cited)
    about = [scope for scope in theirs if _speaks_of(Vocabulary(claim.text), scope)]
    return {
        "recall": _share(found, weights),
        "tail": _share(found[-third:], weights[-third:]),
        "new_names": float(sum(not source.has(name) for name in names(claim.text))),
        "missing_run": _longest_run(found, weights),
        "order": float(LCSseq.normalized_similarity(own, words(cited))) if own else 1.0,
        "adds_denial": float(len(ours) > len(theirs)),
        "drops_denial": float(len(about) > len(ours)),
        "length": math.log((1 + len(own)) / (1 + len(words(cited)))),
    }


def _speaks_of(claim: Vocabulary, scope: Sequence[str]) -> bool:
    """Return whether a claim has all that is denied."""
    return bool(scope) and all(claim.has(word) for word in scope)


def _share(found: Sequence[bool], weights: Sequence[float]) -> float:
    total = sum(weights)
    return sum(w for hit, w in zip(found, weights, strict=True) if hit) / total if total else 1.0


def _longest_run(found: Sequence[bool], weights: Sequence[float]) -> float:
    """Return the weight of the heaviest run of words that the source does not have."""
    heaviest = run = 0.0
    for hit, mass in zip(found, weights, strict=True):
        run = 0.0 if hit and mass else run + (0.0 if hit else mass)
        heaviest = max(heaviest, run)
    return heaviest


@cache
def _fitted() -> _Fitted:
    fitted: _Fitted = json.loads(_FILE.read_text("utf-8"))
    return fitted
