"""The local Gemini before Google's own SDK: it refuses what the service refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from tests.wire.gemini_client import (
    EMBEDDING_MODEL,
    MODEL,
    QUESTION,
    RETRIEVE,
    connected,
    posted,
    says,
    text,
    unary,
)
from tests.wire.gemini_replies import Reply, ToolCall
from tests.wire.gemini_server import EMBED, GeminiServer


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"contents": [', "Invalid JSON payload"),
        (b"\xff\xfe", "Invalid JSON payload"),
        (["no object"], "Invalid value at ''"),
        ({"contents": []}, "contents is not specified"),
        ({"contents": [{"role": "user", "parts": []}]}, "parts must not be empty"),
        ({"contents": [says("user", "")]}, "required oneof field 'data'"),
        ({"contents": [says("system", "Why?")]}, "valid role"),
        ({"contents": [QUESTION, QUESTION]}, "alternate between user and model"),
        ({"contents": [says("model", "Because."), QUESTION]}, "begin and end with a user role"),
        ({"contents": [QUESTION, says("model", "Because.")]}, "begin and end with a user role"),
        ({"contents": [QUESTION], "prompt": "Why?"}, 'Unknown name "prompt": Cannot find field'),
        (
            {"contents": [QUESTION], "generationConfig": {"max_tokens": 5}},
            "Unknown name \"max_tokens\" at 'generationConfig'",
        ),
        ({"contents": [{"role": "user", "parts": [{"txt": "x"}]}]}, "at 'contents[0].parts[0]'"),
        (
            {"contents": [QUESTION], "generationConfig": {"maxOutputTokens": "many"}},
            "Invalid value at 'generationConfig.maxOutputTokens'",
        ),
        ({"contents": [QUESTION], "generationConfig": {"maxOutputTokens": 0}}, "positive"),
        ({"contents": [QUESTION], "generationConfig": {"temperature": 3}}, "temperature"),
        (
            {
                "contents": [QUESTION],
                "generationConfig": {
                    "thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 0}
                },
            },
            "only set only one of thinking budget and thinking level",
        ),
    ],
)
async def test_a_senseless_request_is_refused(gemini: GeminiServer, body: Any, words: str) -> None:
    response = await posted(gemini, body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    assert words in error["message"]
    assert words in gemini.refusals[0]


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([], "requests is not specified"),
        ([{"content": says("user", "x")}], "must match the one in the path"),
        ([{"model": f"models/{EMBEDDING_MODEL}"}], "parts must not be empty"),
        (
            [
                {
                    "model": f"models/{EMBEDDING_MODEL}",
                    "content": says("user", "x"),
                    "outputDimensionality": 4000,
                }
            ],
            "between 1 and 3072",
        ),
    ],
)
async def test_a_senseless_batch_is_refused(
    gemini: GeminiServer, requests: Any, words: str
) -> None:
    body = {"requests": requests}
    response = await posted(gemini, body, method=EMBED[0], model=EMBEDDING_MODEL)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


async def test_a_wrong_key_and_a_missing_key_are_refused(gemini: GeminiServer) -> None:
    async with connected(gemini, key="stolen") as client:
        with pytest.raises(errors.ClientError, match="API key not valid") as caught:
            await unary(client)
    assert caught.value.code == 400
    assert caught.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    response = await posted(gemini, {"contents": [QUESTION]}, headers={})
    assert response.status_code == 403
    assert response.json()["error"]["status"] == "PERMISSION_DENIED"


@pytest.mark.parametrize(
    ("model", "version", "method"),
    [
        ("gemini-1.0-ultra", "v1beta", "generateContent"),
        (EMBEDDING_MODEL, "v1beta", "generateContent"),
        (MODEL, "v1beta", EMBED[0]),
        ("gemini-flash-latest", "v1", "generateContent"),
    ],
)
async def test_a_model_that_cannot_do_this_is_not_found(
    gemini: GeminiServer, model: str, version: str, method: str
) -> None:
    response = await posted(gemini, {}, model=model, version=version, method=method)
    assert response.status_code == 404
    assert f"models/{model} is not found for API version {version}" in response.text


async def test_an_alias_exists_in_the_beta_version_only(gemini: GeminiServer) -> None:
    response = await posted(gemini, {"contents": [QUESTION]}, model="gemini-flash-latest")
    assert response.status_code == 200


async def conversation(sdk: genai.Client, gemini: GeminiServer) -> list[types.Content]:
    """Return the contents after a function call was made and answered."""
    gemini.script(Reply("Let me look. ", (ToolCall("retrieve", {"query_text": "price"}),)))
    response = await unary(sdk, tools=[RETRIEVE])
    assert response.candidates
    assert response.function_calls
    made = response.function_calls[0]
    assert made.args == {"query_text": "price"}
    turn = response.candidates[0].content
    assert turn is not None
    answer = types.FunctionResponse(id=made.id, name=made.name, response={"passages": []})
    return [
        types.Content(role="user", parts=[types.Part(text="Why?")]),
        turn,
        types.Content(role="user", parts=[types.Part(function_response=answer)]),
    ]


async def test_a_function_call_is_answered_with_its_id_and_signature(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    contents = await conversation(sdk, gemini)
    assert text(await unary(sdk, contents, tools=[RETRIEVE])) == "Prices rise. Demand falls."
    assert gemini.requests[-1].tool_results == [
        {"id": "call-1", "name": "retrieve", "response": {"passages": []}}
    ]


def _without_signature(contents: list[types.Content]) -> None:
    _part(contents, 1, -1).thought_signature = None


def _with_another_signature(contents: list[types.Content]) -> None:
    _part(contents, 1, -1).thought_signature = b"another"


def _without_call(contents: list[types.Content]) -> None:
    contents[1] = types.Content(role="model", parts=[types.Part(text="Let me look.")])


def _without_answer(contents: list[types.Content]) -> None:
    contents[2] = types.Content(role="user", parts=[types.Part(text="Well?")])


def _with_another_id(contents: list[types.Content]) -> None:
    answer = _part(contents, 2, 0).function_response
    assert answer is not None
    answer.id = "call-9"


def _with_an_invented_call(contents: list[types.Content]) -> None:
    call = _part(contents, 1, -1).function_call
    answer = _part(contents, 2, 0).function_response
    assert call is not None
    assert answer is not None
    call.id = answer.id = "call-9"


def _part(contents: list[types.Content], turn: int, number: int) -> types.Part:
    found = contents[turn].parts
    assert found
    return found[number]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_without_signature, "missing a thought_signature"),
        (_with_another_signature, "Corrupted thought signature"),
        (_without_call, "number of function response parts"),
        (_without_answer, "number of function response parts"),
        (_with_another_id, "function responses match"),
        (_with_an_invented_call, "this server never made"),
    ],
)
async def test_a_spoilt_function_call_is_refused(
    gemini: GeminiServer,
    sdk: genai.Client,
    spoil: Callable[[list[types.Content]], None],
    words: str,
) -> None:
    contents = await conversation(sdk, gemini)
    spoil(contents)
    with pytest.raises(errors.ClientError, match=words) as caught:
        await unary(sdk, contents, tools=[RETRIEVE])
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
