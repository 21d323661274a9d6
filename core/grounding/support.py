"""Decides whether a sentence of an answer may be shown with the words that it quotes."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.grounding.judge.base import (
    AnswerJudge,
    CitedClaim,
    Flaw,
    JudgedBy,
    Report,
    SupportJudge,
    Verdict,
)
from core.grounding.judge.certain import certain_flaw, is_copied
from core.grounding.judge.lexical import LexicalJudge
from core.grounding.languages import ENGLISH, language_of
from core.grounding.quoting import QuotedPassage
from core.markdown.code import without_code
from core.providers.base import ignore
from core.text.sentences import sentences

__all__ = ["Flaw", "JudgedBy", "QuotedPassage", "Support", "SupportChecker"]

_LONGEST_CLAIM = 800
"""Characters; no sentence is longer, and what is would take long to compare."""
_BY_WORDS = LexicalJudge()


@dataclass(frozen=True, slots=True)
class Support:
    """What was found about one sentence."""

    flaw: Flaw | None = None
    """None: it may be shown."""
    by: JudgedBy = JudgedBy.CODE
    """What the finding rests on."""
    is_translated: bool = False
    """Whether it is surely in another language than its quotes."""
    poisoned: tuple[int, ...] = ()
    """Positions of those quotes whose passages hold planted text."""

    @property
    def is_unchecked(self) -> bool:
        """Whether only the certain checks compared it: words of two languages say nothing."""
        return self.is_translated and self.by is JudgedBy.WORDS


@dataclass(eq=False)
class SupportChecker:
    """Asks code, then a judge, and lets no planted text be cited.

    What a judge costs in time is bounded, however slow it is: after a verdict that it left to the
    words, these decide on the rest of the answer.
    """

    judge_of: Callable[[str], SupportJudge | None] = lambda course_id: None
    """Returns the judge for a course's id; None: the words decide."""
    _judge: SupportJudge = _BY_WORDS
    _until: float = math.inf
    """The `time.monotonic()` at which the answer has to be complete."""
    _has_given_up: bool = False

    def for_answer(self, course_id: str, until: float) -> "SupportChecker":
        """Return a checker for one answer of a course, apart from all others.

        Its judge is asked until the time `until` of `time.monotonic()`.
        """
        return SupportChecker(self.judge_of, self.judge_of(course_id) or _BY_WORDS, until)

    @property
    def reads_answers(self) -> bool:
        """Whether a model judges, which can tell of a whole answer."""
        return isinstance(self._judge, AnswerJudge)

    @property
    def is_free(self) -> bool:
        """Whether a claim would be judged now; else its judge is busy."""
        judge = self._judge
        return self._has_given_up or not isinstance(judge, AnswerJudge) or judge.is_free

    async def answers_question(
        self, question: str, answer: str, *, report: Report = ignore
    ) -> Verdict | None:
        """Return what a judging model says of a whole answer; None: not known, or there is none."""
        if self._has_given_up or not isinstance(self._judge, AnswerJudge):
            return None
        try:
            async with self._time_left():
                return await self._judge.answers_question(question, answer, report)
        except TimeoutError:
            return None

    async def judge(
        self,
        sentence: str,
        quotes: Sequence[QuotedPassage],
        *questions: str,
        report: Report = ignore,
    ) -> Support:
        """Return what is wrong with a sentence, if anything, and what that rests on.

        Args:
            sentence: One sentence of an answer.
            quotes: What it rests on.
            questions: What it has to do with: the question first, then a quote or an earlier
                question that it rests on.
        """
        if not quotes:
            return Support(Flaw.UNCITED)
        own, asked = language_of(without_code(sentence)), language_of(*questions)
        quoted = _language_of_quotes(quotes) or asked or ENGLISH
        is_translated = asked is not None and own not in (None, quoted)
        claim = _cited(sentence, quotes, is_translated=is_translated)
        flaw, by = await self._checked(claim, report)
        if is_translated and own != asked and by is JudgedBy.WORDS:
            flaw = Flaw.LANGUAGE  # only a model can tell what it says
        if flaw is not None:
            return Support(flaw, by, is_translated)
        if any(quote.planted.touches(quote.start, quote.end) for quote in quotes):
            flaw = Flaw.PLANTED
        poisoned = tuple(number for number, quote in enumerate(quotes) if quote.planted.spans)
        return Support(flaw, by, is_translated, poisoned)

    async def _checked(self, claim: CitedClaim, report: Report) -> tuple[Flaw | None, JudgedBy]:
        """Return what is wrong with a claim, by code where it is certain, else by the judge."""
        if len(claim.text) > _LONGEST_CLAIM:  # before all that takes long
            return None if is_copied(claim) else Flaw.MEANING, JudgedBy.CODE
        flaw = certain_flaw(claim)
        if flaw is not None or is_copied(claim):
            return flaw, JudgedBy.CODE
        verdict = await self._verdict(claim, report)
        return None if verdict.holds else Flaw.MEANING, verdict.by

    async def _verdict(self, claim: CitedClaim, report: Report) -> Verdict:
        if self._has_given_up:
            return _BY_WORDS.verdict(claim)
        try:
            async with self._time_left():
                verdict = await self._judge.judge(claim, report)
        except TimeoutError:
            verdict = _BY_WORDS.verdict(claim)
        self._has_given_up = verdict.by is JudgedBy.WORDS
        return verdict

    def _time_left(self) -> asyncio.Timeout:
        """Return what ends a call when the answer's time is over."""
        left = self._until - time.monotonic()
        return asyncio.timeout(left if math.isfinite(left) else None)


def _cited(sentence: str, quotes: Sequence[QuotedPassage], *, is_translated: bool) -> CitedClaim:
    return CitedClaim(
        sentence,
        tuple(part for quote in quotes for part in sentences(quote.text)),
        tuple(dict.fromkeys(title for quote in quotes for title in quote.headings)),
        tuple(dict.fromkeys(quote.unplanted for quote in quotes)),
        is_translated=is_translated,
    )


def _language_of_quotes(quotes: Sequence[QuotedPassage]) -> str | None:
    """Return the language of the quotes, or else of the text around them."""
    quoted = "\n\n".join(quote.text for quote in quotes)
    return language_of(without_code(quoted)) or language_of(without_code(quotes[0].content))
