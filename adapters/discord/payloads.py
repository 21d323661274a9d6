"""A message as Discord sent it, read without discord.py, which refuses what it does not know.

What a question cannot be without is asked for; whatever else has an odd form is taken for absent.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.chat.acceptor import UnreadableEvent
from adapters.chat.base import Json, clean_text, mapping, mappings
from adapters.chat.question_context import NO_PARTS, MessageParts, Whose, parts_of
from adapters.discord.members import component_texts, poll_text, texts_of_embeds

_LARGEST_ID = 1 << 63
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)
_TOKEN = re.compile(r"[\w.-]{1,512}", re.ASCII)
_IS_VOICE_MESSAGE = 1 << 13
"""The flag of a recording."""
_FORWARD = 1
"""The type of a reference that is no reply."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user, bots included."""

    id: int
    bot: bool
    names: tuple[str, ...] = ()
    """What an author is called, as far as the message says."""


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message, as far as a question needs it."""

    id: int
    channel_id: int
    guild_id: int | None
    """None for a direct message."""
    kind: int
    author: Person
    by_webhook: bool
    content: str
    mentions: tuple[Person, ...]
    """Without those that are in the content alone, where the list can be read."""
    mention_roles: frozenset[int]
    mention_everyone: bool
    replied: "RawMessage | None"
    """The message that this one replies to, if it is there and can be read."""
    forwarded: tuple[str, ...]
    """What the forwarded messages say."""
    shown: tuple[str, ...]
    """What its components and embeds say, and its poll."""
    poll: str
    """What its poll says; empty without one."""
    parts: MessageParts
    """Its files, as of the message itself."""
    forwarded_parts: MessageParts
    """The files of the forwarded messages."""
    edited_at: datetime | None
    member: Json
    """The author as a member of the server; empty where that is not said."""


def read_message(data: object, guild_id: int | None = None) -> RawMessage:
    """Return a message of the gateway or of the history.

    Args:
        guild_id: The server, where the message does not say it itself.

    Raises:
        UnreadableEvent: when it is not said which message it is, where it stands, or who wrote it.
    """
    said = mapping(data)
    return RawMessage(
        id=needed_id(said, "id"),
        channel_id=needed_id(said, "channel_id"),
        guild_id=_guild_of(said, guild_id),
        kind=_number(said.get("type")),
        author=_author(said),
        by_webhook=said.get("webhook_id") is not None,
        content=clean_text(said.get("content")),
        mentions=tuple(_mentions(said)),
        mention_roles=frozenset(filter(None, map(snowflake, _listed(said.get("mention_roles"))))),
        mention_everyone=said.get("mention_everyone") is True,
        replied=_replied(said, guild_id),
        forwarded=tuple(text for text in map(_said_in, _snapshots(said)) if text),
        shown=tuple(_shown(said)),
        poll=poll_text(said.get("poll")),
        parts=_parts(said, Whose.QUESTION),
        forwarded_parts=sum(
            (_parts(one, Whose.TARGET) for one in _snapshots(said)), start=NO_PARTS
        ),
        edited_at=moment(said.get("edited_timestamp")),
        member=mapping(said.get("member")),
    )


def snowflake(value: object) -> int | None:
    """Return one of Discord's ids; None for what cannot be one."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    is_id = isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST_ID
    return value if is_id and isinstance(value, int) else None


def interaction_address(data: Mapping[str, object]) -> tuple[int, str] | None:
    """Return the id and the token that an interaction is answered with; None: it cannot be."""
    number, token = snowflake(data.get("id")), data.get("token")
    if number is None or not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return None
    return number, token


def needed_id(data: Mapping[str, object], name: str) -> int:
    """Return an id that an event cannot be read without; raises UnreadableEvent."""
    found = snowflake(data.get(name))
    if found is None:
        raise UnreadableEvent(name)
    return found


def moment(value: object) -> datetime | None:
    """Return a timestamp of Discord's; None for what cannot be one."""
    try:
        found = datetime.fromisoformat(clean_text(value))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _guild_of(said: Json, guild_id: int | None) -> int | None:
    """Return the server; what is of a server is never taken for a direct message."""
    if guild_id is not None:
        return guild_id
    if said.get("guild_id") is not None:
        return needed_id(said, "guild_id")
    if said.get("member") is not None:
        raise UnreadableEvent("guild_id")
    return None


def _author(said: Json) -> Person:
    author = mapping(said.get("author"))
    names = (clean_text(author.get(one)) for one in ("global_name", "username"))
    nick = clean_text(mapping(said.get("member")).get("nick"))
    called = tuple(filter(None, (nick, *names)))
    return Person(needed_id(author, "id"), author.get("bot") is True, called)


def _mentions(said: Json) -> Iterator[Person]:
    if not isinstance(said.get("mentions"), list):
        written = re.findall(r"<@!?([0-9]{1,20})>", clean_text(said.get("content")))
        yield from (Person(found, False) for found in filter(None, map(snowflake, written)))
        return
    for one in mappings(said["mentions"]):
        if (found := snowflake(one.get("id"))) is not None:
            yield Person(found, one.get("bot") is True)


def _replied(said: Json, guild_id: int | None) -> RawMessage | None:
    referenced = said.get("referenced_message")
    if referenced is None or mapping(said.get("message_reference")).get("type") == _FORWARD:
        return None
    inner = {**mapping(referenced), "referenced_message": None, "member": None}
    try:
        return read_message(inner, guild_id)
    except UnreadableEvent:
        return None


def _snapshots(said: Json) -> list[Json]:
    return [mapping(one.get("message")) for one in mappings(said.get("message_snapshots"))]


def _said_in(message: Json) -> str:
    """Return all that a forwarded message says."""
    return "\n".join(filter(None, [clean_text(message.get("content")).strip(), *_shown(message)]))


def _shown(message: Json) -> list[str]:
    """Return what a message says otherwise than by its content."""
    poll = poll_text(message.get("poll"))
    return [
        *component_texts(message.get("components")),
        *texts_of_embeds(message.get("embeds")),
        *([poll] if poll else ()),
    ]


def _parts(message: Json, whose: Whose) -> MessageParts:
    files = [
        (
            clean_text(one.get("url")),
            clean_text(one.get("filename")),
            clean_text(one.get("content_type")),
            _number(one.get("size")),
        )
        for one in mappings(message.get("attachments"))
    ]
    return parts_of(files, whose, voice=bool(_number(message.get("flags")) & _IS_VOICE_MESSAGE))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
