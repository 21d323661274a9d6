"""Builds the Discord adapter from the settings."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adapters.desk import FrontDesk
from adapters.guide import Guide
from bot import __version__
from bot.handbook import COURSE
from bot.wiring import Services, chosen_generator
from core.budgets.store import Limits, TokenBudgets
from core.channels.store import ChannelRules
from core.errors import ConfigurationError
from core.feedback.store import Feedback
from core.inbox.store import Inbox
from core.personal import PersonalData

if TYPE_CHECKING:
    from adapters.discord.adapter import DiscordAdapter


def discord_adapter(
    opened: Services,
    *,
    inbox: Inbox,
    desk: FrontDesk,
    guide: Guide,
    wake: Callable[[], None],
    stop: Callable[[str], Awaitable[bool]],
) -> "DiscordAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when there is no token.
    """
    from adapters.discord.about import About
    from adapters.discord.adapter import DiscordAdapter
    from adapters.discord.clicks import Clicks
    from adapters.discord.questions import Questions
    from adapters.discord.staff import CourseCommands

    settings = opened.settings.discord
    if settings.token is None:
        raise ConfigurationError("Discord needs a token: set GLOSSATOR_DISCORD__TOKEN.")
    feedback = Feedback(opened.engine)
    personal = PersonalData(
        sessions=opened.sessions,
        inbox=inbox,
        feedback=feedback,
        budgets=TokenBudgets(opened.engine, limits=Limits()),
    )
    questions = Questions(desk, guide, wake)
    about = About(
        desk=desk,
        guide=guide,
        personal=personal,
        questions=questions,
        handbook=COURSE.course_id,
        version=__version__,
        writer=_writer(opened),
    )
    clicks = Clicks(
        desk=desk,
        inbox=inbox,
        sessions=opened.sessions,
        feedback=feedback,
        personal=personal,
        wake=wake,
        stop=stop,
    )
    return DiscordAdapter(
        token=settings.token.get_secret_value(),
        api_url=settings.api_url,
        message_content=settings.message_content,
        desk=desk,
        cursors=HeardUpTo(inbox),
        clicks=clicks,
        cogs=(questions, CourseCommands(desk, ChannelRules(opened.engine), guide), about),
        wake=wake,
    )


class HeardUpTo:
    """Keeps how far Discord was heard beside the inbox's cursors."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    async def note(self, moment: datetime) -> None:
        """Keep the moment up to which nothing was missed."""
        await self._inbox.saw("discord", _EVERYWHERE, int(moment.timestamp() * 1_000))

    async def last(self) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        milliseconds = (await self._inbox.cursors("discord")).get(_EVERYWHERE)
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1_000, UTC)

    async def direct_channels(self, since: datetime) -> list[int]:
        """Return the direct messages in which something was asked since then."""
        return [int(c) for c in await self._inbox.active_channels("discord", "@me", since)]


_EVERYWHERE = "*"


def _writer(opened: Services) -> str:
    if chosen_generator(opened.settings) == "gemini":
        return opened.settings.gemini.model
    return "the book's own words, without a model"
