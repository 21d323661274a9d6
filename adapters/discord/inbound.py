"""Discord's messages and interactions, as what was heard; decides nothing and sends nothing."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import discord

from adapters.heard import Heard, apart_from_quotes

PLATFORM = "discord"
DIRECT = "@me"
"""Stands for the guild of a direct message."""
TOKEN_LIFE = timedelta(minutes=15)

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_DECORATION = re.compile(
    r"[ \t]*(?:<a?:\w+:\d+>|<#\d+>|<t:-?\d+(?::[a-zA-Z])?>|<id:\w+>|</[^<>:]+:\d+>)"
)
"""Custom emoji, channels, times and commands: Discord's codes for what is no text."""
_NAMED = (discord.MessageType.default, discord.MessageType.reply)
_EPOCH = discord.utils.DISCORD_EPOCH

if TYPE_CHECKING:
    Channel = discord.abc.MessageableChannel | discord.interactions.InteractionChannel


@dataclass(frozen=True, slots=True)
class Where:
    """Where something was said: Discord's channel, and its thread if it is one."""

    workspace: str
    channel: str
    thread: str | None
    places: tuple[str, ...]
    in_forum: bool = False


def where(
    channel: "Channel | None",
    guild_id: int | None,
    channel_id: int,
    unknown_parent: discord.abc.GuildChannel | None = None,
) -> Where:
    """Return where a channel lies; of one that is not known, what its ids tell.

    Args:
        unknown_parent: The channel that a thread stands in, when discord.py does not know it.
    """
    workspace = str(guild_id) if guild_id is not None else DIRECT
    if isinstance(channel, discord.Thread):
        parent = channel.parent or unknown_parent
        narrow = [channel.id, channel.parent_id, parent.category_id if parent else None]
        places = _ids(*narrow, guild_id)
        forum = isinstance(parent, discord.ForumChannel)
        return Where(workspace, str(channel.parent_id), str(channel.id), places, forum)
    category = category_of(channel)
    return Where(workspace, str(channel_id), None, _ids(channel_id, category, guild_id))


def category_of(channel: object) -> int | None:
    """Return the category that a channel, or a thread's channel, is in; None: in none known."""
    if isinstance(channel, discord.Thread):
        channel = channel.parent  # discord.py raises for a thread whose parent it does not know
    category: int | None = getattr(channel, "category_id", None)
    return category


def heard_message(
    message: discord.Message,
    me: discord.ClientUser,
    unknown_parent: discord.abc.GuildChannel | None = None,
) -> Heard | None:
    """Return what a message says; None for what cannot be a question.

    That is what bots, webhooks and Discord itself say. The text of a message that this one
    replies to with a mention, or forwards, is its quote, as are its own `>` lines.

    Args:
        unknown_parent: As of `where`.
    """
    if message.author.bot or message.webhook_id is not None or message.type not in _NAMED:
        return None
    guild_id = message.guild.id if message.guild else None
    place = where(message.channel, guild_id, message.channel.id, unknown_parent)
    replied = _replied_to(message)
    answers = replied if replied is not None and replied.author.id == me.id else None
    mentioned = me in message.mentions or _own_role(message) in message.role_mentions
    said, quote = apart_from_quotes(_addressing(message.content, me, _own_role(message)))
    if answers is None and replied is not None and (mentioned or guild_id is None):
        quote = quote or text_of(replied) or None
    quote = quote or _forwarded(message)
    speaks_to_other = replied is not None and answers is None
    return Heard(
        key=message_key(me.id, message.id),
        platform=PLATFORM,
        workspace=place.workspace,
        channel=place.channel,
        places=place.places,
        position=message.id,
        user=str(message.author.id),
        text=said,
        address=_message_address(message, opens_thread=_opens_thread(message, place, answers)),
        message=str(message.id),
        thread=place.thread,
        quote=quote,
        answers=str(answers.id) if answers is not None else None,
        addressed=mentioned or answers is not None,
        to_others=_mentions_others(message, me) or (speaks_to_other and not mentioned),
        direct=guild_id is None,
        begins=place.in_forum and message.id == message.channel.id,
        staff=_is_staff(message.author, unknown_parent or message.channel),
        sent_at=message.created_at,
    )


def heard_command(
    interaction: discord.Interaction[Any],
    text: str,
    *,
    section: str | None = None,
    quote: str | None = None,
    private: bool = False,
) -> Heard:
    """Return what a command asks, with the token that answers it for 15 minutes."""
    assert interaction.channel_id is not None
    place = where(interaction.channel, interaction.guild_id, interaction.channel_id)
    said, quoted = apart_from_quotes(text)
    return Heard(
        key=f"discord:i:{interaction.id}",
        platform=PLATFORM,
        workspace=place.workspace,
        channel=place.channel,
        places=place.places,
        position=interaction.id,
        user=str(interaction.user.id),
        text=said,
        address={
            "route": "interaction",
            "application": interaction.application_id,
            "interaction": interaction.id,
            "channel": interaction.channel_id,
            "guild": interaction.guild_id,
            "asker": interaction.user.id,
            "ephemeral": private,
            "dm": interaction.guild_id is None,
            "open_thread": not private and may_open_thread(interaction),
        },
        thread=place.thread,
        quote=quote or quoted,
        section=section,
        addressed=True,
        direct=interaction.guild_id is None,
        private=private,
        staff=interaction.permissions.manage_messages and interaction.guild_id is not None,
        locale=str(interaction.locale),
        sent_at=interaction.created_at,
        token=interaction.token,
        token_expires_at=interaction.created_at + TOKEN_LIFE,
    )


def text_of(message: discord.Message) -> str:
    """Return what a message says, or what it forwards, without Discord's codes."""
    texts = [message.content, *(snapshot.content for snapshot in message.message_snapshots)]
    return "\n".join(_plain(text) for text in texts if text.strip())


def message_key(application_id: int, message_id: int) -> str:
    """Return the inbox key of a message."""
    return f"discord:{application_id}:{message_id}"


def position_of(moment_ms: int) -> int:
    """Return where an event without an id of its own stands among Discord's ids."""
    return (moment_ms - _EPOCH) << 22


def may_open_thread(interaction: discord.Interaction[Any]) -> bool:
    """Return whether a thread can be opened where a command was given."""
    text_channel = isinstance(interaction.channel, discord.TextChannel)
    return text_channel and interaction.app_permissions.create_public_threads


def _addressing(text: str, me: discord.ClientUser, own_role: discord.Role | None) -> str:
    """Return a message's text without its mentions of the bot, and without Discord's codes."""
    text = re.sub(rf"<@!?{me.id}>", " ", text)
    if own_role is not None:
        text = text.replace(own_role.mention, " ")
    return _plain(text)


def _plain(text: str) -> str:
    """Return a message's text without Discord's codes, and nobody's name in it."""
    text = _USER.sub("@someone", text)
    text = _ROLE.sub("@some-group", text)
    return _DECORATION.sub("", text).strip()


def _replied_to(message: discord.Message) -> discord.Message | None:
    reference = message.reference
    if reference is None or reference.type is not discord.MessageReferenceType.reply:
        return None
    resolved = reference.resolved
    return resolved if isinstance(resolved, discord.Message) else None


def _forwarded(message: discord.Message) -> str | None:
    texts = [_plain(snapshot.content) for snapshot in message.message_snapshots]
    return "\n".join(text for text in texts if text) or None


def _mentions_others(message: discord.Message, me: discord.ClientUser) -> bool:
    users = [user for user in message.mentions if user.id != me.id and not user.bot]
    roles = [role for role in message.role_mentions if role != _own_role(message)]
    return bool(users or roles or message.mention_everyone)


def _own_role(message: discord.Message) -> discord.Role | None:
    return message.guild.self_role if message.guild is not None else None


def _message_address(message: discord.Message, *, opens_thread: bool) -> dict[str, Any]:
    return {
        "route": "message",
        "channel": message.channel.id,
        "message": message.id,
        "open_thread": opens_thread,
        "asker": message.author.id,
        "dm": message.guild is None,
    }


def _opens_thread(message: discord.Message, place: Where, answers: discord.Message | None) -> bool:
    channel = message.channel
    if message.guild is None or place.thread is not None or answers is not None:
        return False
    if not isinstance(channel, discord.TextChannel):
        return False
    me = message.guild.me  # unknown as long as Discord has not told of the server
    return me is None or channel.permissions_for(me).create_public_threads


def _is_staff(
    author: discord.User | discord.Member, channel: "Channel | discord.abc.GuildChannel"
) -> bool:
    if not isinstance(author, discord.Member):
        return False
    if isinstance(channel, discord.Thread) and channel.parent is None:
        return False  # what somebody may do in a thread is said by the channel around it
    if not isinstance(channel, discord.Thread | discord.abc.GuildChannel):
        return False
    return channel.permissions_for(author).manage_messages


def _ids(*ids: int | None) -> tuple[str, ...]:
    return tuple(str(one) for one in ids if one is not None)
