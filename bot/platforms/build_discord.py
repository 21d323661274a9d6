"""Builds the Discord adapter from the settings."""

from typing import TYPE_CHECKING
from uuid import uuid4

from bot.platforms.discord import DiscordSettings
from bot.platforms.services import ChatServices
from core.errors import ConfigurationError
from core.i18n import Message
from core.storage.leases import leases_of
from core.storage.rate_limit_windows import RateLimitWindows

if TYPE_CHECKING:
    from adapters.discord.adapter import DiscordAdapter


def discord_adapter(chats: ChatServices) -> "DiscordAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when there is no token.
    """
    from adapters.discord.adapter import DiscordAdapter
    from adapters.discord.backfill.cursors import ShardCursors
    from adapters.discord.commands.about import About
    from adapters.discord.commands.actions import ButtonActions
    from adapters.discord.commands.my_data import MyData
    from adapters.discord.commands.questions import Questions
    from adapters.discord.commands.staff import CourseCommands
    from adapters.discord.commands.staff_commands import shown
    from adapters.discord.greeter import Greeter
    from adapters.discord.markup.dialect import as_written
    from adapters.discord.staff_clicks import StaffClicks
    from adapters.features.staff.settings import PlatformTerms

    settings = chats.opened.settings.group(DiscordSettings)
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
    actions = chats.actions()
    staff_desk = chats.staff_desk(actions)
    clicks = StaffClicks(desk, staff_desk, chats.queue_board(staff_desk))
    course = CourseCommands(
        channels,
        staff,
        clicks,
        chats.policy_settings(),
        chats.radar_views("discord"),
        names=names,
    )
    return DiscordAdapter(
        token=settings.token.get_secret_value(),
        api_url=settings.api_url,
        message_content=settings.message_content,
        desk=desk,
        gone=chats.gone_places(),
        cursors=ShardCursors(chats.inbox, chats.places()),
        clicks=ButtonActions(desk, actions, clicks),
        my_data=my_data,
        greeter=Greeter(chats.readers, chats.greeting(as_written)),
        cogs=(questions, course, about),
        wake=chats.wake,
        closed=RateLimitWindows(chats.opened.engine),
        shards=settings.shards,
        leases=leases_of(chats.holding, uuid4().hex, chats.opened.settings.inbox.lease),
        clock=chats.clocks["discord"],
        context=chats.question_context(),
        meter=chats.meter,
    )
