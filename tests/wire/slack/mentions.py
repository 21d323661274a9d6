"""Whom a message pings, and which addresses Slack would fetch for it.

Read strictly: what the text says counts even when blocks are shown instead of it, for the
text is what notifications are made of.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.wire.slack.entities import ChannelKind, Message, User
from tests.wire.slack.errors import Json
from tests.wire.slack.state import State

_ENTITY = re.compile(r"<([@!])([^<>|\s]+)(?:\|[^<>]*)?>")
_LINK = re.compile(r"<(https?://[^<>|\s]+)(?:\|[^<>]*)?>", re.IGNORECASE)
_BARE = re.compile(r"(?<![<\w])https?://[^\s<>|)\]\"'`]+", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"\]\(\s*<?([a-z]+://[^\s)>]+)", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w<!])@([\w.-]+)")
_BROADCASTS = ("here", "channel", "everyone")


@dataclass(frozen=True)
class Mention:
    """One mention: `kind` is user, subteam or the word of a broadcast."""

    kind: str
    id: str = ""


def mentions(message: Message, *, names: bool) -> list[Mention]:
    """Return what a message names; `names`: whether plain `@name` counts (link_names, parse)."""
    texts = [message.text, *_mrkdwn(message.blocks)]
    texts += [text for a in message.attachments if not a.get("is_share") for text in _legacy(a)]
    found = [m for text in texts for m in _entities(text)]
    found += _rich(message.blocks)
    if names:
        found += [m for text in texts for m in _plain(text, message)]
    return list(dict.fromkeys(found))


def pinged(message: Message, state: State, *, names: bool) -> dict[str, str]:
    """Return the causes of notification by the id of the user who gets one."""
    causes: dict[str, str] = {}
    for mention in mentions(message, names=names):
        for user_id in _reached(mention, message, state):
            causes.setdefault(user_id, mention.kind)
    return {user: cause for user, cause in causes.items() if _gets(state, user, message)}


def previewed(message: Message) -> list[str]:
    """Return the URLs that Slack's servers would ask for."""
    found = list(_images(message.blocks)) + [
        str(attachment[key])
        for attachment in message.attachments
        for key in ("image_url", "thumb_url", "author_icon", "footer_icon")
        if attachment.get(key)
    ]
    if message.unfurls:
        texts = [message.text, *_mrkdwn(message.blocks)]
        found += [url for text in texts for url in _links(text)]
        found += list(_rich_links(message.blocks))
    return list(dict.fromkeys(found))


def _entities(text: str) -> Iterator[Mention]:
    for sign, inner in _ENTITY.findall(text):
        if sign == "@":
            yield Mention("subteam" if inner.startswith("S") else "user", inner)
        elif inner.startswith("subteam^"):
            yield Mention("subteam", inner.removeprefix("subteam^"))
        elif inner in (*_BROADCASTS, "group"):
            yield Mention("channel" if inner == "group" else inner)


def _plain(text: str, message: Message) -> Iterator[Mention]:
    people = {u.name: u for w in message.channel.workspaces for u in _members(message, w.id)}
    for name in _NAME.findall(text):
        if name in _BROADCASTS:
            yield Mention(name)
        elif name.rstrip(".") in people:
            yield Mention("user", people[name.rstrip(".")].id)


def _members(message: Message, workspace_id: str) -> list[User]:
    return [u for u in message.channel.members.values() if u.workspace.id == workspace_id]


def _mrkdwn(node: object) -> list[str]:
    """Return the texts of blocks in which entities and links are understood.

    Those of Markdown are among them as a whole, code included: nothing says that Slack finds no
    entity in it. What rich text says is literal.
    """
    if isinstance(node, list):
        return [text for item in node for text in _mrkdwn(item)]
    if not isinstance(node, dict) or node.get("type") in ("rich_text", "plain_text"):
        return []
    own = [node["text"]] if isinstance(node.get("text"), str) else []
    return own + [text for item in node.values() for text in _mrkdwn(item)]


def _legacy(attachment: Json) -> list[str]:
    texts = [str(attachment.get(key) or "") for key in ("pretext", "text", "fallback", "title")]
    texts += [str(field.get("value", "")) for field in attachment.get("fields") or []]
    return texts + _mrkdwn(attachment.get("blocks") or [])


def _walk(node: object) -> Iterator[Json]:
    if isinstance(node, list):
        for item in node:
            yield from _walk(item)
    elif isinstance(node, dict):
        yield node
        for item in node.values():
            yield from _walk(item)


def _rich(blocks: list[Json]) -> list[Mention]:
    found = []
    for node in _walk(blocks):
        match node.get("type"):
            case "user" if "user_id" in node:
                found.append(Mention("user", str(node["user_id"])))
            case "usergroup":
                found.append(Mention("subteam", str(node.get("usergroup_id"))))
            case "broadcast":
                found.append(Mention(str(node.get("range"))))
    return found


def _rich_links(blocks: list[Json]) -> Iterator[str]:
    for node in _walk(blocks):
        if node.get("type") == "link":
            yield str(node.get("url", ""))


def _links(text: str) -> list[str]:
    found = [html.unescape(url) for url in _LINK.findall(text)]
    found += [url for url in _MARKDOWN_LINK.findall(text) if url.lower().startswith("http")]
    return found + [html.unescape(url).rstrip(".,;:!?*_~") for url in _BARE.findall(text)]


def _images(blocks: list[Json]) -> Iterator[str]:
    for node in _walk(blocks):
        if node.get("type") == "image" and node.get("image_url"):
            yield str(node["image_url"])


def _reached(mention: Mention, message: Message, state: State) -> list[str]:
    channel = message.channel
    match mention.kind:
        case "user":
            return [mention.id]
        case "subteam":
            groups = [g for w in channel.workspaces for g in w.subteams.values()]
            return [user for g in groups if g.id == mention.id for user in g.members]
        case "everyone" if channel.kind is ChannelKind.PUBLIC and not channel.general:
            general = [c for c in state.channels.values() if c.general]
            shared = [c for c in general if c.workspaces[0] in channel.workspaces]
            return [*channel.members, *(user for c in shared for user in c.members)]
        case _:
            return list(channel.members)


def _gets(state: State, user_id: str, message: Message) -> bool:
    user = state.users.get(user_id)
    if user is None or user.bot or user.deleted or user is message.author:
        return False
    return state.sees(user, message)
