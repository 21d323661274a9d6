"""What of the turns before, and of the parts of a question, a writer is given."""

from collections.abc import Sequence

from core.answering.answer import Composition
from core.answering.context import AnswerContext
from core.generation.base import TaskPart
from core.models import Citation
from core.retrieval.retrieval import Retrieval


def carries(
    turn: AnswerContext, retrieval: Retrieval, composition: Composition, *, by_model: bool
) -> bool:
    """Return whether the question may be about the last answer, whose evidence is kept."""
    is_here = by_model and bool(turn.turns) and turn.request.section_filter is None
    if not is_here and turn.again is None:
        return False
    return composition.carry(turn.turns[-1]) and (retrieval.leans or turn.again is not None)


def shown_before(turn: AnswerContext) -> list[Sequence[Citation]]:
    """Return what was cited of an answer that is wanted again, each time that it was shown."""
    return [one.agent_response.citations for one in turn.again.since] if turn.again else []


def parts_of(retrieval: Retrieval, composition: Composition) -> list[TaskPart]:
    """Return the parts of a question, each with the numbers of its chunks."""
    numbers = {chunk.chunk_id: number for number, chunk in enumerate(composition.evidence)}
    return [
        TaskPart(one.words, one.question, tuple(numbers[i] for i in one.chunk_ids), one.before)
        for one in retrieval.parts
    ]
