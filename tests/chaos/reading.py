"""Reads what happened: the database's commits, and what both platforms were called for."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import Outcome
from core.domain.errors import StoreError
from core.storage.database import reading
from core.storage.inbox.base import State, minute_of, request_id_for
from core.storage.inbox.rows import InboxRow
from core.storage.sessions import TurnRow
from tests.chaos.calls import calls_about
from tests.chaos.ground import Ground
from tests.chaos.history import Asked, History, Post, Turn
from tests.chaos.sentences import Said, said
from tests.chaos.shown import Message, is_gone, is_question, is_unfinished, key_of
from tests.chaos.sightings import Sightings
from tests.chaos.whispers import keys_of_whispers, messages_of, was_refused_by_platform
from tests.wire.discord.entities import ChannelType
from tests.wire.slack.entities import ChannelKind


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
        begun = time.monotonic()
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
            if state not in (None, State.WAITING.value):
                one.done_at = now if one.done_at is None else one.done_at
            else:
                one.waited_at = begun
        self.waiting = frozenset(row.key for row in rows if row.state == State.WAITING.value)
        healing = any(row.heal_at is not None for row in rows)
        self.is_quiet = not self.waiting and not healing
        self.attempts = sum(row.attempts for row in rows)
        self.taken_over = sum(max(0, row.fence - row.attempts - 1) for row in rows)
        return True


async def read(
    ground: Ground,
    watcher: Watcher,
    sightings: Sightings,
    engine: AsyncEngine,
    strange: Collection[str] = (),
    beside: Iterable[object] = (),
) -> History:
    """Return the history of a run that is over.

    Args:
        strange: The channels of events that cannot be read: what is said there is left out.
        beside: What people pressed that is no question: what they were shown for it is left out.
    """
    ended_at = time.monotonic()
    asked = watcher._asked
    await watcher.look()
    keys = {request_id_for(one.key): one.key for one in asked}
    acked, rows = acknowledged(ground), await _rows(engine)
    for one in asked:
        one.acknowledged = one.key.rpartition(":")[2] in acked
        if (row := rows.get(one.key)) is not None:
            one.accepted_in, one.inbox_says = minute_of(row.accepted_at), row.settlement
            one.told_to_wait = row.told_to_wait
        one.failed = was_refused_by_platform(one.deed)
    aside = {message for deed in beside for message in messages_of(deed)}
    aside |= {m for m in ground.slack.world.messages if said(m.shown) is Said.PASSED_ON}
    posts = [*_on_discord(ground, asked, keys, aside), *_on_slack(ground, asked, keys, aside)]
    return History(
        asked=asked,
        turns=[turn async for turn in _turns(engine, keys)],
        posts=[post for post in posts if post.place.partition(":")[0] not in strange],
        lives=[life for life in sightings.lives(keys, asked) if life.place not in strange],
        ended_at=ended_at,
        calls=calls_about(ground, asked, keys),
        waiting=frozenset(watcher.waiting & {one.key for one in asked}),
    )


async def _rows(engine: AsyncEngine) -> Mapping[str, Any]:
    """Return when each event was accepted and what its asker was told, by its key."""
    query = select(InboxRow.key, InboxRow.accepted_at, InboxRow.settlement, InboxRow.told_to_wait)
    async with reading(engine) as db:
        return {row.key: row for row in await db.execute(query)}


def acknowledged(ground: Ground) -> frozenset[str]:
    """Return the Slack timestamps of messages whose delivery was acknowledged."""
    events = (
        delivery.payload.get("event")
        for delivery in ground.slack.world.history.deliveries
        if delivery.acked_at is not None and isinstance(delivery.payload, dict)
    )
    return frozenset(str(event.get("ts")) for event in events if isinstance(event, dict))


async def _turns(engine: AsyncEngine, keys: Mapping[UUID, str]) -> Any:
    async with reading(engine) as db:
        for row in await db.scalars(select(TurnRow)):
            response = (row.content or {}).get("agent_response", {})
            text = str(response.get("response_text", ""))
            key = keys.get(row.request_id)
            whole = row.outcome == Outcome.ANSWERED and response.get("model_name") == "scripted"
            failed = row.outcome == Outcome.ERROR
            yield Turn(row.request_id, key, row.session_id, row.turn_number, text, failed, whole)


def _on_discord(
    ground: Ground, asked: Iterable[Asked], keys: Mapping[UUID, str], aside: Collection[Message]
) -> Iterator[Post]:
    world, whispered = ground.discord.world, keys_of_whispers(asked, ())
    for message in world.messages.values():
        if message.author is not world.bot or is_gone(message) or message in aside:
            continue
        if not message.text and not message.loading:
            continue
        yield Post(
            key=whispered.get(message) or key_of(message, keys, asked),
            place=str(message.channel.id),
            position=message.id,
            text=message.text,
            reader="" if message.visible_to is None else str(message.visible_to),
            is_direct=message.channel.kind is ChannelType.DM,
            unfinished=is_unfinished(message),
            revisions=tuple(message.revisions),
        )


def _on_slack(
    ground: Ground, asked: Iterable[Asked], keys: Mapping[UUID, str], aside: Collection[Message]
) -> Iterator[Post]:
    world = ground.slack.world
    ours = [m for m in world.messages if m.author is world.bot and m not in aside]
    whispered = keys_of_whispers(asked, [message for message in ours if message.ephemeral])
    for message in ours:
        if message.deleted or is_question(message):
            continue
        yield Post(
            key=whispered.get(message) or key_of(message, keys, asked),
            place=f"{message.channel.id}:{message.thread_ts}",
            position=int(message.ts.replace(".", "")),
            text=message.shown,
            reader=message.visible_to or "",
            is_direct=message.channel.kind is ChannelKind.IM,
            unfinished=is_unfinished(message),
            revisions=tuple(message.revisions),
        )
