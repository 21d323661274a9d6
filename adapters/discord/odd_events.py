"""Contains what Discord sends that discord.py cannot read: the connection and the rest go on.

Messages never go through discord.py's objects: a question is answered also where something in it,
as a new kind of attachment, is more than discord.py can read. All else goes to discord.py, and
what it cannot read is passed over. discord.py has no public hook for that, so this file, and no
other, uses what it keeps to itself; each such place says why.
"""

import asyncio
import contextlib
import json
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar

import aiohttp
import discord
from discord import app_commands
from discord import shard as sharding
from discord.gateway import DiscordWebSocket, ReconnectWebSocket, WebSocketClosure

from adapters.chat.acceptor import Unreadable, UnreadableEvent
from adapters.chat.base import Json, clean_text, mapping, mappings
from adapters.discord.payloads import interaction_address, needed_id, snowflake

READ_RAW = {
    "MESSAGE_CREATE": "raw_message",
    "MESSAGE_UPDATE": "raw_edit",
    "MESSAGE_DELETE": "raw_deletion",
    "MESSAGE_DELETE_BULK": "raw_bulk_deletion",
    "MESSAGE_REACTION_ADD": "raw_reaction",
    "THREAD_DELETE": "raw_gone_channel",
    "CHANNEL_DELETE": "raw_gone_channel",
}
"""The events of the client that hand a payload on as it came."""
INTERACTION = "INTERACTION_CREATE"
_GOODBYE = 2.0
"""Seconds that the other side gets to close a connection."""
_OF_SERVERS = frozenset({"GUILD_CREATE", "GUILD_UPDATE"})
READ_BY_THE_LIBRARY = frozenset(
    {
        *_OF_SERVERS,
        "CHANNEL_CREATE",
        "CHANNEL_DELETE",
        "CHANNEL_UPDATE",
        "GUILD_DELETE",
        "GUILD_MEMBER_UPDATE",
        "GUILD_ROLE_CREATE",
        "GUILD_ROLE_DELETE",
        "GUILD_ROLE_UPDATE",
        INTERACTION,
        "THREAD_CREATE",
        "THREAD_DELETE",
        "THREAD_LIST_SYNC",
        "THREAD_MEMBERS_UPDATE",
        "THREAD_MEMBER_UPDATE",
        "THREAD_UPDATE",
    }
)
"""What discord.py has to know; of all else that it could read nothing is wanted here."""
_READY, _RESUMED = "READY", "RESUMED"
HISTORY = "history"
"""Stands for the type of an event where a message was read from the history."""
FRAME = "frame"
"""Stands for it where not even that can be read."""
EVENTS = frozenset({*READ_RAW, *READ_BY_THE_LIBRARY, _READY, _RESUMED, HISTORY, FRAME})
"""The types that are counted by name."""
HIDDEN = 1 << 17
"""The flag of a channel that the bot may not view."""
AS_SENT = "messages_as_sent"
"""Where an interaction keeps the messages that discord.py would not read, for us to read."""
_NOT_ODD = (
    ReconnectWebSocket,
    WebSocketClosure,
    discord.ConnectionClosed,
    discord.HTTPException,
    aiohttp.ClientError,
    OSError,
)
"""What discord.py raises where the connection itself is at fault; it knows what to do then."""
_MESSAGE_LISTS = ("mentions", "mention_roles", "attachments", "embeds")
_ROW = discord.ComponentType.action_row.value
_LAYOUT = discord.MessageFlags(components_v2=True).value
_LOCALE = discord.Locale.american_english.value
_NEVER = "1970-01-01T00:00:00+00:00"
_NOBODY = {"username": "", "discriminator": "0", "avatar": None}

Parser = Callable[[Any], None]


def contain_events(client: discord.AutoShardedClient, unreadable: Unreadable) -> None:
    """Have each event and each frame of a client contained from now on.

    The client gets `READ_RAW`'s events as they came, `unreadable_interaction` with the payload of
    an interaction that cannot be read, and `shard_heard` with the shard's number after each frame.
    """
    # discord.py calls what stands in this table, and has no other place to see a payload before.
    parsers: dict[str, Parser] = client._connection.parsers
    known = {**parsers}
    parsers.clear()
    own: dict[str, Parser] = {
        **known,
        "CHANNEL_CREATE": partial(_unless_hidden, known["CHANNEL_CREATE"]),
        "CHANNEL_UPDATE": partial(_channel_changed, client, known),
    }
    for name in READ_BY_THE_LIBRARY:
        parse = _reading(client, name, own[name])
        parsers[name] = partial(_contained, client, unreadable, name, parse)
    for name, event in READ_RAW.items():
        parsers[name] = partial(_handed_on, client, event, parsers.get(name))
    parsers[_READY] = partial(_begun, client, known[_READY])
    parsers[_RESUMED] = known[_RESUMED]
    _Socket.noting = unreadable
    # AutoShardedClient takes its sockets from this name, and none can be given to it.
    sharding.DiscordWebSocket = _Socket  # type: ignore[misc]


async def close_sockets(client: discord.Client) -> None:
    """Close the connections that a client left open, and end the threads that they beat from."""
    state = client._connection  # a socket keeps its client's state, and no public name of it
    for socket in [one for one in _Socket.made if getattr(one, "_connection", None) is state]:
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            await asyncio.wait_for(socket.close(), _GOODBYE)


def readable_member(guild: discord.Guild, author: int, roles: Iterable[int]) -> discord.Member:
    """Return an author with the roles that a message names, as far as permissions need one."""
    data: Any = {
        "user": {**_NOBODY, "id": str(author)},
        "roles": [str(role) for role in roles],
        "flags": 0,
    }
    # Members are made of a payload only; the state is what every one of them is made with.
    return discord.Member(data=data, guild=guild, state=guild._state)


class ContainedTree(app_commands.CommandTree[Any]):
    """Commands of which one that cannot be read, or that fails unforeseen, is reported."""

    async def unreadable(self, interaction: discord.Interaction[Any], error: Exception) -> None:
        """Report a command whose payload discord.py cannot read."""
        raise NotImplementedError

    async def _call(self, interaction: discord.Interaction[Any]) -> None:
        """Run a command; discord.py reads it here, before any of its public hooks is called."""
        try:
            await super()._call(interaction)
        except app_commands.AppCommandError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its giver is notified
            await self.unreadable(interaction, error)

    async def _dispatch_error(
        self, interaction: discord.Interaction[Any], error: app_commands.AppCommandError, /
    ) -> None:
        """Report a failure; discord.py would read the command first, which may be what fails."""
        await self.on_error(interaction, error)


def _reading(client: discord.Client, name: str, parse: Parser) -> Parser:
    """Return discord.py's parser, which reads as much as can be read of what matters most."""
    if name in _OF_SERVERS:
        reading = partial(_with_a_second_try, parse, partial(readable_guild, client))
        return lambda data: reading(_without_hidden_channels(data))
    if name == INTERACTION:
        return lambda data: parse(readable_interaction(data))
    return parse


def _with_a_second_try(parse: Parser, readable: Callable[[Any], Any], data: Any) -> None:
    try:
        parse(data)
    except Exception:  # noqa: BLE001 - of whatever kind: the second try tells
        parse(readable(data))


def _contained(
    client: discord.Client, unreadable: Unreadable, name: str, parse: Parser, data: Any
) -> None:
    try:
        parse(data)
    except Exception as error:  # noqa: BLE001 - an event of any form is not to end the connection
        unreadable.note(name, mapping(data).get("id"), error)
        if name == INTERACTION:
            client.dispatch("unreadable_interaction", data)


def _handed_on(client: discord.Client, event: str, also: Parser | None, data: Any) -> None:
    client.dispatch(event, data)
    if also is not None:
        also(data)


def _begun(client: discord.AutoShardedClient, parse: Parser, data: Any) -> None:
    check_ready(data, client.user.id if client.user is not None else None, client.shard_count or 1)
    parse(data)


# --- channels that the bot may not view ----------------------------------------------------------


def is_hidden(channel: object) -> bool:
    """Return whether Discord shows of a channel only that it is there, and most fields as null.

    To discord.py that is a channel like any other: it raises for a forum or a voice channel of
    that kind, and cannot sort a server's channels by null.
    """
    flags = mapping(channel).get("flags")
    return isinstance(flags, int) and bool(flags & HIDDEN)


def _without_hidden_channels(data: Any) -> Any:
    channels = mapping(data).get("channels")
    if not isinstance(channels, list):
        return data
    return {**data, "channels": [one for one in channels if not is_hidden(one)]}


def _unless_hidden(parse: Parser, data: Any) -> None:
    if not is_hidden(data):
        parse(data)


def _channel_changed(client: discord.Client, known: dict[str, Parser], data: Any) -> None:
    """Have a channel known from when the bot may view it until it may no more.

    discord.py passes over the change of a channel that it does not know. What was asked in one
    that is hidden now stays: nobody deleted it.
    """
    if is_hidden(data):
        known["CHANNEL_DELETE"](data)
    elif client.get_channel(needed_id(mapping(data), "id")) is None:
        known["CHANNEL_CREATE"](data)
    else:
        known["CHANNEL_UPDATE"](data)


# --- frames ---------------------------------------------------------------------------------------


class _Socket(DiscordWebSocket):
    """A connection that nothing ends which is said over it."""

    noting: Unreadable
    """Notes what cannot be read; one for the process, as discord.py makes the sockets itself."""
    made: ClassVar["weakref.WeakSet[_Socket]"] = weakref.WeakSet()
    """All that were made; one whose shard was still connecting is known to nobody else."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make a connection that `close_sockets` closes."""
        super().__init__(*args, **kwargs)
        self.made.add(self)

    async def received_message(self, msg: Any, /) -> None:
        """Take in a frame; of one that discord.py cannot read, what the connection needs."""
        if isinstance(msg, bytes):
            try:
                # Inflated here, as an odd frame is read a second time, and its bytes only once.
                msg = self._decompressor.decompress(msg)
            except zlib.error as error:  # nothing after it can be read either
                raise ReconnectWebSocket(self.shard_id) from error
            if msg is None:
                return
        before = self.sequence
        try:
            await super().received_message(msg)
        except _NOT_ODD:
            raise
        except Exception as error:  # noqa: BLE001 - whatever was sent, the next frame is read
            frame = _frame(msg)
            self.noting.note(frame.get("t") or FRAME, frame.get("s"), error)
            await self._go_on_without(frame)
        finally:
            if not isinstance(self.sequence, int | None):  # with it no session is resumed
                self.sequence = before
        self._dispatch("shard_heard", self.shard_id)  # as discord.py itself tells of its shards

    async def _go_on_without(self, frame: Json) -> None:
        """Make up for a frame that could not be read, where the connection depends on it."""
        if frame.get("op") == self.HELLO:
            raise ReconnectWebSocket(self.shard_id)
        if frame.get("t") == _RESUMED:
            await super().received_message(json.dumps({**frame, "d": {}}))
        elif frame.get("t") == _READY:
            # The socket has the bot's own user from the state alone.
            me, shard = self._connection.user, (self.shard_id, self.shard_count)
            readable = readable_ready(frame.get("d"), shard, me)
            await super().received_message(json.dumps({**frame, "d": readable}))


def _frame(text: str) -> Json:
    """Return a frame as far as it is one."""
    try:
        return mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def check_ready(data: object, me: int | None, shards: int) -> None:
    """Raise UnreadableEvent where a session begins as another bot, or for no shard of ours.

    Args:
        me: The bot's own id, known since the login; None: there was none.
        shards: How many there are.
    """
    said = mapping(data)
    if me is not None and snowflake(mapping(said.get("user")).get("id")) != me:
        raise UnreadableEvent("user")
    shard = said.get("shard")
    if not isinstance(shard, list) or not shard or shard[0] not in range(shards):
        raise UnreadableEvent("shard")


def readable_ready(data: object, shard: tuple[int | None, int | None], me: Any) -> dict[str, Any]:
    """Return the beginning of a session; each server is announced by an event of its own.

    Args:
        shard: The number of the connection's shard, and how many there are.
        me: The bot's own user, known since the login.

    Raises:
        UnreadableEvent: when there was no login.
    """
    if me is None:
        raise UnreadableEvent("user")
    said = mapping(data)
    return {
        "v": 10,
        "user": {**_NOBODY, "id": str(me.id), "username": me.name, "bot": True},
        "guilds": [],
        "shard": list(shard),
        "session_id": clean_text(said.get("session_id")) or None,
        "resume_gateway_url": clean_text(said.get("resume_gateway_url")),
    }


# --- payloads that are read as far as they can be ------------------------------------------------


def readable_guild(client: discord.Client, data: object) -> dict[str, Any]:
    """Return a server with those roles, channels and threads of it that can be read.

    Of its members only the bot is kept: no other is looked up.

    Raises:
        UnreadableEvent: when not even its id can be read.
    """
    said = mapping(data)
    bare: dict[str, Any] = {"id": str(needed_id(said, "id")), "name": clean_text(said.get("name"))}
    if (owner := snowflake(said.get("owner_id"))) is not None:
        bare["owner_id"] = str(owner)
    bare["unavailable"] = False
    me = client.user.id if client.user is not None else None
    own = [m for m in mappings(said.get("members")) if _user_of(m) == me]
    lists = {name: mappings(said.get(name)) for name in ("roles", "channels", "threads")}
    lists["members"] = own
    return bare | {name: [*_readable(client, bare, name, ones)] for name, ones in lists.items()}


def _readable(
    client: discord.Client, bare: Json, name: str, elements: list[Json]
) -> Iterator[Json]:
    """Yield the elements that discord.py can read, each tried by itself."""
    for element in elements:
        alone: Any = {**bare, name: [element]}
        try:
            # Servers are made of a payload and the state only; this one is thrown away.
            discord.Guild(data=alone, state=client._connection)
        except Exception:  # noqa: BLE001 - of whatever kind: the others are tried all the same
            continue
        yield element


def readable_interaction(data: object) -> dict[str, Any]:
    """Return an interaction whose messages have their texts and no more than is looked at.

    discord.py reads all of a message also where a command asks for its text alone.

    Raises:
        ValueError: when no one could be answered: there is no token, or no id.
    """
    said = dict(mapping(data))
    if interaction_address(said) is None:
        raise ValueError("an interaction without a token or an id")
    said["locale"] = clean_text(said.get("locale")) or _LOCALE
    if isinstance(said.get("message"), dict):
        said["message"] = _readable_message(said["message"])
    resolved = mapping(mapping(said.get("data")).get("resolved"))
    if messages := mapping(resolved.get("messages")):
        thin = {number: _readable_message(mapping(one)) for number, one in messages.items()}
        said["data"] = {
            **said["data"],
            "resolved": {**resolved, "messages": thin, AS_SENT: messages},
        }
    return said


def _readable_message(message: Json) -> dict[str, Any]:
    kind, flags, author = message.get("type"), message.get("flags"), mapping(message.get("author"))
    components = mappings(message.get("components"))
    return {
        **{name: message.get(name) for name in ("id", "channel_id")},
        "author": {**_NOBODY, "id": str(snowflake(author.get("id")) or 0)},
        **dict.fromkeys(_MESSAGE_LISTS, ()),
        "type": kind if isinstance(kind, int) else 0,
        "content": clean_text(message.get("content")),
        "timestamp": _NEVER,
        "edited_timestamp": None,
        "pinned": False,
        "tts": False,
        "mention_everyone": False,
        "flags": _readable_flags(flags, components),
        "components": components,
        "message_snapshots": [*_readable_snapshots(message)],
    }


def _readable_flags(flags: object, components: list[Json]) -> int:
    """Return a message's flags, with that of its components, by which discord.py reads them."""
    said = flags if isinstance(flags, int) else 0
    is_layout = any(component.get("type") != _ROW for component in components)
    return said | _LAYOUT if is_layout else said


def _readable_snapshots(message: Json) -> Iterator[Json]:
    for snapshot in mappings(message.get("message_snapshots")):
        content = clean_text(mapping(snapshot.get("message")).get("content"))
        yield {
            "message": {
                **dict.fromkeys(_MESSAGE_LISTS, ()),
                "type": 0,
                "content": content,
                "timestamp": _NEVER,
                "edited_timestamp": None,
                "flags": 0,
                "components": (),
            }
        }


def _user_of(member: Json) -> int | None:
    return snowflake(mapping(member.get("user")).get("id"))
