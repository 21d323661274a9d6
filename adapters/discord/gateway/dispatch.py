"""Takes the gateway's events at their raw payload, so that none can end the connection.

Messages never go through discord.py's objects: a question is answered also where something in it,
as a new kind of attachment, is more than discord.py can read. All else goes to discord.py, and
what it cannot read is passed over. Its table of parsers is used in this file alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import discord

from adapters.discord.gateway.salvage import check_ready, readable_guild, readable_interaction
from adapters.intake.unreadable import Unreadable
from adapters.payloads import mapping

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

Parser = Callable[[Any], None]


def contain_events(
    client: discord.Client, unreadable: Unreadable, hears: Callable[[object], bool]
) -> None:
    """Have each event of a client contained from now on.

    Where a session cannot begin as it is sent, the connection makes up for it.

    Args:
        hears: Returns whether a shard is this process's.
    """
    parsers: dict[str, Parser] = client._connection.parsers
    known = {**parsers}
    parsers.clear()
    for name in READ_BY_THE_LIBRARY:
        parse = _reading(client, name, known[name])
        parsers[name] = partial(_contained, client, unreadable, name, parse)
    for name, event in READ_RAW.items():
        parsers[name] = partial(_handed_on, client, event, parsers.get(name))
    parsers[_READY] = partial(_begun, client, hears, known[_READY])
    parsers[_RESUMED] = known[_RESUMED]


def hand_on(client: discord.Client, name: str, data: object) -> None:
    """Hand an event on as if the gateway had just sent it."""
    client._connection.parsers[name](data)


def _reading(client: discord.Client, name: str, parse: Parser) -> Parser:
    """Return discord.py's parser, which reads as much as can be read of what matters most."""
    if name in _OF_SERVERS:
        return partial(_with_a_second_try, parse, partial(readable_guild, client))
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


def _begun(
    client: discord.Client, hears: Callable[[object], bool], parse: Parser, data: Any
) -> None:
    check_ready(data, client.user.id if client.user is not None else None, hears)
    parse(data)
