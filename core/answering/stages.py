"""What may answer a question, or say how it is answered, before the book is searched."""

from collections.abc import Sequence
from typing import Protocol

from core.answering.context import AnswerContext
from core.models import AgentResponse


class EarlyStage(Protocol):
    """Looks at a question before the book is searched, such as for an answer that staff gave."""

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the finished answer, by `context.completed`; None: the pipeline goes on.

        It may change how the pipeline goes on: `context.instructions` are sent to a model that
        writes, each of `context.guards` is asked before a sentence is shown, and `context.notices`
        stand below the answer. The turns before are in `context.turns`.

        Raises:
            RequestError: when the asker has to change something; nothing is stored.
            ServiceError: when what it needs is down: the turn ends with outcome `error`.
        """
        ...


async def run_early(stages: Sequence[EarlyStage], context: AnswerContext) -> AgentResponse | None:
    """Return the answer of the first stage that has one; those after it are not asked."""
    for stage in stages:
        if (response := await stage.run(context)) is not None:
            return response
    return None
