"""An embedder that asks a provider: batches, patience and unit vectors, for every kind."""

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.errors import EmbeddingError
from core.domain.sentences import count_tokens
from core.providers.capabilities import ProviderFailure, SettingNames
from core.providers.embeddings.base import Vectors
from core.providers.gemini import NAMES, GeminiClient, gemini_errors
from core.providers.openai import OpenAIClient, openai_errors
from core.providers.pacing import RetryPolicy, with_retries

if TYPE_CHECKING:
    from google.genai.types import ContentDict


_TEXTS_A_BATCH = 100
"""More the service refuses."""
_TOKENS_A_BATCH = 20_000
_BATCHES_IN_FLIGHT = 3
_QUICK = RetryPolicy(retries=1, backoff=0.2)
_PATIENT = RetryPolicy(retries=5, backoff=1.0, longest_wait=60.0)


class RemoteEmbedder(ABC):
    """Embeds with one model of a provider.

    Questions are embedded quickly or not at all, passages with patience.
    """

    def __init__(
        self,
        model: str,
        dimensions: int,
        *,
        setting: str,
        query_timeout: float = 3.0,
        batch_timeout: float = 30.0,
        patience: RetryPolicy = _PATIENT,
    ) -> None:
        """Ask for vectors of a length.

        Args:
            model: As it is named to the service.
            dimensions: Of its vectors.
            setting: What names the dimensions, for the operator.
            query_timeout: Seconds for the questions of one call, with a second try.
            batch_timeout: Seconds for one try of one batch of passages.
            patience: With passages.
        """
        self._model = model
        self._dimensions = dimensions
        self._setting = setting
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

    @abstractmethod
    async def warm_up(self) -> None:
        """Load the library now instead of at the first question."""

    @abstractmethod
    async def vectors(self, texts: Sequence[str], *, are_questions: bool) -> list[list[float]]:
        """Return one vector a text from one request, or raise ProviderFailure."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question, in order.

        Raises:
            EmbeddingError: when there are no usable vectors in time.
        """
        until = time.monotonic() + self._query_timeout
        return await self._embed(texts, True, _QUICK, until)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage, in order.

        Raises:
            EmbeddingError: when there are no usable vectors even after several tries.
        """
        return await self._embed(texts, False, self._patience, math.inf)

    async def _embed(
        self, texts: Sequence[str], are_questions: bool, patience: RetryPolicy, until: float
    ) -> Vectors:
        turns = asyncio.Semaphore(_BATCHES_IN_FLIGHT)

        async def embed(batch: Sequence[str]) -> Vectors:
            async with turns:
                ask = partial(self._ask, batch, are_questions, until)
                return await with_retries(ask, patience, until)

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

    async def _ask(self, batch: Sequence[str], are_questions: bool, until: float) -> Vectors:
        """Make one request for one batch."""
        seconds = min(self._batch_timeout, until - time.monotonic())
        try:
            async with asyncio.timeout(seconds):
                found = await self.vectors(batch, are_questions=are_questions)
        except TimeoutError:
            detail = f"{self._model} did not answer in time"
            raise ProviderFailure(detail, transient=True) from None
        try:
            return self._of_unit_length(found, len(batch))
        except (TypeError, ValueError, OverflowError):
            raise ProviderFailure(f"the answer of {self._model} cannot be read") from None

    def _of_unit_length(self, found: list[list[float]], expected: int) -> Vectors:
        """Return the vectors with unit length, or raise ProviderFailure."""
        if len(found) != expected:
            raise ProviderFailure(f"{self._model} gave {len(found)} vectors for {expected} texts")
        if wrong := {len(values) for values in found} - {self._dimensions}:
            raise ProviderFailure(
                f"{self._model} gave vectors of {min(wrong)} dimensions instead of "
                f"{self._dimensions}: check {self._setting}"
            )
        rows = np.array(found, np.float64)
        if rows.ndim != 2:
            raise ValueError("a vector of no numbers")
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


_QUERY = "RETRIEVAL_QUERY"
_PASSAGE = "RETRIEVAL_DOCUMENT"
_NAMES = SettingNames(
    NAMES.key,
    "models.gemini_embedding.model and models.gemini_embedding.api_version",
    "models.gemini_embedding.base_url",
)


class GeminiEmbedder(RemoteEmbedder):
    """Embeds with one of Google's models."""

    def __init__(
        self,
        client: GeminiClient,
        *,
        model: str = "gemini-embedding-2",
        dimensions: int = 768,
        names: SettingNames = _NAMES,
        setting: str = "models.gemini_embedding.dimensions",
        **limits: Any,
    ) -> None:
        """Ask through a client, which its owner closes; `limits` are those of RemoteEmbedder."""
        super().__init__(model, dimensions, setting=setting, **limits)
        self._client = client
        self._names = names

    async def warm_up(self) -> None:
        """Load the library now instead of at the first question."""
        await self._client.load()

    async def vectors(self, texts: Sequence[str], *, are_questions: bool) -> list[list[float]]:
        """Return one vector a text from one request, or raise ProviderFailure."""
        # One content a text: plain strings are merged into a single vector.
        contents: list[ContentDict] = [{"parts": [{"text": text}]} for text in texts]
        purpose = _QUERY if are_questions else _PASSAGE
        with gemini_errors(self._model, self._names):
            models = await self._client.models()
            response = await models.embed_content(
                model=self._model,
                contents=contents,
                config={"task_type": purpose, "output_dimensionality": self._dimensions},
            )
            return [embedding.values or [] for embedding in response.embeddings or []]


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds with one model that a service offers under `/v1/embeddings`."""

    def __init__(
        self, client: OpenAIClient, *, model: str, dimensions: int, setting: str, **limits: Any
    ) -> None:
        """Ask through a client, which its owner closes; `limits` are those of RemoteEmbedder."""
        super().__init__(model, dimensions, setting=setting, **limits)
        self._client = client

    async def warm_up(self) -> None:
        """Load the library now instead of at the first question."""
        await self._client.sdk()

    async def vectors(self, texts: Sequence[str], *, are_questions: bool) -> list[list[float]]:
        """Return one vector a text from one request, or raise ProviderFailure.

        Only OpenAI's own service is asked for a length: others have models of one length, and
        some refuse the field.
        """
        more: dict[str, Any] = {"dimensions": self._dimensions} if self._client.is_own else {}
        with openai_errors(self._client, self._model):
            sdk = await self._client.sdk()
            reply = await sdk.embeddings.create(
                model=self._model, input=list(texts), encoding_format="float", **more
            )
            found = sorted(reply.data, key=lambda one: one.index)
            if [one.index for one in found] != list(range(len(texts))):
                raise ValueError("not one vector a text")
            return [list(one.embedding) for one in found]
