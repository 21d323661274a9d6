"""What a writer is given: the question, the evidence, and what of the turns before it needs."""

from collections.abc import Callable, Sequence

from core.answering.answer import AnswerDraft
from core.answering.context import AnswerContext
from core.generation.base import (
    GenerationTask,
    ModelCall,
    Passage,
    Revision,
    Search,
    TaskPart,
)
from core.i18n import text
from core.models import EXPLAIN_QUOTE, AgentToolCall, RetrievalToolInput
from core.retrieval.retriever import Retriever

_SECOND_LOOK = 1_500
"""Tokens of what one more search of a model finds."""
_SMALL_WINDOW_SHARE = 8
"""In a small window it is this part of it."""


def carry_evidence(context: AnswerContext, draft: AnswerDraft) -> None:
    """Keep what the last answer cited within reach of a model, or of an answer shown again."""
    if context.turns and (context.again is not None or (draft.by_model and context.said_here)):
        draft.carry(context.turns[-1])


def _asker_texts(context: AnswerContext, draft: AnswerDraft) -> dict[str, Passage]:
    """Return what the asker gave that a model may cite: what was asked, quoted and pasted.

    What others asked in the same conversation is theirs: it is read, and never cited.
    """
    request = context.request
    own, quoted = text("answer-asker-message"), text("answer-asker-quote")
    given = {} if request.query_text == EXPLAIN_QUOTE else {request.query_text: own}
    has_place = context.retrieval.quote_location is not None
    if context.quote is not None and has_place and not draft.stands_in_book:
        given[context.quote] = quoted
    for turn in (one for one in context.turns if one.user_id == request.user_id):
        if turn.user_input != EXPLAIN_QUOTE:
            given.setdefault(turn.user_input, own)
        if turn.selected_text:
            given.setdefault(turn.selected_text, quoted)
    for message in request.thread_messages:
        if message.by_asker:
            given.setdefault(message.text, own)
    taken = {
        words: draft.material.take_given(words, place, request.course_id)
        for words, place in given.items()
    }
    return {words: passage for words, passage in taken.items() if passage is not None}


def task_of(
    context: AnswerContext,
    draft: AnswerDraft,
    *,
    search: Search | None,
    report: Callable[[ModelCall], None],
    token_limit: int | None,
    first_sentence: float,
    revision: Revision | None = None,
) -> GenerationTask:
    """Return the task of writing a draft.

    Args:
        search: The second look of a model; None: there is none.
        report: Called with each call of the writer's model.
        token_limit: What all calls for the question may use together.
        first_sentence: Seconds from the question on by which a model's first claim has to hold.
        revision: What a model is told of its first draft; None: this is the first.
    """
    request, configuration, retrieval = context.asked, context.configuration, context.retrieval
    by_model, again = draft.by_model, context.again
    is_alone = retrieval.without_quote and not by_model
    asker = _asker_texts(context, draft) if by_model else {}
    words = filter(None, (configuration.system_prompt, *context.instructions))
    wished = request.temperature
    return GenerationTask(
        question=context.request.query_text
        if by_model
        else retrieval.question or request.query_text,
        again=again.kind if again else None,
        shown=[one.agent_response.citations for one in again.since] if again else [],
        evidence=draft.material.chunks,
        reads=draft.material.reads,
        parts=_parts_of(context, draft),
        history=context.turns if by_model else context.said_here,
        thread=request.thread_messages,
        section=retrieval.section,
        leans=retrieval.leans and context.understood is None,
        in_order=retrieval.in_order,
        selected_text=None if is_alone else context.quote,
        quote_location=retrieval.quote_location,
        language=retrieval.language,
        statistics=retrieval.statistics,
        encode_terms=retrieval.encode_terms,
        asker=asker,
        revision=revision,
        search=search,
        model=configuration.model_name,
        system_prompt="\n\n".join(words) or None,
        length=request.answer_length or configuration.answer_length,
        temperature=configuration.temperature if wished is None else wished,
        max_tokens=configuration.max_tokens,
        context_window=configuration.context_window,
        report=report,
        token_limit=token_limit,
        deadline=context.clock.started + first_sentence if by_model and not revision else None,
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
