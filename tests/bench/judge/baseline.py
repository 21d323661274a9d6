"""The thirty lines that every judge of words has to do better than."""

import re
from collections.abc import Callable

from core.grounding.judge.base import CitedClaim, JudgedBy, Verdict
from core.providers.base import ChatEnd, ignore

_TOKEN = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_DENIES = re.compile(
    r"\b(?:no|not|never|neither|nor|none|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
_MARK = 0.45
"""Share of the claim's words; the highest that drops no more than a fifth of the true claims of
the split `fit`."""


class BaselineJudge:
    """Token recall, for claims with no number and no denial more or less than their sentences."""

    name = "baseline"

    async def judge(self, claim: CitedClaim, report: Callable[[ChatEnd], None] = ignore) -> Verdict:
        """Return the verdict on a claim."""
        cited = " ".join([*claim.sentences, *claim.headings])
        own, known = _tokens(claim.text), _tokens(cited)
        recall = len(own & known) / max(1, len(own))
        numbers = {token for token in own if token[0].isdigit()} <= known
        parity = bool(_DENIES.search(claim.text)) == bool(_DENIES.search(cited))
        likely = recall * numbers * (1.0 if parity else 0.5)
        return Verdict(likely, likely >= _MARK, JudgedBy.WORDS)


def _tokens(text: str) -> set[str]:
    return set(_TOKEN.findall(text.casefold()))
