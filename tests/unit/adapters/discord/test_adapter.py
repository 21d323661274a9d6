"""How far Discord was heard, noted only when nothing is missing."""

import asyncio
from datetime import datetime
from typing import Any, cast

import discord
import pytest

from adapters.discord import adapter as module
from adapters.discord.adapter import DiscordAdapter
from core.inbox.places import Question


class Notes:
    """Cursors of an installation that never was connected before."""

    def __init__(self) -> None:
        self.noted = list[datetime]()

    async def note(self, moment: datetime) -> None:
        self.noted.append(moment)

    async def last(self) -> datetime | None:
        return None

    async def direct_channels(self, since: datetime) -> list[int]:
        raise AssertionError("nothing was missed before the first connection")

    async def questions(self, since: datetime) -> list[Question]:
        raise AssertionError("nothing was asked before the first connection")


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
        clicks=unused,
        cogs=unused,
        wake=lambda: None,
        closed=unused,
    )
    adapter._client.shard_count = 2
    return adapter


async def test_nothing_is_noted_before_every_shard_has_caught_up(
    adapter: DiscordAdapter, notes: Notes
) -> None:
    await adapter.alive()
    await adapter.connected(0, resumed=False)
    await adapter.alive()
    assert notes.noted == []
    await adapter.connected(1, resumed=False)
    assert len(notes.noted) == 1


async def test_nothing_is_noted_while_a_shard_is_away(
    adapter: DiscordAdapter, notes: Notes
) -> None:
    await adapter.connected(0, resumed=False)
    await adapter.disconnected(0)
    await adapter.connected(1, resumed=False)
    assert notes.noted == []
    await adapter.connected(0, resumed=True)
    await adapter.alive()
    assert len(notes.noted) == 1


async def test_a_server_that_is_hidden_by_an_outage_is_waited_for(
    adapter: DiscordAdapter, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ABSENT_FOR", 0.01)
    await adapter._client._async_setup_hook()
    state = adapter._client._connection
    state.shard_count = 2
    hidden = discord.Guild._create_unavailable(state=state, guild_id=1 << 22, data=None)
    state._add_guild(hidden)
    await adapter.connected(0, resumed=False)
    catching_up = asyncio.create_task(adapter.connected(1, resumed=False))
    await asyncio.sleep(0.05)
    await adapter.alive()
    assert notes.noted == []
    hidden.unavailable = False
    await catching_up
    assert len(notes.noted) == 1
