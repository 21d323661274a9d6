"""Judges a claim by its words alone: a logistic regression over what code can count.

It knows no meaning. Fitted by `python -m tests.bench.judge.fit` on claims that one reader labelled
(docs/measuring.md); it decides where no model is configured or none answers in time.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from core.grounding.judge.base import CitedClaim, JudgedBy, Report, Verdict
from core.grounding.judge.words import Vocabulary, denied, undenied, weight, words
from core.providers.base import ignore
from core.text.logistic import probability, shipped

WEIGHTS = Path(__file__).with_name("lexical.json")
"""The regression, and the mark from which a claim holds."""
_NOT_KNOWN = 0.5
_LEAST_RECALL = 0.4
"""Share of a claim's words, by weight, that its sentences have at least: the claims that the
regression was fitted on are all about their sentences, and it knows nothing of others."""
_LONGEST = 4_000
"""Characters of a claim or its sentences that are read."""


class LexicalJudge:
    """Gives the probability of support by the words that both have, and denials."""

    name = "lexical"

    async def judge(self, claim: CitedClaim, report: Report = ignore) -> Verdict:
        """Return the verdict on a claim, in well below 5 ms."""
        return self.verdict(claim)

    def verdict(self, claim: CitedClaim) -> Verdict:
        """Return the verdict on one claim; words of two languages say nothing against it."""
        if claim.is_translated:
            return Verdict(_NOT_KNOWN, holds=True, by=JudgedBy.WORDS)
        counted = figures(claim)
        likely = probability(shipped(WEIGHTS).log_odds(counted))
        holds = likely >= _mark() and counted["recall"] >= _LEAST_RECALL
        return Verdict(likely, holds, JudgedBy.WORDS)


def figures(claim: CitedClaim) -> dict[str, float]:
    """Return what is counted of a claim: shares of words by weight, and denials as 0 or 1.

    `recall` and `tail` are what its sentences and titles have of it and of its last third. `used`
    is what it has of the one sentence that has most of it. `adds_denial` says whether it denies
    more than all its sentences, `drops_denial` whether that one denies something that the claim
    speaks of, and nothing cited says it without a denial.
    """
    text, sentences = claim.text[:_LONGEST], [one[:_LONGEST] for one in claim.sentences]
    own, said = words(text), Vocabulary(text)
    source = Vocabulary(" ".join([*sentences, *claim.headings])[: 2 * _LONGEST])
    nearest = max(sentences, key=lambda one: _share_known(own, Vocabulary(one)))
    denies = denied(text)
    affirmed = [Vocabulary(undenied(one)) for one in sentences]
    about = [
        scope
        for scope in denied(nearest)
        if scope and all(map(said.has, scope)) and not any(all(map(a.has, scope)) for a in affirmed)
    ]
    return {
        "recall": _share_known(own, source),
        "tail": _share_known(own[-max(1, len(own) // 3) :], source),
        "used": _share_known(words(nearest), said),
        "adds_denial": float(len(denies) > sum(len(denied(one)) for one in sentences)),
        "drops_denial": float(len(about) > len(denies)),
    }


def _share_known(some: Sequence[str], known: Vocabulary) -> float:
    """Return the share of words, by weight, that another text has; 1 where none weighs."""
    total = sum(map(weight, some))
    return sum(weight(word) for word in some if known.has(word)) / total if total else 1.0


@cache
def _mark() -> float:
    """Return the probability from which a claim holds."""
    return float(json.loads(WEIGHTS.read_text("utf-8"))["mark"])
