"""The contract of every ChatModel, on both wires: replies, faults, limits, and what is counted."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from core.domain.errors import ConfigurationError, GenerationError
from core.providers.base import ChatMessage, Deadline, Finish, OutputForm, ToolResult
from core.providers.capabilities import ProviderFailure
from tests.wire.chat_stations import (
    PATIENT,
    QUESTION,
    QUICK,
    SAID,
    SCHEMA,
    SEARCH,
    Heard,
    OpenAIStation,
    Station,
    asking,
    chain,
    chat_model,
    hear,
    station,
)

STREAMS = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
SLOW = {
    "stall without headers",
    "stall after the headers",
    "stall inside the answer",
    "trickle",
}
"""What only a limit of time ends."""
TWICE = "said at the second try"
OUTCOMES: list[tuple[str, str, str]] = [
    ("400", "does not accept", "does not accept"),
    ("401", "answered 401.*THE_KEY", "answered 401.*THE_KEY"),
    ("403", "answered 403.*THE_KEY", "answered 403.*THE_KEY"),
    ("404", "answered 404.*THE_MODEL", "answered 404.*THE_MODEL"),
    ("429 with Retry-After", TWICE, TWICE),
    ("429 for an hour", "answered 429", "answered 429"),
    ("500", TWICE, TWICE),
    ("503", TWICE, TWICE),
    ("502 with HTML", TWICE, TWICE),
    ("drop before the answer", TWICE, TWICE),
    ("drop inside the answer", "connection .* broke", TWICE),
    ("truncated", "broke off", "broke off"),
    ("malformed JSON", "cannot be read|broke off", "cannot be read"),
    ("malformed event", "cannot be read", "cannot be read"),
    ("error object under status 200", "answered (503|overloaded)", "broke off|cannot be read"),
    ("stall without headers", TWICE, TWICE),
    ("stall after the headers", TWICE, TWICE),
    ("stall inside the answer", "said nothing for 0.2 s", TWICE),
    ("trickle", "said nothing for 0.2 s", TWICE),
    ("empty candidates", "broke off", "broke off|cannot be read"),
]


@pytest.fixture(params=["gemini", "openai"])
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[Station]:
    async with station(request.param) as opened:
        yield opened


@pytest.mark.costly
@STREAMS
async def test_a_reply_comes_as_text_and_ends_with_what_it_used(
    provider: Station, stream: bool
) -> None:
    async with chat_model(provider.wire()) as model:
        incoming = await hear(model, asking(stream=stream))
    assert incoming.text == SAID
    assert (len(incoming.texts) > 3) == stream
    assert (incoming.end.finish, incoming.end.message.text) == (Finish.STOP, SAID)
    assert incoming.end.query_tokens >= len(QUESTION) // 4
    assert incoming.end.response_tokens == -(-len(SAID) // 4)
    assert incoming.reported == [incoming.end]
    assert model.name == incoming.end.model


@pytest.mark.costly
@STREAMS
@pytest.mark.parametrize(
    ("fault", "streamed", "whole"), OUTCOMES, ids=[name for name, _, _ in OUTCOMES]
)
async def test_a_fault_ends_in_a_reply_or_in_an_error_that_says_why(
    provider: Station,
    fault: str,
    streamed: str,
    whole: str,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = streamed if stream else whole
    if (
        fault == "error object under status 200"
        and not stream
        and isinstance(provider, OpenAIStation)
    ):
        expected = TWICE  # only there it is known to be one
    provider.fail(fault)
    timeouts = QUICK if fault in SLOW else PATIENT
    async with chat_model(provider.wire(), timeouts=timeouts) as model:
        if expected == TWICE:
            assert (await hear(model, asking(stream=stream))).text == SAID
        else:
            with pytest.raises(ProviderFailure, match=expected) as caught:
                await hear(model, asking(stream=stream))
            told = " ".join(chain(caught.value))
            assert not [secret for secret in (provider.key, QUESTION, "Prices") if secret in told]
    assert provider.asked == (2 if expected == TWICE else 1)
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


@STREAMS
async def test_a_fault_that_lasts_is_tried_twice(provider: Station, stream: bool) -> None:
    provider.fail("503", times=math.inf)
    async with chat_model(provider.wire()) as model:
        with pytest.raises(ProviderFailure):
            await hear(model, asking(stream=stream))
        assert provider.asked == 2
        with pytest.raises(ProviderFailure):
            await hear(model, asking(stream=stream, retry=False))
    assert provider.asked == 3


@STREAMS
@pytest.mark.parametrize("fault", ["prompt blocked", "RECITATION"])
async def test_a_refusal_is_told_with_its_reason(
    provider: Station, fault: str, stream: bool
) -> None:
    provider.fail(fault)
    async with chat_model(provider.wire()) as model:
        if fault == "prompt blocked" and isinstance(provider, OpenAIStation):
            with pytest.raises(ProviderFailure, match="refused the prompt") as caught:
                await hear(model, asking(stream=stream))
            assert not caught.value.outage
        else:
            end = (await hear(model, asking(stream=stream))).end
            assert end.finish is Finish.REFUSED
            assert "stopped (" in str(end.detail) or "refused the prompt (" in str(end.detail)
    assert model.form() is OutputForm.SCHEMA


@STREAMS
async def test_a_reply_that_the_limit_of_tokens_cuts_says_so(
    provider: Station, stream: bool
) -> None:
    async with chat_model(provider.wire()) as model:
        incoming = await hear(model, asking(stream=stream, max_tokens=3))
    assert incoming.end.finish is Finish.LENGTH
    assert incoming.text == SAID[: 3 * 4]


async def test_what_a_broken_reply_used_is_reported(provider: Station) -> None:
    provider.fail("drop inside the answer")
    incoming = Heard()
    async with chat_model(provider.wire()) as model:
        with pytest.raises(ProviderFailure):
            await hear(model, into=incoming)
    [reported] = incoming.reported
    assert reported.finish is Finish.BROKEN
    assert reported.query_tokens > 5
    assert reported.response_tokens > 3
    assert incoming.ends == []


async def test_a_reader_who_goes_away_is_charged_for_what_came(provider: Station) -> None:
    incoming = Heard()
    async with chat_model(provider.wire()) as model:
        reply = model.reply(asking(), Deadline.after(10.0), incoming.reported.append)
        async with aclosing(reply):
            assert await anext(reply) == SAID[:5]
    [reported] = incoming.reported
    assert (reported.finish, reported.message.text) == (Finish.BROKEN, SAID[:5])


@STREAMS
async def test_a_tool_is_called_and_its_result_is_read(provider: Station, stream: bool) -> None:
    provider.answers(retrieve={"query_text": "price"})
    async with chat_model(provider.wire()) as model:
        request = asking(stream=stream, tools=[SEARCH])
        end = (await hear(model, request)).end
        [call] = end.calls
        assert (end.finish, call.name, call.arguments) == (
            Finish.TOOL_CALLS,
            "retrieve",
            {"query_text": "price"},
        )
        provider.answers()
        results = ChatMessage("user", results=(ToolResult(call, {"output": "Found."}),))
        told = replace(request, messages=[*request.messages, end.message, results])
        assert (await hear(model, told)).text == SAID


async def test_a_wrong_key_and_a_wrong_model_are_told_by_the_setting(provider: Station) -> None:
    for wire, setting in (
        (provider.wire(key="sk-not-this-one"), "THE_KEY"),
        (provider.wire(model="no-such-model"), "THE_MODEL"),
    ):
        async with chat_model(wire) as model:
            with pytest.raises(ConfigurationError, match=setting) as caught:
                await model.check()
            assert "not-this" not in " ".join(chain(caught.value))
    async with chat_model(provider.wire()) as model:
        await model.check()


async def test_a_server_that_is_not_there_is_told_by_the_setting(provider: Station) -> None:
    await provider.stop()
    async with chat_model(provider.wire()) as model:
        with pytest.raises(ProviderFailure, match=r"cannot be reached.*THE_URL"):
            await hear(model)
        with pytest.raises(GenerationError, match="THE_URL"):
            await model.check()


async def test_a_model_that_keeps_failing_is_left_alone(provider: Station) -> None:
    provider.fail("401", times=math.inf)
    async with chat_model(provider.wire()) as model:
        for _ in range(7):
            with pytest.raises(ProviderFailure):
                await hear(model)
    assert provider.asked == 5
    assert model.breaker.is_open


async def test_the_deadline_ends_a_reply_and_is_no_outage(provider: Station) -> None:
    provider.fail("stall inside the answer")
    async with chat_model(provider.wire()) as model:
        with pytest.raises(ProviderFailure, match="ran out of time") as caught:
            await hear(model, asking(), Deadline.after(0.5))
    assert not caught.value.outage


async def test_more_calls_than_the_model_takes_wait_for_their_turn(provider: Station) -> None:
    provider.fail("stall after the headers")
    async with chat_model(provider.wire(), concurrency=1) as model:
        first = asyncio.create_task(hear(model, asking(retry=False), Deadline.after(1.0)))
        await asyncio.sleep(0.3)
        with pytest.raises(ProviderFailure, match="busy with other questions") as caught:
            await hear(model, asking(), Deadline.after(0.2))
        assert not caught.value.outage
        assert (await hear(model)).text == SAID
        with pytest.raises(ProviderFailure):
            await first


@STREAMS
async def test_a_form_is_asked_for_and_kept(provider: Station, stream: bool) -> None:
    if not isinstance(provider, OpenAIStation):
        pytest.skip("the local Gemini holds no model to a schema")
    provider.answers('{"text": "Prices rise."}')
    async with chat_model(provider.wire()) as model:
        assert (await hear(model, asking(stream=stream, schema=SCHEMA))).end.finish is Finish.STOP
    assert provider.server.requests[-1].form == "json_schema"
    assert model.form() is OutputForm.SCHEMA


async def test_a_schema_that_is_refused_is_put_in_words_from_then_on(provider: Station) -> None:
    provider.answers('{"text": "Prices rise."}')
    provider.fail("400", times=2)
    async with chat_model(provider.wire()) as model:
        await hear(model, asking(schema=SCHEMA))
        assert model.form() is OutputForm.LINES
        assert provider.asked == 3
        await hear(model, asking(schema=SCHEMA))
    assert provider.asked == 4


@pytest.mark.costly
async def test_a_form_that_is_ignored_three_times_is_asked_for_in_other_words(
    provider: Station,
) -> None:
    async with chat_model(provider.wire()) as model:
        for form in (OutputForm.JSON, OutputForm.LINES, OutputForm.LINES):
            for _ in range(3):
                before = model.form()
                assert (await hear(model, asking(schema=SCHEMA))).text == SAID
            assert model.form() is form
            assert before is not form or form is OutputForm.LINES


@pytest.mark.costly
async def test_one_odd_reply_is_no_reason_to_ask_in_other_words(provider: Station) -> None:
    async with chat_model(provider.wire()) as model:
        for said in (SAID, SAID, '{"text": "Prices rise."}', SAID, SAID):
            provider.answers(said)
            await hear(model, asking(schema=SCHEMA))
        assert model.form() is OutputForm.SCHEMA
