"""The one loop between the agent and any platform."""

from collections.abc import AsyncGenerator, Sequence
from typing import cast

import pytest

from adapters.chat.delivery.take_turn import take_turn
from core.answering.agent import Agent, Placed
from core.answering.context import AgentEvent, SectionsFound, TextDelta, TextWithdrawn
from core.domain import AgentRequest, AgentResponse
from core.domain.errors import (
    BotError,
    ConfigurationError,
    DeliveryError,
    QuestionTooLong,
    StoreError,
)
from core.storage.inbox.base import LeaseLost
from tests.samples import request, response


class ScriptedAgent:
    """Yields what it was given, then raises what it was given."""

    def __init__(self, events: Sequence[AgentEvent], error: Exception | None = None) -> None:
        self._events = events
        self._error = error
        self.asked: list[AgentRequest] = []
        self.is_closed = False

    async def stream(self, asked: AgentRequest, placed: Placed) -> AsyncGenerator[AgentEvent, None]:
        self.asked.append(asked)
        try:
            for event in self._events:
                yield event
            if self._error is not None:
                raise self._error
        finally:
            self.is_closed = True


class Recorder:
    """A reply that writes down what it is told."""

    def __init__(self, refusal: BotError | None = None) -> None:
        self.text = ""
        self.begun = 0
        self.read: list[tuple[str, ...]] = []
        self.withdrawn: list[str] = []
        self.finished: list[AgentResponse] = []
        self.failed: list[BotError] = []
        self._refusal = refusal

    async def begin(self) -> None:
        self.begun += 1

    async def reading(self, headings: Sequence[str]) -> None:
        self.read.append(tuple(headings))

    async def update(self, delta: str) -> None:
        if self._refusal is not None:
            raise self._refusal
        self.text += delta

    async def withdraw(self) -> None:
        self.withdrawn.append(self.text)
        self.text = ""

    async def finish(self, answer: AgentResponse) -> None:
        self.finished.append(answer)

    async def fail(self, error: BotError) -> None:
        self.failed.append(error)


async def taken(agent: ScriptedAgent, reply: Recorder) -> Recorder:
    question = request()
    await take_turn(cast("Agent", agent), question, reply)
    assert agent.asked == [question]
    assert agent.is_closed
    return reply


async def test_text_is_passed_on_as_it_comes_and_finish_is_called_once() -> None:
    answer = response()
    events: list[AgentEvent] = [TextDelta("A complete "), TextDelta("binary tree [1]."), answer]
    reply = await taken(ScriptedAgent(events), Recorder())
    assert reply.text == "A complete binary tree [1]."
    assert (reply.finished, reply.failed) == ([answer], [])


async def test_withdrawn_text_is_taken_back_before_what_follows() -> None:
    answer = response()
    events: list[AgentEvent] = [TextDelta("A wrong word"), TextWithdrawn(), TextDelta("A"), answer]
    reply = await taken(ScriptedAgent(events), Recorder())
    assert (reply.withdrawn, reply.text) == (["A wrong word"], "A")
    assert (reply.finished, reply.failed) == ([answer], [])


async def test_what_is_read_is_told_before_there_is_text() -> None:
    events: list[AgentEvent] = [SectionsFound(("Heaps", "Sorting")), TextDelta("A"), response()]
    reply = await taken(ScriptedAgent(events), Recorder())
    assert (reply.read, reply.text) == ([("Heaps", "Sorting")], "A")


@pytest.mark.parametrize(
    "error",
    [QuestionTooLong(1200, 999), ConfigurationError("no text yet"), StoreError("disk full")],
    ids=lambda error: type(error).__name__,
)
async def test_a_request_that_cannot_be_served_is_told_by_fail(error: BotError) -> None:
    reply = await taken(ScriptedAgent([], error), Recorder())
    assert (reply.finished, reply.failed) == ([], [error])


async def test_a_wrong_configuration_has_a_sentence_for_readers_and_one_for_the_operator() -> None:
    error = ConfigurationError("Set GLOSSATOR_MODELS__GEMINI__API_KEY.")
    reply = await taken(ScriptedAgent([], error), Recorder())
    [told] = reply.failed
    assert str(told) == "Set GLOSSATOR_MODELS__GEMINI__API_KEY."
    assert "GLOSSATOR" not in told.user_message
    assert told.user_message.endswith(".")


async def test_a_failure_after_some_text_is_told_by_fail_too() -> None:
    error = StoreError("disk full")
    reply = await taken(ScriptedAgent([TextDelta("A heap")], error), Recorder())
    assert (reply.text, reply.finished, reply.failed) == ("A heap", [], [error])


@pytest.mark.parametrize(
    "refusal", [DeliveryError("429", retry_after=3.0), LeaseLost("taken over")], ids=type
)
async def test_a_refused_delivery_ends_the_agents_work_and_is_the_callers(
    refusal: DeliveryError | LeaseLost,
) -> None:
    agent, reply = ScriptedAgent([TextDelta("A"), response()]), Recorder(refusal)
    with pytest.raises(type(refusal)) as raised:
        await take_turn(cast("Agent", agent), request(), reply)
    assert raised.value is refusal
    assert agent.is_closed
    assert (reply.finished, reply.failed) == ([], [])


async def test_what_nobody_foresaw_is_told_in_a_safe_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reply = await taken(ScriptedAgent([], RuntimeError("token=secret")), Recorder())
    assert [error.user_message for error in reply.failed] == [BotError.user_message]
    assert "nobody foresaw" in caplog.text


async def test_a_reader_who_went_away_is_not_told_anything() -> None:
    class GoneReader(Recorder):
        async def finish(self, answer: AgentResponse) -> None:
            raise BrokenPipeError

    reply = GoneReader()
    with pytest.raises(BrokenPipeError):
        await taken(ScriptedAgent([response()]), reply)
    assert reply.failed == []
