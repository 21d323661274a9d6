"""Reads what happened: the database's commits, and what both platforms were called for."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import reading
from core.errors import StoreError
from core.inbox.base import State, request_id_for
from core.inbox.rows import InboxRow
from core.models import Outcome
from core.sessions.rows import TurnRow
from tests.chaos.ground import Ground
from tests.chaos.history import Asked, History, Post, Turn
from tests.chaos.shown import is_gone, is_unfinished, key_of
from tests.chaos.sightings import Sightings


class Watcher:
    """Looks into the database while a run goes on."""

    def __init__(self, engine: AsyncEngine, asked: list[Asked]) -> None:
        self.is_quiet = False
        """Whether, at the last look, nothing waited for anybody."""
        self.waiting: frozenset[str] = frozenset()
        self.attempts = 0
        """Deliveries that failed and were tried again, all together."""
        self.taken_over = 0
        """Claims of what another process had claimed before."""
        self._engine = engine
        self._asked = asked

    async def look(self) -> bool:
        """Note what the inbox holds; return whether the database answered."""
        query = select(
            InboxRow.key, InboxRow.state, InboxRow.heal_at, InboxRow.attempts, InboxRow.fence
        )
        try:
            async with reading(self._engine) as db:
                rows = (await db.execute(query)).all()
        except StoreError:
            return False
        now, states = time.monotonic(), {row.key: row.state for row in rows}
        for one in self._asked:
            state = states.get(one.key)
            if state is not None and one.seen_at is None:
                one.seen_at = now
            if state not in (None, State.WAITING.value) and one.done_at is None:
                one.done_at = now
        self.waiting = frozenset(row.key for row in rows if row.state == State.WAITING.value)
        healing = any(row.heal_at is not None for row in rows)
        self.is_quiet = not self.waiting and not healing
        self.attempts = sum(row.attempts for row in rows)
        self.taken_over = sum(max(0, row.fence - row.attempts - 1) for row in rows)
        return True


async def read(
    ground: Ground, watcher: Watcher, sightings: Sightings, engine: AsyncEngine
) -> History:
    """Return the history of a run that is over."""
    ended_at = time.monotonic()
    asked = watcher._asked
    await watcher.look()
    keys = {request_id_for(one.key): one.key for one in asked}
    return History(
        asked=[_with_acknowledgement(one, acknowledged(ground)) for one in asked],
        turns=[turn async for turn in _turns(engine, keys)],
        posts=[*_on_discord(ground, asked, keys), *_on_slack(ground, asked, keys)],
        lives=list(sightings.lives(keys, asked)),
        ended_at=ended_at,
        waiting=watcher.waiting,
    )


def acknowledged(ground: Ground) -> frozenset[str]:
    """Return the Slack timestamps of messages whose delivery was acknowledged."""
    return frozenset(
        str(delivery.payload["event"].get("ts"))
        for delivery in ground.slack.world.history.deliveries
        if delivery.acked_at is not None and "event" in delivery.payload
    )


def _with_acknowledgement(one: Asked, known: frozenset[str]) -> Asked:
    one.acknowledged = one.key.rpartition(":")[2] in known
    return one


async def _turns(engine: AsyncEngine, keys: Mapping[UUID, str]) -> Any:
    async with reading(engine) as db:
        for row in await db.scalars(select(TurnRow)):
            response = (row.content or {}).get("agent_response", {})
            text = str(response.get("response_text", ""))
            key = keys.get(row.request_id)
            whole = row.outcome == Outcome.ANSWERED and response.get("model_name") == "scripted"
            yield Turn(row.request_id, key, row.session_id, row.turn_number, text, whole)


def _on_discord(ground: Ground, asked: Iterable[Asked], keys: Mapping[UUID, str]) -> Iterator[Post]:
    world = ground.discord.world
    for message in world.messages.values():
        if message.author is not world.bot or is_gone(message) or not message.text:
            continue
        yield Post(
            key=key_of(message, keys, asked),
            place=str(message.channel.id),
            position=message.id,
            text=message.text,
            unfinished=is_unfinished(message),
            revisions=tuple(message.revisions),
        )


def _on_slack(ground: Ground, asked: Iterable[Asked], keys: Mapping[UUID, str]) -> Iterator[Post]:
    world = ground.slack.world
    for message in world.messages:
        if message.author is not world.bot or message.deleted or message.ephemeral:
            continue
        yield Post(
            key=key_of(message, keys, asked),
            place=f"{message.channel.id}:{message.thread_ts}",
            position=int(message.ts.replace(".", "")),
            text=message.shown,
            unfinished=is_unfinished(message),
            revisions=tuple(message.revisions),
        )
