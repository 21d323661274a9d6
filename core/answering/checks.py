"""The checks that a draft passes claim by claim, before anything of it is shown."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from core.answering.answer import AnswerDraft
from core.answering.context import AnswerContext
from core.answering.quote_context import titles_of
from core.generation.base import (
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    NotCovered,
    PlantedTextLeftOut,
)
from core.generation.passages.citable import leans_on_previous
from core.grounding.citations import CitedPlace
from core.grounding.judge.certain import adds_link, with_code_of
from core.grounding.planted import commands
from core.grounding.support import Flaw, JudgedBy, QuotedPassage, SupportChecker
from core.models import EXPLAIN_QUOTE, RetrievedChunk
from core.text.lead_ins import leads_in
from core.text.links import shown_prose, without_markers

logger = logging.getLogger(__name__)


class DraftChecks:
    """Takes a draft's parts up into the answer as far as they pass."""

    def __init__(
        self,
        context: AnswerContext,
        draft: AnswerDraft,
        task: GenerationTask,
        checker: SupportChecker | None,
    ) -> None:
        """Check what is written of `task`; `checker` None: it is its quotes, word for word."""
        self._context = context
        self._draft = draft
        self._task = task
        self._checker = checker
        self._shown: set[str] = set()
        self._lead_in: Claim | None = None
        """What waits for the claim after it: it stands and falls with that."""
        self._has_example = False
        self._after_gap = False
        """Whether the claim before was not shown."""

    @property
    def are_free(self) -> bool:
        """Whether the next claim would be judged now."""
        return self._checker is None or self._checker.is_free

    async def judge_whole(self, checker: SupportChecker) -> None:
        """Ask once whether the finished answer answers the question; the tally learns it."""
        draft, task = self._draft, self._task
        is_explaining = task.question == EXPLAIN_QUOTE or self._context.again is not None
        if not draft.tally.released or is_explaining:
            return
        question = task.asked[-1] if task.leans and task.history else task.question
        self._draft.tally.relevance = await checker.answers_question(
            question, without_markers(draft.text), report=self._context.note_judge
        )

    async def take(self, part: DraftPart) -> None:
        """Add to the answer what passes of a part."""
        draft, tally = self._draft, self._draft.tally
        match part:
            case NotCovered():
                tally.not_covered = True
                if part.part is not None:
                    draft.add_without(part.part, within=self._task.section is not None)
            case CutShort():
                tally.cut_short = True
            case PlantedTextLeftOut():
                draft.leave_out(draft.material.chunks[part.chunk_number])
            case Claim(example=True):
                await self._take_example(part)
            case Claim() if leads_in(part.text, self._topic()):
                self._lead_in = part
            case Claim() if part.text not in self._shown:
                tally.written += 1
                await self._take_claim(part)

    async def _take_example(self, claim: Claim) -> None:
        """Take up a model's own example, which only ever follows what is cited."""
        task, text = self._task, shown_prose(claim.text)
        if self._checker is None or not self._draft.tally.released or self._has_example:
            return
        from core.generation.claims.example import is_fit  # only a model's draft has one

        known = [passage.text for passage in task.passages()]
        if not is_fit(text, task) or adds_link(text, known) or not self._context.may_show(text):
            return
        if commands(text):
            return
        self._has_example = True
        self._draft.add_example(replace(claim, text=text))

    async def _take_claim(self, claim: Claim) -> None:
        places = self._draft.locate(claim)
        evidence = self._draft.material.chunks
        quotes = [self._quoted(evidence[number], start, end) for number, start, end in places]
        if self._checker is not None:  # what is checked is what is shown
            text = with_code_of(shown_prose(claim.text), [quote.text for quote in quotes])
            claim = replace(claim, text=text)
        flaw = _flaw_of_form(claim, quotes)
        if self._after_gap and not _is_item(claim) and leans_on_previous(claim.text):
            flaw = Flaw.LEANS
        if flaw is None and self._checker is not None:
            flaw = await self._flaw_of_content(self._checker, claim, quotes, places)
        if flaw is None and self._context.may_show(claim.text):
            self._shown.add(claim.text)
            lead_in, self._lead_in = self._lead_in, None
            self._draft.add(claim, places, lead_in)
            self._after_gap = False
            return
        self._draft.pass_over(claim)
        says_nothing = flaw is Flaw.UNCITED and not self._draft.tally.released
        self._after_gap = self._checker is not None and not says_nothing
        if not _is_item(claim):  # of a list, the next item may stand
            self._lead_in = None
        logger.debug("a claim was rejected: %s", flaw or "held back")

    async def _flaw_of_content(
        self,
        checker: SupportChecker,
        claim: Claim,
        quotes: Sequence[QuotedPassage],
        places: Sequence[CitedPlace],
    ) -> Flaw | None:
        """Return what the checker finds wrong; the draft's tally learns what else it found."""
        draft, tally = self._draft, self._draft.tally
        support = await checker.judge(
            claim.text, quotes, *self._task.asked, report=self._context.note_judge
        )
        for position in support.poisoned:
            draft.leave_out(draft.material.chunks[places[position].chunk_number])
        if support.flaw is None:
            tally.translated = tally.translated or support.is_translated
            tally.unchecked = tally.unchecked or support.is_unchecked
            tally.by_words_only = tally.by_words_only or support.by is JudgedBy.WORDS
        return support.flaw

    def _quoted(self, chunk: RetrievedChunk, start: int, end: int) -> QuotedPassage:
        planted = self._task.planted_in(chunk)
        return QuotedPassage(chunk.content_text, start, end, titles_of(chunk), planted)

    def _topic(self) -> str:
        """Return the words that a line may use that only leads in to what the book says."""
        task = self._task
        passages = (passage.text for passage in task.passages())
        return " ".join((task.question, task.selected_text or "", *passages))


def _flaw_of_form(claim: Claim, quotes: Sequence[QuotedPassage]) -> Flaw | None:
    """Return what is wrong with how a claim cites."""
    if claim.cites_unknown:
        return Flaw.INVENTED_QUOTE
    if not claim.quotes:
        return Flaw.UNCITED
    return None if quotes and claim.text.strip() else Flaw.INVENTED_QUOTE


def _is_item(claim: Claim) -> bool:
    return claim.lead is not None and not claim.lead.isspace()
