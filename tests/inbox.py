"""Events, inboxes and an agent for the tests of the inbox and of its worker."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.delivery.worker import Worker
from core.answering.agent import Agent, Placed, as_asked
from core.answering.context import AgentEvent, Answerable, TextDelta
from core.domain import AgentRequest, UserContext, i18n, now, session_id_for
from core.storage.access import Tenant
from core.storage.budgets import TokenBudgets, TokenLimits
from core.storage.inbox.base import (
    Arrival,
    DeletedEvent,
    IntakeLimits,
    Job,
    Kind,
    lane_for,
    request_id_for,
)
from core.storage.inbox.rows import InboxRow, values_of
from core.storage.inbox.store import Inbox
from core.storage.sessions import SessionStore
from tests.samples import request, response_to

NO_WAIT = timedelta(0)
"""How long a question beyond its user's limit waits where it is refused at once."""
GENEROUS = IntakeLimits(user_per_minute=10**6, channel_per_minute=10**6)
PLATFORMS = ["test"]


def event(n: int, **changes: Any) -> Arrival:
    """Return question number `n`, asked in a thread of its own unless `thread` is given."""
    thread = changes.pop("thread", f"t{n}")
    user_id = changes.setdefault("user_id", "reader-1")
    channel = changes.setdefault("channel", "c1")
    key = changes.setdefault("key", f"test:{n}")
    context = UserContext(platform="test", workspace="w", channel=channel, thread=thread)
    question = request(
        request_id=request_id_for(key),
        query_text=changes.pop("text", f"What is heap number {n}?"),
        user_id=user_id,
        session_id=session_id_for("test", "w", channel, thread),
        user_context=context,
    )
    fields = {
        "platform": "test",
        "workspace": "w",
        "lane": lane_for("test", "w", channel, thread),
        "position": n,
        "address": {"channel": channel, "question": f"q{n}"},
        "request": question,
    }
    return Arrival(**{**fields, **changes})


def redo(n: int, times: int = 1, **changes: Any) -> Arrival:
    """Return the edit of question number `n`."""
    changes = {"key": f"test:{n}:edit:{times}", "text": f"What is tree number {n}?", **changes}
    return event(n, kind=Kind.REDO, about=f"test:{n}", **changes)


def forget(n: int, **changes: Any) -> Arrival:
    """Return the deletion of question number `n`."""
    changes = {"key": f"test:{n}:delete", "request": None, **changes}
    return event(n, kind=Kind.FORGET, about=f"test:{n}", **changes)


def unheard(n: int, **changes: Any) -> DeletedEvent:
    """Return question number `n` as what was deleted just now."""
    return replace(DeletedEvent(f"test:{n}", "test", "w", now()), **changes)


def inbox_of(engine: AsyncEngine, limits: IntakeLimits = GENEROUS, **options: Any) -> Inbox:
    """Return an inbox that keeps tokens in a way that everybody can read."""
    return Inbox(
        engine,
        seal=lambda token: token.encode()[::-1],
        unseal=lambda sealed: sealed[::-1].decode(),
        limits=limits,
        **options,
    )


async def answered_in(engine: AsyncEngine, request_id: UUID, tenant: Tenant) -> None:
    """Have the inbox know in which tenant a question was asked."""
    where = {"platform": tenant.platform, "workspace": tenant.workspace}
    key = f"{tenant}:{request_id}"
    asked = event(1, key=key, **where)
    values = {**values_of(asked), "request_id": request_id, "accepted_at": now()}
    values |= {"not_before": now(), "state": "done", "round": 0, "channel_round": 0}
    async with engine.begin() as db:
        await db.execute(insert(InboxRow).values(**values))


def answer_to(asked: AgentRequest) -> str:
    """Return what the scripted agent answers."""
    return f"This answers [1]: {asked.query_text}"


class ScriptedAgent:
    """Answers as the real one does: in pieces, stored once, and again what is stored."""

    def __init__(self, sessions: SessionStore, *, pause: float = 0.0) -> None:
        self._sessions = sessions
        self._pause = pause
        self.asked: list[AgentRequest] = []
        self.hold: asyncio.Event | None = None
        self.unstored = 0
        """How many of the next answers the store does not take."""

    async def stream(
        self, asked: AgentRequest, placed: Placed = as_asked
    ) -> AsyncGenerator[AgentEvent, None]:
        stored = await self._sessions.turn_of(asked.request_id)
        if stored is not None:
            yield Answerable()
            yield stored.agent_response
            return
        yield Answerable()
        asked = placed(asked)
        self.asked.append(asked)
        text = answer_to(asked)
        for word in text.split(" "):
            yield TextDelta(f"{word} ")
            await asyncio.sleep(self._pause)
        if self.hold is not None:
            await self.hold.wait()
        assert asked.session_id is not None
        answer = response_to(asked, asked.session_id, response_text=text)
        if self.unstored:
            self.unstored -= 1
            yield answer.model_copy(update={"notices": (i18n.text("notice-not-stored"),)})
        else:
            yield (await self._sessions.remember(asked, answer)).agent_response


async def unchecked(job: Job) -> Job:
    """Return a job as it is: its courses are open to all."""
    return job


def worker_of(inbox: Inbox, agent: ScriptedAgent, adapter: Any, **options: Any) -> Worker:
    """Return a worker with a scripted agent."""
    return Worker(
        inbox=inbox,
        agent=cast("Agent", agent),
        adapters={adapter.platform: adapter},
        sessions=agent._sessions,
        budgets=TokenBudgets(agent._sessions._engine, limits=TokenLimits()),
        **{"checked": unchecked, **options},
    )
