"""A model's second draft takes the place of the first one only where it is better."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest

from core.answering.grounding.judge import Judge
from core.answering.writers.base import (
    Claim,
    ClaimKind,
    DraftPart,
    GenerationTask,
    ModelCall,
    NotCovered,
)
from core.domain.errors import GenerationError
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Finish,
    TimeLimit,
    ignore,
)
from tests.unit.core.answering.house import House, ScriptedGenerator, asking, first_words

GREETING = Claim("Hello there.", kind=ClaimKind.TALK)
ASKING_BACK = Claim("Which lamp do you mean?", kind=ClaimKind.QUESTION)


class Strict:
    """A judge that denies every claim with the word "never" in it, and affirms all else."""

    is_free = True

    name = "strict"
    has_logprobs = False
    speed = None

    async def reply(
        self, request: ChatRequest, deadline: TimeLimit, report: Callable[[ChatEnd], None] = ignore
    ) -> AsyncGenerator[str | ChatEnd, None]:
        told = request.messages[-1].text
        claims = [line for line in told.splitlines() if line.startswith("Claim")]
        grades = " ".join("0" if "never" in claim else "10" for claim in claims) or "10"
        yield ChatEnd(self.name, Finish.STOP, ChatMessage("assistant", grades), 40, 2)


class Rewriting(ScriptedGenerator):
    """Writes a first draft, and another one where it is told what fell."""

    def __init__(self, first: Sequence[str | Claim], second: Sequence[DraftPart | str]) -> None:
        super().__init__(lambda task: ())
        self._drafts = (first, second)
        self.failure: GenerationError | None = None

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        self.tasks.append(task)
        for part in self._drafts[task.revision is not None]:
            yield _resting(task, part) if isinstance(part, str) else part
        task.report(ModelCall(self.name, 70, 30))
        if task.revision is not None and self.failure is not None:
            raise self.failure


def _resting(task: GenerationTask, text: str) -> Claim:
    [first] = first_words(task)
    return replace(first, text=text)


DRAFT = ["The wick is never cut.", "The wick is trimmed.", "Somebody trims the wick of the lamp."]


@pytest.mark.parametrize(
    ("second", "fails"),
    [
        ([], True),
        (["The wick is trimmed."], True),
        ([], False),
        ([NotCovered()], False),
        ([GREETING], False),
    ],
)
async def test_a_second_draft_that_comes_to_nothing_leaves_the_first(
    house: House, second: Sequence[DraftPart | str], fails: bool
) -> None:
    house.judge = Judge(cast("ChatModel", Strict()))
    writer = Rewriting(DRAFT, second)
    writer.failure = GenerationError("it broke off") if fails else None
    answer = await house.agent(writer).answer(asking())
    assert len(writer.tasks) == 2
    assert answer.model_name == "scripted"
    assert "Somebody trims the wick of the lamp." in answer.response_text


@pytest.mark.parametrize("draft", [[ASKING_BACK], ["The wick is trimmed.", ASKING_BACK]])
async def test_asking_back_is_no_claim_that_fell(
    house: House, draft: Sequence[str | Claim]
) -> None:
    house.judge = Judge(cast("ChatModel", Strict()))
    writer = Rewriting(draft, [])
    answer = await house.agent(writer).answer(asking())
    assert len(writer.tasks) == 1
    assert ASKING_BACK.text in answer.response_text
    assert answer.claims_dropped == 0
