"""Whatever a server of chat completions sends, a reply ends, and the loop stays free."""

import itertools
import json
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest

from core.providers.base import ChatEnd, Deadline
from core.providers.capabilities import ProviderFailure
from core.providers.guarded import GuardedModel
from core.providers.openai import OpenAIClient, OpenAIWire
from core.providers.pacing import RetryPolicy, Timeouts
from tests.wire.chat_stations import NAMES, PATIENT, SEARCH, Heard, asking, hear
from tests.wire.floods import LONGEST_SLICE, Slices, nested, places, replaced
from tests.wire.openai_server import chunk, event
from tests.wire.raw_gemini import RawGemini

pytestmark = pytest.mark.costly

DONE = b"data: [DONE]\n\n"
TIME = 5.0

LIKELY = {"token": "a", "logprob": -1.0, "top_logprobs": [{"token": "a", "logprob": -1.0}]}


def says(text: str) -> bytes:
    return event(chunk({"content": text}))


def calls(number: int, arguments: Any) -> bytes:
    function = {"name": "retrieve", "arguments": arguments}
    return event(
        chunk({"tool_calls": [{"index": number, "id": f"c{number}", "function": function}]})
    )


FLOODS: dict[str, Callable[[], Iterable[bytes]]] = {
    "lists 100,000 deep": lambda: [b"data: " + b"[" * 100_000 + b"]" * 100_000 + b"\n\n"],
    "lists deep over many lines": lambda: itertools.chain(
        itertools.repeat(b"data:[[[[\n", 50_000), [b"\n"]
    ),
    "lists deep over many data lines": lambda: itertools.chain(
        itertools.repeat(b"data: [[[[\n", 50_000), [b"\n"]
    ),
    "a string that hides lists": lambda: [b'data: {"a":"\ndata: ' + b"[" * 100_000 + b"\n\n"],
    "arguments 500 deep": lambda: [calls(0, json.dumps(nested(500))), DONE],
    "arguments without end": lambda: itertools.repeat(calls(0, "x" * 1_000)),
    "a thousand calls": lambda: [calls(n, "{}") for n in range(1_000)],
    "words without end": lambda: itertools.repeat(says("word " * 100)),
    "nothing without end": lambda: itertools.repeat(event({"choices": []})),
    "comments without end": lambda: itertools.repeat(b": keep-alive\n\n"),
    "blank lines without end": lambda: itertools.repeat(b"\n" * 1_000),
    "a line without end": lambda: itertools.repeat(b"data: " + b"x" * 60_000),
    "an object without end": lambda: itertools.chain(
        [b"data: {"], itertools.repeat(b'"a":1,' * 99)
    ),
    "an event of many lines without end": lambda: itertools.repeat(b"data: {},\r\n"),
    "many events at once": lambda: itertools.repeat(says("a ") * 600, 50),
    "5,000 choices": lambda: [event({"choices": [chunk({"content": "a"})["choices"][0]] * 5_000})],
    "150,000 values of a wrong type": lambda: [event({"choices": [1] * 150_000})],
    "a number of 6,000 digits": lambda: [
        b'data: {"choices":[],"usage":{"prompt_tokens":' + b"9" * 6_000 + b"}}\n\n"
    ],
    "log-probabilities without end": lambda: itertools.repeat(
        event({"choices": [chunk({})["choices"][0] | {"logprobs": {"content": [LIKELY] * 20}}]})
    ),
    "bytes that are no text": lambda: [b'data: {"choices":[{"delta":"\xff\xfe"}]}\n\n'],
}
ODD = [None, -1, 0, 1e30, -0.5, 10**40, True, "", "x" * 5_000, [], {}, [[]], [{}], nested(30)]
WHOLE: dict[str, Any] = {
    "id": "x",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": "Hello.",
                "refusal": None,
                "tool_calls": [
                    {"index": 0, "id": "c", "function": {"name": "retrieve", "arguments": "{}"}}
                ],
            },
            "finish_reason": "tool_calls",
            "logprobs": {"content": [LIKELY]},
        }
    ],
    "usage": {
        "prompt_tokens": 3,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 1},
    },
}


@pytest.fixture
async def model(raw: RawGemini) -> AsyncIterator[GuardedModel]:
    client = OpenAIClient("test-key", base_url=f"{raw.url}/v1", names=NAMES)
    wire = OpenAIWire(client, "local-model")
    await wire.open()
    raw.body = [says("Hello."), event(chunk({}, "stop")), DONE]
    said = await hear(GuardedModel(wire, timeouts=PATIENT))
    assert said.text == "Hello."  # what is loaded once is no slice of a reply
    model = GuardedModel(
        wire, timeouts=Timeouts(2.0, 1.0), patience=RetryPolicy(retries=1, backoff=0.01)
    )
    yield model
    await model.aclose()


async def ending_of(model: GuardedModel) -> ChatEnd | ProviderFailure:
    """Return how a reply ends; what was written before a failure is reported all the same."""
    model.breaker.succeeded()  # one flood is no reason to spare the next
    incoming = Heard()
    try:
        await hear(model, asking(tools=[SEARCH]), Deadline.after(TIME), incoming)
    except ProviderFailure as failure:
        return failure
    return incoming.end


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_ends_and_leaves_the_loop_free(
    model: GuardedModel, raw: RawGemini, slices: Slices, name: str
) -> None:
    raw.body = FLOODS[name]()
    slices.clear()
    ending = await ending_of(model)
    longest = slices.longest()
    print(f"{name}: {ending}, longest step {longest * 1000:.0f} ms")
    assert longest <= LONGEST_SLICE
    assert isinstance(ending, ProviderFailure) or not ending.calls or len(ending.calls) <= 16


async def test_an_odd_value_anywhere_in_a_reply_ends_it_quietly(
    model: GuardedModel, raw: RawGemini, caplog: pytest.LogCaptureFixture
) -> None:
    odd = [replaced(WHOLE, place, value) for place in places(WHOLE) for value in ODD]
    for value in random.Random(4711).sample(odd, len(odd) // 2):
        raw.body = [event(value), DONE]
        ending = await ending_of(model)
        if isinstance(ending, ChatEnd):
            assert 0 <= ending.query_tokens < 20_000_000, value
            assert 0 <= ending.response_tokens < 20_000_000, value
    assert [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR] == []
    print(f"{len(odd) // 2} odd replies")
