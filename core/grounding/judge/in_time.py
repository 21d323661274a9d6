"""A judge for one answer: what it costs in time is bounded, however slow it is."""

import asyncio
import time
from collections.abc import Callable, Sequence

from core.grounding.judge.base import AnswerJudge, CitedClaim, JudgedBy, SupportJudge, Verdict
from core.grounding.judge.lexical import LexicalJudge
from core.providers.base import ChatEnd, ignore


class JudgeInTime:
    """Asks a judge until it leaves a verdict to the words; from then on they decide."""

    def __init__(self, judge: SupportJudge, until: float) -> None:
        """Ask `judge`, until the time `until` of `time.monotonic()` at most."""
        self._judge = judge
        self._until = until
        self._by_words = LexicalJudge()
        self._has_given_up = False

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._judge.name

    @property
    def is_free(self) -> bool:
        """Whether a claim would be judged now."""
        judge = self._judge
        return self._has_given_up or not isinstance(judge, AnswerJudge) or judge.is_free

    async def judge(
        self,
        question: str,
        claims: Sequence[CitedClaim],
        report: Callable[[ChatEnd], None] = ignore,
    ) -> list[Verdict]:
        """Return one verdict a claim, in order; after one that came too late, by the words."""
        if not self._has_given_up:
            try:
                async with self._rest():
                    verdicts = await self._judge.judge(question, claims, report)
            except TimeoutError:
                self._has_given_up = True
            else:
                self._has_given_up = any(one.by is JudgedBy.WORDS for one in verdicts)
                return verdicts
        return await self._by_words.judge(question, claims)

    async def answers_question(
        self, question: str, answer: str, report: Callable[[ChatEnd], None] = ignore
    ) -> Verdict | None:
        """Return whether an answer gives what the question asks for; None: not known."""
        if self._has_given_up or not isinstance(self._judge, AnswerJudge):
            return None
        try:
            async with self._rest():
                return await self._judge.answers_question(question, answer, report)
        except TimeoutError:
            return None

    def _rest(self) -> asyncio.Timeout:
        """Return what ends a call when the answer's time is over."""
        return asyncio.timeout(self._until - time.monotonic())
