"""Makes of a payload that discord.py cannot read one that it can, with what matters most."""

from collections.abc import Callable, Iterator
from typing import Any

import discord

from adapters.discord.raw_message import interaction_address, needed_id, snowflake
from adapters.intake.unreadable import UnreadableEvent
from adapters.payloads import Json, mapping, mappings, text

_MESSAGE_LISTS = ("mentions", "mention_roles", "attachments", "embeds")
_ROW = discord.ComponentType.action_row.value
_LAYOUT = discord.MessageFlags(components_v2=True).value
_LOCALE = discord.Locale.american_english.value
_NEVER = "1970-01-01T00:00:00+00:00"
NOBODY = {"username": "", "discriminator": "0", "avatar": None}


def readable_guild(client: discord.Client, data: object) -> dict[str, Any]:
    """Return a server with those roles, channels and threads of it that can be read.

    Of its members the bot alone is kept, which no other process is asked about here.

    Raises:
        UnreadableEvent: when not even its id can be read.
    """
    said = mapping(data)
    bare: dict[str, Any] = {"id": str(needed_id(said, "id")), "name": text(said.get("name"))}
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
            discord.Guild(data=alone, state=client._connection)
        except Exception:  # noqa: BLE001 - of whatever kind: the others are tried all the same
            continue
        yield element


def check_ready(data: object, me: int | None, hears: Callable[[object], bool]) -> None:
    """Raise UnreadableEvent where a session begins as another bot, or for another shard.

    Args:
        me: The bot's own id, known since the login; None: there was none.
        hears: Returns whether a shard is this process's.
    """
    said = mapping(data)
    if me is not None and snowflake(mapping(said.get("user")).get("id")) != me:
        raise UnreadableEvent("user")
    shard = said.get("shard")
    if not isinstance(shard, list) or not shard or not hears(shard[0]):
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
        "user": {**NOBODY, "id": str(me.id), "username": me.name, "bot": True},
        "guilds": [],
        "shard": list(shard),
        "session_id": text(said.get("session_id")) or None,
        "resume_gateway_url": text(said.get("resume_gateway_url")),
    }


AS_SENT = "messages_as_sent"
"""Where an interaction keeps the messages that discord.py would not read, for us to read."""


def readable_interaction(data: object) -> dict[str, Any]:
    """Return an interaction whose messages have their texts and no more than is looked at.

    discord.py reads all of a message also where a command asks for its text alone.

    Raises:
        ValueError: when no one could be answered: there is no token, or no id.
    """
    said = dict(mapping(data))
    if interaction_address(said) is None:
        raise ValueError("an interaction without a token or an id")
    said["locale"] = text(said.get("locale")) or _LOCALE
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
        "author": {**NOBODY, "id": str(snowflake(author.get("id")) or 0)},
        **dict.fromkeys(_MESSAGE_LISTS, ()),
        "type": kind if isinstance(kind, int) else 0,
        "content": text(message.get("content")),
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
        content = text(mapping(snapshot.get("message")).get("content"))
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
