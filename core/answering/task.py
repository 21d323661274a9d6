"""What a writer is given: the question, the evidence, and what of the turns before it needs."""

from collections.abc import Callable, Sequence
from functools import partial

from core.answering.answer import AnswerDraft
from core.answering.context import AnswerContext
from core.generation.base import GenerationTask, ModelCall, Passage, Search, TaskPart
from core.grounding.planted import planted_in
from core.models import AgentToolCall, RetrievalToolInput
from core.retrieval.retriever import Retriever

_SECOND_LOOK = 1_500
"""Tokens of what one more search of a model finds."""
_SMALL_WINDOW_SHARE = 8
"""In a small window it is this part of it."""


def carries(context: AnswerContext, draft: AnswerDraft) -> bool:
    """Return whether the question may be about the last answer, whose evidence is kept."""
    is_here = draft.by_model and bool(context.turns) and context.request.section_filter is None
    if not is_here and context.again is None:
        return False
    return draft.carry(context.turns[-1]) and (context.retrieval.leans or context.again is not None)


def task_of(
    context: AnswerContext,
    draft: AnswerDraft,
    *,
    search: Search | None,
    report: Callable[[ModelCall], None],
    token_limit: int | None,
    first_sentence: float,
) -> GenerationTask:
    """Return the task of writing a draft.

    Args:
        search: The second look of a model; None: there is none.
        report: Called with each call of the writer's model.
        token_limit: What all calls for the question may use together.
        first_sentence: Seconds from the question on by which a model's first claim has to hold.
    """
    request, configuration, retrieval = context.asked, context.configuration, context.retrieval
    by_model, again = draft.by_model, context.again
    is_alone = draft.quote_is_planted or (retrieval.without_quote and not by_model)
    words = filter(None, (configuration.system_prompt, *context.instructions))
    wished = request.temperature
    return GenerationTask(
        question=context.request.query_text
        if by_model and again
        else retrieval.question or request.query_text,
        again=again.kind if again else None,
        shown=[one.agent_response.citations for one in again.since] if again else [],
        evidence=draft.material.chunks,
        reads=draft.material.reads,
        parts=_parts_of(context, draft),
        history=context.turns if by_model else context.said_here,
        thread=request.thread_messages,
        section=retrieval.section,
        leans=retrieval.leans,
        in_order=retrieval.in_order,
        selected_text=None if is_alone else context.quote,
        quote_location=None if draft.quote_is_planted else retrieval.quote_location,
        language=retrieval.language,
        statistics=retrieval.statistics,
        encode_terms=retrieval.encode_terms,
        planted_in=partial(planted_in, language=retrieval.language),
        search=search,
        model=configuration.model_name,
        system_prompt="\n\n".join(words) or None,
        length=request.answer_length or configuration.answer_length,
        temperature=configuration.temperature if wished is None else wished,
        max_tokens=configuration.max_tokens,
        context_window=configuration.context_window,
        report=report,
        token_limit=token_limit,
        deadline=context.clock.started + first_sentence if by_model else None,
    )


def second_look(retriever: Retriever, context: AnswerContext, draft: AnswerDraft) -> Search:
    """Return a model's search: in the same course and, if one was asked for, section.

    It finds whole paragraphs, as the first look does, so that no sentence is cut.
    """
    request = context.request
    room = min(_SECOND_LOOK, context.configuration.context_window // _SMALL_WINDOW_SHARE)

    async def search(asked: RetrievalToolInput) -> Sequence[Passage]:
        section = request.section_filter or asked.section_filter
        bound = asked.model_copy(update={"section_filter": section})
        found = await retriever.retrieve(request.course_id, bound)
        context.tool_calls.append(
            AgentToolCall(tool_name="retrieve", parameters=bound, result=found.output)
        )
        return draft.material.look_up(
            found, await retriever.widened(request.course_id, found, room)
        )

    return search


def _parts_of(context: AnswerContext, draft: AnswerDraft) -> list[TaskPart]:
    """Return the parts of a question, each with the numbers of its chunks."""
    numbers = {chunk.chunk_id: number for number, chunk in enumerate(draft.material.chunks)}
    return [
        TaskPart(one.words, one.question, tuple(numbers[i] for i in one.chunk_ids), one.before)
        for one in context.retrieval.parts
    ]
