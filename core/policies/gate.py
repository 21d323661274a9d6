"""Lets a question reach the stage of policies only where its course has any."""

from collections.abc import Callable, Sequence
from functools import cached_property

from core.answering.context import AnswerContext
from core.answering.stages import EarlyStage
from core.models import AgentResponse
from core.policies.policy import AnswerPolicy
from core.policies.store import PolicyStore


class PolicyGate:
    """Asks another stage where a course has policies; most have none, and wait for nothing."""

    def __init__(
        self,
        *,
        described: Callable[[str], Sequence[AnswerPolicy]],
        store: PolicyStore,
        build: Callable[[], EarlyStage],
    ) -> None:
        """Build nothing yet.

        Args:
            described: Returns what the operator's file says of a course.
            build: Returns the stage that answers by policies; called once, at its first use.
        """
        self._described = described
        self._store = store
        self._build = build

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the answer that a policy allows; None: the question is answered in full."""
        course_id = context.request.course_id
        if not self._described(course_id) and not await self._store.of(course_id):
            return None
        return await self._stage.run(context)

    @cached_property
    def _stage(self) -> EarlyStage:
        return self._build()
