"""OpenAIEmbedder before the local server: batches, order, and what no vectors are."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from core.domain.errors import EmbeddingError
from core.providers.embeddings.remote import OpenAIEmbedder
from core.providers.openai import OpenAIClient
from core.providers.pacing import RetryPolicy
from tests.wire.chat_stations import NAMES, chain
from tests.wire.openai_server import EMBEDDING_MODEL, OpenAIServer
from tests.wire.raw_gemini import raw_gemini

SETTING = "models.multilingual.dimensions"


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as opened:
        yield opened


@asynccontextmanager
async def embedder(
    url: str, *, key: str = "test-key", model: str = EMBEDDING_MODEL, dimensions: int = 16
) -> AsyncIterator[OpenAIEmbedder]:
    client = OpenAIClient(key, base_url=url, names=NAMES)
    patience = RetryPolicy(retries=2, backoff=0.01)
    opened = OpenAIEmbedder(
        client, model=model, dimensions=dimensions, setting=SETTING, patience=patience
    )
    await opened.warm_up()
    yield opened
    await client.aclose()


async def test_like_texts_have_like_unit_vectors_in_the_order_asked(server: OpenAIServer) -> None:
    server.dimensions = 768
    async with embedder(server.url, dimensions=768) as model:
        assert (model.name, model.dimensions) == (f"{EMBEDDING_MODEL}/768", 768)
        passages = await model.embed_passages(["the price of bread", "a heap is a tree"])
        questions = await model.embed_queries(["what is a heap"])
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-6)
    likeness = passages @ questions[0]
    assert likeness[1] > likeness[0] + 0.2


async def test_101_texts_are_two_requests(server: OpenAIServer) -> None:
    async with embedder(server.url) as model:
        assert (await model.embed_passages([f"number {n}" for n in range(101)])).shape == (101, 16)
        assert (await model.embed_passages([])).shape == (0, 16)
    assert sorted(len(body["input"]) for body in server.embedded) == [1, 100]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"key": "sk-not-this-one"}, "401 invalid_api_key.*THE_KEY"),
        ({"model": "no-such-model"}, "404 model_not_found.*THE_MODEL"),
        ({"dimensions": 32}, f"16 dimensions instead of 32: check {SETTING}"),
    ],
    ids=["key", "model", "dimensions"],
)
async def test_what_is_wrong_is_told_by_its_setting(
    server: OpenAIServer, options: dict[str, Any], told: str
) -> None:
    async with embedder(server.url, **options) as model:
        with pytest.raises(EmbeddingError, match=told) as caught:
            await model.embed_queries(["what is a heap"])
    assert "not-this" not in " ".join(chain(caught.value))


async def test_a_server_that_is_gone_is_told(server: OpenAIServer) -> None:
    await server.stop()
    async with embedder(server.url) as model:
        with pytest.raises(EmbeddingError, match=r"cannot be reached.*THE_URL"):
            await model.embed_queries(["what is a heap"])


ODD: list[Any] = [
    None,
    {},
    [],
    [1],
    [{"index": 1, "embedding": [1.0] * 16}],
    [{"index": 0, "embedding": []}],
    [{"index": 0, "embedding": "abc"}],
    [{"index": 0, "embedding": [None] * 16}],
    [{"index": 0, "embedding": [0.0] * 16}],
    [{"index": 0, "embedding": [[1.0]] * 16}],
    [{"index": 0, "embedding": ["1"] * 15 + ["x"]}],
    [{"index": "0", "embedding": [1.0] * 16}],
    [{"index": 0, "embedding": [1e999] * 16}],
    [{"index": 0, "embedding": [1.0] * 16}] * 2,
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: json.dumps(odd)[:40])
async def test_vectors_that_are_none_end_in_a_sentence(odd: Any) -> None:
    with raw_gemini() as raw:
        raw.body = [json.dumps({"data": odd}).encode()]
        async with embedder(f"{raw.url}/v1") as model:
            with pytest.raises(EmbeddingError):
                await model.embed_queries(["what is a heap"])


async def test_vectors_without_end_end_in_a_sentence() -> None:
    with raw_gemini() as raw:
        begin = b'{"data":[{"index":0,"embedding":['
        raw.body = itertools.chain([begin], itertools.repeat(b"0.25," * 9_000))
        async with embedder(f"{raw.url}/v1") as model:
            with pytest.raises(EmbeddingError, match="too much"):
                await model.embed_queries(["what is a heap"])
