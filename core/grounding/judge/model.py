"""Asks a language model whether sentences say what a claim says, by its log-probabilities."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from core.grounding.judge.base import CitedClaim, JudgedBy, Verdict
from core.grounding.judge.lexical import LexicalJudge
from core.grounding.judge.questions import (
    BELONGING,
    FACT_CHECKER,
    GRADES,
    GRADES_IN_LINES,
    ONE_ANSWER,
    RELEVANCE,
    RELEVANCE_GRADE,
    about_answer,
    about_assignment,
    about_two_questions,
    all_pending,
    template_for,
)
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Deadline,
    Schema,
    ignore,
)
from core.providers.failures import ProviderFailure

logger = logging.getLogger(__name__)

Report = Callable[[ChatEnd], None]
"""Is given each call of the model, which has to be paid for."""

MARK = 0.73
"""Probability from which a claim holds: a log-probability of yes over no of 1."""
RELEVANCE_MARK = 0.5
"""Probability from which an answer answers its question."""
WAIT = 1.5
"""Seconds that a claim waits for the model, unless settings say otherwise."""
_ONE_WORD = 1
_LIKELIEST = 10
"""First tokens of which the log-probabilities are returned."""
_TOKENS_A_GRADE = 4
_TOKENS_TO_THINK = 512
_MOST_WITHOUT_ODDS = 2
"""Replies in a row without a verdict in their log-probabilities, before none are asked for."""
_ODDS_AGAIN = 600.0
"""Seconds after which they are asked for again: a server may have been replaced meanwhile."""
_BEST_GRADE = 10.0
_LEAST = -20.0
"""Log-probability of a word that is not among the likeliest."""


class ModelJudge:
    """Lets a model judge claims; one that it does not judge in time is judged by its words."""

    def __init__(
        self,
        model: ChatModel,
        *,
        mark: float = MARK,
        relevance_mark: float = RELEVANCE_MARK,
        wait: float = WAIT,
        by_words: LexicalJudge | None = None,
    ) -> None:
        """Ask `model`.

        Args:
            model: Answers in a word, or grades.
            mark: The probability, 0 to 1, from which a claim holds.
            relevance_mark: The probability, 0 to 1, from which an answer answers its question.
            wait: Seconds that a claim waits at most.
            by_words: What judges instead.
        """
        self._model = model
        self._template = template_for(model.name)
        self._mark = mark
        self._relevance_mark = relevance_mark
        self._wait = wait
        self._by_words = by_words or LexicalJudge()
        self._without_odds = 0
        self._odds_again = 0.0
        """When log-probabilities are asked for again, by `time.monotonic()`."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def is_free(self) -> bool:
        """Whether the model would take a call now."""
        return self._model.is_free

    async def judge(
        self, question: str, claims: Sequence[CitedClaim], report: Report = ignore
    ) -> list[Verdict]:
        """Return one verdict a claim, in order; `by` is `WORDS` where the model gave none."""
        likely = await self.probabilities(claims, report)
        pairs = zip(claims, likely, strict=True)
        return [self._by_words.verdict(c) if p is None else self._verdict(p) for c, p in pairs]

    async def probabilities(
        self, claims: Sequence[CitedClaim], report: Report = ignore
    ) -> list[float | None]:
        """Return the model's probability of each claim, 0 to 1; None: it gave none in time."""
        asking = self._asking(report)
        try:
            if self._tells_odds():
                found = await asyncio.gather(*(self._ask(asking, claim) for claim in claims))
                if None not in found:
                    return list(found)
            return await self._grades(asking, GRADES, all_pending(claims), len(claims))
        except ProviderFailure as failure:
            logger.warning("the judge %s gave no verdict: %s", self.name, failure)
        return [None] * len(claims)

    async def answers_question(
        self, question: str, answer: str, report: Report = ignore
    ) -> Verdict | None:
        """Return whether an answer gives what is asked; None: not known.

        A model that was trained on claims alone does not know it.
        """
        if self._template is FACT_CHECKER:
            return None
        asking, about, likely = self._asking(report), about_answer(question, answer), None
        try:
            if self._tells_odds():
                likely = await asking.yes_over_no(RELEVANCE, about)
            if likely is None:
                [likely] = await self._grades(asking, RELEVANCE_GRADE, about, 1)
        except ProviderFailure as failure:
            logger.warning("the judge %s gave no verdict: %s", self.name, failure)
        if likely is None:
            return None
        return Verdict(likely, likely >= self._relevance_mark, JudgedBy.MODEL)

    def _asking(self, report: Report) -> "_Asking":
        return _Asking(self._model, Deadline.after(self._wait), report)

    def _tells_odds(self) -> bool:
        """Return whether log-probabilities are worth asking for."""
        if self._without_odds < _MOST_WITHOUT_ODDS:
            return True
        if time.monotonic() < self._odds_again:
            return False
        self._without_odds = _MOST_WITHOUT_ODDS - 1  # once, unless they are there
        return True

    async def belongs_to(
        self, question: str, assignment: str, report: Report = ignore
    ) -> float | None:
        """Return the probability, 0 to 1, that a question is about a task; None: not known."""
        asking = _Asking(self._model, Deadline.after(self._wait), report)
        try:
            return await asking.yes_over_no(BELONGING, about_assignment(question, assignment))
        except ProviderFailure as failure:
            logger.warning("the judge %s gave no verdict: %s", self.name, failure)
        return None

    async def serves_both(
        self, asked: str, question: str, answer: str, report: Report = ignore
    ) -> float | None:
        """Return the probability, 0 to 1, that an answer to one question serves another.

        None: it is not known.

        Args:
            asked: The other question.
            question: What the answer was given to.
        """
        asking = _Asking(self._model, Deadline.after(self._wait), report)
        try:
            return await asking.yes_over_no(
                ONE_ANSWER, about_two_questions(question, answer, asked)
            )
        except ProviderFailure as failure:
            logger.warning("the judge %s gave no verdict: %s", self.name, failure)
        return None

    def _verdict(self, likely: float) -> Verdict:
        return Verdict(likely, likely >= self._mark, JudgedBy.MODEL)

    async def _ask(self, asking: "_Asking", claim: CitedClaim) -> float | None:
        likely = await asking.yes_over_no(self._template.system, self._template.fill(claim))
        self._without_odds = 0 if likely is not None else self._without_odds + 1
        if likely is None:
            self._odds_again = time.monotonic() + _ODDS_AGAIN
        return likely

    async def _grades(
        self, asking: "_Asking", system: str, user: str, count: int
    ) -> list[float | None]:
        """Return so many grades of one call, for services without log-probabilities."""
        tokens = _TOKENS_TO_THINK + _TOKENS_A_GRADE * count
        schema = Schema("grades", _schema(count), GRADES_IN_LINES)
        end = await asking.end(system, user, tokens, schema=schema)
        grades = list(_grades_in(end.message.text))
        if len(grades) != count:
            logger.warning("the judge %s gave %d grades for %d", self.name, len(grades), count)
            return [None] * count
        return [min(max(grade / _BEST_GRADE, 0.0), 1.0) for grade in grades]


@dataclass(frozen=True, slots=True)
class _Asking:
    """A model, and until when it is asked for one verdict."""

    model: ChatModel
    deadline: Deadline
    report: Report

    async def yes_over_no(self, system: str, user: str) -> float | None:
        """Return the probability of yes, 0 to 1; None: there is neither yes nor no to be seen."""
        end = await self.end(system, user, _ONE_WORD, likeliest=_LIKELIEST)
        return yes_over_no(end.logprobs[0]) if end.logprobs else None

    async def end(
        self,
        system: str,
        user: str,
        tokens: int,
        *,
        likeliest: int = 0,
        schema: Schema | None = None,
    ) -> ChatEnd:
        """Return the whole reply.

        Raises:
            ProviderFailure: when there is none by the deadline.
        """
        request = ChatRequest(
            system,
            [ChatMessage("user", user)],
            max_tokens=tokens,
            temperature=0.0,
            schema=schema,
            stream=False,
            retry=False,
            top_logprobs=likeliest,
        )
        async with aclosing(self.model.reply(request, self.deadline, self.report)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatEnd):
                    return piece
        raise ProviderFailure(f"{self.model.name} said nothing")


def yes_over_no(first: Mapping[str, float]) -> float | None:
    """Return the probability of yes against no, 0 to 1, from the first token's likeliest words.

    None: it is neither.

    >>> yes_over_no({"Yes": math.log(0.6), "no": math.log(0.2), "The": math.log(0.2)})
    0.75
    """
    mass = {"yes": 0.0, "no": 0.0}
    for token, log_probability in first.items():
        if (word := token.strip(" ▁Ġ.\"'\n").casefold()) in mass:
            mass[word] += math.exp(log_probability)
    if not any(mass.values()):
        return None
    yes, no = (max(mass[word], math.exp(_LEAST)) for word in ("yes", "no"))
    return yes / (yes + no)


def _schema(count: int) -> Mapping[str, Any]:
    grades = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 10},
        "minItems": count,
        "maxItems": count,
    }
    return {
        "type": "object",
        "properties": {"grades": grades},
        "required": ["grades"],
        "additionalProperties": False,
    }


def _grades_in(text: str) -> Sequence[float]:
    """Return the grades of a reply in JSON, or else the numbers in its lines.

    None at all where one is no finite number, or the JSON is deeper than Python reads it.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])["grades"] if start >= 0 else text.split()
        grades = [float(grade) for grade in found]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return ()
    return grades if all(map(math.isfinite, grades)) else ()
