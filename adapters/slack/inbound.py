"""Slack's events, commands and modals, as what was heard; decides nothing and sends nothing."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.access.location import Location
from adapters.context.message_parts import NO_PARTS, MessageParts, Whose
from adapters.intake.incoming_message import IncomingMessage
from adapters.slack.files_in_messages import files_of, files_shared
from adapters.slack.mrkdwn_parser import Json, mentioned, said_in
from adapters.slack.replies.address import COMMANDED, Response

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


def heard_message(
    event: Json, origin: Origin, *, beside: str | None = None
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


def is_spoken(message: Json) -> bool:
    """Return whether a person wrote a message, and not an app or Slack itself."""
    is_persons = bool(message.get("user")) and message.get("subtype") in _SPOKEN
    return is_persons and not _is_from_app(message)


def heard_command(
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
    spot: Spot, body: Json, text: str, *, quote: str | None = None, private: bool = False
) -> IncomingMessage:
    """Return what is asked by pressing a button or choosing from a menu.

    All its times are Slack's.

    Args:
        body: The interaction as Slack sent it.
        text: The question as plain text.
    """
    ts = pressed_at(body)
    key, response = trigger_key(body["trigger_id"]), response_of(body, moment_of(ts))
    incoming = heard_command(spot, key, text, quote=quote, private=private, response=response)
    return replace(incoming, position=position_of(ts), sent_at=moment_of(ts))


def pressed_at(body: Json) -> str:
    """Return when a button was pressed, as Slack writes it."""
    return str(body["actions"][0]["action_ts"])


def spot_of_command(body: Json) -> Spot:
    """Return where a slash command was given."""
    team = str(body.get("team_id") or body.get("enterprise_id"))
    return Spot(
        team=team,
        enterprise=body.get("enterprise_id") or None,
        channel=str(body["channel_id"]),
        user=str(body["user_id"]),
        direct=body.get("channel_name") == "directmessage",
    )


def spot_of_interaction(body: Json) -> Spot:
    """Return where a user clicked, or chose a shortcut; a view has no channel."""
    enterprise: Json = body.get("enterprise") or {}
    channel: Json = body.get("channel") or {}
    container: Json = body.get("container") or {}
    message: Json = body.get("message") or {}
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


def team_of(body: Json) -> str:
    """Return the workspace that an interaction came from."""
    team: Json = body.get("team") or {}
    user: Json = body.get("user") or {}
    enterprise: Json = body.get("enterprise") or {}
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


def _is_direct(event: Json) -> bool:
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def _is_from_app(event: Json) -> bool:
    return bool(event.get("bot_id")) or event.get("subtype") == "bot_message"


def _is_own(event: Json, origin: Origin) -> bool:
    return origin.bot is not None and event.get("bot_id") == origin.bot


def _is_guest(event: Json, origin: Origin) -> bool:
    """Return whether a user of another organisation wrote it, by Slack Connect.

    In a channel of one organisation, people of its other workspaces are no guests.
    """
    team = event.get("user_team") or event.get("source_team") or event.get("team")
    return origin.shared and team not in (None, origin.team, origin.enterprise)
