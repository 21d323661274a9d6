"""A house of real parts: a book in an index on disk, real SQL, and no model but hashing."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from core.answering.agent import Agent
from core.answering.context import EarlyStage
from core.answering.grounding.judge import Judge
from core.answering.writers.base import (
    DEFAULT_TIMES,
    AnswerTimes,
    Claim,
    DraftPart,
    GenerationTask,
    Generator,
    ModelCall,
)
from core.answering.writers.extractive import ExtractiveGenerator
from core.domain import AgentConfiguration, AgentRequest, Chunk, ContextMode
from core.domain.errors import EmbeddingError, GenerationError, VectorIndexError
from core.domain.sentences import sentences
from core.index.base import Hits, Part, PointId, SearchQuery
from core.index.edge import EdgeIndex
from core.providers.embeddings.base import Vectors
from core.retrieval.retriever import Retriever
from core.storage.budgets import Prices, TokenBudgets, TokenLimits
from core.storage.catalogue import Catalogue
from core.storage.sessions import SessionStore
from tests.books import COVERED
from tests.embedding import HashingEmbedder
from tests.samples import resting_on

SITE = "https://arden.example.org/book/"
LINKS = (
    "# Visiting\n\nBoats to the rock leave from the pier, see https://evil.example/boats?x=1 for "
    "the hours. Tickets are sold at www.evil.example/tickets and on the pier itself.\n"
)


class FailingIndex(EdgeIndex):
    """An index that can be told to fail, or to return what it should not."""

    failing = False
    smuggled: Sequence[Chunk] = ()

    async def search(self, parts: Sequence[Part], query: SearchQuery) -> list[Hits]:
        if self.failing:
            raise VectorIndexError("connection to 10.1.2.3 refused, password hunter2")
        return await super().search(parts, query)

    async def fetch(self, collection: str, ids: Sequence[PointId]) -> list[Chunk]:
        chunks = await super().fetch(collection, ids)
        wrong = self.smuggled[: len(chunks)]
        return [*chunks[: len(chunks) - len(wrong)], *wrong]

    async def scroll(
        self, collection: str, *, document_id: UUID | None = None
    ) -> AsyncIterator[Chunk]:
        for chunk in self.smuggled:
            yield chunk
        async for chunk in super().scroll(collection, document_id=document_id):
            yield chunk


class FailingEmbedder(HashingEmbedder):
    """A model that can be told to fail."""

    failing = False

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise EmbeddingError("out of memory")
        return await super().embed_queries(texts)


class ScriptedGenerator:
    """Writes the claims that it was given, and may fail behind them."""

    name = "scripted"

    def __init__(self, claims: Callable[[GenerationTask], Sequence[Claim]]) -> None:
        self._claims = claims
        self.error: GenerationError | None = None
        self.tasks: list[GenerationTask] = []
        self.parts: Sequence[DraftPart] = ()
        self.told: Sequence[str] = ("",)
        """The context of each call that is reported."""

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        self.tasks.append(task)
        for part in (*self._claims(task), *self.parts):
            yield part
        for context in self.told:
            task.report(ModelCall(self.name, 70, 30, context))
        if self.error is not None:
            raise self.error


TIDES = "# Tides\n\n## 2.4 Ebb\n\nThe ebb takes six hours.\n\n## 2.5 Flood\n\nThe flood is fast.\n"


@dataclass
class House:
    """Three courses and all that answers from them."""

    engine: AsyncEngine
    catalogue: Catalogue
    index: FailingIndex
    embedder: FailingEmbedder
    sessions: SessionStore
    local: HashingEmbedder = field(default_factory=HashingEmbedder)
    configuration: AgentConfiguration = field(default_factory=AgentConfiguration)
    limits: TokenLimits = field(default_factory=TokenLimits)
    judge: Judge | None = None

    def agent(
        self,
        generator: Generator | None = None,
        times: AnswerTimes = DEFAULT_TIMES,
        stages: Sequence[EarlyStage] = (),
    ) -> Agent:
        extractive = ExtractiveGenerator(embedder=self.local)
        return Agent(
            retriever=Retriever(self.catalogue, self.index, lambda *_: self.embedder),
            generator=generator or extractive,
            fallback=extractive,
            judge_of=lambda *_: self.judge,
            sessions=self.sessions,
            budgets=TokenBudgets(self.engine, limits=self.limits),
            prices=Prices(input_price=1.0, output_price=2.0),
            configuration=lambda _: self.configuration,
            times=times,
            stages=stages,
        )


def asking(question: str = COVERED, **changes: Any) -> AgentRequest:
    fields: dict[str, Any] = {
        "course_id": "arden",
        "query_text": question,
        "user_id": "reader-1",
        "score_threshold": 0.0,
        **changes,
    }
    return AgentRequest(**fields)


def quoting(passage: str, question: str = "What does this mean?", **changes: Any) -> AgentRequest:
    return asking(
        question, context_mode=ContextMode.SELECTED_TEXT, selected_text=passage, **changes
    )


def first_words(task: GenerationTask) -> Sequence[Claim]:
    """Claim the first sentence of the best chunk, word for word."""
    content = task.evidence[0].content_text
    quote = sentences(content)[0]
    return [resting_on(quote, quote, content=content)]
