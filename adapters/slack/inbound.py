"""Slack's events, commands and modals, as what was heard; decides nothing and sends nothing."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.chat.acceptor import UnreadableEvent
from adapters.chat.access import Location
from adapters.chat.base import mapping, well_formed
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.question_context import CANVASES, NO_PARTS, MessageParts, Whose, parts_of
from adapters.slack.mrkdwn import Json as FrozenJson
from adapters.slack.mrkdwn import mentioned, said_in
from adapters.slack.outbound import COMMANDED, Response

_CANVAS_MODES = frozenset({"canvas", "docs", "quip"})


def files_of(message: FrozenJson, whose: Whose) -> MessageParts:
    """Return the files that a message carries."""
    files = [
        (
            _address(one),
            str(one.get("name") or ""),
            next(iter(CANVASES)) if _is_canvas(one) else str(one.get("mimetype") or ""),
            _size(one.get("size")),
        )
        for one in message.get("files") or ()
    ]
    voice = any(one.get("subtype") == "slack_audio" for one in message.get("files") or ())
    return parts_of(files, whose, voice=voice)


def files_shared(message: FrozenJson) -> MessageParts:
    """Return the files of the messages that a message shares."""
    shared = [a for a in message.get("attachments") or () if a.get("is_share")]
    parts = [files_of(one, Whose.TARGET) for one in shared]
    return sum(parts, start=NO_PARTS)


def _address(file: FrozenJson) -> str:
    names = ["url_private_download", "url_private"]
    if _is_canvas(file):
        names.reverse()  # a canvas is a page, of which the other address may make a download
    return str(next((file[name] for name in names if file.get(name)), ""))


def _is_canvas(file: FrozenJson) -> bool:
    """Return whether a file is a canvas, or a post as these were called before."""
    return file.get("mode") in _CANVAS_MODES or file.get("mimetype") in CANVASES


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


PLATFORM = "slack"
TOKEN_LIFE = timedelta(minutes=30)
"""How long a response_url answers."""

_MICROSECONDS = 1_000_000
_SPOKEN = frozenset({None, "file_share", "me_message", "thread_broadcast"})
"""The subtypes of messages that a person writes."""
_FROM_APPS = frozenset({None, "bot_message", "thread_broadcast"})


@dataclass(frozen=True, slots=True)
class Origin:
    """The installation that an event was sent to, and who the bot is there."""

    team: str
    enterprise: str | None
    me: str
    bot: str | None = None
    """The id that the bot's own messages carry besides its user id."""
    shared: bool = False
    """Whether the channel belongs to another organisation as well."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a command, a shortcut or a click happened, and who was there."""

    team: str
    enterprise: str | None
    channel: str
    user: str
    thread: str | None = None
    direct: bool = False
    outsider: bool = False
    """Whether it was a user of another organisation."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where rules may be set for, narrowest first."""
        return tuple(place for place in (self.channel, self.team) if place)

    @property
    def location(self) -> Location:
        """Where it happened, and who was there."""
        return Location(PLATFORM, self.team, self.places, self.user)

    def address(self, **more: Any) -> dict[str, Any]:
        """Return what `Arrival.address` holds; unless said otherwise, of what is no message."""
        return {
            "channel": self.channel,
            "thread": self.thread,
            "message": None,
            "asker": self.user,
            "team": self.team,
            "enterprise": self.enterprise,
            "ephemeral": False,
            "dm": self.direct,
            "post_question": False,
            **more,
        }


def incoming_from_message(
    event: FrozenJson, origin: Origin, *, beside: str | None = None
) -> IncomingMessage | None:
    """Return what a message says; None for what cannot be a question.

    That is what the bot itself, and Slack, say. A thread below one's own direct message goes
    on with the direct conversation; one below a message of the bot's is a conversation of its own.

    Args:
        event: A `message` or an `app_mention`; both make the same of the same message.
        beside: The channel that the asker looks at, when the message was written to the bot;
            its rules hold.
    """
    author = event.get("user") or event.get("bot_id")
    from_app = _is_from_app(event)
    ours = origin.me in (author, event.get("user")) or _is_own(event, origin)
    if not author or ours or event.get("subtype") not in (_FROM_APPS if from_app else _SPOKEN):
        return None
    channel, ts = str(event["channel"]), str(event["ts"])
    thread = event.get("thread_ts") if event.get("thread_ts") != ts else None
    direct = _is_direct(event)
    spot = Spot(origin.team, origin.enterprise, channel, str(author), thread, direct)
    said = said_in(event, origin.me)
    everybody = mentioned(str(event.get("text") or ""))
    if from_app and origin.me not in everybody:
        return None  # two apps that answer each other never end
    return IncomingMessage(
        key=message_key(origin.team, channel, ts),
        platform=PLATFORM,
        workspace=origin.team,
        channel=channel,
        places=tuple(place for place in (beside, channel, origin.team) if place),
        position=position_of(ts),
        user=str(author),
        text=said.text,
        address=spot.address(message=ts),
        message=ts,
        thread=None if direct and event.get("parent_user_id") == author else thread,
        quote=said.quote,
        parts=files_of(event, Whose.QUESTION) + files_shared(event),
        addressed=origin.me in everybody,
        to_others=bool(everybody - {origin.me, author}),
        others=frozenset(one for one in everybody - {origin.me, author} if one[:1] in "UW"),
        direct=direct,
        begins=thread is None and not direct and bool(said.text),
        outsider=from_app or _is_guest(event, origin),
        sent_at=moment_of(ts),
    )


def is_spoken(message: FrozenJson) -> bool:
    """Return whether a person wrote a message, and not an app or Slack itself."""
    is_persons = bool(message.get("user")) and message.get("subtype") in _SPOKEN
    return is_persons and not _is_from_app(message)


def incoming_from_command(
    spot: Spot,
    key: str,
    text: str,
    *,
    quote: str | None = None,
    parts: MessageParts = NO_PARTS,
    explains: str | None = None,
    private: bool = False,
    response: Response | None = None,
    commanded: bool = False,
) -> IncomingMessage:
    """Return what is asked by a command or a modal, whose time Slack does not say.

    A private question is a conversation of its own, also where it was asked in a thread.

    Args:
        text: The question as plain text.
        parts: The files of the message that it is about.
        explains: The id of that message, as of what the bot posted.
        response: The way to answer; its end is of this machine's clock.
        commanded: Whether a slash command asks.
    """
    posts_question = not private and spot.thread is None and not spot.direct
    address = spot.address(ephemeral=private, post_question=posts_question)
    return IncomingMessage(
        key=key,
        platform=PLATFORM,
        workspace=spot.team,
        channel=spot.channel,
        places=spot.places,
        position=time.time_ns() // 1_000,
        user=spot.user,
        text=text,
        address={**address, COMMANDED: True} if commanded else address,
        thread=None if private else spot.thread,
        quote=quote,
        parts=parts,
        explains=explains,
        addressed=True,
        direct=spot.direct,
        private=private,
        outsider=spot.outsider,
        token=response.url if response else None,
        token_expires_at=response.expires_at if response else None,
    )


def heard_press(
    spot: Spot, body: FrozenJson, text: str, *, quote: str | None = None, private: bool = False
) -> IncomingMessage:
    """Return what is asked by pressing a button or choosing from a menu.

    All its times are Slack's.

    Args:
        body: The interaction as Slack sent it.
        text: The question as plain text.
    """
    ts = pressed_at(body)
    key, response = trigger_key(body["trigger_id"]), response_of(body, moment_of(ts))
    incoming = incoming_from_command(
        spot, key, text, quote=quote, private=private, response=response
    )
    return replace(incoming, position=position_of(ts), sent_at=moment_of(ts))


def pressed_at(body: FrozenJson) -> str:
    """Return when a button was pressed, as Slack writes it."""
    return str(body["actions"][0]["action_ts"])


def spot_of_command(body: FrozenJson) -> Spot:
    """Return where a slash command was given."""
    team = str(body.get("team_id") or body.get("enterprise_id"))
    return Spot(
        team=team,
        enterprise=body.get("enterprise_id") or None,
        channel=str(body["channel_id"]),
        user=str(body["user_id"]),
        direct=body.get("channel_name") == "directmessage",
    )


def spot_of_interaction(body: FrozenJson) -> Spot:
    """Return where a user clicked, or chose a shortcut; a view has no channel."""
    enterprise: FrozenJson = body.get("enterprise") or {}
    channel: FrozenJson = body.get("channel") or {}
    container: FrozenJson = body.get("container") or {}
    message: FrozenJson = body.get("message") or {}
    thread = message.get("thread_ts") or container.get("thread_ts")
    channel_id = str(channel.get("id") or container.get("channel_id") or "")
    return Spot(
        team=team_of(body),
        enterprise=enterprise.get("id"),
        channel=channel_id,
        user=str(body["user"]["id"]),
        thread=str(thread) if thread else None,
        direct=channel_id.startswith("D"),
    )


def team_of(body: FrozenJson) -> str:
    """Return the workspace that an interaction came from."""
    team: FrozenJson = body.get("team") or {}
    user: FrozenJson = body.get("user") or {}
    enterprise: FrozenJson = body.get("enterprise") or {}
    return str(team.get("id") or user.get("team_id") or enterprise.get("id"))


def response_of(body: Mapping[str, Any], asked_at: datetime) -> Response | None:
    """Return the way to answer that came with a command or an interaction.

    Args:
        asked_at: When it was given; the end is of the same clock.
    """
    url = body.get("response_url")
    return Response(str(url), asked_at + TOKEN_LIFE) if url else None


def message_key(team: str, channel: str, ts: str) -> str:
    """Return the inbox key of a message: the same, however often and as what it comes."""
    return f"slack:{team}:{channel}:{ts}"


def trigger_key(trigger: str) -> str:
    """Return the inbox key of what a user did with the app."""
    return f"slack:t:{trigger}"


def position_of(ts: str) -> int:
    """Return a message's place in Slack's order: its time in microseconds."""
    seconds, _, fraction = ts.partition(".")
    return int(seconds) * _MICROSECONDS + int(f"{fraction:0<6}"[:6])


def moment_of(ts: str) -> datetime:
    """Return the time of a message."""
    return datetime.fromtimestamp(position_of(ts) / _MICROSECONDS, UTC)


def _is_direct(event: FrozenJson) -> bool:
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def _is_from_app(event: FrozenJson) -> bool:
    return bool(event.get("bot_id")) or event.get("subtype") == "bot_message"


def _is_own(event: FrozenJson, origin: Origin) -> bool:
    return origin.bot is not None and event.get("bot_id") == origin.bot


def _is_guest(event: FrozenJson, origin: Origin) -> bool:
    """Return whether a user of another organisation wrote it, by Slack Connect.

    In a channel of one organisation, people of its other workspaces are no guests.
    """
    team = event.get("user_team") or event.get("source_team") or event.get("team")
    return origin.shared and team not in (None, origin.team, origin.enterprise)


Json = dict[str, Any]
Reader = Callable[[object], Any]
"""Returns a value as it may be read; None: it is taken for absent."""

_TS = re.compile(r"[0-9]{1,11}(?:\.[0-9]{1,6})?", re.ASCII)
_MOST = 10_000
"""Elements of a list that are read."""


def _text(value: object) -> str | None:
    return well_formed(value) if isinstance(value, str) else None


def _ts(value: object) -> str | None:
    return value if isinstance(value, str) and _TS.fullmatch(value) else None


def _flag(value: object) -> object:
    return value if isinstance(value, bool | str) else None


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST
    return value if is_count and isinstance(value, int) else None


def _an_object(shape: Mapping[str, Reader]) -> Reader:
    """Return a reader of objects; fields that the shape does not name are left as they are."""

    def read(value: object) -> Json | None:
        if not isinstance(value, Mapping):
            return None
        said = {str(name): one for name, one in value.items()}
        readable = {n: shape[n](one) if n in shape else one for n, one in said.items()}
        return {name: one for name, one in readable.items() if one is not None}

    return read


def _list_of(element: Reader) -> Reader:
    def read(value: object) -> list[Any] | None:
        if not isinstance(value, list):
            return None
        return [one for one in map(element, value[:_MOST]) if one is not None]

    return read


def _named(value: object) -> Any:
    """Return a user, team or channel: its id alone, or an object that has one."""
    return value if isinstance(value, str) else _IDENTIFIED(value)


_TEXTS = dict.fromkeys(
    (
        *("type", "subtype", "text", "user", "user_id", "user_team", "source_team", "bot_id"),
        *("channel_type", "parent_user_id", "channel_id", "team_id", "enterprise_id", "tab"),
        *("trigger_id", "response_url", "callback_id", "action_id", "block_id", "value"),
        *("private_metadata", "fallback", "url", "name", "range", "from_url", "original_url"),
        *("style", "usergroup_id", "event_id", "api_app_id", "hash", "root_view_id"),
        *("context_team_id", "context_enterprise_id", "app_installed_team_id", "challenge"),
    ),
    _text,
)
_TIMES = dict.fromkeys(
    ("ts", "thread_ts", "event_ts", "deleted_ts", "action_ts", "message_ts", "latest_reply"), _ts
)
_IDENTIFIED = _an_object({"id": _text, "team_id": _text, "enterprise_id": _text, "name": _text})
_PART = _an_object(
    {n: r for n, r in _TEXTS.items() if n not in ("text", "style")} | {"text": _text}
)
"""An element of rich text, whose style is an object."""
_PARTS = _list_of(_PART)
_ITEM = _an_object({"type": _text, "elements": _PARTS})
_MARKED_UP = {"type": _text, "indent": _count, "offset": _count, "style": _flag}


def _element(value: object) -> Any:
    """Return an element of a rich text: a section, a quote, code or a list of sections."""
    is_list = mapping(value).get("type") == "rich_text_list"
    return _an_object({**_MARKED_UP, "elements": _list_of(_ITEM) if is_list else _PARTS})(value)


def _shown_text(value: object) -> Any:
    """Return a text object, or the plain text of a block of Markdown."""
    return value if isinstance(value, str) else _an_object({"text": _text})(value)


def _number_or_text(value: object) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else _text(value)


def _block(value: object) -> Any:
    """Return a block, or the cell of a table that is one, or holds a text alone."""
    is_rich = mapping(value).get("type") == "rich_text"
    shape = {"type": _text, "block_id": _text, "text": _shown_text}
    if is_rich:
        return _an_object({**shape, "elements": _list_of(_element)})(value)
    shown = dict.fromkeys(("title", "subtitle", "body", "description"), _shown_text)
    small = _an_object({"type": _text, "text": _shown_text})
    lists = {"fields": _list_of(_shown_text), "elements": _list_of(small)}
    rows = _list_of(_list_of(_block))
    return _an_object({**shape, **shown, **lists, "rows": rows, "value": _number_or_text})(value)


_BLOCKS = _list_of(_block)
_FILE = _an_object(
    {
        **_TEXTS,
        "mimetype": _text,
        "filetype": _text,
        "url_private": _text,
        "url_private_download": _text,
    }
)
_EMBED = {
    **_TEXTS,
    "title": _text,
    "pretext": _text,
    "blocks": _BLOCKS,
    "fields": _list_of(_an_object({"title": _text, "value": _text})),
}
_EMBEDS = _list_of(_an_object(_EMBED))
_UNFURLED = _an_object({"message": _an_object({"blocks": _BLOCKS, "attachments": _EMBEDS})})
_ATTACHMENT = _an_object(
    {
        **_EMBED,
        "attachments": _EMBEDS,
        "is_msg_unfurl": _flag,
        "is_share": _flag,
        "message_blocks": _list_of(_UNFURLED),
        "files": _list_of(_FILE),
    }
)
_EDIT = _an_object({"ts": _ts, "user": _text})
_MESSAGE_SHAPE = {
    **_TEXTS,
    **_TIMES,
    "channel": _text,
    "team": _text,
    "edited": _EDIT,
    "blocks": _BLOCKS,
    "attachments": _list_of(_ATTACHMENT),
    "files": _list_of(_FILE),
}
_MESSAGE = _an_object(_MESSAGE_SHAPE)
_EVENT = _an_object(
    {
        **_MESSAGE_SHAPE,
        "message": _MESSAGE,
        "previous_message": _MESSAGE,
        "item": _an_object({"type": _text, "channel": _text, "ts": _ts}),
        "reaction": _text,
        "item_user": _text,
        "tokens": _an_object({"bot": _list_of(_text), "oauth": _list_of(_text)}),
        "inputs": _an_object({}),
    }
)
_AUTHORIZATION = _an_object({"team_id": _text, "enterprise_id": _text, "user_id": _text})
_CHOSEN = _an_object({"value": _text})
_INPUT = _an_object({"value": _text, "selected_option": _CHOSEN})


def _state(value: object) -> Json:
    """Return what was typed into a view, of the inputs that can be read."""
    blocks = mapping(mapping(value).get("values"))
    return {
        "values": {
            str(block): {str(n): one for n, v in inputs.items() if (one := _INPUT(v)) is not None}
            for block, inputs in blocks.items()
            if isinstance(inputs, Mapping)
        }
    }


_VIEW = _an_object(
    {**_TEXTS, "id": _text, "blocks": _BLOCKS, "state": _state, "team": _named, "title": _block}
)
_CONTAINER = _an_object({**_TEXTS, **_TIMES, "is_ephemeral": _flag})
_BODY = _an_object(
    {
        **_TEXTS,
        **_TIMES,
        "event": _EVENT,
        "authorizations": _list_of(_AUTHORIZATION),
        "is_ext_shared_channel": _flag,
        "is_enterprise_install": _flag,
        "enterprise": _named,
        "team": _named,
        "user": _named,
        "channel": _named,
        "container": _CONTAINER,
        "message": _MESSAGE,
        "view": _VIEW,
        "actions": _list_of(_an_object({**_TEXTS, **_TIMES})),
        "response_urls": _list_of(_an_object({"response_url": _text})),
        "command": _text,
        "channel_name": _text,
        "ssl_check": _text,
        "function_data": _an_object({"execution_id": _text, "inputs": _an_object({})}),
        "function_execution_id": _text,
        "bot_access_token": _text,
    }
)


def readable_body(payload: object) -> Json:
    """Return what an envelope or a request holds.

    Raises:
        UnreadableEvent: when it is no object.
    """
    body: Json | None = _BODY(payload)
    if body is None:
        raise UnreadableEvent("payload")
    return body


def readable_message(payload: object) -> Json:
    """Return a message of the history.

    Raises:
        UnreadableEvent: when it does not say when it was written, by which it is known.
    """
    message: Json | None = _MESSAGE(payload)
    if message is None or "ts" not in message:
        raise UnreadableEvent("ts")
    return message


def kind_of(body: Mapping[str, Any]) -> str:
    """Return the type of what happened, as Slack names it."""
    event = mapping(body.get("event"))
    kind = event.get("type") or ("slash_command" if body.get("command") else body.get("type"))
    return kind if isinstance(kind, str) else ""


def id_of(body: Mapping[str, Any]) -> object:
    """Return what an event, or something that a user did, is known by."""
    event = mapping(body.get("event"))
    found = body.get("event_id"), event.get("ts"), body.get("trigger_id")
    return next((one for one in found if isinstance(one, str)), None)
