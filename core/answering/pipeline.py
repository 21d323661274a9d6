"""The pipeline of an answer: early stages, search, writing, checks, and the finished response.

1. Early stages (`core.answering.stages`), in the order that `Agent` was given them, before the
   book is searched: one may answer by itself, or say how the pipeline goes on.
2. The book is searched.
3. A model writes where it may be paid for. Each claim is checked before it is shown, by the guards
   of the early stages too.
4. Where no model may write, or its draft comes to nothing, the book's own words are shown.
5. A judging model is asked once whether the answer answers the question, where it may be paid for
   and no model has failed.

All state is in one `AnswerContext`, and one rule takes text back: `AnswerContext.show`.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from core.answering.answer import AnswerDraft
from core.answering.assurance import Emptiness
from core.answering.checks import DraftChecks
from core.answering.context import AnswerContext
from core.answering.events import AgentEvent, AnswerEvent, SectionsFound
from core.answering.search import search
from core.answering.spending import Spending
from core.answering.stages import EarlyStage, run_early
from core.answering.task import carries, second_look, task_of
from core.errors import (
    GenerationError,
    ServiceError,
    StoreError,
    TokenLimitReached,
    UnknownSection,
    VectorIndexError,
)
from core.generation.base import DraftPart, GenerationTask, Generator, ModelCall
from core.generation.times import AnswerTimes
from core.grounding.confidence import is_close, is_covered, located_of, outcome_of
from core.grounding.languages import is_in_another_language
from core.grounding.support import SupportChecker
from core.i18n import current_language, in_language, text
from core.models import EXPLAIN_QUOTE, EXTRACTIVE, AgentResponse, Outcome, ResponseState, now
from core.retrieval.evidence import Excerpt
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from core.runtime.pauses import Pauses
from core.verified_answers.prompt_passages import passage_of

logger = logging.getLogger(__name__)


class Pipeline:
    """Answers a question whose conversation is known; stores nothing."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        generator: Generator,
        fallback: Generator,
        checker: SupportChecker,
        spending: Spending,
        request_tokens: int | None,
        times: AnswerTimes,
        stages: Sequence[EarlyStage],
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._fallback = fallback
        self._checker = checker
        self._spending = spending
        self._request_tokens = request_tokens
        self._times = times
        self._stages = stages

    async def run(
        self, context: AnswerContext, searching: asyncio.Task[Retrieval] | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, and last the response.

        A service that fails is reported in the response, but for the database: it could not keep
        that response, and another try may succeed.

        Args:
            context: What is asked, and the conversation before it.
            searching: The search, where it is under way already.
        """
        try:
            if (early := await run_early(self._stages, context)) is not None:
                yield early
                return
            context.retrieval = await (searching or self.search(context))
            leans = {"leans": context.retrieval.leans}
            context.pending = context.pending.model_copy(update=leans)
            if reading := context.retrieval.read_sections:
                yield SectionsFound(reading)
            async with aclosing(self.answer(context)) as events:
                async for event in events:
                    yield event
        except StoreError:
            raise
        except ServiceError as error:
            logger.warning("the turn failed: %s: %s", type(error).__name__, error)
            yield self._failed(context, error)

    async def search(self, context: AnswerContext) -> Retrieval:
        """Return what the book holds; the context knows then whether an answer is wanted again."""
        return await search(self._retriever, context)

    async def answer(self, context: AnswerContext) -> AsyncGenerator[AnswerEvent, None]:
        """Yield a model's answer to what was found, or the book's own words; last the response.

        Raises:
            GenerationError: when the book's own words cannot be chosen.
        """
        instead_of, is_judged = None, not self._is_written(context)
        if await self._may_ask_model(context):
            draft = AnswerDraft(context.retrieval, by_model=True)
            try:
                async with aclosing(self._write(context, draft, self._generator)) as events:
                    async for event in events:
                        yield event
            except GenerationError as error:
                _note_failure(context, draft, error)
            else:
                if (instead_of := draft.emptiness) is None:
                    yield self._finished(context, draft)
                    return
                _note_emptiness(context, draft, instead_of)
                is_judged = instead_of is Emptiness.NOTHING_HELD
        draft = AnswerDraft(context.retrieval, instead_of=instead_of)
        writing = self._write(context, draft, self._fallback, is_judged=is_judged)
        async with aclosing(writing) as events:
            async for event in events:
                yield event
        yield self._finished(context, draft)

    def refused(self, context: AnswerContext, error: UnknownSection) -> AgentResponse:
        """Return the response that keeps which sections come near the one asked for."""
        return context.completed(
            Outcome.ABSTAINED,
            in_language(error.bare, current_language()),
            unknown_section=error.name,
            nearest_sections=error.nearest,
        )

    def _failed(self, context: AnswerContext, error: ServiceError) -> AgentResponse:
        """Return the response that tells of a service that failed."""
        return context.pending.advance(
            ResponseState.ERROR,
            outcome=Outcome.ERROR,
            response_text=error.user_message,
            error_message=error.user_message,
            retrieval_success=context.clock.retrieval > 0,
            generated_at=now(),
            **self._spending.fields(context),
            **context.clock.times(),
        )

    def _finished(self, context: AnswerContext, draft: AnswerDraft) -> AgentResponse:
        found = context.retrieval
        answerable = self._is_answerable(context, draft)
        if draft.author == EXTRACTIVE:  # a model says itself where the book does not answer
            answerable = answerable and (found.leans or is_covered(found.signals))
        fields = draft.finish(context.asked, context.configuration, answerable=answerable)
        fields["notices"] = (*context.notices, *fields["notices"])
        fields["claims_written"] += context.in_vain
        fields["claims_dropped"] += context.in_vain
        return context.completed(
            **fields,
            model_name=draft.author,
            shows_again=context.seen_again,
            **self._spending.fields(context),
        )

    async def _may_ask_model(self, context: AnswerContext) -> bool:
        """Return whether a model writes: the course wants one, and it may be paid for."""
        return self._is_written(context) and await self._spending.allows(context)

    async def _may_judge(self, context: AnswerContext, checker: SupportChecker) -> bool:
        """Return whether a judging model may be asked of a whole answer: there is one to pay."""
        return checker.reads_answers and await self._spending.allows(context, quietly=True)

    def _is_written(self, context: AnswerContext) -> bool:
        """Return whether a model is to write the answer."""
        is_wanted = context.configuration.model_name != EXTRACTIVE
        return self._generator is not self._fallback and is_wanted

    async def _write(
        self,
        context: AnswerContext,
        draft: AnswerDraft,
        writer: Generator,
        *,
        is_judged: bool = True,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield what may be shown of one writer's draft, as it grows.

        Args:
            is_judged: Whether a judging model may be asked: always of what a model writes.

        Raises:
            GenerationError: when the writer fails, takes too long, or lets nothing pass in time.
        """
        asks_again = carries(context, draft)
        _check_quote(draft)
        draft.open(context.asked)
        for event in context.show(draft.text):
            yield event
        if not self._is_worthwhile(context, draft, asks_again=asks_again):
            return
        if draft.by_model:
            draft.material.widen([*await self._paragraphs(context), *_said_by_staff(context)])
        draft.author = _author(writer, context)
        task = self._task(context, draft)
        until = time.monotonic() + self._times.whole
        checker = self._checker.for_answer(context.request.course_id, until) if is_judged else None
        checks = DraftChecks(context, draft, task, checker if draft.by_model else None)
        async with aclosing(_offered(writer, task, until, draft, checks)) as parts:
            async for part in parts:
                await checks.take(part)
                for event in context.show(draft.text):
                    yield event
        if checker and await self._may_judge(context, checker):
            await checks.judge_whole(checker)

    def _task(self, context: AnswerContext, draft: AnswerDraft) -> GenerationTask:
        def report(call: ModelCall) -> None:
            draft.note_call(call)
            context.calls.append(call)

        is_searching = draft.by_model and context.configuration.retrieval_enabled
        return task_of(
            context,
            draft,
            search=second_look(self._retriever, context, draft) if is_searching else None,
            report=report,
            token_limit=self._request_tokens,
            first_sentence=self._times.first_sentence,
        )

    def _is_answerable(self, context: AnswerContext, draft: AnswerDraft) -> bool:
        """Return whether the evidence reaches the mark.

        Of a question in another language than the book only a model can tell: it can look it up.
        """
        found = context.retrieval
        is_foreign = is_in_another_language(context.asked.query_text, found.language)
        return found.signals.best_score >= context.mark or (draft.by_model and is_foreign)

    def _is_worthwhile(
        self, context: AnswerContext, draft: AnswerDraft, *, asks_again: bool
    ) -> bool:
        """Return whether anything is written: there may be an answer, or a quote to explain."""
        signals = context.retrieval.signals
        best = outcome_of(located_of(signals), context.configuration)
        has_evidence = context.asked.score_threshold is None and context.retrieval.evidence
        is_near = bool(has_evidence) and is_close(signals, context.mark)
        may_answer = self._is_answerable(context, draft) or is_near
        is_promising = may_answer and best is not Outcome.ABSTAINED
        if draft.quote_is_planted and context.asked.query_text == EXPLAIN_QUOTE:
            is_promising = False  # there is nothing to explain
        return draft.stands_in_book or is_promising or (asks_again and draft.by_model)

    async def _paragraphs(self, context: AnswerContext) -> Sequence[Excerpt]:
        """Return what a model reads of the evidence; the excerpts where there is no more."""
        configuration, retrieval = context.configuration, context.retrieval
        room = min(configuration.evidence_tokens, configuration.context_window // 2)
        try:
            return await self._retriever.widened(context.request.course_id, retrieval, room)
        except VectorIndexError as error:
            logger.warning("the paragraphs around the evidence could not be read: %s", error)
            return retrieval.evidence


def _said_by_staff(context: AnswerContext) -> Iterator[Excerpt]:
    """Yield what staff said that a model may cite, whole."""
    generation = context.retrieval.generation
    if generation is None:
        return
    for answer in context.said_by_staff:
        if (chunk := passage_of(answer, generation)) is not None:
            yield Excerpt(chunk, 0, len(chunk.content_text), chunk.token_count)


def _note_failure(context: AnswerContext, draft: AnswerDraft, error: GenerationError) -> None:
    logger.warning("%s failed, the fallback writes: %s", draft.author, error)
    too_dear = isinstance(error, TokenLimitReached)
    context.notices.append(text("notice-too-dear") if too_dear else text("notice-model-failed"))


def _note_emptiness(context: AnswerContext, draft: AnswerDraft, why: Emptiness) -> None:
    level = logging.INFO if why is Emptiness.REFUSED else logging.WARNING
    logger.log(level, "%s failed, the fallback writes: %s", draft.author, why)
    context.in_vain += draft.tally.dropped


def _author(writer: Generator, context: AnswerContext) -> str:
    """Return who writes: the model that the course names, or the writer's own."""
    named = context.configuration.model_name
    return writer.name if writer.name == EXTRACTIVE or named is None else named


async def _offered(
    writer: Generator,
    task: GenerationTask,
    until: float,
    draft: AnswerDraft,
    checks: DraftChecks,
) -> AsyncGenerator[DraftPart, None]:
    """Yield what a writer offers; what its judge is too busy for, such as with it, at its end.

    Raises:
        GenerationError: when the writer fails, or at the time `until` of `time.monotonic()`; at
            `task.deadline` as long as there is no claim.
    """
    held, pauses = deque[DraftPart](), Pauses()
    async with aclosing(writer.generate(task)) as parts:
        while True:
            await pauses.take_one_if_due()
            is_late = task.deadline is not None and not (held or draft.tally.released)
            limit = min(until, task.deadline) if is_late and task.deadline else until
            if (part := await _next(parts, limit)) is None:
                break
            held.append(part)
            while held and checks.are_free:
                yield held.popleft()
    for part in held:
        yield part


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


def _check_quote(draft: AnswerDraft) -> None:
    """Take note when the quote, or something in the chunk that it stands in, was planted."""
    for chunk, part in draft.quoted_passages():
        if part.planted.spans:
            draft.leave_out(chunk)
        if part.planted.touches(part.start, part.end):
            draft.quote_is_planted = True
