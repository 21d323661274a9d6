"""How far Discord was heard, noted only when nothing is missing."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from email.utils import format_datetime
from math import inf
from typing import Any, cast

import discord
import pytest

from adapters.discord import catch_up as module
from adapters.discord.adapter import DiscordAdapter
from adapters.discord.catch_up import MARGIN, Missed, ShardRange
from adapters.discord.payloads import RawMessage
from core.storage.inbox.queries import PlacedQuestion


class Notes:
    """Cursors of an installation that never was connected before."""

    def __init__(self) -> None:
        self.noted = list[ShardRange]()

    async def note(self, shard: ShardRange, moment: datetime) -> None:
        self.noted.append(shard)

    async def last(self, shard: ShardRange) -> datetime | None:
        return None

    async def direct_channels(self, since: datetime) -> list[int]:
        raise AssertionError("nothing was missed before the first connection")

    async def questions(self, since: datetime) -> list[PlacedQuestion]:
        raise AssertionError("nothing was asked before the first connection")


class Leaving:
    """A greeter that has nothing to end."""

    def close(self) -> None:
        return None


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def adapter(notes: Notes) -> DiscordAdapter:
    unused = cast("Any", None)
    adapter = DiscordAdapter(
        token="token",
        api_url=None,
        message_content=True,
        desk=unused,
        gone=unused,
        cursors=notes,
        context=unused,
        clicks=unused,
        greeter=cast("Any", Leaving()),
        commands=unused,
        wake=lambda: None,
        closed=unused,
        leases=unused,
    )
    adapter._client.shard_count = 2
    adapter._holder._until = inf
    return adapter


async def test_nothing_is_noted_of_a_shard_before_it_has_caught_up(
    adapter: DiscordAdapter, notes: Notes
) -> None:
    await adapter.alive(0)
    assert notes.noted == []
    await adapter.connected(0, resumed=False)
    await adapter.alive(0)
    await adapter.alive(1)
    assert notes.noted == [ShardRange(0, 2)]
    await adapter.connected(1, resumed=False)
    assert notes.noted == [ShardRange(0, 2), ShardRange(1, 2)]


async def test_nothing_is_noted_of_a_shard_that_is_away(
    adapter: DiscordAdapter, notes: Notes
) -> None:
    await adapter.connected(0, resumed=False)
    await adapter.disconnected(1)
    await adapter.connected(1, resumed=True)
    await adapter.alive(1)
    assert notes.noted == [ShardRange(0, 2)], "it was never connected before"
    await adapter.connected(1, resumed=False)
    assert notes.noted == [ShardRange(0, 2), ShardRange(1, 2)]


async def test_after_an_unforeseen_error_the_next_look_back_makes_up_for_it(
    adapter: DiscordAdapter, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def last(shard: ShardRange) -> datetime | None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(notes, "last", last)
        with pytest.raises(ZeroDivisionError):
            await adapter.connected(0, resumed=False)
    await adapter.alive(0)
    assert notes.noted == []
    await adapter.connected(0, resumed=False)
    assert notes.noted == [ShardRange(0, 2)]


async def test_a_message_that_cannot_be_taken_in_does_not_hide_those_behind_it(
    adapter: DiscordAdapter,
    notes: Notes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken = list[object]()

    async def missed(*_: object) -> AsyncIterator[Missed]:
        for number in (101, 102, 103):
            author = {"id": "7"}
            yield Missed(1, None, {"id": str(number), "channel_id": "1", "author": author})
        yield Missed(1, None, {"id": "104", "channel_id": "1"})
        yield Missed(1, None, {})

    async def unchanged(*_: object) -> AsyncIterator[object]:
        for nothing in list[object]():
            yield nothing

    async def last(shard: ShardRange) -> datetime | None:
        return discord.utils.utcnow()

    async def take_in(message: RawMessage, listening_since: datetime) -> None:
        if message.id == 102:
            raise ZeroDivisionError
        taken.append(message.id)

    monkeypatch.setattr("adapters.discord.catch_up.missed_messages", missed)
    monkeypatch.setattr(module, "changed", unchanged)
    monkeypatch.setattr(notes, "last", last)
    monkeypatch.setattr(adapter._messages, "_message", take_in)
    await adapter.connected(0, resumed=False)
    assert taken == [101, 103]
    assert notes.noted == [ShardRange(0, 2)]
    assert "ZeroDivisionError" in caplog.text


async def test_nothing_is_noted_while_it_is_not_certain_who_holds_the_gateway(
    adapter: DiscordAdapter, notes: Notes
) -> None:
    adapter._holder._until = -inf
    await adapter.connected(0, resumed=False)
    await adapter.alive(0)
    assert notes.noted == []
    adapter._holder._until = inf
    await adapter.alive(0)
    assert notes.noted == [ShardRange(0, 2)]


async def test_a_server_that_is_hidden_by_an_outage_is_waited_for(
    adapter: DiscordAdapter, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.catch_up._ABSENT_FOR", 0.01)
    await adapter._client._async_setup_hook()
    state = adapter._client._connection
    state.shard_count = 2
    hidden = discord.Guild._create_unavailable(state=state, guild_id=1 << 22, data=None)
    state._add_guild(hidden)
    catching_up = asyncio.create_task(adapter.connected(1, resumed=False))
    await asyncio.sleep(0.05)
    await adapter.alive(1)
    assert notes.noted == []
    hidden.unavailable = False
    await catching_up
    assert notes.noted == [ShardRange(1, 2)]


@pytest.mark.parametrize("minutes", [-30, 0, 30])
async def test_what_a_hidden_server_missed_is_looked_for_by_discords_clock(
    adapter: DiscordAdapter, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    looked = list[datetime]()

    async def missed(*args: Any) -> AsyncIterator[Missed]:
        looked.append(args[-1])
        for none in list[Missed]():
            yield none

    async def unchanged(*_: object) -> AsyncIterator[Any]:
        for none in list[Any]():
            yield none

    monkeypatch.setattr("adapters.discord.catch_up.missed_messages", missed)
    monkeypatch.setattr(module, "changed", unchanged)
    there = discord.utils.utcnow() + timedelta(minutes=minutes)
    adapter._clock.note(format_datetime(there, usegmt=True))
    await adapter._look_back.look_when_seen(ShardRange(0, 2), 1 << 22)
    assert len(looked) == 1
    assert timedelta() <= there - looked[0] <= 2 * MARGIN


async def test_a_look_back_ends_before_the_connections_do_and_notes_nothing(
    adapter: DiscordAdapter, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def last(shard: ShardRange) -> datetime | None:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("it waits for ever")

    monkeypatch.setattr(notes, "last", last)
    looking = asyncio.create_task(adapter.connected(0, resumed=False))
    await begun.wait()
    await adapter.close()
    await asyncio.wait({looking}, timeout=5)
    assert looking.cancelled()
    assert notes.noted == []
