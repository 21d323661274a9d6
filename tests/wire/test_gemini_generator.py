"""ModelGenerator before the local Gemini: what it asks, what it yields, and how long it waits."""

import asyncio
import gc
import logging
import math
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from types import AsyncGeneratorType

import pytest

from core.answering.writers.base import AnswerTimes, Claim, NotCovered
from core.answering.writers.prompt import ANSWER as ANSWER_FORM
from core.domain import AnswerLength
from core.domain.errors import GenerationError
from core.providers.pacing import CircuitBreaker, Timeouts
from tests.wire import gemini_faults as faults
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer
from tests.wire.gemini_writer import (
    ANSWER,
    CLAIMS,
    CUT,
    FIRST,
    QUESTION,
    ROOT,
    STREAMS,
    TASK,
    TREE,
    claims,
    nothing_found,
    parts_of,
    writer,
)
from tests.wire.scripted_models import NOT_COVERED

OLD_MODEL = "gemini-2.5-flash"
"""Takes no JSON schema together with a tool, as Google says of all before Gemini 3."""


@pytest.fixture(autouse=True)
def _answers(gemini: GeminiServer) -> None:
    gemini.answer_with(lambda call: ANSWER)


@STREAMS
@pytest.mark.parametrize("api_version", ["v1", "v1beta"])
async def test_an_answer_comes_as_claims_and_what_it_used(
    gemini: GeminiServer, stream: bool, api_version: str
) -> None:
    gemini.answer_with(lambda call: Reply(ANSWER, thoughts="Hm.", thought_tokens=7))
    async with writer(gemini, stream=stream, api_version=api_version) as generator:
        parts = await parts_of(generator.generate(TASK))
    assert claims(parts) == CLAIMS
    [used] = generator.used
    assert used.model == "gemini-3.8-flash"
    assert used.query_tokens > 100
    assert used.response_tokens > 7
    [call] = gemini.requests
    assert (call.streams, call.api_version) == (stream, api_version)


async def test_the_request_says_what_the_task_and_the_settings_say(gemini: GeminiServer) -> None:
    task = replace(TASK, temperature=0.25, max_tokens=77, model="gemini-3.5-flash-lite")
    async with writer(gemini, thinking_level="low") as generator:
        await parts_of(generator.generate(task))
        assert generator.name == "gemini-3.8-flash"
    [call] = gemini.requests
    assert call.model == "gemini-3.5-flash-lite"
    assert call.config == {
        "temperature": 0.25,
        "maxOutputTokens": 77,
        "thinkingConfig": {"thinkingLevel": "LOW"},
        "responseMimeType": "application/json",
        "responseJsonSchema": ANSWER_FORM.json,
    }
    assert call.declared_tools == []
    assert QUESTION in call.user_texts[-1]
    assert QUESTION not in call.system_text


async def test_thinking_is_left_to_the_model_unless_it_is_set(gemini: GeminiServer) -> None:
    async with writer(gemini) as generator:
        await parts_of(generator.generate(TASK))
    assert "thinkingConfig" not in gemini.requests[0].config


async def test_a_claim_comes_while_the_model_is_still_writing(gemini: GeminiServer) -> None:
    rest = asyncio.Event()

    async def slowly() -> AsyncIterator[str]:
        yield CUT
        await rest.wait()
        yield ANSWER.removeprefix(CUT)

    gemini.script(slowly())
    async with (
        writer(gemini, timeouts=Timeouts(3, 3)) as generator,
        aclosing(generator.generate(TASK)) as parts,
    ):
        assert await anext(parts) == CLAIMS[0]
        rest.set()
        assert claims([part async for part in parts]) == CLAIMS[1:]


async def test_not_covered_is_an_answer(gemini: GeminiServer) -> None:
    gemini.script(NOT_COVERED)
    async with writer(gemini) as generator:
        parts = await parts_of(generator.generate(TASK))
    assert parts == [NotCovered()]


async def test_words_of_the_sdk_that_are_new_to_it_do_no_harm(gemini: GeminiServer) -> None:
    gemini.script(Reply(ANSWER, finish_reason="TOO_LATE_AT_NIGHT"))
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError, match=r"stopped \(TOO_LATE_AT_NIGHT\)"):
            await parts_of(generator.generate(TASK))


@STREAMS
async def test_nothing_runs_past_the_deadline_of_the_first_claim(
    gemini: GeminiServer, stream: bool
) -> None:
    gemini.fail(faults.TRICKLE, times=math.inf)
    task = replace(TASK, deadline=time.monotonic() + 3.0)
    async with writer(gemini, stream=stream, timeouts=Timeouts(9, 9)) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(task))
    assert len(gemini.requests) == 1


async def test_there_is_no_second_try_when_the_deadline_is_near(gemini: GeminiServer) -> None:
    gemini.fail(faults.UNAVAILABLE)
    task = replace(TASK, deadline=time.monotonic() + 0.9)
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError, match="503"):
            await parts_of(generator.generate(task))
    assert len(gemini.requests) == 1


async def test_the_deadline_is_over_once_a_claim_is_there(gemini: GeminiServer) -> None:
    reply = Reply(ANSWER, every=0.2)
    assert reply.every * (len(ANSWER) / reply.piece_size - 1) > 1.3, "it takes longer than that"
    gemini.script(reply)
    task = replace(TASK, deadline=time.monotonic() + 1.3)
    async with writer(gemini, timeouts=Timeouts(2, 2)) as generator:
        assert claims(await parts_of(generator.generate(task))) == CLAIMS


async def test_a_stream_without_end_is_ended(gemini: GeminiServer) -> None:
    async def endless() -> AsyncIterator[str]:
        yield '{"claims": ['
        while True:
            yield '{"text": "A heap is a tree.", "sentences": [1]}, '
            await asyncio.sleep(0.05)

    gemini.script(endless())
    async with writer(gemini, times=AnswerTimes(whole=1.0)) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK))


def open_generators() -> list[str]:
    """Return the names of those that somebody began to read and nobody ended."""
    return [
        one.__qualname__
        for one in gc.get_objects()
        if isinstance(one, AsyncGeneratorType) and one.ag_frame is not None and "aiter" in repr(one)
    ]


@pytest.mark.costly
async def test_a_reader_who_goes_away_ends_the_request(gemini: GeminiServer) -> None:
    gone = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield f"{FIRST}\n\n"
                await asyncio.sleep(0.01)
        finally:
            gone.set()

    gemini.script(endless())
    async with writer(gemini) as generator:
        async with aclosing(generator.generate(TASK)) as parts:
            assert isinstance(await anext(parts), Claim)
        assert open_generators() == []
        await asyncio.wait_for(gone.wait(), 2.0)


async def test_a_question_that_is_too_dear_is_not_asked(gemini: GeminiServer) -> None:
    async with writer(gemini) as generator:
        with pytest.raises(GenerationError, match="exceed the 500 tokens of one question"):
            await parts_of(generator.generate(replace(TASK, token_limit=500)))
    assert gemini.requests == []


async def test_a_model_that_keeps_failing_is_left_alone(
    gemini: GeminiServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "core.providers.pacing")
    gemini.fail(faults.UNAUTHENTICATED, times=5)
    now = [0.0]
    other = replace(TASK, model="gemini-3.5-flash-lite")

    def breaker(name: str) -> CircuitBreaker:
        return CircuitBreaker(name, clock=lambda: now[0])

    async with writer(gemini, new_breaker=breaker) as generator:
        for _ in range(8):
            with pytest.raises(GenerationError):
                await parts_of(generator.generate(TASK))
        assert len(gemini.requests) == 5
        assert claims(await parts_of(generator.generate(other))) == CLAIMS
        now[0] += 30
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS
    told = [r.getMessage() for r in caplog.records if r.name == "core.providers.pacing"]
    assert "failed 5 times in a row" in told[0]


@STREAMS
async def test_a_model_that_stays_silent_is_left_alone(gemini: GeminiServer, stream: bool) -> None:
    gemini.fail(faults.STALL_SILENT, times=math.inf)
    async with writer(gemini, stream=stream, timeouts=Timeouts(0.1, 0.1)) as generator:
        for _ in range(9):
            with pytest.raises(GenerationError):
                await parts_of(generator.generate(TASK))
    assert len(gemini.requests) == 10  # five calls, each of them made twice


async def test_a_model_that_had_no_time_is_not_to_blame(gemini: GeminiServer) -> None:
    gemini.fail(faults.STALL_SILENT, times=6)
    async with writer(gemini) as generator:
        for _ in range(6):
            hurried = replace(TASK, deadline=time.monotonic() + 0.3)
            with pytest.raises(GenerationError):
                await parts_of(generator.generate(hurried))
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS
    assert len(gemini.requests) == 7


async def test_what_a_model_refuses_is_no_outage(gemini: GeminiServer) -> None:
    gemini.fail(faults.SAFETY, times=9)
    async with writer(gemini) as generator:
        for _ in range(9):
            with pytest.raises(GenerationError, match="SAFETY"):
                await parts_of(generator.generate(TASK))
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS


async def test_a_model_that_takes_no_schema_beside_a_tool_writes_plain_lines(
    gemini: GeminiServer,
) -> None:
    gemini.answer_with(lambda call: f"{TREE} [1]\n{ROOT} [2]")
    searching = replace(TASK, search=nothing_found, model=OLD_MODEL)
    async with writer(gemini) as generator:
        assert claims(await parts_of(generator.generate(searching))) == CLAIMS
        refusals = len(gemini.refusals)
        assert claims(await parts_of(generator.generate(searching))) == CLAIMS
    assert 1 <= refusals == len(gemini.refusals)
    last = gemini.requests[-1]
    assert "responseMimeType" not in last.config
    assert "[4][7]" in last.system_text
    assert last.declared_tools


async def test_what_questions_share_stands_first_and_is_the_same(gemini: GeminiServer) -> None:
    async with writer(gemini) as generator:
        await parts_of(generator.generate(TASK))
        other = replace(TASK, question="Where is the largest key?", length=AnswerLength.LONG)
        await parts_of(generator.generate(other))
    first, second = gemini.requests
    assert first.system_text == second.system_text
    assert first.user_texts != second.user_texts
