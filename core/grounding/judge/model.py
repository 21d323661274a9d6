"""Asks a language model whether sentences say what a claim says, by its log-probabilities."""

import asyncio
import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.errors import ServiceError
from core.grounding.judge.base import CitedClaim, JudgedBy, Verdict
from core.grounding.judge.lexical import LexicalJudge
from core.grounding.judge.questions import (
    GRADES,
    RELEVANCE,
    about_answer,
    all_pending,
    template_for,
)

logger = logging.getLogger(__name__)

MARK = 0.73
"""Probability from which a claim holds: a log-probability of yes over no of 1."""
WAIT = 1.5
"""Seconds that a claim waits for the model, unless settings say otherwise."""
_ONE_WORD = 1
_TOKENS_A_GRADE = 4
_BEST_GRADE = 10.0
_LEAST = -20.0
"""Log-probability of a word that is not among the likeliest."""


@dataclass(frozen=True, slots=True)
class ShortReply:
    """What a model says in a few tokens."""

    text: str
    first: Mapping[str, float]
    """The natural log-probability of each likely first token; empty: the server tells none."""


class ShortCompletions(Protocol):
    """Gives one short completion with the log-probabilities of its first token."""

    @property
    def model(self) -> str:
        """The model's name at its server."""
        ...

    async def complete(
        self, system: str, user: str, *, tokens: int, schema: Mapping[str, Any] | None = None
    ) -> ShortReply:
        """Return at most `tokens` tokens, at temperature 0.

        Args:
            system: What stays the same from call to call; empty: none.
            user: The message.
            tokens: At least 1.
            schema: The JSON schema that the reply has to follow.

        Raises:
            ServiceError: when the model cannot be asked.
        """
        ...


class ModelJudge:
    """Lets a model judge claims; one that it does not judge in time is judged by its words."""

    def __init__(
        self,
        completions: ShortCompletions,
        *,
        mark: float = MARK,
        wait: float = WAIT,
        by_words: LexicalJudge | None = None,
    ) -> None:
        """Ask `completions`.

        Args:
            completions: The model.
            mark: The probability, 0 to 1, from which a claim holds.
            wait: Seconds that a claim waits at most.
            by_words: What judges instead.
        """
        self._completions = completions
        self._template = template_for(completions.model)
        self._mark = mark
        self._wait = wait
        self._by_words = by_words or LexicalJudge()
        self._tells_odds = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self._completions.model

    async def judge(self, question: str, claims: Sequence[CitedClaim]) -> list[Verdict]:
        """Return one verdict a claim, in order; `by` is `WORDS` where the model gave none."""
        likely = await self.probabilities(claims)
        pairs = zip(claims, likely, strict=True)
        return [self._by_words.verdict(c) if p is None else self._verdict(p) for c, p in pairs]

    async def probabilities(self, claims: Sequence[CitedClaim]) -> list[float | None]:
        """Return the model's probability of each claim, 0 to 1; None: it gave none in time."""
        try:
            async with asyncio.timeout(self._wait):
                if self._tells_odds:
                    found = await asyncio.gather(*map(self._ask, claims))
                    if self._tells_odds:
                        return list(found)
                return await self._grades(claims)
        except TimeoutError:
            logger.warning("the judge %s did not answer within %g s", self.name, self._wait)
        except ServiceError as error:
            logger.warning("the judge %s could not be asked: %s", self.name, error)
        return [None] * len(claims)

    async def answers_question(self, question: str, answer: str) -> float | None:
        """Return the probability, 0 to 1, that an answer gives what is asked; None: not known."""
        try:
            async with asyncio.timeout(self._wait):
                return await self._yes_over_no(RELEVANCE, about_answer(question, answer))
        except (TimeoutError, ServiceError) as error:
            logger.warning("the judge %s could not be asked: %s", self.name, error or "too late")
        return None

    def _verdict(self, likely: float) -> Verdict:
        return Verdict(likely, likely >= self._mark, JudgedBy.MODEL)

    async def _ask(self, claim: CitedClaim) -> float | None:
        likely = await self._yes_over_no(self._template.system, self._template.fill(claim))
        self._tells_odds = self._tells_odds and likely is not None
        return likely

    async def _yes_over_no(self, system: str, user: str) -> float | None:
        reply = await self._completions.complete(system, user, tokens=_ONE_WORD)
        return yes_over_no(reply.first) if reply.first else None

    async def _grades(self, claims: Sequence[CitedClaim]) -> list[float | None]:
        """Return what one call says of all claims, for servers without log-probabilities."""
        tokens = 16 + _TOKENS_A_GRADE * len(claims)
        user = all_pending(claims)
        reply = await self._completions.complete(
            GRADES, user, tokens=tokens, schema=_schema(len(claims))
        )
        grades = list(_grades_in(reply.text))
        if len(grades) != len(claims):
            logger.warning(
                "the judge %s graded %d of %d claims", self.name, len(grades), len(claims)
            )
            return [None] * len(claims)
        return [min(max(grade / _BEST_GRADE, 0.0), 1.0) for grade in grades]


def yes_over_no(first: Mapping[str, float]) -> float:
    """Return the probability of yes against no, 0 to 1, from the first token's likeliest words.

    >>> yes_over_no({"Yes": math.log(0.6), "no": math.log(0.2), "The": math.log(0.2)})
    0.75
    """
    mass = {"yes": 0.0, "no": 0.0}
    for token, log_probability in first.items():
        if (word := token.strip(" ▁Ġ.\"'\n").casefold()) in mass:
            mass[word] += math.exp(log_probability)
    yes, no = (max(mass[word], math.exp(_LEAST)) for word in ("yes", "no"))
    return yes / (yes + no)


def _schema(count: int) -> Mapping[str, Any]:
    grades = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 10},
        "minItems": count,
        "maxItems": count,
    }
    return {"type": "object", "properties": {"grades": grades}, "required": ["grades"]}


def _grades_in(text: str) -> Sequence[float]:
    """Return the grades of a reply; none where it is no JSON of the wanted form."""
    start, end = text.find("{"), text.rfind("}")
    try:
        grades = json.loads(text[start : end + 1])["grades"]
        return [float(grade) for grade in grades]
    except (ValueError, TypeError, KeyError):
        return ()
