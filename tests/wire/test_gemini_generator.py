"""GeminiGenerator before the local Gemini: what it asks, what it yields, how it fails."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.errors import GenerationError
from core.gemini.client import GeminiClient
from core.gemini.exchange import Timeouts
from core.gemini.retries import Patience
from core.generation.base import (
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    ModelCall,
    NotCovered,
    Rejected,
)
from core.generation.breaker import CircuitBreaker
from core.generation.gemini import GeminiGenerator
from tests.samples import chunk
from tests.wire import gemini_faults as faults
from tests.wire.gemini_failures import Fault
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer

TREE = "A heap is a complete binary tree."
ROOT = "Its root is the largest key."
FIRST = f'{TREE} <cite passage="1">{TREE}</cite>'
ANSWER = f'{FIRST} {ROOT} <cite passage="1">{ROOT}</cite>'
CLAIMS = [Claim.quoting(TREE, 0, TREE), Claim.quoting(ROOT, 0, ROOT)]
SECRET_QUESTION = "Who is behind the canary question 4711?"
TASK = GenerationTask(SECRET_QUESTION, [chunk()])
QUICK = Timeouts(first_piece=0.4, silence=0.2)
STREAMS = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])

REFUSED, ONCE, TWICE = "refused", "answered at once", "answered the second time"
OUTCOMES: list[tuple[Fault, str, str]] = [
    (faults.BAD_REQUEST, "400 INVALID_ARGUMENT", "400 INVALID_ARGUMENT"),
    (faults.UNAUTHENTICATED, "401 .*GLOSSATOR_GEMINI__API_KEY", "GLOSSATOR_GEMINI__API_KEY"),
    (faults.FORBIDDEN, "403 .*GLOSSATOR_GEMINI__API_KEY", "GLOSSATOR_GEMINI__API_KEY"),
    (faults.NOT_FOUND, "404 .*GLOSSATOR_GEMINI__MODEL", "404 .*GLOSSATOR_GEMINI__MODEL"),
    (faults.QUOTA_RETRY_AFTER, TWICE, TWICE),
    (faults.QUOTA_RETRY_INFO, TWICE, TWICE),
    (faults.QUOTA_LONG, "429 RESOURCE_EXHAUSTED", "429 RESOURCE_EXHAUSTED"),
    (faults.INTERNAL, TWICE, TWICE),
    (faults.UNAVAILABLE, TWICE, TWICE),
    (faults.HTML_502, TWICE, TWICE),
    (faults.DROP_BEFORE, TWICE, TWICE),
    (faults.DROP_INSIDE, "connection .* broke", TWICE),
    (faults.MALFORMED_JSON, "cannot be read", "cannot be read"),
    (faults.ERROR_IN_STREAM, "503 UNAVAILABLE", "broke off"),
    (faults.STALL_SILENT, TWICE, TWICE),
    (faults.STALL_AFTER_HEADERS, TWICE, TWICE),
    (faults.TRUNCATED, "broke off", "broke off"),
    (faults.MALFORMED_EVENT, "cannot be read", "cannot be read"),
    (faults.STALL_INSIDE, "said nothing for 0.2 s", TWICE),
    (faults.TRICKLE, "said nothing for 0.2 s", TWICE),
    (faults.EMPTY_CANDIDATES, "broke off", "broke off"),
    (faults.PROMPT_BLOCKED, r"refused the prompt \(PROHIBITED_CONTENT\)", "PROHIBITED_CONTENT"),
    (faults.STOP_WITHOUT_TEXT, "nothing that can be used", "nothing that can be used"),
    (faults.SAFETY, r"stopped \(SAFETY\)", r"stopped \(SAFETY\)"),
    (faults.RECITATION, r"stopped \(RECITATION\)", r"stopped \(RECITATION\)"),
    (faults.MAX_TOKENS, ONCE, ONCE),
    (faults.MAX_TOKENS_IN_THOUGHT, "nothing that can be used", "nothing that can be used"),
    (faults.MALFORMED_CALL, "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"),
    (faults.UNKNOWN_TOOL, TWICE, TWICE),
    (faults.WRONG_ARGUMENTS, TWICE, TWICE),
    (faults.ARGUMENTS_NO_OBJECT, "cannot be read", "cannot be read"),
]
EVERY_FAULT = pytest.mark.parametrize(
    ("fault", "streamed", "whole"), OUTCOMES, ids=[str(fault) for fault, _, _ in OUTCOMES]
)


@asynccontextmanager
async def writer(server: GeminiServer, **options: Any) -> AsyncIterator[GeminiGenerator]:
    client = GeminiClient(
        options.pop("key", server.api_key),
        base_url=server.url,
        api_version=options.pop("api_version", "v1beta"),
    )
    options = {
        "timeouts": QUICK,
        "answer_timeout": 4.0,
        "patience": Patience(retries=1, backoff=0.01),
        **options,
    }
    yield GeminiGenerator(client, **options)
    await client.aclose()


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer() as server:
        server.answer_with(lambda call: ANSWER)
        yield server


async def nothing(_: Any) -> Sequence[Any]:
    return []


async def parts_of(
    draft: AsyncGenerator[DraftPart, None], into: list[DraftPart] | None = None
) -> list[DraftPart]:
    """Return all parts of a draft; those before an error are in `into`."""
    parts = [] if into is None else into
    async with aclosing(draft):
        async for part in draft:
            parts.append(part)
    return parts


def claims(parts: Sequence[DraftPart]) -> list[Claim]:
    return [part for part in parts if isinstance(part, Claim)]


def calls(parts: Sequence[DraftPart]) -> list[ModelCall]:
    return [part for part in parts if isinstance(part, ModelCall)]


def chain(error: BaseException | None) -> str:
    """Return the texts of an error and of all that a traceback would show below it."""
    if error is None:
        return ""
    below = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{error!r} {error} {chain(below)}"


@STREAMS
@pytest.mark.parametrize("api_version", ["v1", "v1beta"])
async def test_an_answer_comes_as_claims_and_what_it_used(
    server: GeminiServer, stream: bool, api_version: str
) -> None:
    server.answer_with(lambda call: Reply(ANSWER, thoughts="Hm.", thought_tokens=7))
    async with writer(server, stream=stream, api_version=api_version) as generator:
        parts = await parts_of(generator.generate(TASK))
    assert claims(parts) == CLAIMS
    [used] = calls(parts)
    assert used.model == "gemini-3.8-flash"
    assert used.query_tokens > 100
    assert used.response_tokens > 7
    [call] = server.requests
    assert (call.streams, call.api_version) == (stream, api_version)


async def test_the_request_says_what_the_task_and_the_settings_say(server: GeminiServer) -> None:
    task = replace(TASK, temperature=0.25, max_tokens=77, model="gemini-3.5-flash-lite")
    async with writer(server, thinking_level="low") as generator:
        await parts_of(generator.generate(task))
        assert generator.name == "gemini-3.8-flash"
    [call] = server.requests
    assert call.model == "gemini-3.5-flash-lite"
    assert call.config == {
        "temperature": 0.25,
        "maxOutputTokens": 77,
        "thinkingConfig": {"thinkingLevel": "LOW"},
    }
    assert call.declared_tools == []
    assert SECRET_QUESTION in call.user_texts[-1]
    assert SECRET_QUESTION not in call.system_text


async def test_thinking_is_left_to_the_model_unless_it_is_set(server: GeminiServer) -> None:
    async with writer(server) as generator:
        await parts_of(generator.generate(TASK))
    assert "thinkingConfig" not in server.requests[0].config


async def test_a_claim_comes_while_the_model_is_still_writing(server: GeminiServer) -> None:
    rest = asyncio.Event()

    async def slowly() -> AsyncIterator[str]:
        yield f"{FIRST} {ROOT}"
        await rest.wait()
        yield f' <cite passage="1">{ROOT}</cite>'

    server.script(slowly())
    async with (
        writer(server, timeouts=Timeouts(3, 3)) as generator,
        aclosing(generator.generate(TASK)) as parts,
    ):
        assert await anext(parts) == CLAIMS[0]
        rest.set()
        assert claims([part async for part in parts]) == CLAIMS[1:]


async def test_not_covered_is_an_answer(server: GeminiServer) -> None:
    server.script("<not-covered/>")
    async with writer(server) as generator:
        parts = await parts_of(generator.generate(TASK))
    assert [part for part in parts if not isinstance(part, ModelCall)] == [NotCovered()]


async def test_words_of_the_sdk_that_are_new_to_it_do_no_harm(server: GeminiServer) -> None:
    server.script(Reply(ANSWER, finish_reason="TOO_LATE_AT_NIGHT"))
    async with writer(server) as generator:
        with pytest.raises(GenerationError, match=r"stopped \(TOO_LATE_AT_NIGHT\)"):
            await parts_of(generator.generate(TASK))


def test_every_fault_has_an_outcome() -> None:
    assert [fault for fault, _, _ in OUTCOMES] == sorted(
        faults.GENERATION_FAULTS, key=[fault for fault, _, _ in OUTCOMES].index
    )


@EVERY_FAULT
@STREAMS
async def test_a_fault_ends_in_an_answer_or_in_an_error_that_says_why(
    server: GeminiServer,
    fault: Fault,
    streamed: str,
    whole: str,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = streamed if stream else whole
    server.fail(fault)
    task = replace(TASK, search=nothing)
    began = time.monotonic()
    async with writer(server, stream=stream) as generator:
        if expected in {ONCE, TWICE}:
            parts = await parts_of(generator.generate(task))
            assert claims(parts)[0] == CLAIMS[0]
            assert (CutShort() in parts) == (fault is faults.MAX_TOKENS)
        else:
            with pytest.raises(GenerationError, match=expected) as caught:
                await parts_of(generator.generate(task))
            assert server.api_key not in chain(caught.value)
            assert SECRET_QUESTION not in chain(caught.value)
            assert TREE not in chain(caught.value)
    assert len(server.requests) == (2 if expected == TWICE else 1)
    assert time.monotonic() - began < 3.0
    # Who catches the error logs it, once.
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


@STREAMS
@pytest.mark.parametrize(
    "fault", [faults.UNAVAILABLE, faults.DROP_BEFORE, faults.STALL_SILENT], ids=str
)
async def test_a_fault_that_lasts_is_tried_twice(
    server: GeminiServer, fault: Fault, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="core")
    server.fail(fault, times=math.inf)
    async with writer(server, stream=stream) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK))
    assert len(server.requests) == 2
    [told] = [r for r in caplog.records if r.name.startswith("core")]
    assert "trying again in" in told.getMessage()


async def test_a_server_that_is_not_there_is_tried_twice(server: GeminiServer) -> None:
    await server.stop()
    async with writer(server) as generator:
        with pytest.raises(GenerationError, match="GLOSSATOR_GEMINI__BASE_URL"):
            await parts_of(generator.generate(TASK))


async def test_nothing_is_tried_again_once_words_have_come(server: GeminiServer) -> None:
    server.fail(faults.DROP_INSIDE)
    parts: list[DraftPart] = []
    async with writer(server) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK), parts)
    assert len(server.requests) == 1
    [used] = calls(parts)
    assert used.query_tokens > 100
    assert used.response_tokens > 10


@STREAMS
@pytest.mark.parametrize("fault", [faults.SAFETY, faults.PROMPT_BLOCKED], ids=str)
async def test_what_a_refused_answer_used_is_told(
    server: GeminiServer, fault: Fault, stream: bool
) -> None:
    server.fail(fault)
    parts: list[DraftPart] = []
    async with writer(server, stream=stream) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK), parts)
    assert calls(parts)[0].query_tokens > 100


async def test_a_wrong_key_is_told_without_the_key(server: GeminiServer) -> None:
    async with writer(server, key="AIza-not-this-one") as generator:
        with pytest.raises(GenerationError, match=r"API_KEY_INVALID.*check GLOSSATOR") as caught:
            await parts_of(generator.generate(TASK))
    assert "AIza" not in chain(caught.value)
    assert len(server.refusals) == 1


async def test_a_model_that_does_not_exist_is_told_with_its_name(server: GeminiServer) -> None:
    async with writer(server, model="gemini-0-none") as generator:
        with pytest.raises(GenerationError, match="gemini-0-none answered 404"):
            await parts_of(generator.generate(TASK))
    assert len(server.refusals) == 1


@STREAMS
async def test_nothing_runs_past_the_deadline_of_the_first_claim(
    server: GeminiServer, stream: bool
) -> None:
    server.fail(faults.TRICKLE, times=math.inf)
    deadline = time.monotonic() + 1.0
    task = replace(TASK, deadline=deadline)
    async with writer(server, stream=stream, timeouts=Timeouts(9, 9)) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(task))
    assert time.monotonic() < deadline
    assert len(server.requests) == 1


async def test_there_is_no_second_try_when_the_deadline_is_near(server: GeminiServer) -> None:
    server.fail(faults.UNAVAILABLE)
    task = replace(TASK, deadline=time.monotonic() + 0.9)
    async with writer(server) as generator:
        with pytest.raises(GenerationError, match="503"):
            await parts_of(generator.generate(task))
    assert len(server.requests) == 1


async def test_the_deadline_is_over_once_a_claim_is_there(server: GeminiServer) -> None:
    server.script(Reply(ANSWER, every=0.1))
    deadline = time.monotonic() + 0.8
    task = replace(TASK, deadline=deadline)
    async with writer(server) as generator:
        assert claims(await parts_of(generator.generate(task))) == CLAIMS
    assert time.monotonic() > deadline


async def test_a_stream_without_end_is_ended(server: GeminiServer) -> None:
    async def endless() -> AsyncIterator[str]:
        while True:
            yield f"{FIRST}\n\n"
            await asyncio.sleep(0.05)

    server.script(endless())
    began = time.monotonic()
    async with writer(server, answer_timeout=1.0) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.generate(TASK))
    assert time.monotonic() - began < 1.5


async def test_a_reader_who_goes_away_ends_the_request(server: GeminiServer) -> None:
    gone = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield f"{FIRST}\n\n"
                await asyncio.sleep(0.01)
        finally:
            gone.set()

    server.script(endless())
    async with writer(server) as generator:
        async with aclosing(generator.generate(TASK)) as parts:
            assert isinstance(await anext(parts), Claim)
        await asyncio.wait_for(gone.wait(), 2.0)


async def test_a_question_that_is_too_dear_is_not_asked(server: GeminiServer) -> None:
    async with writer(server) as generator:
        with pytest.raises(GenerationError, match="exceed the 500 tokens of one question"):
            await parts_of(generator.generate(replace(TASK, token_limit=500)))
    assert server.requests == []


async def test_a_model_that_keeps_failing_is_left_alone(
    server: GeminiServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fail(faults.UNAUTHENTICATED, times=5)
    now = [0.0]
    other = replace(TASK, model="gemini-3.5-flash-lite")

    def breaker(name: str) -> CircuitBreaker:
        return CircuitBreaker(name, clock=lambda: now[0])

    async with writer(server, new_breaker=breaker) as generator:
        for _ in range(8):
            with pytest.raises(GenerationError):
                await parts_of(generator.generate(TASK))
        assert len(server.requests) == 5
        assert claims(await parts_of(generator.generate(other))) == CLAIMS
        now[0] += 30
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS
    [told] = [r for r in caplog.records if r.levelno > logging.INFO]
    assert "failed 5 times in a row" in told.getMessage()


async def test_what_a_model_refuses_is_no_outage(server: GeminiServer) -> None:
    server.fail(faults.SAFETY, times=9)
    async with writer(server) as generator:
        for _ in range(9):
            with pytest.raises(GenerationError, match="SAFETY"):
                await parts_of(generator.generate(TASK))
        assert claims(await parts_of(generator.generate(TASK))) == CLAIMS


REJECTED = [Rejected(Claim.quoting("The root is the smallest key.", 0, ROOT), "It says otherwise.")]


async def test_rejected_claims_are_written_again_in_one_call(server: GeminiServer) -> None:
    server.script(f'{ROOT} <cite passage="1">{ROOT}</cite>')
    past = replace(TASK, deadline=time.monotonic() - 5, search=nothing)
    async with writer(server, repair_model="gemini-3.5-flash-lite") as generator:
        parts = await parts_of(generator.repair(past, REJECTED))
    assert claims(parts) == CLAIMS[1:]
    assert [used.model for used in calls(parts)] == ["gemini-3.5-flash-lite"]
    [call] = server.requests
    assert not call.streams
    assert call.declared_tools == []
    assert "It says otherwise." in call.user_texts[-1]
    assert SECRET_QUESTION not in call.text


@pytest.mark.parametrize("fault", [faults.UNAVAILABLE, faults.STALL_SILENT, faults.SAFETY], ids=str)
async def test_a_repair_that_fails_is_not_tried_again(server: GeminiServer, fault: Fault) -> None:
    server.fail(fault)
    async with writer(server) as generator:
        with pytest.raises(GenerationError):
            await parts_of(generator.repair(TASK, REJECTED))
    assert len(server.requests) == 1
