"""What a model may cost: nothing that cannot be counted, and one request too many at most."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from core.answering.agent import Agent
from core.answering.writers.base import Claim, DraftPart, GenerationTask, ModelCall, QuotedWords
from core.answering.writers.extractive import ExtractiveGenerator
from core.domain import AgentConfiguration, AgentRequest
from core.domain.errors import GenerationError, StoreError
from core.domain.i18n import text
from core.domain.sentences import sentences
from core.retrieval.retriever import Retriever
from core.storage.budgets import Prices, Scope, TokenBudgets, TokenLimits
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.books import COVERED, LIGHTHOUSE
from tests.embedding import HashingEmbedder
from tests.library import COURSE, Library, open_library

pytestmark = pytest.mark.costly

A_CALL = 100
"""Tokens that each call of the model uses."""
WORKERS = 8
AT_ONCE = 32
"""Requests that one process answers at the same time."""


class Costly:
    """Quotes the first sentence, and reports what that cost once it is done."""

    name = "costly"

    def __init__(self) -> None:
        self.calls = 0
        self.failures = 0
        """How many of the next calls fail before anything is written."""
        self.hold: asyncio.Event | None = None
        """What every call waits for, if anything."""

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        self.calls += 1
        if self.failures:
            self.failures -= 1
            raise GenerationError("the model is away")
        await (self.hold.wait() if self.hold is not None else asyncio.sleep(0.005))
        content = task.evidence[0].content_text
        quote = sentences(content)[0]
        yield Claim(quote, (QuotedWords(0, quote, content.index(quote)),))
        task.report(ModelCall(self.name, A_CALL - 30, 30, ""))


class Unreadable(TokenBudgets):
    """Budgets whose table cannot be read."""

    async def exhausted(self, *_: object, **__: object) -> Scope | None:
        raise StoreError("the database is away")


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        library.write(LIGHTHOUSE)
        await library.ingest("book")
        yield library


def agent(library: Library, model: Costly, budgets: TokenBudgets) -> Agent:
    embedder = library.embedder
    return Agent(
        retriever=Retriever(library.catalogue, library.index, lambda *_: embedder),
        generator=model,
        fallback=ExtractiveGenerator(embedder=HashingEmbedder()),
        judge_of=lambda *_: None,
        sessions=SessionStore(budgets._engine),
        budgets=budgets,
        prices=Prices(input_price=1.0, output_price=1.0),
        configuration=lambda _: AgentConfiguration(),
    )


def asking(user: str) -> AgentRequest:
    return AgentRequest(
        course_id=COURSE.course_id,
        query_text=COVERED,
        user_id=user,
        session_id=uuid4(),
        score_threshold=0.0,
    )


async def test_nothing_is_spent_that_cannot_be_counted(library: Library) -> None:
    engine, model = create_engine(f"sqlite:///{library.folder / 'catalogue.db'}"), Costly()
    budgets = Unreadable(engine, limits=TokenLimits(total_tokens=1_000_000))
    answer = await agent(library, model, budgets).answer(asking("ann"))
    assert model.calls == 0
    assert text("notice-not-counted") in answer.notices
    assert answer.citations
    await engine.dispose()


async def test_a_budget_is_exceeded_by_one_request_a_worker_at_most(library: Library) -> None:
    engine, model = create_engine(f"sqlite:///{library.folder / 'catalogue.db'}"), Costly()
    limit = 10 * A_CALL
    budgets = TokenBudgets(engine, limits=TokenLimits(total_tokens=limit))
    processes = [
        TokenBudgets(engine, limits=TokenLimits(total_tokens=limit)) for _ in range(WORKERS)
    ]
    agents = [agent(library, model, own) for own in processes]

    async def work(number: int) -> None:
        for _ in range(10):
            await agents[number].answer(asking(f"user-{number}"))

    await asyncio.gather(*map(work, range(WORKERS)))
    spent = model.calls * A_CALL
    print(f"budget: limit {limit}, spent {spent} tokens by {WORKERS} workers, {model.calls} calls")
    assert limit <= spent <= limit + WORKERS * A_CALL
    assert await budgets.exhausted("ann", COURSE.course_id) is Scope.TOTAL
    await engine.dispose()


async def at_once(one: Agent, model: Costly) -> None:
    """Have many requests answered, of which none ends at the model before all have begun."""
    model.hold, before = asyncio.Event(), model.calls
    answers = [asyncio.create_task(one.answer(asking(f"user-{n}"))) for n in range(AT_ONCE)]

    async def all_are_decided() -> None:
        while True:
            if sum(a.done() for a in answers) + model.calls - before == AT_ONCE:
                return
            await asyncio.sleep(0.01)

    async with asyncio.timeout(30):
        await all_are_decided()
        model.hold.set()
        told = [await answer for answer in answers]
    by_the_book = [answer for answer in told if text("notice-budget-spent") in answer.notices]
    assert len(by_the_book) == AT_ONCE - (model.calls - before)
    assert all(answer.citations for answer in told)


@pytest.mark.parametrize("calls", [1, 10])
async def test_requests_at_once_exceed_a_budget_by_one_in_all(library: Library, calls: int) -> None:
    engine, model = create_engine(f"sqlite:///{library.folder / 'catalogue.db'}"), Costly()
    limit = calls * A_CALL - 10
    budgets = TokenBudgets(engine, limits=TokenLimits(total_tokens=limit))
    one = agent(library, model, budgets)
    for _ in range(2):  # what a request uses is not known before the first
        await at_once(one, model)
    spent = model.calls * A_CALL
    print(f"budget: limit {limit}, spent {spent} by one process, {AT_ONCE} requests at once")
    assert limit <= spent <= limit + A_CALL
    await engine.dispose()


async def test_a_request_that_used_nothing_takes_no_room(library: Library) -> None:
    engine, model = create_engine(f"sqlite:///{library.folder / 'catalogue.db'}"), Costly()
    budgets = TokenBudgets(engine, limits=TokenLimits(total_tokens=A_CALL))
    one = agent(library, model, budgets)
    model.failures = 1
    assert text("notice-model-failed") in (await one.answer(asking("ann"))).notices
    assert (await one.answer(asking("ben"))).model_name == "costly"
    assert text("notice-budget-spent") in (await one.answer(asking("eve"))).notices
    await engine.dispose()
