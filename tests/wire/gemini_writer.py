"""The product's own writer before the local Gemini, and what tests look at of its drafts."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from core.answering.writers.base import (
    AnswerTimes,
    Claim,
    DraftPart,
    GenerationTask,
    ModelCall,
    Passage,
    QuotedWords,
)
from core.answering.writers.model import ModelGenerator
from core.domain import RetrievalToolInput
from core.providers.base import ChatModel
from core.providers.gemini import GeminiClient, GeminiWire, ThinkingLevel
from core.providers.guarded import GuardedModel
from core.providers.pacing import CircuitBreaker, RetryPolicy, Timeouts
from tests.samples import chunk
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import answer, claim

TREE = "A heap is a complete binary tree."
ROOT = "Its root is the largest key."
FIRST = answer(claim(TREE, 1))
ANSWER = answer(claim(TREE, 1), claim(ROOT, 2))
CUT = ANSWER[: ANSWER.index("}") + 20]
"""An answer that breaks off within its second claim."""
CLAIMS = [
    Claim(TREE, (QuotedWords(0, TREE, 0),)),
    Claim(ROOT, (QuotedWords(0, ROOT, len(TREE) + 1),)),
]
QUESTION = "Who is behind the canary question 4711?"
TASK = GenerationTask(QUESTION, [chunk()])
STREAMS = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
QUICK = Timeouts(first_piece=0.5, silence=0.2)
"""For a server that keeps silent; a busy machine may take as long for an answer at once."""
PATIENT = Timeouts(first_piece=10.0, silence=10.0)
SOON = RetryPolicy(retries=1, backoff=0.01)


class ReportingGenerator(ModelGenerator):
    """A generator that remembers what its calls used."""

    def __init__(self, open_model: Callable[[str | None], ChatModel], **options: Any) -> None:
        super().__init__(open_model, **options)
        self.used: list[ModelCall] = []

    def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        return super().generate(replace(task, report=self.used.append))


@asynccontextmanager
async def writer(
    server: GeminiServer,
    *,
    key: str | None = None,
    api_version: str = "v1beta",
    model: str = "gemini-3.8-flash",
    thinking_level: ThinkingLevel | None = None,
    timeouts: Timeouts = PATIENT,
    patience: RetryPolicy = SOON,
    new_breaker: Callable[[str], CircuitBreaker] = CircuitBreaker,
    stream: bool = True,
    **options: Any,
) -> AsyncIterator[ReportingGenerator]:
    """Open a generator that tries again at once; `options` are its own."""
    client = GeminiClient(key or server.api_key, base_url=server.url, api_version=api_version)

    @cache
    def opened(name: str) -> GuardedModel:
        return GuardedModel(
            GeminiWire(client, name, thinking_level=thinking_level),
            timeouts=timeouts,
            patience=patience,
            new_breaker=new_breaker,
            stream=stream,
        )

    options = {"times": AnswerTimes(timeouts.first_piece / 0.75, 30.0), **options}
    yield ReportingGenerator(lambda name: opened(name or model), **options)
    await client.aclose()


async def nothing_found(_: RetrievalToolInput) -> Sequence[Passage]:
    return []


async def parts_of(
    draft: AsyncGenerator[DraftPart, None], into: list[DraftPart] | None = None
) -> list[DraftPart]:
    """Return all parts of a draft; those before an error are in `into`."""
    parts = [] if into is None else into
    async with aclosing(draft):
        async for part in draft:
            parts.append(part)
    return parts


def claims(parts: Sequence[DraftPart]) -> list[Claim]:
    return [part for part in parts if isinstance(part, Claim)]


def chain(error: BaseException | None) -> str:
    """Return the texts of an error and of all that a traceback would show below it."""
    if error is None:
        return ""
    below = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{error!r} {error} {chain(below)}"
