"""One draft: a writer's claims, checked one by one before anybody reads them."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from core.answering.answer import Composition
from core.answering.events import TextDelta
from core.answering.quote_context import titles_of
from core.errors import GenerationError
from core.generation.base import (
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    Generator,
    ModelCall,
    NotCovered,
    PlantedTextLeftOut,
)
from core.generation.claims.example import is_fit
from core.generation.times import DEFAULT_TIMES, AnswerTimes
from core.grounding.copied import adds_link, with_code_of
from core.grounding.planted import commands, planted_in
from core.grounding.support import Flaw, QuotedPassage, SupportChecker
from core.models import Chunk
from core.providers.base import ChatEnd
from core.runtime.pauses import Pauses
from core.text.lead_ins import leads_in
from core.text.links import shown_prose

logger = logging.getLogger(__name__)


class Drafting:
    """Lets a writer draft one answer; what passes goes into the composition.

    Afterwards `calls` tells what the writer's model used.
    """

    def __init__(
        self,
        writer: Generator,
        checker: SupportChecker | None,
        composition: Composition,
        times: AnswerTimes = DEFAULT_TIMES,
        may_show: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """Let `writer` draft; `checker` None: what it says are its quotes, word for word.

        `may_show` is asked of each sentence that would be shown.
        """
        self._may_show = may_show
        self._writer = writer
        self._checker = checker
        self._composition = composition
        self._times = times
        self._released: set[str] = set()
        self._lead_in: Claim | None = None
        """What waits for the claim behind it: it stands and falls with that."""
        self._has_example = False
        self.calls: list[ModelCall] = []
        self.judge_calls: list[ModelCall] = []
        """What a judging model used."""

    @property
    def told(self) -> str:
        """What the writer's model was told of the book and the quote; empty without a model."""
        return "\n\n".join(call.context for call in self.calls if call.context)

    async def write(self, task: GenerationTask) -> AsyncGenerator[TextDelta, None]:
        """Yield each claim's text once it has passed.

        Raises:
            GenerationError: when the writer fails, takes too long, or lets nothing pass by
                `task.deadline`.
        """
        task = replace(task, report=self.calls.append)
        until = time.monotonic() + self._times.whole
        draft = self._checked(self._writer.generate(task), task, until)
        async with aclosing(draft) as deltas:
            async for delta in deltas:
                yield delta

    def _note_judge(self, end: ChatEnd) -> None:
        self.judge_calls.append(
            ModelCall(end.model, end.query_tokens, end.response_tokens, service=end.service)
        )

    async def _checked(
        self,
        draft: AsyncGenerator[DraftPart, None],
        task: GenerationTask,
        until: float,
    ) -> AsyncGenerator[TextDelta, None]:
        tally, pauses = self._composition.tally, Pauses()
        async with aclosing(draft) as parts:
            while True:
                await pauses.take_one_if_due()
                waiting = task.deadline is not None and not tally.released
                limit = min(until, task.deadline) if waiting and task.deadline else until
                part = await _next(parts, limit)
                match part:
                    case None:
                        return
                    case NotCovered():
                        tally.not_covered = True
                        if part.part is not None:
                            yield self._composition.add_without(
                                part.part, within=task.section is not None
                            )
                    case CutShort():
                        tally.cut_short = True
                    case PlantedTextLeftOut():
                        self._composition.leave_out(task.evidence[part.chunk_number])
                    case Claim(example=True):
                        if (delta := await self._admit_example(part, task)) is not None:
                            yield delta
                    case Claim() if leads_in(part.text, _topic(task)):
                        self._lead_in = part
                    case Claim() if part.text not in self._released:
                        tally.written += 1
                        if (delta := await self._admit(part, task)) is not None:
                            yield delta

    async def _admit_example(self, claim: Claim, task: GenerationTask) -> TextDelta | None:
        """Return the text of a model's own example, which only ever follows what is cited."""
        tally = self._composition.tally
        text = shown_prose(claim.text)
        known = [passage.text for passage in task.passages()]
        if self._checker is None or not tally.released or self._has_example:
            return None
        if not is_fit(text, task) or adds_link(text, known) or not self._may_show(text):
            return None
        if commands(text):
            return None
        self._has_example = True
        return self._composition.add_example(replace(claim, text=text))

    async def _admit(self, claim: Claim, task: GenerationTask) -> TextDelta | None:
        places = self._composition.locate(claim)
        evidence = self._composition.evidence
        quotes = [_quoted(evidence[number], start, end) for number, start, end in places]
        if self._checker is not None:  # what is checked is what is shown
            text = with_code_of(shown_prose(claim.text), [quote.text for quote in quotes])
            claim = replace(claim, text=text)
        if claim.cites_unknown:
            flaw: Flaw | None = Flaw.INVENTED_QUOTE
        elif not claim.quotes:
            flaw = Flaw.UNCITED
        elif not quotes or not claim.text.strip():
            flaw = Flaw.INVENTED_QUOTE
        elif self._checker is None:
            flaw = None
        else:
            support = await self._checker.judge(
                claim.text, quotes, *task.asked, report=self._note_judge
            )
            flaw = support.flaw
            for position in support.poisoned:
                self._composition.leave_out(evidence[places[position].chunk_number])
            if support.cross_language and flaw is None:
                self._composition.tally.translated = True
            if support.by_words_only and flaw is None:
                self._composition.tally.by_words_only = True
        if flaw is None and self._may_show(claim.text):
            self._released.add(claim.text)
            lead_in, self._lead_in = self._lead_in, None
            return self._composition.add(claim, places, lead_in)
        if not _is_item(claim):  # of a list, the next item may stand
            self._lead_in = None
        logger.debug("a claim was rejected: %s", flaw)
        return None


def _is_item(claim: Claim) -> bool:
    return claim.lead is not None and not claim.lead.isspace()


def _topic(task: GenerationTask) -> str:
    """Return the words that a line may use that only leads in to what the book says."""
    passages = (passage.text for passage in task.passages())
    return " ".join((task.question, task.selected_text or "", *passages))


def _quoted(chunk: Chunk, start: int, end: int) -> QuotedPassage:
    return QuotedPassage(chunk.content_text, start, end, titles_of(chunk), planted_in(chunk))


async def _next(parts: AsyncGenerator[DraftPart, None], until: float) -> DraftPart | None:
    """Return the next part, or none at the end.

    Raises:
        GenerationError: when it has not come at the time `until` of `time.monotonic()`.
    """
    try:
        async with asyncio.timeout(until - time.monotonic()):
            return await anext(parts, None)
    except TimeoutError as error:
        raise GenerationError("the writer let nothing pass in time") from error
