"""Searches the book for what a question asks, with what was said before it."""

from dataclasses import replace

from core.answering.context import AnswerContext
from core.answering.understanding import understand
from core.errors import RequestError
from core.i18n import Message
from core.models import (
    Outcome,
    RetrievalToolInput,
    gist_of,
)
from core.retrieval import in_parts
from core.retrieval.named_sections.references import asks_for_section_at_hand, read_references
from core.retrieval.question.resolving import has_own_subject
from core.retrieval.retrieval import Retrieval, passage_alone
from core.retrieval.retriever import Retriever

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
