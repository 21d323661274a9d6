"""Keeps up to which moment each shard of Discord's missed nothing."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from adapters.discord.backfill.reconcile import ShardRange
from adapters.intake.reconcile import MOST_QUESTIONS
from core.inbox.places import InboxPlaces, PlacedQuestion
from core.inbox.store import Inbox


class ShardCursors:
    """The moments of Discord's shards, next to the inbox's cursors; methods raise StoreError."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        self._inbox = inbox
        self._places = places

    async def note(self, shard: ShardRange, moment: datetime) -> None:
        """Keep the moment up to which a shard missed nothing."""
        await self._inbox.advance_cursor(
            "discord", _name_of(shard), int(moment.timestamp() * 1_000)
        )

    async def last(self, shard: ShardRange) -> datetime | None:
        """Return the latest such moment; None before the first connection ever.

        It may be one up to which another number of shards missed nothing, all together.
        """
        cursors = await self._inbox.cursors("discord")
        found = [*_heard_by_all(cursors), *filter(None, [cursors.get(_name_of(shard))])]
        return datetime.fromtimestamp(max(found) / 1_000, UTC) if found else None

    async def direct_channels(self, since: datetime) -> list[int]:
        """Return the direct messages in which something was asked since then."""
        active = await self._inbox.active_direct_channels("discord", since)
        return [int(channel) for channel in active if channel]  # a forgotten one has no id

    async def questions(self, since: datetime) -> list[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        return await self._places.asked_since("discord", since, MOST_QUESTIONS)


_EVERYWHERE = "*"
"""Stands where a cursor has its channel, for the only shard."""
_SHARD = re.compile(r"\*\d+/(\d+)")


def _name_of(shard: ShardRange) -> str:
    """Return what stands for a shard where a cursor has its channel."""
    return _EVERYWHERE if shard.of == 1 else f"*{shard.number}/{shard.of}"


def _heard_by_all(cursors: Mapping[str, int]) -> Iterator[int]:
    """Yield, for each number of shards there ever was, up to when all of them were heard."""
    by_count = defaultdict[int, list[int]](list)
    for name, milliseconds in cursors.items():
        if name == _EVERYWHERE:
            by_count[1].append(milliseconds)
        elif found := _SHARD.fullmatch(name):
            by_count[int(found[1])].append(milliseconds)
    return (min(incoming) for count, incoming in by_count.items() if len(incoming) == count)
