"""What a process that stood still has stored of what was forgotten meanwhile, on every database."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.delivery.delivery import lost
from core.domain import now
from core.storage.budgets import TokenBudgets, TokenLimits, TokenUsageRow
from core.storage.database import reading
from core.storage.inbox.base import Job, LeaseLost
from core.storage.sessions import SessionStore, TurnRow
from tests.holders import retention
from tests.inbox import PLATFORMS, ScriptedAgent, event, forget, inbox_of, redo, worker_of
from tests.platform import Platform, PlatformAdapter
from tests.samples import response_to

LEASE = timedelta(seconds=30)
DAY = timedelta(days=1)


class Desk:
    """The stores, as the processes see them that have one event after the other."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.inbox = inbox_of(engine)
        self.sessions = SessionStore(engine)
        self.budgets = TokenBudgets(engine, limits=TokenLimits())
        self._moment = now()

    async def claim(self) -> Job:
        """Take what comes next, also from whoever holds it and stands still."""
        self._moment += 2 * LEASE
        job = await self.inbox.claim(LEASE, PLATFORMS, self._moment)
        assert job is not None
        return job

    async def answer(self, job: Job) -> None:
        """Forget what is to be forgotten for a job, and store its answer."""
        for request_id in job.earlier_requests:
            await self.sessions.forget_turn(request_id)
        asked = job.arrival.request
        if asked is not None:
            assert asked.session_id is not None
            await self.sessions.remember(asked, response_to(asked, asked.session_id))

    async def end_next(self, *, answered: bool = True) -> None:
        """Claim what comes next and end it; unanswered: its asker stopped it."""
        job = await self.claim()
        if answered:
            await self.answer(job)
        await self.inbox.finish(job)

    async def wake(self, late: Job) -> None:
        """Have whoever stood still store its answer, and notice that the job is lost."""
        asked = late.arrival.request
        assert asked is not None
        assert asked.session_id is not None
        await self.sessions.remember(asked, response_to(asked, asked.session_id))
        with pytest.raises(LeaseLost):
            await self.inbox.renew(late, LEASE)
        await lost(self.inbox, self.sessions, self.budgets, late)

    async def count(self, user_id: str = "reader-1", moment: datetime | None = None) -> None:
        """Count what an answer used."""
        await self.budgets.add(
            user_id, "algorithms", query_tokens=3, response_tokens=1, moment=moment
        )

    async def said(self) -> list[str]:
        """Return what was asked and is not forgotten."""
        async with reading(self.engine) as db:
            turns = await db.scalars(select(TurnRow).order_by(TurnRow.turn_number))
            return [turn.content["user_input"] for turn in turns if turn.content is not None]

    async def users(self) -> list[tuple[str, int]]:
        """Return whose use is known, and how many calls are told of it."""
        row = TokenUsageRow
        query = select(row.subject, row.calls).where(row.scope == "user")
        async with reading(self.engine) as db:
            found = await db.execute(query.order_by(row.day))
            return [(subject, calls) for subject, calls in found]


@pytest.fixture
def desk(engine: AsyncEngine) -> Desk:
    return Desk(engine)


@pytest.mark.costly
async def test_the_turn_of_a_deleted_question_does_not_come_back(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    late = await desk.claim()
    await desk.inbox.accept(forget(1))
    await desk.end_next(answered=False)
    await desk.end_next()
    await desk.wake(late)
    assert await desk.said() == []


async def test_the_turn_of_an_edited_question_does_not_stand_beside_the_new_one(
    desk: Desk,
) -> None:
    await desk.inbox.accept(event(1))
    late = await desk.claim()
    await desk.inbox.accept(redo(1, position=2))
    await desk.end_next(answered=False)
    await desk.end_next()
    await desk.wake(late)
    assert await desk.said() == ["What is tree number 1?"]


@pytest.mark.costly
async def test_of_two_edits_the_turn_of_the_later_one_stays(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    await desk.end_next()
    await desk.inbox.accept(redo(1, position=2, text="What is the first edit?"))
    late = await desk.claim()
    await desk.inbox.accept(redo(1, times=2, position=3, text="What is the second edit?"))
    await desk.end_next(answered=False)
    await desk.end_next()
    await desk.wake(late)
    assert await desk.said() == ["What is the second edit?"]


@pytest.mark.costly
async def test_an_edit_before_it_leaves_the_turn_of_an_edit_alone(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    await desk.end_next()
    await desk.inbox.accept(redo(1, position=2, text="What is the first edit?"))
    await desk.end_next()
    await desk.inbox.accept(redo(1, times=2, position=3, text="What is the second edit?"))
    late = await desk.claim()
    await desk.end_next()
    await desk.wake(late)
    assert await desk.said() == ["What is the second edit?"]


async def test_an_edit_that_waits_forgets_the_turn_before_it_itself(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    late = await desk.claim()
    await desk.inbox.accept(redo(1, position=2))
    successor = await desk.claim()
    await desk.wake(late)
    assert await desk.said() == ["What is heap number 1?"], "the successor shows it"
    await desk.answer(successor)
    await desk.inbox.finish(successor)
    await desk.end_next()
    assert await desk.said() == ["What is tree number 1?"]


async def test_what_is_said_of_other_questions_leaves_a_turn_alone(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    late = await desk.claim()
    await desk.end_next()
    await desk.inbox.accept(event(2))
    await desk.end_next()
    await desk.inbox.accept(forget(2))
    await desk.end_next()
    await desk.wake(late)
    assert await desk.said() == ["What is heap number 1?"]


async def test_what_a_forgotten_user_uses_after_midnight_goes_with_that_day(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    late = await desk.claim()
    await desk.inbox.forget_user("reader-1")
    await desk.budgets.forget_user("reader-1", now() - DAY)
    await desk.count()
    await desk.wake(late)
    assert await desk.users() == [("reader-1", 0)]
    await retention(desk.engine, kept_for=None).delete_some(now() + DAY)
    assert await desk.users() == []
    assert await desk.said() == []


async def test_the_tokens_of_a_deleted_question_stay_counted(desk: Desk) -> None:
    await desk.inbox.accept(event(1))
    late = await desk.claim()
    await desk.inbox.accept(forget(1))
    await desk.end_next(answered=False)
    await desk.end_next()
    await desk.count()
    await desk.wake(late)
    assert await desk.users() == [("reader-1", 1)]


async def test_a_bot_that_is_told_to_end_keeps_nothing_of_who_is_forgotten(desk: Desk) -> None:
    stands_still, is_stored = asyncio.Event(), asyncio.Event()

    async def reached(step: str) -> None:
        if step == "turn stored":
            is_stored.set()
            await stands_still.wait()

    agent, adapter = ScriptedAgent(desk.sessions), PlatformAdapter(Platform().call)
    worker = worker_of(desk.inbox, agent, adapter, reached=reached)
    running = asyncio.create_task(worker.run())
    await desk.inbox.accept(event(1))
    worker.wake()
    async with asyncio.timeout(20):
        await is_stored.wait()
    assert await desk.said() == ["What is heap number 1?"]
    await desk.inbox.forget_user("reader-1")
    await worker.drain(0)
    await running
    assert await desk.said() == []
