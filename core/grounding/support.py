"""Decides whether a sentence of an answer may be shown with the words that it quotes."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from core.grounding.flaws import Flaw
from core.grounding.judge.base import AnswerJudge, CitedClaim, JudgedBy, SupportJudge, Verdict
from core.grounding.judge.certain import certain_flaw, is_copied
from core.grounding.judge.in_time import JudgeInTime
from core.grounding.judge.lexical import LexicalJudge
from core.grounding.languages import ENGLISH, language_of
from core.grounding.quoting import QuotedPassage
from core.markdown.code import without_code
from core.providers.base import ChatEnd, ignore
from core.text.sentences import sentences

__all__ = ["Flaw", "QuotedPassage", "Support", "SupportChecker"]

_LONGEST_CLAIM = 800
"""Characters; no sentence is longer, and what is would take long to compare."""


def _of_no_course(course_id: str) -> SupportJudge | None:
    return None


@dataclass(frozen=True, slots=True)
class Support:
    """What was found about one sentence."""

    flaw: Flaw | None = None
    """None: it may be shown."""
    cross_language: bool = False
    """Whether it is in another language than its quotes, which no judge of words can compare."""
    unchecked: bool = False
    """Whether nothing compared it with its quotes but the certain checks, since it is."""
    poisoned: tuple[int, ...] = ()
    """Positions of those quotes whose passages hold planted text."""
    by: JudgedBy = JudgedBy.CODE
    """What the finding rests on."""

    @property
    def by_words_only(self) -> bool:
        """Whether nothing but its words was compared."""
        return self.by is JudgedBy.WORDS


class SupportChecker:
    """Asks code, then a judge, and lets no planted text be cited. Answers may share it."""

    def __init__(
        self,
        judge: SupportJudge | None = None,
        *,
        judge_of: Callable[[str], SupportJudge | None] = _of_no_course,
    ) -> None:
        """Judge by what a course names, else by `judge`.

        Args:
            judge: Decides what code is not certain of; None: the words do.
            judge_of: Returns the judge that a course names by its id; None: `judge`.
        """
        self._judge: SupportJudge = judge or LexicalJudge()
        self._judge_of = judge_of
        self.reads_answers = isinstance(self._judge, AnswerJudge)
        """Whether a model judges, which can tell of a whole answer."""

    def for_answer(self, course_id: str, until: float) -> "SupportChecker":
        """Return a checker for one answer, apart from all others.

        It asks the judge of the course until that leaves a verdict to the words, and until the
        time `until` of `time.monotonic()`; then the words decide.
        """
        own = copy(self)
        judge = self._judge_of(course_id) or self._judge
        own._judge = JudgeInTime(judge, until)
        own.reads_answers = isinstance(judge, AnswerJudge)
        return own

    @property
    def is_free(self) -> bool:
        """Whether a claim would be judged now; else its judge is busy."""
        return not isinstance(self._judge, AnswerJudge) or self._judge.is_free

    async def answers_question(
        self, question: str, answer: str, *, report: Callable[[ChatEnd], None] = ignore
    ) -> Verdict | None:
        """Return what a judging model says of a whole answer; None: not known, or there is none."""
        if not isinstance(self._judge, AnswerJudge):
            return None
        return await self._judge.answers_question(question, answer, report)

    async def judge(
        self,
        sentence: str,
        quotes: Sequence[QuotedPassage],
        *questions: str,
        report: Callable[[ChatEnd], None] = ignore,
    ) -> Support:
        """Return what is wrong with a sentence, if anything, and what that rests on.

        Args:
            sentence: One sentence of an answer.
            quotes: What it rests on.
            questions: What it has to do with: the question first, then a quote or an earlier
                question that it rests on.
            report: Is given each call of a judging model, which has to be paid for.
        """
        if not quotes:
            return Support(Flaw.UNCITED)
        languages = _Languages.of(sentence, quotes, questions)
        flaw, by = await self._flaw(sentence, quotes, questions, languages, report)
        if flaw is not None:
            return Support(flaw, languages.differ, by=by)
        is_translated = languages.differ or languages.is_neither
        unchecked = is_translated and by is JudgedBy.WORDS
        if any(quote.planted.touches(quote.start, quote.end) for quote in quotes):
            flaw = Flaw.OUT_OF_PLACE
        poisoned = tuple(number for number, quote in enumerate(quotes) if quote.planted.spans)
        return Support(flaw, is_translated, unchecked, poisoned, by)

    async def _flaw(
        self,
        sentence: str,
        quotes: Sequence[QuotedPassage],
        questions: Sequence[str],
        languages: "_Languages",
        report: Callable[[ChatEnd], None],
    ) -> tuple[Flaw | None, JudgedBy]:
        """Return what is wrong with the sentence, planted text aside, and who says so."""
        headings = tuple(dict.fromkeys(title for quote in quotes for title in quote.headings))
        whole = CitedClaim(sentence, tuple(quote.text for quote in quotes), headings)
        if len(sentence) > _LONGEST_CLAIM:  # before all that takes long
            return None if is_copied(whole) else Flaw.MEANING, JudgedBy.CODE
        if (flaw := certain_flaw(whole)) is not None or is_copied(whole):
            return flaw, JudgedBy.CODE
        cited = tuple(part for text in whole.sentences for part in sentences(text))
        is_translated = languages.differ or languages.is_neither
        claim = CitedClaim(sentence, cited, headings, is_translated=is_translated)
        question = questions[0] if questions else ""
        (verdict,) = await self._judge.judge(question, [claim], report)
        if languages.is_neither and verdict.by is JudgedBy.WORDS:
            return Flaw.LANGUAGE, JudgedBy.CODE  # only a model can tell what it says
        return None if verdict.holds else Flaw.MEANING, verdict.by


@dataclass(frozen=True, slots=True)
class _Languages:
    """The languages of a sentence and of its quotes."""

    differ: bool
    """Whether the sentence is surely in another language than its quotes."""
    is_neither: bool
    """Whether it is surely in neither the question's language nor that of its quotes."""

    @classmethod
    def of(
        cls, sentence: str, quotes: Sequence[QuotedPassage], questions: Sequence[str]
    ) -> "_Languages":
        own, asked = language_of(without_code(sentence)), language_of(*questions)
        quoted = language_of(without_code("\n\n".join(quote.text for quote in quotes)))
        quoted = quoted or language_of(without_code(quotes[0].content)) or asked or ENGLISH
        # Where in doubt it is the book's language, which is compared more closely.
        differ = asked is not None and own == asked != quoted
        return cls(differ, bool(asked) and own not in {None, asked, quoted})
