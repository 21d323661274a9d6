"""The embedder that asks Gemini, for courses that prefer it to the local model."""

import asyncio
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.embeddings.base import Vectors
from core.errors import EmbeddingError
from core.providers.failures import ProviderFailure
from core.providers.gemini.client import GeminiClient
from core.providers.gemini.failures import NAMES, VERSION, gemini_errors
from core.providers.retries import Patience, with_retries
from core.text.tokens import count_tokens

if TYPE_CHECKING:
    from google.genai.types import ContentDict, EmbedContentResponse

_QUERY = "RETRIEVAL_QUERY"
_PASSAGE = "RETRIEVAL_DOCUMENT"
_TEXTS_A_BATCH = 100
"""More the service refuses."""
_TOKENS_A_BATCH = 20_000
_BATCHES_IN_FLIGHT = 3
_QUICK = Patience(retries=1, backoff=0.2)
_PATIENT = Patience(retries=5, backoff=1.0, longest_wait=60.0)
_NAMES = replace(NAMES, model=f"GLOSSATOR_GEMINI__EMBEDDING_MODEL and {VERSION}")


class GeminiEmbedder:
    """Embeds with one of Gemini's models.

    Questions are embedded quickly or not at all, passages with patience.
    """

    def __init__(
        self,
        client: GeminiClient,
        *,
        model: str = "gemini-embedding-2",
        dimensions: int = 768,
        query_timeout: float = 3.0,
        batch_timeout: float = 30.0,
        patience: Patience = _PATIENT,
    ) -> None:
        """Ask through a client, which its owner closes.

        Args:
            query_timeout: Seconds for the questions of one call, with a second try.
            batch_timeout: Seconds for one try of one batch of passages.
            patience: With passages.
        """
        self._client = client
        self._model = model
        self._dimensions = dimensions
        self._query_timeout = query_timeout
        self._batch_timeout = batch_timeout
        self._patience = patience

    @property
    def name(self) -> str:
        """The model and the length of its vectors, which belong together."""
        return f"{self._model}/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._dimensions

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question, in order.

        Raises:
            EmbeddingError: when there are no usable vectors in time.
        """
        until = time.monotonic() + self._query_timeout
        return await self._embed(texts, _QUERY, _QUICK, until)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage, in order.

        Raises:
            EmbeddingError: when there are no usable vectors even after several tries.
        """
        return await self._embed(texts, _PASSAGE, self._patience, math.inf)

    async def warm_up(self) -> None:
        """Load the library now instead of at the first question."""
        await self._client.models()

    async def _embed(
        self, texts: Sequence[str], purpose: str, patience: Patience, until: float
    ) -> Vectors:
        turns = asyncio.Semaphore(_BATCHES_IN_FLIGHT)

        async def embed(batch: Sequence[str]) -> Vectors:
            async with turns:
                return await with_retries(lambda: self._ask(batch, purpose, until), patience, until)

        try:
            async with asyncio.TaskGroup() as group:
                batches = [group.create_task(embed(batch)) for batch in _batches(texts)]
        except ExceptionGroup as group_of_failures:
            first = group_of_failures.exceptions[0]
            if not isinstance(first, ProviderFailure):
                raise
            raise EmbeddingError(str(first)) from first
        nothing = np.empty((0, self._dimensions), np.float32)
        return np.concatenate([nothing, *(batch.result() for batch in batches)])

    async def _ask(self, batch: Sequence[str], purpose: str, until: float) -> Vectors:
        """Make one request for one batch."""
        # One content a text: plain strings are merged into a single vector.
        contents: list[ContentDict] = [{"parts": [{"text": text}]} for text in batch]
        seconds = min(self._batch_timeout, until - time.monotonic())
        with gemini_errors(self._model, _NAMES):
            async with asyncio.timeout(seconds):
                models = await self._client.models()
                response = await models.embed_content(
                    model=self._model,
                    contents=contents,
                    config={"task_type": purpose, "output_dimensionality": self._dimensions},
                )
        return self._vectors(response, len(batch))

    def _vectors(self, response: "EmbedContentResponse", expected: int) -> Vectors:
        """Return the vectors of a response with unit length, or raise ProviderFailure."""
        found = [embedding.values or [] for embedding in response.embeddings or []]
        if len(found) != expected:
            raise ProviderFailure(f"{self._model} gave {len(found)} vectors for {expected} texts")
        if wrong := {len(values) for values in found} - {self._dimensions}:
            raise ProviderFailure(
                f"{self._model} gave vectors of {min(wrong)} dimensions instead of "
                f"{self._dimensions}: check GLOSSATOR_GEMINI__EMBEDDING_DIMENSIONS"
            )
        rows = np.array(found, np.float64)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise ProviderFailure(f"{self._model} gave vectors without a direction")
        return np.asarray(rows / lengths, np.float32)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, as many at a time as one request may hold."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        length = count_tokens(text)
        if batch and (len(batch) == _TEXTS_A_BATCH or tokens + length > _TOKENS_A_BATCH):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += length
    if batch:
        yield batch
