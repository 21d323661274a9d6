"""Whom a message pings, and which addresses Discord would fetch for it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.wire.discord.component_checks import GALLERY, THUMBNAIL, walk
from tests.wire.discord.entities import Channel, Message, MessageFlag, User
from tests.wire.discord.errors import Json
from tests.wire.discord.permissions import Permission, in_channel

_CODE = re.compile(r"(`{3,})(?:.|\n)*?\1|(`+)(?!`)(?:.|\n)*?(?<!`)\2(?!`)")
_USER = re.compile(r"<@!?(\d{15,21})>")
_ROLE = re.compile(r"<@&(\d{15,21})>")
_URL = re.compile(r"(?<!<)https?://[^\s<>]+|<https?://[^\s<>]+(?!>|[^\s<>])", re.IGNORECASE)
REGULAR = {"parse": ["users", "roles", "everyone"], "replied_user": True}
INTERACTION = {"parse": ["users"], "replied_user": True}
"""What is allowed when a body does not say: for messages, and for interactions' answers."""


@dataclass
class Pinged:
    """What a text mentions, as far as it is allowed and possible."""

    users: dict[int, str] = field(default_factory=dict)
    """Causes by the id of the user that is notified."""
    mentioned: list[User] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    everyone: bool = False


def pinged(message: Message, users: dict[int, User], allowed: Json | None) -> Pinged:
    """Work out whom a message reaches under the given allowances."""
    if allowed is None:
        allowed = INTERACTION if message.interaction else REGULAR
    text = without_code(message.text)
    found = Pinged()
    may = in_channel(message.channel, message.author.id)
    for user_id in dict.fromkeys(map(int, _USER.findall(text))):
        if user_id in users and _allows(allowed, "users", user_id):
            found.mentioned.append(users[user_id])
            found.users[user_id] = "user"
    if message.replied is not None and allowed.get("replied_user", False):
        _add_reply(message, found)
    if message.channel.guild is not None:
        _add_roles(message.channel, text, allowed, may, found)
        _add_everyone(message.channel, text, allowed, may, found)
    found.users = {u: cause for u, cause in found.users.items() if _reaches(message, u)}
    return found


def previewed(message: Message) -> list[str]:
    """Return the URLs that Discord's servers would ask for."""
    links = [] if message.flags & MessageFlag.SUPPRESS_EMBEDS else _links(message.content)
    shown = [] if message.flags & MessageFlag.SUPPRESS_EMBEDS else list(_embed_media(message))
    components = list(_component_media(message.components))
    return [url for url in dict.fromkeys([*links, *shown, *components]) if url.startswith("http")]


def without_code(text: str) -> str:
    """Return a text with its code blocks and spans blanked."""
    return _CODE.sub(" ", text)


def _links(content: str) -> list[str]:
    found = _URL.findall(without_code(content))
    return [url.lstrip("<").rstrip(".,;:!?)'\"]") for url in found]


def _embed_media(message: Message) -> Iterator[str]:
    for embed in message.embeds:
        for key in ("image", "thumbnail"):
            yield str((embed.get(key) or {}).get("url", ""))
        for key in ("author", "footer"):
            yield str((embed.get(key) or {}).get("icon_url", ""))


def _component_media(components: list[Json]) -> Iterator[str]:
    for component in walk(components):
        if component.get("type") == THUMBNAIL:
            yield str((component.get("media") or {}).get("url", ""))
        if component.get("type") == GALLERY:
            for item in component.get("items") or []:
                yield str((item.get("media") or {}).get("url", ""))


def _allows(allowed: Json, kind: str, entity: int) -> bool:
    listed = {int(listed) for listed in allowed.get(kind) or []}
    return kind in (allowed.get("parse") or []) or entity in listed


def _add_reply(message: Message, found: Pinged) -> None:
    assert message.replied is not None
    author = message.replied.author
    if author not in found.mentioned:
        found.mentioned.append(author)
    found.users.setdefault(author.id, "reply")


def _add_roles(channel: Channel, text: str, allowed: Json, may: Permission, found: Pinged) -> None:
    assert channel.guild is not None
    for role_id in dict.fromkeys(map(int, _ROLE.findall(text))):
        role = channel.guild.roles.get(role_id)
        if role is None or not _allows(allowed, "roles", role_id):
            continue
        found.roles.append(role_id)
        if role.mentionable or may & Permission.MENTION_EVERYONE:
            for member in channel.guild.members.values():
                if role_id in member.roles:
                    found.users.setdefault(member.user.id, "role")


def _add_everyone(
    channel: Channel, text: str, allowed: Json, may: Permission, found: Pinged
) -> None:
    assert channel.guild is not None
    word = re.search(r"@(everyone|here)\b", text)
    permitted = may & Permission.MENTION_EVERYONE and "everyone" in (allowed.get("parse") or [])
    if word and permitted:
        found.everyone = True
        for user_id in channel.guild.members:
            found.users.setdefault(user_id, word[1])


def _reaches(message: Message, user_id: int) -> bool:
    if user_id == message.author.id:
        return False
    if message.ephemeral:
        return user_id == message.visible_to
    return bool(in_channel(message.channel, user_id) & Permission.VIEW_CHANNEL)
