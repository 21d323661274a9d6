"""What only services like OpenAI's do: what they do not take, how they count, what they tell."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.providers.base import Deadline, Finish, OutputForm
from core.providers.capabilities import ProviderFailure
from tests.wire import openai_faults as faults
from tests.wire.chat_stations import (
    QUESTION,
    SAID,
    SCHEMA,
    SEARCH,
    Heard,
    OpenAIStation,
    asking,
    chain,
    chat_model,
    hear,
)
from tests.wire.openai_faults import FAULTS
from tests.wire.openai_server import ChatReply, Fault, OpenAIServer

JSON = '{"text": "Prices rise."}'
STREAMS = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as opened:
        opened.answer_with(lambda call: SAID)
        yield opened


@pytest.mark.parametrize(
    ("lacking", "changes", "kept"),
    [
        ({"max_tokens"}, {}, {"max_completion_tokens": 500}),
        ({"temperature"}, {"temperature": 0.5}, {}),
        ({"stream_options"}, {}, {"stream": True}),
        ({"tools"}, {"tools": [SEARCH]}, {}),
        ({"logprobs", "top_logprobs"}, {"top_logprobs": 5}, {}),
        ({"json_schema"}, {"schema": SCHEMA}, {"response_format": {"type": "json_object"}}),
        ({"json_schema", "json_object", "max_tokens", "temperature"}, {"schema": SCHEMA}, {}),
    ],
    ids=lambda value: " ".join(sorted(value)) if isinstance(value, set) else "",
)
async def test_what_a_service_does_not_take_is_left_out_from_then_on(
    server: OpenAIServer, lacking: set[str], changes: dict[str, Any], kept: dict[str, Any]
) -> None:
    server.lacking = frozenset(lacking)
    server.answer_with(lambda call: JSON)
    async with chat_model(OpenAIStation(server).wire()) as model:
        assert (await hear(model, asking(**changes))).text == JSON
        refused = len(server.refusals)
        assert refused >= 1
        assert (await hear(model, asking(**changes))).text == JSON
    assert len(server.refusals) == refused
    body = server.requests[-1].body
    assert kept.items() <= body.items()
    assert not lacking & set(body)


async def test_a_form_in_words_names_the_schema_or_the_lines(server: OpenAIServer) -> None:
    server.lacking = frozenset({"json_schema"})
    server.answer_with(lambda call: JSON)
    async with chat_model(OpenAIStation(server).wire()) as model:
        await hear(model, asking(schema=SCHEMA))
        assert json.dumps(SCHEMA.json) in server.requests[-1].messages[0]["content"]
        server.lacking = frozenset({"json_schema", "json_object"})
        await hear(model, asking(schema=SCHEMA))
        assert model.form() is OutputForm.LINES
    assert SCHEMA.in_lines in server.requests[-1].messages[0]["content"]


async def test_a_rejected_request_that_nothing_mends_is_not_asked_for_ever(
    server: OpenAIServer,
) -> None:
    server.lacking = frozenset({"max_tokens", "max_completion_tokens"})
    async with chat_model(OpenAIStation(server).wire()) as model:
        with pytest.raises(ProviderFailure, match="does not accept max_completion_tokens"):
            await hear(model)
    assert len(server.refusals) == 2


@STREAMS
async def test_the_likeliest_first_tokens_are_told(server: OpenAIServer, stream: bool) -> None:
    likely = ({"yes": -0.1, "no": -2.5, "maybe": -6.0}, {".": -0.2})
    server.answer_with(lambda call: ChatReply("yes.", logprobs=likely))
    async with chat_model(OpenAIStation(server).wire()) as model:
        end = (await hear(model, asking(stream=stream, top_logprobs=2))).end
        assert end.logprobs == ({"yes": -0.1, "no": -2.5}, {".": -0.2})
        assert (await hear(model, asking(stream=stream))).end.logprobs == ()


@STREAMS
async def test_tokens_that_the_service_had_kept_are_counted(
    server: OpenAIServer, stream: bool
) -> None:
    server.answer_with(lambda call: ChatReply(SAID, cached=11))
    async with chat_model(OpenAIStation(server).wire()) as model:
        end = (await hear(model, asking(stream=stream))).end
    assert (end.cached_tokens, end.response_tokens) == (11, -(-len(SAID) // 4))


@STREAMS
async def test_tokens_that_the_service_does_not_count_are_reckoned(
    server: OpenAIServer, stream: bool
) -> None:
    server.fail(faults.NO_USAGE)
    async with chat_model(OpenAIStation(server).wire()) as model:
        end = (await hear(model, asking(stream=stream))).end
    assert end.query_tokens > 10
    assert end.response_tokens > 10


@pytest.mark.costly
@STREAMS
async def test_arguments_that_are_no_object_are_told_as_none(
    server: OpenAIServer, stream: bool
) -> None:
    deep = '{"a":' * 100 + "1" + "}" * 100
    for arguments in ("query_text=price", "[1]", deep, "x" * 30_000):
        server.script(ChatReply(calls=(("retrieve", arguments),)))
    async with chat_model(OpenAIStation(server).wire()) as model:
        for _ in range(4):
            [call] = (await hear(model, asking(stream=stream, tools=[SEARCH]))).end.calls
            assert (call.name, call.arguments) == ("retrieve", None)


async def test_a_server_that_keeps_to_no_limit_can_be_asked_all_the_same(
    server: OpenAIServer,
) -> None:
    endless = ChatReply("Hello and welcome. " * 40, keeps_limit=False)
    server.answer_with(lambda _: endless)
    async with chat_model(OpenAIStation(server).wire()) as model:
        await model.check()
        with pytest.raises(ProviderFailure, match=r"256 characters.*at most 16 tokens.*max_tokens"):
            await hear(model, asking(max_tokens=16))


async def test_a_reply_whose_stream_never_ends_is_whole(server: OpenAIServer) -> None:
    server.fail(faults.STALL_AT_END)
    async with chat_model(OpenAIStation(server).wire()) as model:
        incoming = await hear(model)
    assert (incoming.text, incoming.end.finish) == (SAID, Finish.STOP)


@STREAMS
async def test_a_model_that_refuses_says_so(server: OpenAIServer, stream: bool) -> None:
    server.fail(faults.REFUSED)
    async with chat_model(OpenAIStation(server).wire()) as model:
        end = (await hear(model, asking(stream=stream))).end
    assert (end.finish, end.detail) == (Finish.REFUSED, "refused to answer")


@pytest.mark.parametrize(
    ("fault", "told"),
    [(faults.NO_CREDIT, "no credit left"), (faults.TOO_LONG, "set `context`")],
    ids=["no credit", "too long"],
)
async def test_what_no_second_try_mends_is_not_tried_again(
    server: OpenAIServer, fault: Fault, told: str
) -> None:
    server.fail(fault)
    async with chat_model(OpenAIStation(server).wire()) as model:
        with pytest.raises(ProviderFailure, match=told):
            await hear(model, asking(schema=SCHEMA))
    assert len(server.requests) == 1
    assert model.form() is OutputForm.SCHEMA


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, None),
        ({"/v1/models": {"data": [{"id": "local-model", "max_model_len": 8096}]}}, 8096),
        ({"/v1/models": {"data": [{"id": "another", "max_model_len": 8096}, 7, None]}}, None),
        ({"/props": {"default_generation_settings": {"n_ctx": 4096}}}, 4096),
        ({"/api/ps": {"models": [{"model": "local-model:latest", "context_length": 2048}]}}, 2048),
        ({"/api/show": {"parameters": "temperature 1\nnum_ctx    1024"}}, 1024),
        (
            {"/api/v0/models": {"data": [{"id": "local-model", "loaded_context_length": 512}]}},
            512,
        ),
        ({"/props": {"default_generation_settings": {"n_ctx": "many"}}}, None),
    ],
    ids=str,
)
async def test_the_server_is_asked_how_much_a_call_may_hold(
    server: OpenAIServer, about: dict[str, Any], expected: int | None
) -> None:
    server.about = about
    async with chat_model(OpenAIStation(server).wire()) as model:
        assert await model.ask_context() == expected


async def test_what_a_service_says_of_the_key_is_not_told(server: OpenAIServer) -> None:
    async with chat_model(OpenAIStation(server).wire(key="sk-another-key-4711")) as model:
        with pytest.raises(ProviderFailure, match="401 invalid_api_key") as caught:
            await hear(model)
    told = " ".join(chain(caught.value))
    assert not [secret for secret in ("4711", "sk-", QUESTION) if secret in told]


async def test_a_server_of_ones_own_is_measured_before_its_first_question(
    server: OpenAIServer,
) -> None:
    async with chat_model(
        OpenAIStation(server).wire(), measured_at_start=True, thinks_unopened=None
    ) as model:
        assert model.speed is None
        await model.open("You answer from the book of the course.")
        await model.measured()
        assert model.speed is not None
        assert model.speed.tokens_within(10.0) > 1_000
        assert model.speed.cached > 5
        # It said hello in prose, so that from now on its words are given as they come.
        assert len((await hear(model)).texts) > 1
    assert [call.messages[0]["content"][:10] for call in server.requests] == [
        "You answer",
        "You answer",
    ]


async def test_what_came_too_late_tells_how_slow_a_model_is(server: OpenAIServer) -> None:
    server.fail(FAULTS["stall without headers"])
    async with chat_model(OpenAIStation(server).wire()) as model:
        with pytest.raises(ProviderFailure, match="ran out of time"):
            await hear(model, asking(tokens=3_000), Deadline.after(1.5))
        assert model.speed is not None
        assert model.speed.tokens_within(1.5) < 6_500
        assert not model.breaker.is_open


async def test_the_first_prose_of_a_model_waits_for_the_end_of_a_thought(
    server: OpenAIServer,
) -> None:
    server.script(
        SAID,
        SAID,
        f"Hm, is it so? Let me look at the sentences.\n</think>\n\n{SAID}",
        f"Hm?\n</think>\n\n{SAID}",
    )
    async with chat_model(OpenAIStation(server).wire(), thinks_unopened=None) as model:
        assert [len((await hear(model)).texts) > 1 for _ in range(2)] == [False, True]
        with pytest.raises(ProviderFailure, match="marks only the end of its thoughts") as caught:
            await hear(model)
        assert not caught.value.outage
        assert (await hear(model)).text == SAID


async def test_words_are_not_held_until_they_are_late(server: OpenAIServer) -> None:
    server.fail(FAULTS["trickle"])
    async with chat_model(OpenAIStation(server).wire(), thinks_unopened=None) as model:
        incoming = Heard()
        with pytest.raises(ProviderFailure, match="ran out of time"):
            await hear(model, asking(), Deadline.after(3.0), incoming)
    assert SAID.startswith(incoming.text)
    assert len(incoming.text) > 5


@pytest.mark.parametrize("code", [409, 425, 529])
async def test_an_overloaded_service_is_asked_again(server: OpenAIServer, code: int) -> None:
    server.fail(faults.status(code, "overloaded_error"))
    async with chat_model(OpenAIStation(server).wire()) as model:
        assert (await hear(model)).text == SAID
    assert len(server.requests) == 2
