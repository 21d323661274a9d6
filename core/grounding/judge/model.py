"""Asks a language model whether sentences say what a claim says, by its log-probabilities."""

import json
import logging
import math
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field

from core.grounding.judge.base import CitedClaim, JudgedBy, Report, Verdict
from core.grounding.judge.lexical import LexicalJudge
from core.grounding.judge.questions import (
    GRADE_ALONE,
    YesOrNo,
    about_answer,
    about_assignment,
    about_claim,
    about_two_questions,
    checks_facts_alone,
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

MARK = 0.73
"""Probability from which a claim holds: a log-probability of yes over no of 1."""
RELEVANCE_MARK = 0.5
"""Probability from which an answer answers its question."""
WAIT = 1.5
"""Seconds that a claim waits for the model, unless settings say otherwise."""
_BY_WORDS = LexicalJudge()
_ONE_WORD = 1
_LIKELIEST = 10
"""First tokens of which the log-probabilities are returned."""
_TOKENS_TO_GRADE = 512
"""Thinking included."""
_MOST_WITHOUT_ODDS = 2
"""Replies in a row without a verdict in their log-probabilities, before none are asked for."""
_ODDS_AGAIN = 600.0
"""Seconds after which they are asked for again: a server may have been replaced meanwhile."""
_BEST_GRADE = 10.0
_GRADE = Schema(
    "grade",
    {
        "type": "object",
        "properties": {"grade": {"type": "integer"}},
        "required": ["grade"],
        "additionalProperties": False,
    },
    GRADE_ALONE,
)


@dataclass(eq=False)
class ModelJudge:
    """Lets a model judge claims; one that it does not judge in time is judged by its words."""

    model: ChatModel
    """Answers in a word, or grades."""
    _: KW_ONLY
    mark: float = MARK
    """The probability, 0 to 1, from which a claim holds."""
    relevance_mark: float = RELEVANCE_MARK
    """The probability, 0 to 1, from which an answer answers its question."""
    wait: float = WAIT
    """Seconds that a claim waits at most."""
    _without_odds: int = field(default=0, init=False)
    """Replies in a row without a verdict in their log-probabilities."""
    _odds_again: float = field(default=0.0, init=False)
    """When log-probabilities are asked for again, by `time.monotonic()`."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def is_free(self) -> bool:
        """Whether the model would take a call now."""
        return self.model.is_free

    async def judge(self, claim: CitedClaim, report: Report = ignore) -> Verdict:
        """Return the verdict on a claim; `by` is `WORDS` where the model gave none in time."""
        likely = await self.probability(claim, report)
        if likely is None:
            return _BY_WORDS.verdict(claim)
        return Verdict(likely, likely >= self.mark, JudgedBy.MODEL)

    async def probability(self, claim: CitedClaim, report: Report = ignore) -> float | None:
        """Return the model's probability of a claim, 0 to 1; None: it gave none in time."""
        return await self._likely(about_claim(claim, self.name), report)

    async def answers_question(
        self, question: str, answer: str, report: Report = ignore
    ) -> Verdict | None:
        """Return whether an answer gives what is asked; None: not known.

        A model that was trained on claims alone does not know it.
        """
        if checks_facts_alone(self.name):
            return None
        likely = await self._likely(about_answer(question, answer), report)
        if likely is None:
            return None
        return Verdict(likely, likely >= self.relevance_mark, JudgedBy.MODEL)

    async def belongs_to(
        self, question: str, assignment: str, report: Report = ignore
    ) -> float | None:
        """Return the probability, 0 to 1, that a question is about a task; None: not known."""
        return await self._likely(about_assignment(question, assignment), report)

    async def serves_both(
        self, asked: str, question: str, answer: str, report: Report = ignore
    ) -> float | None:
        """Return the probability, 0 to 1, that an answer to one question serves another.

        None: it is not known.

        Args:
            asked: The other question.
            question: What the answer was given to.
        """
        return await self._likely(about_two_questions(question, answer, asked), report)

    async def _likely(self, asked: YesOrNo, report: Report) -> float | None:
        """Return the probability of yes, 0 to 1; None: the model gave none in time.

        Where its service tells no log-probabilities, its grade stands for it.
        """
        deadline = Deadline.after(self.wait)
        try:
            if self._tells_odds():
                request = _request(asked.system, asked.user, _ONE_WORD, likeliest=_LIKELIEST)
                end = await self._end(request, deadline, report)
                likely = yes_over_no(end.logprobs[0]) if end.logprobs else None
                if likely is not None:
                    self._without_odds = 0
                    return likely
                self._without_odds += 1
                self._odds_again = time.monotonic() + _ODDS_AGAIN
            if asked.graded is None:
                return None
            request = _request(*asked.graded, _TOKENS_TO_GRADE, schema=_GRADE)
            end = await self._end(request, deadline, report)
        except ProviderFailure as failure:
            logger.warning("the judge %s gave no verdict: %s", self.name, failure)
            return None
        grade = _grade_in(end.message.text)
        if grade is None:
            logger.warning("the judge %s gave no grade", self.name)
        return grade

    def _tells_odds(self) -> bool:
        """Return whether log-probabilities are worth asking for."""
        if self._without_odds < _MOST_WITHOUT_ODDS:
            return True
        return time.monotonic() >= self._odds_again

    async def _end(self, request: ChatRequest, deadline: Deadline, report: Report) -> ChatEnd:
        """Return the whole reply.

        Raises:
            ProviderFailure: when there is none by the deadline.
        """
        async with aclosing(self.model.reply(request, deadline, report)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatEnd):
                    return piece
        raise ProviderFailure(f"{self.name} said nothing")


def _request(
    system: str, user: str, tokens: int, *, likeliest: int = 0, schema: Schema | None = None
) -> ChatRequest:
    return ChatRequest(
        system,
        [ChatMessage("user", user)],
        max_tokens=tokens,
        temperature=0.0,
        schema=schema,
        stream=False,
        retry=False,
        top_logprobs=likeliest,
    )


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
    total = sum(mass.values())
    return mass["yes"] / total if total else None


def _grade_in(text: str) -> float | None:
    """Return the grade of a reply in JSON, or else in a line, from 0 to 1.

    None: it is no finite number, or the JSON is deeper than Python reads it.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        grade = float(json.loads(text[start : end + 1])["grade"] if start >= 0 else text)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return min(max(grade / _BEST_GRADE, 0.0), 1.0) if math.isfinite(grade) else None
