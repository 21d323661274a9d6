"""Builds the Discord adapter from the settings."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from adapters.intake.reconcile import MOST_QUESTIONS
from bot.platforms.services import ChatServices
from core.errors import ConfigurationError
from core.i18n import Message
from core.inbox.places import InboxPlaces, PlacedQuestion
from core.inbox.store import Inbox
from core.storage.gateway_sessions import GatewaySessions
from core.storage.leases import Leases
from core.storage.rate_limit_windows import RateLimitWindows

if TYPE_CHECKING:
    from adapters.discord.adapter import DiscordAdapter
    from adapters.discord.backfill.reconcile import ShardRange


def discord_adapter(chats: ChatServices) -> "DiscordAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when there is no token.
    """
    from adapters.discord.adapter import DiscordAdapter
    from adapters.discord.commands.about import About
    from adapters.discord.commands.actions import ButtonActions
    from adapters.discord.commands.my_data import MyData
    from adapters.discord.commands.questions import Questions
    from adapters.discord.commands.staff import CourseCommands
    from adapters.discord.commands.staff_commands import shown
    from adapters.discord.greeter import Greeter
    from adapters.discord.markup.dialect import as_written
    from adapters.features.staff_settings import PlatformTerms

    settings = chats.opened.settings.discord
    if settings.token is None:
        raise ConfigurationError("Discord needs a token: set GLOSSATOR_DISCORD__TOKEN.")
    desk = chats.desk
    my_data = MyData(desk, chats.personal(), chats.own_data())
    names = chats.opened.settings.commands
    questions = Questions(desk, chats.directory, chats.wake, chats.meter, names=names)
    about = About(
        desk=desk,
        facts=chats.facts(as_written),
        my_data=my_data,
        questions=questions,
        names=names,
    )
    channels = chats.channel_settings({"auto_answer": Message("settings-name-auto-answer-forum")})
    staff = chats.staff_settings(channels, PlatformTerms(Message("tenant-server"), shown))
    return DiscordAdapter(
        token=settings.token.get_secret_value(),
        api_url=settings.api_url,
        message_content=settings.message_content,
        desk=desk,
        gone=chats.gone_places(),
        cursors=ShardCursors(chats.inbox, chats.places()),
        clicks=ButtonActions(desk, chats.actions()),
        my_data=my_data,
        greeter=Greeter(chats.readers, chats.greeting(as_written)),
        cogs=(questions, CourseCommands(channels, staff, names=names), about),
        wake=chats.wake,
        closed=RateLimitWindows(chats.opened.engine),
        shards=settings.shards,
        leases=_leases(chats),
        clock=chats.clocks["discord"],
        context=chats.question_context(),
        sessions=GatewaySessions(chats.opened.engine),
        meter=chats.meter,
    )


def _leases(chats: ChatServices) -> Leases | None:
    """Return what splits the shards between processes; a file is meant for one bot."""
    if chats.holding.dialect.name == "sqlite":
        return None
    return Leases(chats.holding, uuid4().hex, chats.opened.settings.inbox.lease)


class ShardCursors:
    """Keeps how far each of Discord's shards was heard, beside the inbox's cursors."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        self._inbox = inbox
        self._places = places

    async def note(self, shard: "ShardRange", moment: datetime) -> None:
        """Keep the moment up to which a shard missed nothing."""
        await self._inbox.advance_cursor(
            "discord", _name_of(shard), int(moment.timestamp() * 1_000)
        )

    async def last(self, shard: "ShardRange") -> datetime | None:
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


def _name_of(shard: "ShardRange") -> str:
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
