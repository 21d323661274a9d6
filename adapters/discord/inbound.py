"""Discord's messages and interactions, as what was heard; decides nothing and sends nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import discord

from adapters.chat.access import Location
from adapters.chat.incoming_message import IncomingMessage, apart_from_quotes
from adapters.chat.places import Presence
from adapters.chat.question_context import NO_PARTS, MessageParts, Whose, asks
from adapters.discord.members import lookup_in, lookup_of, permissions_in, permits_thread
from adapters.discord.payloads import RawMessage

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
_NAMED = (discord.MessageType.default.value, discord.MessageType.reply.value)
_FEWEST_WORDS = 5
"""Words of a text that is understood without its title."""
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


@dataclass(frozen=True, slots=True)
class KnownSurroundings:
    """What discord.py knows around a message; None: it does not."""

    guild: discord.Guild | None = None
    channel: "Channel | None" = None
    parent: discord.abc.GuildChannel | None = None
    """The channel that a thread stands in, where the thread does not know it."""
    author: discord.Member | None = None


def incoming_from_message(
    message: RawMessage, me: discord.ClientUser, around: KnownSurroundings
) -> IncomingMessage | None:
    """Return what a message says; None for what cannot be a question.

    That is what bots, webhooks and Discord itself say. The text of a message that this one
    replies to with a mention, or forwards, is its quote, as are its own `>` lines.
    """
    if is_no_persons(message):
        return None
    own_role = around.guild.self_role if around.guild is not None else None
    place = where(around.channel, message.guild_id, message.channel_id, around.parent)
    replied = message.replied
    answers = replied if replied is not None and replied.author.id == me.id else None
    mentioned = _mentions(message, me, own_role)
    said, quote = apart_from_quotes(_addressing(message.content, me, own_role))
    parts = message.parts + message.forwarded_parts
    if answers is None and replied is not None and (mentioned or message.guild_id is None):
        quote = quote or text_of(replied) or None
        parts += parts_about(replied)
    quote = quote or "\n".join([*_forwarded(message), *_poll_of(message)]) or None
    begins = place.in_forum and message.id == message.channel_id
    if begins:
        said = _with_title(said, getattr(around.channel, "name", ""))
    speaks_to_other = (
        replied is not None and answers is None and replied.author.id != message.author.id
    )
    return IncomingMessage(
        key=message_key(me.id, message.id),
        platform=PLATFORM,
        workspace=place.workspace,
        channel=place.channel,
        places=place.places,
        position=message.id,
        user=str(message.author.id),
        text=said,
        address=_message_address(
            message, opens_thread=answers is None and _opens_thread(message, place, around)
        ),
        message=str(message.id),
        thread=place.thread,
        quote=quote,
        parts=parts,
        answers=str(answers.id) if answers is not None else None,
        addressed=mentioned or answers is not None,
        to_others=_mentions_others(message, me, own_role) or (speaks_to_other and not mentioned),
        others=frozenset(str(one) for one in _people_in(message, me, replied=replied)),
        direct=message.guild_id is None,
        personal=message.guild_id is None,
        begins=begins,
        member=lookup_in(around.guild, message.author.id, around.author),
        role_later=message.guild_id is not None and around.author is None,
        locale=str(around.guild.preferred_locale) if around.guild is not None else None,
        sent_at=discord.utils.snowflake_time(message.id),
    )


def is_no_persons(message: RawMessage) -> bool:
    """Return whether a bot, a webhook or Discord itself says something."""
    return message.author.bot or message.by_webhook or message.kind not in _NAMED


def incoming_from_command(
    interaction: discord.Interaction[Any],
    text: str,
    *,
    section: str | None = None,
    quote: str | None = None,
    parts: MessageParts = NO_PARTS,
    explains: str | None = None,
    private: bool = False,
) -> IncomingMessage:
    """Return what a command asks, with the token that answers it for 15 minutes.

    Where the bot is no member of the server, its asker alone sees the answer.

    Args:
        parts: The files of the message that it is about.
        explains: The id of that message where the bot wrote it.
    """
    assert interaction.channel_id is not None
    place = where_of(interaction)
    private = private or is_guest(interaction)
    said, quoted = apart_from_quotes(text)
    return IncomingMessage(
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
            "dm": interaction.guild_id is None and not is_guest(interaction),
            "open_thread": not private and may_open_thread(interaction),
        },
        thread=place.thread,
        quote=quote or quoted,
        parts=parts,
        explains=explains,
        section=section,
        addressed=True,
        direct=interaction.guild_id is None and not is_guest(interaction),
        personal=place.workspace == DIRECT,
        guest_in=guest_in(interaction),
        private=private,
        member=lookup_of(interaction.user, interaction.guild),
        locale=str(interaction.locale),
        sent_at=interaction.created_at,
        token=interaction.token,
        token_expires_at=interaction.created_at + TOKEN_LIFE,
    )


def where_of(interaction: discord.Interaction[Any]) -> Where:
    """Return where a command was given; a server that the bot is no member of belongs to no one."""
    assert interaction.channel_id is not None
    if is_guest(interaction):
        return Where(DIRECT, str(interaction.channel_id), None, ())
    return where(interaction.channel, interaction.guild_id, interaction.channel_id)


def location_of(interaction: discord.Interaction[Any]) -> Location:
    """Return where a user is who gave a command or pressed a button."""
    place, user = where_of(interaction), str(interaction.user.id)
    personal = place.workspace == DIRECT
    return Location(PLATFORM, place.workspace, place.places, user, personal, guest_in(interaction))


def presence_of(interaction: discord.Interaction[Any]) -> Presence:
    """Return a user who gave a command or pressed a button, as far as they may be staff."""
    location = location_of(interaction)
    return Presence(location, lookup_of(interaction.user, interaction.guild))


def is_guest(interaction: discord.Interaction[Any]) -> bool:
    """Return whether a command was given where others are and the bot is not.

    That is a server that it is no member of, or a direct message between other people. Where a
    server is unknown because its shard is not connected here, Discord says for whom the
    application is installed.
    """
    guild_id, client = interaction.guild_id, interaction.client
    if guild_id is None:
        return interaction.context.private_channel is True
    if client.get_guild(guild_id) is not None:
        return False
    return client.sees(guild_id) or not interaction.is_guild_integration()


def guest_in(interaction: discord.Interaction[Any]) -> str | None:
    """Return the server that a command was given in, where the bot is no member of it."""
    guild_id = interaction.guild_id
    return str(guild_id) if guild_id is not None and is_guest(interaction) else None


def text_of(message: RawMessage) -> str:
    """Return what a message says, or what it forwards, without Discord's codes."""
    texts = [message.content, *message.shown, *message.forwarded]
    return "\n".join(_plain(text) for text in texts if text.strip())


def parts_about(message: RawMessage) -> MessageParts:
    """Return the files of a message that a question is about."""
    own = tuple(replace(file, whose=Whose.TARGET) for file in message.parts.files)
    return MessageParts(own, message.parts.unread) + message.forwarded_parts


def message_key(application_id: int, message_id: int) -> str:
    """Return the inbox key of a message."""
    return f"discord:{application_id}:{message_id}"


def position_of(moment_ms: int) -> int:
    """Return where an event without an id of its own stands among Discord's ids."""
    return (moment_ms - _EPOCH) << 22


def may_open_thread(interaction: discord.Interaction[Any]) -> bool:
    """Return whether a thread can be opened where a command was given."""
    text_channel = isinstance(interaction.channel, discord.TextChannel)
    return text_channel and permits_thread(interaction.app_permissions)


def _addressing(text: str, me: discord.ClientUser, own_role: discord.Role | None) -> str:
    """Return a message's text without its mentions of the bot, and without Discord's codes."""
    text = re.sub(rf"<@!?{me.id}>", " ", text)
    if own_role is not None:
        text = text.replace(own_role.mention, " ")
    return _plain(text)


def _plain(text: str) -> str:
    """Return a message's text without Discord's codes, and no user's name in it."""
    text = _USER.sub("@someone", text)
    text = _ROLE.sub("@some-group", text)
    return _DECORATION.sub("", text).strip()


def _with_title(said: str, title: str) -> str:
    """Return what a forum's post says: with its title, where its text says little by itself.

    The title of any other post is read with what was said in the thread.
    """
    if not any(letter.isalnum() for letter in said):
        return title
    says_little = len(said.split()) < _FEWEST_WORDS and not asks(said)
    is_title = said.strip().casefold() == title.strip().casefold()
    return f"{title}\n{said}" if says_little and not is_title else said


def _forwarded(message: RawMessage) -> list[str]:
    return [plain for text in message.forwarded if (plain := _plain(text))]


def _poll_of(message: RawMessage) -> Iterator[str]:
    """Yield the poll that a person attached; embeds of their message are Discord's previews."""
    if message.poll:
        yield _plain(message.poll)


def _mentions(message: RawMessage, me: discord.ClientUser, own_role: discord.Role | None) -> bool:
    if any(user.id == me.id for user in message.mentions):
        return True
    return own_role is not None and own_role.id in message.mention_roles


def _mentions_others(
    message: RawMessage, me: discord.ClientUser, own_role: discord.Role | None
) -> bool:
    roles = message.mention_roles - ({own_role.id} if own_role is not None else set())
    return bool(_people_in(message, me) or roles or message.mention_everyone)


def _people_in(
    message: RawMessage, me: discord.ClientUser, replied: RawMessage | None = None
) -> list[int]:
    """Return the other people that a message mentions, or replies to."""
    users = [*message.mentions, *([replied.author] if replied is not None else [])]
    known = {me.id, message.author.id}
    return [user.id for user in users if user.id not in known and not user.bot]


def _message_address(message: RawMessage, *, opens_thread: bool) -> dict[str, Any]:
    return {
        "route": "message",
        "channel": message.channel_id,
        "message": message.id,
        "open_thread": opens_thread,
        "asker": message.author.id,
        "dm": message.guild_id is None,
    }


def _opens_thread(message: RawMessage, place: Where, around: KnownSurroundings) -> bool:
    channel = around.channel
    if message.guild_id is None or place.thread is not None:
        return False
    if not isinstance(channel, discord.TextChannel):
        return False
    me = channel.guild.me  # unknown as long as Discord has not announced the server
    granted = permissions_in(channel, me)
    return granted is None or permits_thread(granted)


def _ids(*ids: int | None) -> tuple[str, ...]:
    return tuple(str(one) for one in ids if one is not None)
