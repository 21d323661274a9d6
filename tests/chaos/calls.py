"""The calls that a run made of both platforms, each with the questions that it may be about."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from tests.chaos.ground import Ground
from tests.chaos.history import Asked, Sent
from tests.chaos.sentences import Said, said
from tests.chaos.shown import is_question, key_of
from tests.chaos.whispers import keys_of_whispers
from tests.wire import discord, slack
from tests.wire.discord.history import Call as DiscordCall
from tests.wire.discord.interactions import Callback
from tests.wire.slack.history import Call as SlackCall

_RESPONSE_URL = "response_url"
_DEFERRALS = (Callback.DEFERRED_MESSAGE, Callback.DEFERRED_UPDATE)


def calls_about(ground: Ground, asked: Sequence[Asked], requests: Mapping[UUID, str]) -> list[Sent]:
    """Return every call about a question, in the seconds of the monotonic clock.

    A call that a fault struck names no message: of one of Slack's it is known alone who was to
    read it and where, and of a `response_url` that a command was answered.

    Args:
        requests: The keys of all questions by their request ids.
    """
    there, here = ground.discord.world, ground.slack.world
    return [*_to_discord(there, asked, requests), *_to_slack(here, asked, requests)]


def _to_discord(
    world: discord.World, asked: Sequence[Asked], requests: Mapping[UUID, str]
) -> Iterator[Sent]:
    zero = time.monotonic() - world.clock.now()
    about = {one.spot.message: one.key for one in asked if one.platform == "discord"}
    whispered = keys_of_whispers(asked, ())
    for message in world.messages.values():
        if message.author is world.bot:
            key = whispered.get(message) or key_of(message, requests, asked)
            about |= {str(message.id): key} if key else {}
    deeds = {one.deed.token: one.key for one in asked if isinstance(one.deed, discord.Interaction)}
    about |= deeds
    about.pop("", None)
    for call in world.history.calls:
        if call.method == "GET":
            continue
        parts = call.path.split("/")
        posted = [str(call.response["id"])] if _has(call.response, "id") else []
        replied = [str(_in(call.body, "message_reference", "message_id"))]
        keys = frozenset(about[part] for part in (*parts, *posted, *replied) if part in about)
        if keys:
            yield _sent(call, keys, zero)


def _to_slack(
    world: slack.World, asked: Sequence[Asked], requests: Mapping[UUID, str]
) -> Iterator[Sent]:
    zero = time.monotonic() - world.clock.now()
    here = [one for one in asked if one.platform == "slack"]
    about = {one.spot.message: one.key for one in here if one.spot.message}
    ours = [message for message in world.messages if message.author is world.bot]
    whispered = keys_of_whispers(here, [message for message in ours if message.ephemeral])
    for message in ours:
        key = whispered.get(message) or key_of(message, requests, here)
        if key is None and is_question(message):
            key = str((message.metadata or {})["event_payload"]["key"])
        about |= {message.ts: key} if key else {}
    answered = [
        (message.at, one.key)
        for one in here
        if isinstance(one.deed, slack.Interaction)
        for message in one.deed.messages
    ]
    yield from _acknowledgements(here, zero)
    for call in world.history.calls:
        if call.method == _RESPONSE_URL:
            ended = call.at if call.ended is None else call.ended
            keys = frozenset(key for at, key in answered if call.at <= at <= ended)
            if not call.applied:
                keys = frozenset(one.key for one in here if one.deed is not None)
        elif call.method.startswith("chat."):
            named = [str(_in(call.arguments, "ts"))]
            named += [str(_in(call.response, name)) for name in ("ts", "message_ts")]
            keys = frozenset(about[ts] for ts in named if ts in about)
            is_to_presser = said(str(_in(call.arguments, "text"))) is Said.PASSED_ON
            if not keys and call.method == "chat.postEphemeral" and not is_to_presser:
                keys = frozenset(_readers_questions(call.arguments, here))
        else:
            continue
        if keys:
            yield _sent(call, keys, zero)


def _readers_questions(arguments: object, asked: Iterable[Asked]) -> Iterator[str]:
    """Yield what the reader of an ephemeral message asked in its channel."""
    spot = (_in(arguments, "user"), _in(arguments, "channel"))
    return (one.key for one in asked if (one.spot.user, one.spot.channel) == spot)


def _sent(call: DiscordCall | SlackCall, keys: frozenset[str], zero: float) -> Sent:
    ended = call.at if call.ended is None else call.ended
    is_in_doubt = call.fault is not None or call.status is None or call.status >= 500
    is_message = call.applied and not call.fault and not _only_defers(call)
    name = call.method if isinstance(call, SlackCall) else f"{call.method} {call.path}"
    return Sent(keys, zero + call.at, zero + ended, is_in_doubt, is_message, name)


def _only_defers(call: DiscordCall | SlackCall) -> bool:
    """Return whether a call tells Discord that a command arrived, and at most that it takes long.

    That is said before it is known whether a limit stops the question.
    """
    if isinstance(call, SlackCall) or not call.path.endswith("/callback"):
        return False
    is_slow = said(str(_in(call.body, "data", "content"))) is Said.SLOW
    return is_slow or _in(call.body, "type") in _DEFERRALS


def _acknowledgements(asked: Iterable[Asked], zero: float) -> Iterator[Sent]:
    """Yield the acknowledgements of Slack's commands that hold a message of what came of them."""
    for one in asked:
        deed = one.deed
        if not isinstance(deed, slack.Interaction) or said(str(deed.response)) is Said.SLOW:
            continue
        if deed.response and deed.acked_at is not None:
            at = zero + deed.acked_at
            yield Sent(frozenset({one.key}), at, at, is_message=True, name="acknowledgement")


def _has(body: object, name: str) -> bool:
    return isinstance(body, dict) and name in body


def _in(body: Any, *names: str) -> Any:
    """Return what stands at the end of so many names, None where nothing does."""
    for name in names:
        body = body.get(name) if isinstance(body, dict) else None
    return body
