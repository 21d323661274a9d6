"""Lets the answer of a course's staff stand for a written one, or be offered below it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from core.answering.context import AnswerContext
from core.answering.understanding import understand
from core.answering.verified import VerifiedAnswer, VerifiedScope, VerifiedState, instruction
from core.domain import (
    NOBODY,
    STAFF,
    AgentRequest,
    AgentResponse,
    Citation,
    OfferedAnswer,
    Outcome,
    RetrievalToolInput,
    StaffCheck,
    gist_of,
    source_urls,
)
from core.domain.i18n import Message
from core.providers.base import ChatEnd, ignore
from core.providers.embeddings.base import Embedder
from core.retrieval.editions import OpenEdition
from core.retrieval.questions import Act, act_of, is_courtesy_alone, wanted_again
from core.retrieval.retriever import Retriever
from core.storage.access import Tenant, speaks_to
from core.storage.access_store import AccessStore
from core.teaching.matching import Matched, Matcher, ServesBoth
from core.teaching.verified_store import VerifiedAnswers


class VerifiedAnswerJudge(Protocol):
    """A model that is asked whether one answer would serve two questions."""

    async def serves_both(
        self, asked: str, question: str, answer: str, report: Callable[[ChatEnd], None] = ignore
    ) -> float | None:
        """Return the probability, 0 to 1, that it would; None: it is not known."""
        ...


class VerifiedStage:
    """Looks for an answer of the staff before the book is searched."""

    def __init__(
        self,
        *,
        answers: VerifiedAnswers,
        matcher: Matcher,
        retriever: Retriever,
        access: AccessStore,
        judge_of: Callable[[str], VerifiedAnswerJudge | None],
    ) -> None:
        """Put together what is needed.

        Args:
            judge_of: Returns the judging model of a course; None: it has none.
        """
        self._answers = answers
        self._matcher = matcher
        self._retriever = retriever
        self._access = access
        self._judge_of = judge_of

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the answer of the staff, as `EarlyStage.run` does; what may serve is offered."""
        request = context.request
        if request.verified_answer is not None:
            answer = await self._answers.get(request.verified_answer)
            if answer is not None and _may_be_shown(answer, request):
                return response_of(answer, context)
        if request.again is not None:
            return None
        matched = await self._matched(context)
        if matched.shown is not None:
            return response_of(matched.shown, context)
        if matched.offered:
            context.said_by_staff += matched.offered
            context.instructions.append(instruction())
            offered = tuple(
                OfferedAnswer(answer_id=one.answer_id, question=one.question)
                for one in matched.offered
            )
            context.pending = context.pending.model_copy(update={"offered": offered})
        return None

    async def _matched(self, context: AnswerContext) -> Matched:
        request, question = context.request, context.request.query_text
        answers = await self._answers.current(request.course_id)
        if not answers:
            return Matched()
        shelf = await self._retriever.opened(request.course_id)
        here = await self._heard(answers, shelf, request)
        earlier = bool(context.request.thread_messages or context.said_here)
        scopes = [VerifiedScope.of(request, leans=False)]
        if earlier:
            scopes.append(VerifiedScope.of(request, leans=True))
        for scope in scopes:
            same = self._matcher.exact(question, scope, here)
            likely = [] if same else await self._matcher.like(
                question, scope, here, shelf.terms, shelf.encoder.terms
            )  # fmt: skip
            if not same and not likely:
                continue
            if earlier and VerifiedScope.of(request, leans=await self._leans(context)) != scope:
                continue
            if same:
                return Matched(shown=same)
            judge = self._judging(context)
            return await self._matcher.decide(question, likely, judge)
        return Matched()

    async def _heard(
        self, answers: Sequence[VerifiedAnswer], shelf: OpenEdition, request: AgentRequest
    ) -> list[VerifiedAnswer]:
        """Return the answers of those staff who speak to the people of the asker's place."""
        permits, course = await self._access.permits(), shelf.course
        tenants = [Tenant.named(name) for name in request.user_context.tenants]
        return [one for one in answers if speaks_to(one.tenant, course, tenants, permits)]

    async def _leans(self, context: AnswerContext) -> bool:
        """Return whether a question is understood by what was said before it."""
        request = context.request
        asked = RetrievalToolInput(
            query_text=request.query_text,
            selected_text=context.quote,
            section_filter=request.section_filter,
        )
        said = context.said_here
        if said:
            return (await understand(self._retriever, context, asked, said)).question is not None
        around = gist_of(request.thread_messages)
        return (await self._retriever.retrieve(request.course_id, asked, around)).leans

    def _judging(self, context: AnswerContext) -> ServesBoth | None:
        judge = self._judge_of(context.request.course_id)
        return None if judge is None else partial(_asked, judge, context)


async def _asked(
    judge: VerifiedAnswerJudge, context: AnswerContext, question: str, answer: VerifiedAnswer
) -> float | None:
    return await judge.serves_both(
        question, answer.question, answer.answer_text, context.note_judge
    )


def response_of(answer: VerifiedAnswer, context: AnswerContext) -> AgentResponse:
    """Return the answer of the staff as the response to a question."""
    chunks = tuple({one.chunk.chunk_id: one.chunk for one in answer.citations}.values())
    citations = tuple(
        Citation(
            marker=one.marker,
            chunk_id=one.chunk.chunk_id,
            quote=one.quote,
            char_start=(start := one.chunk.content_text.index(one.quote)),
            char_end=start + len(one.quote),
        )
        for one in answer.citations
    )
    return context.completed(
        Outcome.ANSWERED,
        answer.answer_text,
        model_name=STAFF,
        grounding_chunks=chunks,
        citations=citations,
        sources=source_urls(chunks, citations),
        checked=StaffCheck(
            answer_id=answer.answer_id,
            revision=answer.revision,
            question=answer.question or context.request.query_text,
            checked_at=answer.verified_at,
        ),
        generation=answer.generation,
        confidence=1.0,
        located=1.0,
    )


def _may_be_shown(answer: VerifiedAnswer, request: AgentRequest) -> bool:
    """Return whether an answer that code has chosen is shown: as long as it holds, or was said."""
    if answer.course_id != request.course_id:
        return False
    if request.sent_by_staff:
        return answer.state is not VerifiedState.RETIRED
    return answer.state is VerifiedState.CURRENT


_COURTESY = Message("answer-courtesy")
_SAID = {
    Act.WISH: Message("answer-act-wish"),
    Act.OBJECTION: Message("answer-act-objection"),
    Act.IDENTITY: Message("answer-act-identity"),
    Act.LOST: Message("answer-act-lost"),
}


class CourtesyStage:
    """Looks whether a message asks nothing of the book, before anything is looked for."""

    def __init__(self, embedder: Embedder) -> None:
        """Put together what is needed.

        Args:
            embedder: The built-in model.
        """
        self._embedder = embedder

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the sentence; None: there is something to answer, or a model to do it.

        What comes with a message, such as a quote or a thread, may be the question.
        """
        request = context.request
        comes_with = context.quote or request.thread_messages or request.unread
        is_chosen = request.again is not None or request.verified_answer is not None
        if comes_with or is_chosen or request.stands_alone or context.may_write:
            return None
        said = await self._said(context)
        if said is None:
            return None
        return context.completed(Outcome.ABSTAINED, str(said), model_name=NOBODY, asks_nothing=True)

    async def _said(self, context: AnswerContext) -> Message | None:
        """Return what is said to a message; None: it asks something.

        After an answer, "simpler" wants that one again, and "why tho" goes on from it.
        """
        question = context.request.query_text
        if await is_courtesy_alone(question, self._embedder):
            return _COURTESY
        act = await act_of(question, self._embedder)
        if act is None:
            return None
        if context.turns:
            is_again = await wanted_again(question, self._embedder) is not None
            return None if act is Act.LOST or is_again else _SAID[act]
        return _SAID[act]
