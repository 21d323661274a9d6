"""GeminiEmbedder before the local Gemini: batches, unit vectors, and patience."""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from core.domain.errors import EmbeddingError
from core.providers.embeddings.remote import GeminiEmbedder
from core.providers.gemini import GeminiClient
from core.providers.pacing import RetryPolicy
from tests.wire import gemini_faults as faults
from tests.wire.gemini_calls import GeminiCall, Json
from tests.wire.gemini_embeddings import embedding_response
from tests.wire.gemini_failures import Fault
from tests.wire.gemini_server import EMBED, GeminiServer
from tests.wire.gemini_writer import chain

SHORT = RetryPolicy(retries=5, backoff=0.01, longest_wait=1.5)


@asynccontextmanager
async def embedder(
    server: GeminiServer, *, key: str | None = None, api_version: str = "v1beta", **options: Any
) -> AsyncIterator[GeminiEmbedder]:
    client = GeminiClient(key or server.api_key, base_url=server.url, api_version=api_version)
    yield GeminiEmbedder(client, **{"patience": SHORT, **options})
    await client.aclose()


def sizes(server: GeminiServer) -> list[int]:
    return sorted(len(call.body["requests"]) for call in server.requests)


@pytest.mark.parametrize("api_version", ["v1", "v1beta"])
async def test_like_texts_have_like_unit_vectors(gemini: GeminiServer, api_version: str) -> None:
    async with embedder(gemini, api_version=api_version) as model:
        assert (model.name, model.dimensions) == ("gemini-embedding-2/768", 768)
        passages = await model.embed_passages(["the price of bread", "a heap is a tree"])
        questions = await model.embed_queries(["what is a heap"])
    assert passages.shape == (2, 768)
    assert passages.dtype == questions.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-6)
    likeness = passages @ questions[0]
    assert likeness[1] > likeness[0] + 0.2


async def test_questions_and_passages_are_told_apart(gemini: GeminiServer) -> None:
    async with embedder(gemini, model="gemini-embedding-001", dimensions=256) as model:
        await model.embed_passages(["a heap is a tree"])
        await model.embed_queries(["what is a heap"])
    passage, question = [call.body["requests"] for call in gemini.requests]
    expected = {"model": "models/gemini-embedding-001", "outputDimensionality": 256}
    assert [{key: one[key] for key in expected} for one in passage + question] == [expected] * 2
    assert passage[0]["taskType"] == "RETRIEVAL_DOCUMENT"
    assert question[0]["taskType"] == "RETRIEVAL_QUERY"


@pytest.mark.costly
async def test_101_texts_are_two_requests_and_keep_their_order(gemini: GeminiServer) -> None:
    texts = [f"sentence number {n}" for n in range(101)]
    async with embedder(gemini) as model:
        together = await model.embed_passages(texts)
        assert sizes(gemini) == [1, 100]
        alone = await model.embed_passages(texts[::50])
    assert np.allclose(together[::50], alone, atol=1e-6)


async def test_long_texts_make_small_batches(gemini: GeminiServer) -> None:
    async with embedder(gemini) as model:
        vectors = await model.embed_passages(["many words " * 3_000] * 4)
    assert vectors.shape == (4, 768)
    assert sizes(gemini) == [1, 1, 2] or sizes(gemini) == [1, 3] or sizes(gemini) == [2, 2]


async def test_nothing_is_asked_about_no_texts(gemini: GeminiServer) -> None:
    async with embedder(gemini) as model:
        assert (await model.embed_passages([])).shape == (0, 768)
        assert (await model.embed_queries([])).shape == (0, 768)
    assert gemini.requests == []


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (faults.FEWER_VECTORS, "gave 1 vectors for 2 texts"),
        (faults.BAD_REQUEST, "400 INVALID_ARGUMENT"),
        (faults.UNAUTHENTICATED, "GLOSSATOR_MODELS__GEMINI__API_KEY"),
        (faults.FORBIDDEN, "GLOSSATOR_MODELS__GEMINI__API_KEY"),
        (faults.NOT_FOUND, "models.gemini_embedding.model"),
        (faults.QUOTA_LONG, "429 RESOURCE_EXHAUSTED"),
        (faults.MALFORMED_JSON, "cannot be read"),
        (faults.ERROR_IN_STREAM, "gave 0 vectors for 2 texts"),
    ],
    ids=str,
)
async def test_what_waiting_does_not_mend_is_told_at_once(
    gemini: GeminiServer, fault: Fault, detail: str
) -> None:
    gemini.fail(fault, methods=EMBED)
    async with embedder(gemini) as model:
        with pytest.raises(EmbeddingError, match=detail) as caught:
            await model.embed_passages(["one", "two"])
        assert gemini.api_key not in chain(caught.value)
        assert (await model.embed_passages(["one", "two"])).shape == (2, 768)
    assert len(gemini.requests) == 2


PASSING: list[Fault] = [
    faults.INTERNAL,
    faults.UNAVAILABLE,
    faults.HTML_502,
    faults.DROP_BEFORE,
    faults.DROP_INSIDE,
    faults.STALL_SILENT,
    faults.STALL_AFTER_HEADERS,
    faults.QUOTA_RETRY_AFTER,
    faults.QUOTA_RETRY_INFO,
]


@pytest.mark.parametrize("fault", PASSING, ids=str)
async def test_passages_wait_for_what_passes(gemini: GeminiServer, fault: Fault) -> None:
    gemini.fail(fault, methods=EMBED)
    async with embedder(gemini, batch_timeout=0.5) as model:
        assert (await model.embed_passages(["one", "two"])).shape == (2, 768)
    assert len(gemini.requests) == 2


async def test_passages_are_given_up_after_five_more_tries(gemini: GeminiServer) -> None:
    gemini.fail(faults.UNAVAILABLE, math.inf, EMBED)
    async with embedder(gemini) as model:
        with pytest.raises(EmbeddingError, match="503 UNAVAILABLE"):
            await model.embed_passages(["one"])
    assert len(gemini.requests) == 6


@pytest.mark.costly
async def test_one_failing_batch_ends_all(gemini: GeminiServer) -> None:
    gemini.fail(faults.BAD_REQUEST, 1, EMBED)
    async with embedder(gemini) as model:
        with pytest.raises(EmbeddingError, match="400"):
            await model.embed_passages([f"number {n}" for n in range(1_000)])
    assert len(gemini.requests) < 10


async def test_a_question_is_tried_twice(gemini: GeminiServer) -> None:
    async with embedder(gemini) as model:
        gemini.fail(faults.UNAVAILABLE, 1, EMBED)
        assert (await model.embed_queries(["what is a heap"])).shape == (1, 768)
        gemini.fail(faults.UNAVAILABLE, math.inf, EMBED)
        with pytest.raises(EmbeddingError, match="503"):
            await model.embed_queries(["what is a heap"])
    assert len(gemini.requests) == 4


@pytest.mark.parametrize("fault", [faults.STALL_SILENT, faults.QUOTA_LONG], ids=str)
async def test_a_question_does_not_wait_long(gemini: GeminiServer, fault: Fault) -> None:
    gemini.fail(fault, math.inf, EMBED)
    async with embedder(gemini, query_timeout=0.5) as model:
        with pytest.raises(EmbeddingError):
            await model.embed_queries(["what is a heap"])
    assert len(gemini.requests) == 1


async def test_a_wrong_key_is_told_without_the_key(gemini: GeminiServer) -> None:
    async with embedder(gemini, key="AIza-not-this-one") as model:
        with pytest.raises(
            EmbeddingError, match="check GLOSSATOR_MODELS__GEMINI__API_KEY"
        ) as caught:
            await model.embed_queries(["what is a heap"])
    assert "AIza" not in chain(caught.value)


@pytest.mark.parametrize(
    ("spoil", "detail"),
    [
        (lambda values: values[:-1], "vectors of 767 dimensions instead of 768: check models"),
        (lambda values: [], "vectors of 0 dimensions"),
        (lambda values: [0.0] * len(values), "without a direction"),
        (lambda values: [math.nan, *values[1:]], "without a direction"),
        (lambda values: [math.inf, *values[1:]], "without a direction"),
        (lambda values: [1e300, *values[1:]], "without a direction"),
    ],
    ids=["short", "empty", "zero", "NaN", "infinite", "too large"],
)
async def test_vectors_that_are_none_are_refused(
    gemini: GeminiServer,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[list[float]], list[float]],
    detail: str,
) -> None:
    def spoilt(call: GeminiCall) -> Json:
        body = embedding_response(call)
        body["embeddings"][-1]["values"] = spoil(body["embeddings"][-1]["values"])
        return body

    monkeypatch.setattr("tests.wire.gemini_server.embedding_response", spoilt)
    async with embedder(gemini) as model:
        with pytest.raises(EmbeddingError, match=detail):
            await model.embed_passages(["one", "two"])
