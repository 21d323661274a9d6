"""The local Gemini before Google's own SDK: it answers as the service does."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest
from google import genai
from google.genai import errors, types

from tests.pauses import passed_over
from tests.wire import gemini_faults as faults
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_client import (
    EMBEDDING_MODEL,
    MODEL,
    QUESTION,
    RETRIEVE,
    connected,
    embedded,
    finish,
    parts,
    posted,
    streamed,
    text,
    unary,
)
from tests.wire.gemini_replies import Piece, Reply, ToolCall
from tests.wire.gemini_server import COUNT, EMBED, GeminiServer


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_both_versions_serve_every_endpoint(gemini: GeminiServer, version: str) -> None:
    async with connected(gemini, version=version) as client:
        assert text(await unary(client)) == "Prices rise. Demand falls."
        assert text(*await streamed(client)) == "Prices rise. Demand falls."
        counted = await client.aio.models.count_tokens(model=MODEL, contents="How many?")
        assert counted.total_tokens
        assert len(await embedded(client, "one", "two")) == 2
    assert [(call.method, call.api_version) for call in gemini.requests] == [
        (method, version) for method in ("generateContent", "streamGenerateContent", *COUNT, *EMBED)
    ]


async def test_a_request_is_recorded_with_one_spelling_of_its_names(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    await unary(
        sdk,
        system_instruction="Be brief.",
        temperature=0.3,
        max_output_tokens=64,
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
        tools=[RETRIEVE],
    )
    call = gemini.requests[0]
    assert call.system_text == "Be brief."
    assert call.user_texts == ["Why?"]
    assert call.config == {
        "temperature": 0.3,
        "maxOutputTokens": 64,
        "thinkingConfig": {"thinkingLevel": "LOW"},
    }
    assert call.declared_tools[0]["parametersJsonSchema"]["properties"] == {
        "query_text": {"type": "string"}
    }


async def test_a_body_in_snake_case_is_read_like_one_in_camel_case(gemini: GeminiServer) -> None:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Why?"}]}],
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "generation_config": {"max_output_tokens": 50, "thinkingConfig": {"thinking_budget": 0}},
    }
    response = await posted(gemini, body)
    assert response.status_code == 200
    assert gemini.requests[0].system_text == "Be brief."
    assert gemini.requests[0].config["thinkingConfig"] == {"thinkingBudget": 0}


async def test_a_stream_is_cut_into_pieces_and_ends_with_its_reason_and_usage(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.script(Reply("abcdefgh", piece_size=3, thought_tokens=5))
    chunks = await streamed(sdk)
    assert [chunk.text for chunk in chunks] == ["abc", "def", "gh"]
    assert [finish(chunk) for chunk in chunks] == [None, None, "STOP"]
    usage = chunks[-1].usage_metadata
    assert usage is not None
    assert usage.candidates_token_count == 2
    assert usage.thoughts_token_count == 5
    assert usage.prompt_token_count
    assert usage.total_token_count == usage.prompt_token_count + 7


async def test_a_reply_is_paced(gemini: GeminiServer, sdk: genai.Client) -> None:
    gemini.script(Reply("abcd", piece_size=1, first_after=0.06, every=0.02))
    with passed_over() as pauses:
        await streamed(sdk)
    assert [pause.seconds for pause in pauses] == [0.06, 0.02, 0.02, 0.02]


async def test_pieces_of_an_iterator_travel_one_by_one(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    async def slowly() -> AsyncIterator[Piece]:
        yield "Let me look. "
        await asyncio.sleep(0)
        yield ToolCall("retrieve", {"query_text": "price"})

    gemini.script(iter(["One. ", "Two."]), slowly())
    assert [chunk.text for chunk in await streamed(sdk)] == ["One. ", "Two.", ""]
    chunks = await streamed(sdk, tools=[RETRIEVE])
    assert [bool(chunk.function_calls) for chunk in chunks] == [False, True, False]


async def test_thoughts_are_marked_as_such(gemini: GeminiServer, sdk: genai.Client) -> None:
    gemini.script(*[Reply("Yes.", thoughts="Hm.", thought_tokens=1)] * 2)
    assert (await unary(sdk)).text == "Yes."
    thought, answer = await streamed(sdk)
    assert parts(thought)[0].thought
    assert answer.text == "Yes."


async def test_an_answer_ends_at_the_limit_of_its_tokens(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.script(*[Reply("word " * 20, thought_tokens=3)] * 2)
    chunks = await streamed(sdk, max_output_tokens=8)
    whole = await unary(sdk, max_output_tokens=8)
    assert text(*chunks) == text(whole) == "word word word word "
    assert finish(chunks[-1]) == finish(whole) == "MAX_TOKENS"


async def test_scripted_answers_come_in_order_and_then_the_default(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    gemini.script("First.", lambda call: f"{call.user_texts[0]} Second.")
    answers = [text(await unary(sdk)) for _ in range(3)]
    assert answers == ["First.", "Why? Second.", "Prices rise. Demand falls."]


async def test_embeddings_are_the_same_every_time_and_near_for_like_words(
    sdk: genai.Client,
) -> None:
    first = await embedded(sdk, "the price of bread", "the price of milk", "tall mountains")
    again = await embedded(sdk, "the price of bread")
    assert first[0] == again[0]
    assert len(first[0]) == 3072
    bread, milk, mountains = np.asarray(first)
    assert np.linalg.norm(bread) == pytest.approx(1)
    assert bread @ milk > 0.5 > bread @ mountains


async def test_a_reduced_embedding_is_not_of_unit_length(
    gemini: GeminiServer, sdk: genai.Client
) -> None:
    vectors = await embedded(
        sdk, "price", output_dimensionality=768, task_type="RETRIEVAL_DOCUMENT", title="Prices"
    )
    assert len(vectors[0]) == 768
    assert np.linalg.norm(vectors[0]) < 0.8
    assert gemini.requests[0].body["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"


async def test_plain_strings_are_merged_by_the_sdk_into_one_embedding(
    sdk: genai.Client,
) -> None:
    response = await sdk.aio.models.embed_content(
        model=EMBEDDING_MODEL,
        contents=["one", "two", "three"],  # type: ignore[arg-type]
    )
    assert len(response.embeddings or []) == 1


async def test_a_batch_has_at_most_a_hundred_texts(sdk: genai.Client) -> None:
    assert len(await embedded(sdk, *["word"] * 100, output_dimensionality=8)) == 100
    with pytest.raises(errors.ClientError, match="at most 100 requests"):
        await embedded(sdk, *["word"] * 101)


async def test_an_unknown_endpoint_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="unknown endpoint: POST /v1beta/models/m:predict"):
        async with GeminiServer() as server:
            await posted(server, {}, model="m", method="predict")


async def test_a_stream_that_is_no_event_stream_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="unknown endpoint"):
        async with GeminiServer() as server:
            await posted(server, {"contents": [QUESTION]}, method="streamGenerateContent")


async def test_a_call_that_nothing_was_scripted_for_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="nothing was scripted"):
        async with GeminiServer() as server:
            await posted(server, {"contents": [QUESTION]})


async def test_a_scripted_model_that_raises_fails_the_test() -> None:
    def broken(call: GeminiCall) -> Reply:
        raise RuntimeError(f"cannot answer {call.user_texts[0]}")

    server = GeminiServer()
    server.answer_with(broken)
    with pytest.raises(AssertionError, match="cannot answer Why"):
        async with server:
            await posted(server, {"contents": [QUESTION]})


async def test_a_fault_that_cannot_happen_is_not_accepted(gemini: GeminiServer) -> None:
    with pytest.raises(ValueError, match="SAFETY cannot happen to batchEmbedContents"):
        gemini.fail(faults.SAFETY, methods=EMBED)
