"""Asks the questions of the product as it is, with a writer that says the frozen replies."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.services import Services
from core.answering.agent import Agent
from core.answering.grounding.judge import Judge
from core.answering.writers.base import AnswerTimes
from core.domain import (
    EXTRACTIVE,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ConversationTurn,
)
from core.storage.budgets import Prices, TokenBudgets, TokenLimits
from tests.bench.books import opened
from tests.bench.corpora import Corpus, ingest
from tests.bench.replies.frozen import Question
from tests.bench.replies.scripted import WRITER, FrozenWriter

_UNLIMITED = TokenLimits(None, None, None)
_PATIENCE = 36_000.0
"""Seconds: how busy the machine is makes no difference."""


@dataclass
class Asking:
    """The product with both books, a frozen writer and a judge that can be replaced."""

    services: Services
    writer: FrozenWriter
    judge: Judge | None = None

    async def ask(self, question: Question) -> AgentResponse:
        """Return the finished answer to a question; what was asked before it is answered first."""
        turns: list[ConversationTurn] = []
        for earlier in question.earlier:
            request = _request(question, earlier)
            _, response = await self.services.agent(EXTRACTIVE).rehearse(request, turns)
            turns.append(_turn(len(turns) + 1, request, response))
        _, response = await self._agent().rehearse(_request(question, question.question), turns)
        return response

    def _agent(self) -> Agent:
        def configuration(course_id: str) -> AgentConfiguration:
            usual = self.services.configuration(course_id)
            return usual.model_copy(update={"model_name": WRITER})

        return Agent(
            retriever=self.services.retriever,
            generator=self.writer,
            fallback=self.services.extractive,
            judge_of=lambda course, writer: self.judge,
            sessions=self.services.sessions,
            budgets=TokenBudgets(self.services.engine, limits=_UNLIMITED),
            prices=Prices(),
            configuration=configuration,
            times=AnswerTimes(_PATIENCE, _PATIENCE),
        )


@asynccontextmanager
async def asking(data: Path, corpora: Sequence[Corpus]) -> AsyncIterator[Asking]:
    """Open the product on a folder, with the books brought up to date."""
    async with opened(data) as services:
        for corpus in corpora:
            await ingest(services, corpus)
        await services.local.warm_up()
        yield Asking(services, FrozenWriter())


def _request(question: Question, text: str) -> AgentRequest:
    return AgentRequest(course_id=question.course, query_text=text, user_id="bench")


def _turn(number: int, request: AgentRequest, response: AgentResponse) -> ConversationTurn:
    return ConversationTurn(
        turn_number=number,
        request_id=request.request_id,
        user_id=request.user_id,
        outcome=response.outcome,
        user_input=request.query_text,
        agent_response=response,
    )
