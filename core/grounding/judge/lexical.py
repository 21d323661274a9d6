"""Judges a claim by its words alone: a logistic regression over what code can count.

It knows no meaning. Fitted by `python -m tests.bench.judge.fit` on claims that one reader labelled
(docs/measuring.md); it decides where no model is configured or none answers in time.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from rapidfuzz.distance import LCSseq

from core.grounding.judge.base import CitedClaim, JudgedBy, Verdict
from core.grounding.judge.words import Vocabulary, denied, names, weight, words
from core.providers.base import ChatEnd, ignore
from core.text.logistic import probability, shipped

WEIGHTS = Path(__file__).with_name("lexical.json")
"""The regression, and the mark from which a claim holds."""
_NOT_KNOWN = 0.5
_LEAST_RECALL = 0.5
"""Share of a claim's words, by weight, that its sentences have at least: the claims that the
regression was fitted on are all about their sentences, and it knows nothing of others."""
_LONGEST = 4_000
"""Characters of a claim or its sentences that are read."""


class LexicalJudge:
    """Gives the probability of support by shared words, their order and denials."""

    name = "lexical"

    async def judge(
        self,
        question: str,
        claims: Sequence[CitedClaim],
        report: Callable[[ChatEnd], None] = ignore,
    ) -> list[Verdict]:
        """Return one verdict a claim, in order, in well below 5 ms each."""
        return [self.verdict(claim) for claim in claims]

    def verdict(self, claim: CitedClaim) -> Verdict:
        """Return the verdict on one claim; words of two languages say nothing against it."""
        if claim.is_translated:
            return Verdict(_NOT_KNOWN, holds=True, by=JudgedBy.WORDS)
        counted = figures(claim)
        likely = probability(shipped(WEIGHTS).log_odds(counted))
        holds = likely >= _mark() and counted["recall"] >= _LEAST_RECALL
        return Verdict(likely, holds, JudgedBy.WORDS)


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
def _mark() -> float:
    """Return the probability from which a claim holds."""
    return float(json.loads(WEIGHTS.read_text("utf-8"))["mark"])
