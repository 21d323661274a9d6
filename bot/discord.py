"""Builds the Discord adapter from the settings."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.chats import ChatServices
from core.closed_windows import ClosedWindows
from core.errors import ConfigurationError
from core.inbox.places import InboxPlaces, Question
from core.inbox.store import Inbox

if TYPE_CHECKING:
    from adapters.discord.adapter import DiscordAdapter


def discord_adapter(chats: ChatServices) -> "DiscordAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when there is no token.
    """
    from adapters.discord.about import About
    from adapters.discord.adapter import DiscordAdapter
    from adapters.discord.clicks import Clicks
    from adapters.discord.questions import Questions
    from adapters.discord.staff import CourseCommands
    from adapters.markdown.discord_text import escape

    settings = chats.opened.settings.discord
    if settings.token is None:
        raise ConfigurationError("Discord needs a token: set GLOSSATOR_DISCORD__TOKEN.")
    desk, personal = chats.desk, chats.personal()
    questions = Questions(desk, chats.guide, chats.wake, chats.meter)
    about = About(
        desk=desk,
        facts=chats.facts(escape),
        personal=personal,
        own_data=chats.own_data(),
        questions=questions,
    )
    channels = chats.channel_settings({"auto_answer": "auto-answer to new forum posts"})
    return DiscordAdapter(
        token=settings.token.get_secret_value(),
        api_url=settings.api_url,
        message_content=settings.message_content,
        desk=desk,
        gone=chats.gone_places(),
        cursors=HeardUpTo(chats.inbox, chats.places()),
        clicks=Clicks(desk, chats.actions(), personal),
        cogs=(questions, CourseCommands(channels, chats.guide), about),
        wake=chats.wake,
        closed=ClosedWindows(chats.opened.engine),
        meter=chats.meter,
    )


class HeardUpTo:
    """Keeps how far Discord was heard beside the inbox's cursors."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        self._inbox = inbox
        self._places = places

    async def note(self, moment: datetime) -> None:
        """Keep the moment up to which nothing was missed."""
        await self._inbox.saw("discord", _EVERYWHERE, int(moment.timestamp() * 1_000))

    async def last(self) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        milliseconds = (await self._inbox.cursors("discord")).get(_EVERYWHERE)
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1_000, UTC)

    async def direct_channels(self, since: datetime) -> list[int]:
        """Return the direct messages in which something was asked since then."""
        active = await self._inbox.active_channels("discord", "@me", since)
        return [int(channel) for channel in active if channel]  # a forgotten one has no id

    async def questions(self, since: datetime) -> list[Question]:
        """Return the latest questions in messages since a moment, oldest first."""
        return await self._places.asked_since("discord", since, _MOST_QUESTIONS)


_MOST_QUESTIONS = 200
"""Whose edits and deletions are looked for after a pause."""
_EVERYWHERE = "*"
