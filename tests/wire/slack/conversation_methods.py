"""conversations.*, users.* and reactions.*: what a bot looks up, and where it goes."""

import base64
from typing import TypeVar

from tests.wire.slack.entities import Channel, ChannelKind, Message
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.payloads import channel_payload, user_payload, with_replies
from tests.wire.slack.requests import Method, Request, Table

T = TypeVar("T")
_NEXT, _NEXT_TS = b"next:", b"next_ts:"
_KINDS = {
    "public_channel": ChannelKind.PUBLIC,
    "private_channel": ChannelKind.PRIVATE,
    "im": ChannelKind.IM,
    "mpim": ChannelKind.MPIM,
}


def info(request: Request) -> Json:
    """conversations.info."""
    channel = request.known_channel()
    request.needs(f"{channel.kind.family}:read")
    return {"ok": True, "channel": channel_payload(channel, request.installation)}


def history(request: Request) -> Json:
    """conversations.history: newest first, without the replies of threads."""
    channel = _readable(request)
    shown = [m for m in channel.messages.values() if not m.is_reply or _broadcast(m)]
    return _page(request, [m for m in reversed(shown) if _in_range(request, m)], first=None)


def replies(request: Request) -> Json:
    """conversations.replies: the thread's first message, then its replies, oldest first."""
    channel = _readable(request)
    message = channel.messages.get(request.required("ts"))
    if message is None:
        raise SlackError("thread_not_found")
    if message.is_reply:
        return _page(request, [message], first=None)
    below = [m for m in request.world.replies_to(message) if _in_range(request, m)]
    return _page(request, below, first=message)


def members(request: Request) -> Json:
    """conversations.members."""
    channel = request.known_channel()
    request.needs(f"{channel.kind.family}:read")
    page, cursor = _cut(request, list(channel.members), default=100, most=1000)
    return {"ok": True, "members": page, "response_metadata": {"next_cursor": cursor}}


def join(request: Request) -> Json:
    """conversations.join."""
    channel = request.known_channel()
    if channel.kind is not ChannelKind.PUBLIC:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    request.world.enter(request.installation.bot, channel)
    return {"ok": True, "channel": channel_payload(channel, request.installation)}


def open_conversation(request: Request) -> Json:
    """conversations.open."""
    channel = request.joined_channel() if request.text("channel") else _with_people(request)
    if not request.flag("return_im"):
        return {"ok": True, "no_op": False, "channel": {"id": channel.id}}
    return {"ok": True, "channel": channel_payload(channel, request.installation)}


def user_info(request: Request) -> Json:
    """users.info."""
    user = request.world.find_user(request.required("user"), request.installation)
    shown = user_payload(user, request.installation)
    if request.flag("include_locale"):
        shown["locale"] = user.locale
    return {"ok": True, "user": shown}


def user_conversations(request: Request) -> Json:
    """users.conversations: those of the bot, or of a user as far as the bot sees them."""
    caller = request.installation
    names = request.text("types", "public_channel").split(",")
    if not all(name.strip() in _KINDS for name in names):
        raise SlackError("invalid_types")
    kinds = [_KINDS[name.strip()] for name in names]
    for kind in kinds:
        request.needs(f"{kind.family}:read")
    user = request.world.find_user(request.text("user", caller.bot.id), caller)
    found = [
        channel_payload(channel, caller)
        for channel in request.world.channels.values()
        if channel.kind in kinds
        and user.id in channel.members
        and request.world.reads(caller.bot, channel)
        and not (request.flag("exclude_archived") and channel.archived)
    ]
    page, cursor = _cut(request, found, default=100, most=999)
    return {"ok": True, "channels": page, "response_metadata": {"next_cursor": cursor}}


def add_reaction(request: Request) -> Json:
    """reactions.add."""
    message = _reacted_to(request)
    request.world.posting.react(request.installation.bot, message, request.required("name"))
    return {"ok": True}


def remove_reaction(request: Request) -> Json:
    """reactions.remove."""
    message = _reacted_to(request)
    request.world.posting.take_back(request.installation.bot, message, request.required("name"))
    return {"ok": True}


def _reacted_to(request: Request) -> Message:
    channel = request.joined_channel()
    if not request.required("name").replace("_", "").replace("-", "").replace("+", "").isalnum():
        raise SlackError("invalid_name")
    return request.message(channel, "timestamp")


def _with_people(request: Request) -> Channel:
    ids = [user.strip() for user in request.required("users").split(",")]
    caller = request.installation
    people = [request.world.find_user(user, caller) for user in ids]
    if not 1 <= len(people) <= 8:
        raise SlackError("too_many_users")
    if any(user.deleted for user in people):
        raise SlackError("user_disabled")
    if any(user.bot for user in people):
        raise SlackError("cannot_dm_bot")
    request.needs("im:write" if len(people) == 1 else "mpim:write")
    return request.world.direct_channel(*people, caller.bot)


def _readable(request: Request) -> Channel:
    channel = request.known_channel()
    request.needs(f"{channel.kind.family}:history")
    return request.joined_channel()


def _broadcast(message: Message) -> bool:
    return message.subtype == "thread_broadcast"


def _in_range(request: Request, message: Message) -> bool:
    oldest, latest = request.text("oldest", "0"), request.text("latest", "9999999999")
    ts, low, high = float(message.ts), float(oldest), float(latest)
    return low <= ts <= high if request.flag("inclusive") else low < ts < high


def _page(request: Request, found: list[Message], first: Message | None) -> Json:
    """Return a page; a thread's first message leads each page and counts to its limit.

    The cursor names the page's first message, so that messages which are posted or deleted
    between two pages do not shift them.
    """
    limits, app = request.world.limits, request.installation.app
    most = limits.distributed_page if app.distributed else 999
    wanted = max(_wanted(request, min(100, most), most) - (1 if first else 0), 1)
    start = _position(request.text("cursor"), _NEXT_TS)
    if start:
        older = first is None  # a channel is read backwards, a thread forwards
        found = [m for m in found if _micros(m) == start or (_micros(m) < start) == older]
    page, left = found[:wanted], found[wanted:]
    cursor = _cursor(_NEXT_TS, _micros(left[0])) if left else ""
    metadata = request.flag("include_all_metadata")
    shown = [first, *page] if first else page
    return {
        "ok": True,
        "messages": [
            request.world.odd_messages.get(m.ts, _as_it_is)(
                with_replies(request.world, m, metadata=metadata)
            )
            for m in shown
        ],
        "has_more": bool(cursor),
        "response_metadata": {"next_cursor": cursor},
    }


def _micros(message: Message) -> int:
    return int(message.ts.replace(".", ""))


def _cut(request: Request, found: list[T], default: int, most: int) -> tuple[list[T], str]:
    """Return a page and the cursor of the next one, empty for none."""
    start = _position(request.text("cursor"), _NEXT)
    end = start + _wanted(request, default, most)
    return found[start:end], _cursor(_NEXT, end) if end < len(found) else ""


def _wanted(request: Request, default: int, most: int) -> int:
    return max(min(request.number("limit", default) or default, most), 1)


def _cursor(kind: bytes, position: int) -> str:
    return base64.b64encode(kind + str(position).encode()).decode()


def _position(cursor: str, kind: bytes) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).removeprefix(kind))
    except ValueError:
        raise SlackError("invalid_cursor") from None


METHODS: Table = {
    "conversations.history": Method(history, json=False),
    "conversations.info": Method(info, json=False),
    "conversations.join": Method(join, "channels:join"),
    "conversations.members": Method(members, json=False),
    "conversations.open": Method(open_conversation),
    "conversations.replies": Method(replies, json=False),
    "reactions.add": Method(add_reaction, "reactions:write"),
    "reactions.remove": Method(remove_reaction, "reactions:write"),
    "users.conversations": Method(user_conversations, json=False),
    "users.info": Method(user_info, "users:read", json=False),
}


def _as_it_is(message: Json) -> Json:
    return message
