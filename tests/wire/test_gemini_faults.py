"""The local Gemini before Google's own SDK: it fails as the service does."""

import math
from collections.abc import Awaitable
from json import JSONDecodeError
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from tests.wire import gemini_faults as faults
from tests.wire.gemini_client import (
    MODEL,
    RETRIEVE,
    config,
    embedded,
    finish,
    streamed,
    text,
    unary,
)
from tests.wire.gemini_failures import Fault, Stall, Trickle
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import EMBED, GENERATE, GeminiServer

CLIENT_400 = ("ClientError 400", "ClientError 400")
CLIENT_429 = ("ClientError 429", "ClientError 429")
DROPPED = ("RemoteProtocolError", "RemoteProtocolError")
SILENT = ("ReadTimeout", "ReadTimeout")
SEEN: list[tuple[Fault, tuple[str | None, str | None]]] = [
    (faults.BAD_REQUEST, CLIENT_400),
    (faults.UNAUTHENTICATED, ("ClientError 401", "ClientError 401")),
    (faults.FORBIDDEN, ("ClientError 403", "ClientError 403")),
    (faults.NOT_FOUND, ("ClientError 404", "ClientError 404")),
    (faults.QUOTA_RETRY_AFTER, CLIENT_429),
    (faults.QUOTA_RETRY_INFO, CLIENT_429),
    (faults.QUOTA_LONG, CLIENT_429),
    (faults.INTERNAL, ("ServerError 500", "ServerError 500")),
    (faults.UNAVAILABLE, ("ServerError 503", "ServerError 503")),
    (faults.HTML_502, ("ServerError 502", "ServerError 502")),
    (faults.DROP_BEFORE, DROPPED),
    (faults.DROP_INSIDE, DROPPED),
    (faults.MALFORMED_JSON, ("JSONDecodeError", "UnknownApiResponseError")),
    (faults.MALFORMED_EVENT, ("JSONDecodeError", "UnknownApiResponseError")),
    (faults.ERROR_IN_STREAM, ("no candidates", "ServerError 503")),
    (faults.STALL_SILENT, SILENT),
    (faults.STALL_AFTER_HEADERS, SILENT),
    (faults.STALL_INSIDE, SILENT),
    (faults.TRICKLE, SILENT),
    (faults.TRUNCATED, (None, None)),
    (faults.EMPTY_CANDIDATES, ("no candidates", "no candidates")),
    (faults.PROMPT_BLOCKED, ("blocked: PROHIBITED_CONTENT", "blocked: PROHIBITED_CONTENT")),
    (faults.STOP_WITHOUT_TEXT, ("STOP", "STOP")),
    (faults.SAFETY, ("SAFETY", "SAFETY")),
    (faults.RECITATION, ("RECITATION", "RECITATION")),
    (faults.MAX_TOKENS, ("MAX_TOKENS", "MAX_TOKENS")),
    (faults.MAX_TOKENS_IN_THOUGHT, ("MAX_TOKENS", "MAX_TOKENS")),
    (faults.MALFORMED_CALL, ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL")),
    (faults.UNKNOWN_TOOL, ("STOP", "STOP")),
    (faults.WRONG_ARGUMENTS, ("STOP", "STOP")),
    (faults.ARGUMENTS_NO_OBJECT, ("ValidationError", "ValidationError")),
]
EVERY_FAULT = pytest.mark.parametrize(
    ("fault", "seen"), SEEN, ids=[str(fault) for fault, _ in SEEN]
)


async def outcome(answer: Awaitable[types.GenerateContentResponse]) -> str | None:
    """Return what a caller of the SDK sees: the error, or how the answer ended."""
    try:
        return finish(await answer)
    except errors.APIError as error:
        return f"{type(error).__name__} {error.code}"
    except (
        errors.UnknownApiResponseError,
        httpx2.HTTPError,
        JSONDecodeError,
        ValidationError,
    ) as error:
        return type(error).__name__


async def last(sdk: genai.Client, **options: Any) -> types.GenerateContentResponse:
    return (await streamed(sdk, tools=[RETRIEVE], **options))[-1]


def patience(fault: Fault) -> types.HttpOptions:
    """Return how long to wait for the next byte: not long where none will come."""
    silent = isinstance(fault, Stall | Trickle)
    return types.HttpOptions(timeout=100 if silent else 5_000)


def test_every_fault_is_looked_at() -> None:
    assert [fault for fault in faults.GENERATION_FAULTS if fault not in dict(SEEN)] == []
    assert len({fault.name for fault, _ in SEEN}) == len(SEEN) == len(faults.GENERATION_FAULTS)


@EVERY_FAULT
async def test_a_fault_of_a_whole_answer_is_seen_by_the_sdk(
    gemini: GeminiServer, sdk: genai.Client, fault: Fault, seen: tuple[str, str]
) -> None:
    gemini.fail(fault)
    assert await outcome(unary(sdk, tools=[RETRIEVE], http_options=patience(fault))) == seen[0]
    assert text(await unary(sdk)) == "Prices rise. Demand falls."


@EVERY_FAULT
async def test_a_fault_of_a_stream_is_seen_by_the_sdk(
    gemini: GeminiServer, sdk: genai.Client, fault: Fault, seen: tuple[str, str]
) -> None:
    gemini.fail(fault)
    assert await outcome(last(sdk, http_options=patience(fault))) == seen[1]
    assert text(*await streamed(sdk)) == "Prices rise. Demand falls."


@pytest.mark.parametrize(
    "fault",
    [
        faults.DROP_INSIDE,
        faults.MALFORMED_EVENT,
        faults.ERROR_IN_STREAM,
        faults.STALL_INSIDE,
        faults.TRUNCATED,
        faults.SAFETY,
        faults.RECITATION,
        faults.MAX_TOKENS,
    ],
    ids=str,
)
async def test_a_fault_inside_a_stream_comes_after_the_first_words(
    gemini: GeminiServer, sdk: genai.Client, fault: Fault
) -> None:
    gemini.fail(fault)
    seen: list[types.GenerateContentResponse] = []

    async def read() -> types.GenerateContentResponse:
        stream = await sdk.aio.models.generate_content_stream(
            model=MODEL, contents="Why?", config=config(http_options=patience(fault))
        )
        async for chunk in stream:
            seen.append(chunk)
        return seen[-1]

    await outcome(read())
    assert text(*seen) == "Prices rise. De"
    assert finish(seen[0]) is None


@pytest.mark.parametrize("fault", faults.EMBEDDING_FAULTS, ids=str)
async def test_an_embedding_fault_leaves_no_full_set_of_vectors(
    gemini: GeminiServer, sdk: genai.Client, fault: Fault
) -> None:
    gemini.fail(fault, methods=EMBED)
    try:
        vectors = await embedded(sdk, "one", "two", http_options=patience(fault))
    except (errors.APIError, httpx2.HTTPError, JSONDecodeError):
        vectors = []
    assert len(vectors) < 2
    assert len(await embedded(sdk, "one", "two")) == 2


async def test_a_full_quota_says_how_long_to_wait(gemini: GeminiServer, sdk: genai.Client) -> None:
    gemini.fail(faults.quota_with_retry_after(7))
    with pytest.raises(errors.ClientError) as caught:
        await unary(sdk)
    assert caught.value.response.headers["Retry-After"] == "7"
    gemini.fail(faults.quota_with_retry_info(0.5))
    with pytest.raises(errors.ClientError) as caught:
        await unary(sdk)
    assert caught.value.details["error"]["details"][0]["retryDelay"] == "0.5s"


async def test_an_unknown_tool_and_nonsense_for_a_known_one_are_called(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.fail(faults.UNKNOWN_TOOL)
    gemini.fail(faults.WRONG_ARGUMENTS)
    unknown, nonsense = [await unary(sdk, tools=[RETRIEVE]) for _ in range(2)]
    assert unknown.function_calls
    assert nonsense.function_calls
    assert unknown.function_calls[0].name == "delete_everything"
    assert nonsense.function_calls[0].name == "retrieve"
    assert nonsense.function_calls[0].args == {"query_text": ["no", "text"], "top_k": "many"}


async def test_a_trickle_never_trips_a_timeout_of_reading(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.fail(Trickle("quick trickle", every=0.005))
    chunks = await streamed(sdk)
    assert len(chunks) > 20
    assert text(*chunks) == "Prices rise. Demand falls."
    assert finish(chunks[-1]) == "STOP"


async def test_a_fault_strikes_as_often_as_it_was_told_and_only_these_methods(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.fail(faults.INTERNAL, times=2, methods=("generateContent",))
    assert text(*await streamed(sdk)) == "Prices rise. Demand falls."
    assert [await outcome(unary(sdk)) for _ in range(3)] == [
        "ServerError 500",
        "ServerError 500",
        "STOP",
    ]


async def test_a_lasting_fault_strikes_until_it_is_healed(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.fail(faults.UNAVAILABLE, times=math.inf, methods=GENERATE)
    seen = [await outcome(unary(sdk)), await outcome(last(sdk)), await outcome(unary(sdk))]
    assert seen == ["ServerError 503"] * 3
    gemini.heal()
    assert await outcome(unary(sdk)) == "STOP"


async def test_a_fault_without_an_answer_uses_up_no_scripted_one(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.script("Still here.")
    gemini.fail(faults.INTERNAL)
    await outcome(unary(sdk))
    assert text(await unary(sdk)) == "Still here."


async def test_a_stopped_server_refuses_connections_until_it_is_started(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    await gemini.stop()
    with pytest.raises(httpx2.ConnectError):
        await unary(sdk)
    await gemini.start()
    assert await outcome(unary(sdk)) == "STOP"


async def test_a_reader_that_leaves_disturbs_nobody(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.script(Reply("word " * 500, piece_size=5, every=0.01))
    stream = await sdk.aio.models.generate_content_stream(model=MODEL, contents="Why?")
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    assert await outcome(unary(sdk)) == "STOP"
