"""The pipeline of an answer: early stages, search, writing, checks, and the finished response.

1. Early stages (`core.answering.context`), in the order that `Agent` was given them, before the
   book is searched: one may answer by itself, or say how the pipeline goes on.
2. The book is searched.
3. A model writes where it may be paid for. Each claim is checked before it is shown, by the guards
   of the early stages too. Where the answer does not stand without what fell, the model is told so,
   and writes once more.
4. Where no model may write, or its draft comes to nothing, the book's own words are shown.
5. The judge is asked once whether the answer gives what is asked.

All state is in one `AnswerContext`, and one rule takes text back: `AnswerContext.show`.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from core.answering.assurance import Emptiness
from core.answering.checks import BookWords, ModelClaims, judge_passages
from core.answering.context import (
    AgentEvent,
    AnswerContext,
    AnswerEvent,
    EarlyStage,
    SectionsFound,
    Spending,
    carry_evidence,
    run_early,
    second_look,
    task_of,
)
from core.answering.draft import AnswerDraft
from core.answering.grounding import citations as wording
from core.answering.grounding.citations import presentable
from core.answering.grounding.judge import Judge
from core.answering.understanding import understand
from core.answering.verified import passage_of
from core.answering.writers.base import (
    AnswerTimes,
    DraftPart,
    GenerationTask,
    Generator,
    ModelCall,
    Revision,
)
from core.domain import (
    EXTRACTIVE,
    AgentResponse,
    Outcome,
    ResponseState,
    RetrievalToolInput,
    gist_of,
    now,
)
from core.domain.errors import (
    GenerationError,
    RequestError,
    ServiceError,
    StoreError,
    TokenLimitReached,
    UnknownSection,
    VectorIndexError,
)
from core.domain.i18n import Message, current_language, in_language, text
from core.domain.links import without_markers
from core.retrieval import parts as in_parts
from core.retrieval.evidence import Excerpt
from core.retrieval.resolving import has_own_subject
from core.retrieval.retrieval import Retrieval, passage_alone
from core.retrieval.retriever import Retriever
from core.retrieval.sections import asks_for_section_at_hand, read_references

logger = logging.getLogger(__name__)


_ANSWERED = frozenset({Outcome.ANSWERED, Outcome.PARTIAL})


async def search(retriever: Retriever, context: AnswerContext) -> Retrieval:
    """Return what the book holds; the context knows then whether an answer is wanted again.

    Raises:
        BotError: as `Retriever.retrieve`.
    """
    started = context.clock.elapsed()
    await _notice_again(retriever, context)
    retrieval = await _find(retriever, context)
    context.clock.retrieval = context.clock.elapsed() - started
    return retrieval


async def _find(retriever: Retriever, context: AnswerContext) -> Retrieval:
    request, configuration = context.asked, context.configuration
    if not configuration.retrieval_enabled:
        if context.quote is None:
            raise RequestError(
                "retrieval is off and there is no quote",
                user_message=Message("asking-quote-needed"),
            )
        return passage_alone(request.course_id, context.quote)
    asked = RetrievalToolInput(
        query_text=request.query_text,
        top_k=request.top_k or configuration.top_k,
        selected_text=context.quote,
        section_filter=request.section_filter,
    )
    stands = request.stands_alone or has_own_subject(request.query_text)
    before = gist_of(request.thread_messages)
    said = context.said_here
    if request.section_filter is not None:
        said = [one for one in said if not asks_for_section_at_hand(one.user_input)]
    if context.quote is None:
        questions = [one.question for one in said] or before[-1:]
        named = read_references(request.query_text, alone=not (said or before), before=questions)
        if named and (text := await retriever.read(request.course_id, asked, named)):
            return text
    if context.again is None:
        meant = await understand(retriever, context, asked, said)
        context.understood, context.choices = meant.question, meant.choices
        context.is_lost = meant.is_lost
        asked = asked.model_copy(update={"query_text": context.asked.query_text})
        if meant.is_joined:
            return replace(await retriever.retrieve(request.course_id, asked), leans=True)
    around = [] if said or stands else before
    found = await in_parts.retrieve(retriever, request.course_id, asked, around, context.mark)
    return replace(found, leans=found.leans or context.understood is not None)


async def _notice_again(retriever: Retriever, context: AnswerContext) -> None:
    """Take note when the answer before is wanted shorter or longer, or its place alone.

    A model understands such words by itself; of its answers only a press of a button says so.
    """
    said, asked = context.said_here, context.request
    if not said or said[-1].outcome not in _ANSWERED or context.quote is not None:
        return
    kind = asked.again
    if kind is None and not context.may_write:
        kind = await retriever.wanted_again(asked.course_id, asked.query_text)
    if kind:
        context.see_again(kind)


_GIVES_AWAY_FROM = 0.5
"""The judge's probability from which an answer is not shown."""
_LEAST_TO_REVISE = 4.0
"""Seconds of an answer's time that a second draft needs."""

JudgeOf = Callable[[str, str | None], Judge | None]
"""Returns the judge of a course's answers, by the course's id and the model that writes them, if
one does; None: the course has none."""


@dataclass
class _Writing:
    """A model's answer while it is written: its draft, and who judges it."""

    context: AnswerContext
    draft: AnswerDraft
    judge: Judge | None = None
    until: float = math.inf
    """The `time.monotonic()` at which the answer has to be complete."""
    verdicts: dict[tuple[str, tuple[str, ...]], float] = field(default_factory=dict)
    """What the judge said of claims, by text and sentences."""
    claims: ModelClaims = field(init=False)


class Pipeline:
    """Answers a question whose conversation is known; stores nothing."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        generator: Generator,
        fallback: Generator,
        judge_of: JudgeOf,
        spending: Spending,
        request_tokens: int | None,
        times: AnswerTimes,
        stages: Sequence[EarlyStage],
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._fallback = fallback
        self._judge_of = judge_of
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
        context.may_write = self._is_written(context)
        try:
            if context.request.may_mean:
                searching = None  # what was looked for meanwhile is not what is meant
                if not await self._settled(context):
                    context.choices = context.request.may_mean
                    yield self._asked_back(context)
                    return
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
        """Return what the book holds; the context knows then how the question is meant."""
        context.may_write = self._is_written(context)
        return await search(self._retriever, context)

    async def answer(self, context: AnswerContext) -> AsyncGenerator[AnswerEvent, None]:
        """Yield a model's answer to what was found, or the book's own words; last the response.

        Raises:
            GenerationError: when the book's own words cannot be chosen.
        """
        if context.choices or context.is_lost:
            yield self._asked_back(context)
            return
        instead_of, has_failed = None, False
        if await self._may_ask_model(context):
            writing = _Writing(context, AnswerDraft(context.retrieval, by_model=True))
            try:
                async with aclosing(self._write(writing)) as events:
                    async for event in events:
                        yield event
            except GenerationError as error:
                has_failed = True
                _note_failure(context, writing.draft, error)
            else:
                draft = writing.draft
                if (instead_of := draft.emptiness) is None:
                    yield self._finished(context, draft)
                    return
                _note_emptiness(context, draft, instead_of)
        draft = AnswerDraft(context.retrieval, instead_of=instead_of)
        quoting = self._quote(context, draft, is_judged=not has_failed)
        async with aclosing(quoting) as events:
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

    def _asked_back(self, context: AnswerContext) -> AgentResponse:
        """Return the question which of several things is meant, or what it is about at all."""
        if context.request.thread_partly_seen:
            context.notices.append(text("notice-thread-partly-seen"))
        if context.is_lost:
            said = text("answer-act-lost")
            return context.completed(Outcome.ABSTAINED, said, asks_nothing=True)
        return context.completed(
            Outcome.ASKED_BACK,
            presentable(wording.asking_back(context.choices)),
            choices=context.choices,
            **self._spending.fields(context),
        )

    async def _settled(self, context: AnswerContext) -> bool:
        """Let the model say which message a question means that points at one of several.

        Returns:
            Whether it does; the question is that message then.
        """
        asked = context.request
        model = context.configuration.model_name
        judge = self._judge_of(asked.course_id, model) if context.may_write else None
        if judge is None or not await self._spending.allows(context, quietly=True):
            return False
        number = await judge.which(asked.query_text, asked.may_mean, context.note_judge)
        if number is None:
            return False
        meant = {"query_text": asked.may_mean[number]}
        context.request = asked.model_copy(update={**meant, "may_mean": ()})
        context.pending = context.pending.model_copy(update=meant)
        return True

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
        fields = draft.finish(context.asked, context.configuration)
        fields["notices"] = (*context.notices, *fields["notices"])
        fields["claims_written"] += context.in_vain
        fields["claims_dropped"] += context.in_vain
        return context.completed(
            **fields,
            model_name=draft.author,
            shows_again=context.seen_again,
            understood_as=None if context.may_write else context.understood,
            **self._spending.fields(context),
        )

    async def _may_ask_model(self, context: AnswerContext) -> bool:
        """Return whether a model writes: the course wants one, and it may be paid for."""
        return self._is_written(context) and await self._spending.allows(context)

    def _is_written(self, context: AnswerContext) -> bool:
        """Return whether a model is to write the answer."""
        is_wanted = context.configuration.model_name != EXTRACTIVE
        return self._generator is not self._fallback and is_wanted

    async def _quote(
        self, context: AnswerContext, draft: AnswerDraft, *, is_judged: bool
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the book's own words, once it is certain that they are shown.

        Nothing is shown before the end where what was understood is to stand above it.

        Args:
            is_judged: Whether the course's judge may be asked whether they give what is asked.

        Raises:
            GenerationError: when they cannot be chosen.
        """
        carry_evidence(context, draft)
        draft.open(context.asked)
        shows = context.understood is None or context.may_write
        for event in context.show(draft.text) if shows else ():
            yield event
        if not self._is_worthwhile(context, draft):
            return
        draft.author = _author(self._fallback, context)
        task = self._task(context, draft)
        words = BookWords(context, draft, task)
        until = time.monotonic() + self._times.whole
        async with aclosing(self._fallback.generate(task)) as parts:
            while (part := await _next(parts, until)) is not None:
                words.take(part)
        # Only the whole tells how sure it is: what would be taken back again is not shown.
        if shows and draft.holds(context.asked, context.configuration):
            for event in context.show(draft.text):
                yield event
        by = None if self._is_written(context) else EXTRACTIVE
        judge = self._judge_of(context.request.course_id, by) if is_judged else None
        if judge and await self._spending.allows(context, quietly=True):
            draft.tally.relevance = await judge_passages(context, draft, task, judge)

    async def _write(self, writing: "_Writing") -> AsyncGenerator[AnswerEvent, None]:
        """Yield what may be shown of a model's answer as it grows, and let it write once more.

        Raises:
            GenerationError: when the writer fails, takes too long, or lets nothing pass in time.
        """
        context, draft = writing.context, writing.draft
        carry_evidence(context, draft)
        draft.open(context.asked)
        for event in context.show(draft.text):
            yield event
        draft.material.widen([*await self._paragraphs(context), *_said_by_staff(context)])
        writing.until = time.monotonic() + self._times.whole
        writing.judge = self._judge_of(context.request.course_id, context.configuration.model_name)
        is_read_first = bool(context.held_back) and writing.judge is not None
        async with aclosing(self._drafted(writing, draft)) as events:
            async for delta in events:
                yield delta
        if self._is_revised(writing):
            await self._revise(writing)
        if is_read_first and await self._gives_away(writing):
            writing.draft = AnswerDraft(context.retrieval, by_model=True)
            writing.draft.author = draft.author
            return
        for shown in context.show(writing.draft.text):
            yield shown
        await writing.claims.judge_whole()

    async def _drafted(
        self, writing: "_Writing", draft: AnswerDraft, revision: Revision | None = None
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield what may be shown of one draft; the judge reads while the model writes."""
        context = writing.context
        draft.author = _author(self._generator, context)
        task = self._task(context, draft, revision)
        judge, until = writing.judge, writing.until
        draft.tally.is_judged = judge is not None
        claims = ModelClaims(context, draft, task, judge, until, writing.verdicts)
        writing.claims = claims
        parts = self._generator.generate(task)
        reading: asyncio.Task[DraftPart | None] | None = asyncio.create_task(_after(parts))
        judging: asyncio.Task[None] | None = None
        try:
            while reading or judging or claims.are_waiting:
                if judging is None and claims.are_waiting:
                    judging = asyncio.create_task(claims.judge_waiting())
                is_late = task.deadline is not None and not draft.tally.is_begun and not judging
                limit = min(until, task.deadline) if is_late and task.deadline else until
                under_way = [one for one in (reading, judging) if one is not None]
                done, _ = await asyncio.wait(
                    under_way,
                    timeout=max(limit - time.monotonic(), 0.0),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not done:
                    raise GenerationError("the writer let nothing pass in time")
                if judging in done and judging is not None:
                    judging = judging.result()
                if reading in done and reading is not None:
                    part = reading.result()
                    if part is not None:
                        claims.take(part)
                    reading = None if part is None else asyncio.create_task(_after(parts))
                claims.release()
                if revision is None and not (context.held_back and judge):
                    for event in context.show(draft.text):
                        yield event
        finally:
            for one in (reading, judging):
                if one is not None:
                    one.cancel()
                    await asyncio.gather(one, return_exceptions=True)
            await parts.aclose()

    async def _gives_away(self, writing: "_Writing") -> bool:
        """Return whether the judge finds that the answer tells what staff hold back."""
        context, judge = writing.context, writing.judge
        if judge is None or writing.draft.emptiness is not None:
            return False
        tally = writing.draft.tally
        if judge.checks_facts_alone or not (tally.released or tally.examples):
            return False
        said, held_back = without_markers(writing.draft.text), "\n\n".join(context.held_back)
        until = time.monotonic() + judge.wait  # the answer is written: this one call is waited for
        likely = await judge.gives_away(said, held_back, context.note_judge, until)
        if likely is not None and likely < _GIVES_AWAY_FROM:
            return False
        logger.info("%s does not rule out that an answer solves an assignment", judge.name)
        return True

    def _is_revised(self, writing: "_Writing") -> bool:
        """Return whether a second draft is worth it, and there is the time for it."""
        has_time = writing.until - time.monotonic() >= _LEAST_TO_REVISE
        return writing.draft.tally.needs_revision and has_time

    async def _revise(self, writing: "_Writing") -> None:
        """Let the model write again without what fell; the better draft is the answer.

        A second draft that fails leaves the first one as it is.
        """
        first, claims = writing.draft, writing.claims
        revision = Revision(without_markers(first.text), tuple(first.tally.fallen))
        second = AnswerDraft(writing.context.retrieval, by_model=True, material=first.material)
        second.open(writing.context.asked)
        try:
            async with aclosing(self._drafted(writing, second, revision)) as events:
                async for _ in events:
                    pass
        except GenerationError as error:
            logger.info("the second draft failed, the first one stays: %s", error)
            is_better = False
        else:
            is_better = second.emptiness is None and second.tally.is_better_than(first.tally)
        if is_better:
            second.calls = [*first.calls, *second.calls]
            writing.draft = second
        else:
            first.calls += second.calls
            writing.claims = claims

    def _task(
        self, context: AnswerContext, draft: AnswerDraft, revision: Revision | None = None
    ) -> GenerationTask:
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
            revision=revision,
        )

    def _is_worthwhile(self, context: AnswerContext, draft: AnswerDraft) -> bool:
        """Return whether there is anything to choose from; how sure it is, the answer tells."""
        found, least = context.retrieval, context.asked.score_threshold
        if least is not None and found.signals.best_score < least and not draft.stands_in_book:
            return False
        return bool(found.evidence) or draft.stands_in_book

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
    logger.warning(
        "the model %s failed, the book's own sentences stand in: %s", draft.author, error
    )
    too_dear = isinstance(error, TokenLimitReached)
    context.notices.append(text("notice-too-dear") if too_dear else text("notice-model-failed"))


def _note_emptiness(context: AnswerContext, draft: AnswerDraft, why: Emptiness) -> None:
    level = logging.INFO if why is Emptiness.REFUSED else logging.WARNING
    logger.log(
        level, "the model %s failed, the book's own sentences stand in: %s", draft.author, why
    )
    context.in_vain += draft.tally.dropped


def _author(writer: Generator, context: AnswerContext) -> str:
    """Return who writes: the model that the course names, or the writer's own."""
    named = context.configuration.model_name
    return writer.name if writer.name == EXTRACTIVE or named is None else named


async def _after(parts: AsyncGenerator[DraftPart, None]) -> DraftPart | None:
    """Return the next part; None at the end."""
    return await anext(parts, None)


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
