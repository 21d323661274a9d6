"""Builds what answers questions by the policies of a course's staff."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.services import Services
    from core.answering.pipeline import Pipeline
    from core.policies.gate import PolicyGate
    from core.policies.policy import Assignment
    from core.policies.stage import PolicyStage
    from core.providers.base import ChatEnd

_MOST_TITLES = 200
"""Headings that an embedding model is measured on."""


def policy_stage(opened: "Services", pipeline: "Pipeline") -> "PolicyGate":
    """Return the stage that looks for the policy that holds for a question.

    Args:
        pipeline: Lets a model write the hints, where there is one.
    """
    from core.policies.gate import PolicyGate

    return PolicyGate(
        described=opened.course_file.policies_of,
        store=opened.policies,
        build=partial(_stage, opened, pipeline),
    )


def _stage(opened: "Services", pipeline: "Pipeline") -> "PolicyStage":
    from core.policies.belonging import Belonging
    from core.policies.book_hints import BookHints
    from core.policies.stage import PolicyStage
    from core.policies.steps import Steps
    from core.policies.store import HintSteps

    async def titles(course_id: str) -> Sequence[str]:
        edition = await opened.catalogue.live(course_id)
        if edition is None:
            return ()
        sections = await opened.catalogue.sections(edition.generation)
        return [section.title for section in sections][:_MOST_TITLES]

    async def judged(
        course_id: str, question: str, assignment: "Assignment", calls: "list[ChatEnd]"
    ) -> float | None:
        judge = opened.judge(course_id)
        if judge is None:
            return None
        return await judge.belongs_to(question, assignment.text, calls.append)

    return PolicyStage(
        described=opened.course_file.policies_of,
        store=opened.policies,
        steps=Steps(HintSteps(opened.engine), opened.sessions, opened.local),
        retriever=opened.retriever,
        belonging=Belonging(titles, judged),
        hints=BookHints(opened.local),
        embedder=opened.local,
        zone_of=opened.course_file.zone,
        write=pipeline.answer,
    )
