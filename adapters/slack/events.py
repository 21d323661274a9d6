"""Slack's events, each handed on in a few lines; acknowledged only when it is in the inbox."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.acceptor import Acceptor, Unreadable, place_of, without_text
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import TITLED, IncomingMessage
from adapters.slack.commands import Assistant, DirectConversation, Questions, channel_looked_at
from adapters.slack.home import Home
from adapters.slack.inbound import (
    PLATFORM,
    Origin,
    Spot,
    incoming_from_message,
    message_key,
    moment_of,
    position_of,
)
from adapters.slack.installations import Uninstalls
from adapters.slack.notices import OFFER
from adapters.slack.outbound import LOOKED_AT
from adapters.slack.sockets import HISTORY, NOT_YET, is_for_now
from adapters.slack.streaming import digest, title_of
from core.domain import now
from core.storage.inbox.base import Acceptance, DeletedEvent

logger = logging.getLogger(__name__)


FrozenJson = dict[str, Any]
Once = Callable[[Hashable, Hashable, Callable[[], Awaitable[None]]], Awaitable[BoltResponse | None]]
Aside = Callable[[Coroutine[Any, Any, None]], object]
OriginOf = Callable[[FrozenJson, AsyncBoltContext], Origin]
Stop = Callable[[Spot, str], Coroutine[Any, Any, None]]
"""Stops the answers below a message."""


class AgentEvents:
    """Greets, suggests, and shows the Home; every method may be called twice for the same event."""

    def __init__(
        self,
        *,
        assistant: Assistant,
        home: Home,
        stop: Stop,
        origin_of: OriginOf,
        once: Once,
        aside: Aside,
    ) -> None:
        """Prepare to hear.

        Args:
            once: Does what an event asks for, once.
            aside: Does what no one waits for.
        """
        self._assistant = assistant
        self._home = home
        self._stop = stop
        self._origin_of = origin_of
        self._once = once
        self._aside = aside

    def register(self, app: AsyncApp) -> None:
        """Have bolt call the right method for each event."""
        app.event("app_home_opened")(self._tab_opened)
        app.event("app_context_changed")(self._looks_elsewhere)
        app.event("agent_session_stopped")(self._stopped)

    async def _tab_opened(
        self, body: FrozenJson, context: AsyncBoltContext, client: AsyncWebClient
    ) -> BoltResponse | None:
        """Show a user their page, or begin their conversation."""
        event, origin = body["event"], self._origin_of(body, context)
        channel, user = str(event.get("channel", "")), str(event["user"])
        if event.get("tab") == "home":
            spot = Spot(origin.team, origin.enterprise, channel, user)
            self._aside(self._home.show(spot, client))
        if event.get("tab") != "messages" or "context" not in event:
            return None  # an app that is no agent has no conversations to begin
        spoken = DirectConversation(origin.team, channel, user)
        beside = channel_looked_at(event["context"], origin.team)
        name = (origin.team, channel, "tab", str(event.get("event_ts")))
        return await self._once(name, (origin.team, channel), self._opening(spoken, beside, client))

    async def _looks_elsewhere(
        self, body: FrozenJson, context: AsyncBoltContext, client: AsyncWebClient
    ) -> None:
        """Note what a user looks at now, and suggest what fits that; Slack may not say who."""
        event, origin = body["event"], self._origin_of(body, context)
        channel, user = event.get("channel"), event.get("user")
        if not channel or not user:
            return  # the next message tells it again
        spoken = DirectConversation(origin.team, str(channel), str(user))
        beside = channel_looked_at(event.get("context"), origin.team)
        await self._assistant.note(spoken, beside)
        self._aside(self._assistant.suggest(client, spoken, beside))

    async def _stopped(self, body: FrozenJson, context: AsyncBoltContext) -> None:
        """Stop what is written in a thread, whose stop button was pressed."""
        event, origin = body["event"], self._origin_of(body, context)
        thread, channel = event.get("thread_ts"), str(event["channel"])
        if thread:
            user, direct = str(event["user"]), channel.startswith("D")
            spot = Spot(origin.team, origin.enterprise, channel, user, str(thread), direct)
            self._aside(self._stop(spot, str(thread)))

    def _opening(
        self, spoken: DirectConversation, beside: str | None, client: AsyncWebClient
    ) -> Callable[[], Awaitable[None]]:
        async def begin(*, is_new: bool) -> None:
            if is_new:
                await self._assistant.greet(client, spoken, beside)
            await self._assistant.suggest(client, spoken, beside)

        async def opening() -> None:
            is_new = await self._assistant.note(spoken, beside)
            self._aside(begin(is_new=is_new))

        return opening


Json = dict[str, Any]
Accept = Callable[[], Awaitable[Received | None]]
Accepting = asyncio.Task[Received | None]

_PATIENCE = 2.0
"""Seconds that the database may take; Slack waits for three, then delivers again."""
_MOST_RECENT = 2_000
"""Events remembered as taken in: Slack tells of every mention twice, and more often at times."""
_CHANGES = frozenset({"message_changed", "message_deleted"})


class Events:
    """Accepts the events of the Events API; every method may be called twice for the same event."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        intake: Acceptor,
        unreadable: Unreadable,
        questions: Questions,
        assistant: Assistant,
        home: Home,
        uninstalls: Uninstalls,
        stop: Stop,
    ) -> None:
        """Put the parts together; `stop` does what Slack's own stop button says."""
        self._desk = desk
        self._intake = intake
        self._unreadable = unreadable
        self._questions = questions
        self._assistant = assistant
        self._home = home
        self._uninstalls = uninstalls
        self._stop = stop
        self._side = set[asyncio.Task[None]]()
        self._under_way = dict[Hashable, Accepting]()
        self._taken_in = dict[Hashable, None]()
        """In the order in which they were."""

    def register(self, app: AsyncApp) -> None:
        """Have bolt call the right method for each event."""
        app.middleware(self._changed)
        app.event("message")(self._message)
        app.event("app_mention")(self._message)
        AgentEvents(
            assistant=self._assistant,
            home=self._home,
            stop=self._stop,
            origin_of=_origin,
            once=self._once,
            aside=self._aside,
        ).register(app)
        app.event("reaction_added")(self._reacted)
        app.event("app_uninstalled")(self._uninstalled)
        app.event("tokens_revoked")(self._revoked)
        app.event(re.compile(".*"))(_passed_over)

    def end(self) -> None:
        """Take no failure for an event's own any more: the app is about to be closed."""
        self._unreadable.end()

    async def close(self) -> None:
        """Cancel what is under way outside of the inbox."""
        for task in self._side:
            task.cancel()

    # --- messages --------------------------------------------------------------------------

    async def _message(self, body: Json, context: AsyncBoltContext) -> BoltResponse | None:
        """Take a question in; others are passed over."""
        event, origin = body["event"], _origin(body, context)
        return await self._take_in(origin, event, lambda: self._receive(event, origin))

    async def _changed(
        self, body: Json, context: AsyncBoltContext, next: Callable[[], Awaitable[Any]]
    ) -> BoltResponse | None:
        """Have an edited question answered again, and a deleted one forgotten."""
        event: Json = body.get("event") or {}
        if event.get("type") != "message" or event.get("subtype") not in _CHANGES:
            await next()
            return None
        origin = _origin(body, context)
        response = await self._take_in(origin, event, lambda: self._change(event, origin))
        return response or BoltResponse(status=200)

    async def _reacted(self, body: Json, context: AsyncBoltContext) -> BoltResponse | None:
        """Have a question answered whose offer a user takes up."""
        event, origin = body["event"], _origin(body, context)
        item: Json = event.get("item") or {}
        channel, ts = item.get("channel"), item.get("ts")
        if event.get("reaction") != OFFER or not channel or not ts or event["user"] == origin.me:
            return None
        spot = Spot(origin.team, origin.enterprise, str(channel), str(event["user"]))
        key = message_key(origin.team, spot.channel, str(ts))
        place = (origin.team, spot.channel)
        return await self._once(
            (*place, ts, OFFER, spot.user), place, lambda: self._questions.take_up(key, spot)
        )

    async def _receive(self, event: Json, origin: Origin) -> Received | None:
        incoming = await self._incoming(event, origin)
        return None if incoming is None else await self._questions.receive(incoming)

    async def _incoming(self, event: Json, origin: Origin) -> IncomingMessage | None:
        """Return what a message says; a direct one next to the channel that its user looks at."""
        if not str(event["channel"]).startswith("D"):
            return incoming_from_message(event, origin)
        beside = await self._assistant.beside(event, origin.team)
        incoming = incoming_from_message(event, origin, beside=beside)
        if incoming is None or beside is None:
            return incoming
        spoken = DirectConversation(origin.team, incoming.channel, incoming.user)
        title = await self._assistant.course_looked_at(spoken, beside)
        return (
            replace(incoming, address={**incoming.address, LOOKED_AT: title}) if title else incoming
        )

    async def _change(self, event: Json, origin: Origin) -> Received | None:
        channel = str(event["channel"])
        message: Json = event.get("message") or {}
        if event["subtype"] == "message_deleted" or message.get("subtype") == "tombstone":
            ts = str(event.get("deleted_ts") or message["ts"])
            key = message_key(origin.team, channel, ts)
            unheard = DeletedEvent(key, PLATFORM, origin.team, sent_at=moment_of(ts))
            moment = position_of(str(event["ts"]))
            return await self._desk.deleted(unheard, position=moment)
        edited_at = (message.get("edited") or {}).get("ts")
        before = ((event.get("previous_message") or {}).get("edited") or {}).get("ts")
        if edited_at is None or edited_at == before:
            return None  # a preview that Slack added, or a new reply
        incoming = await self._incoming({**message, "channel": channel}, origin)
        if incoming is None:
            return None
        again = incoming.as_edit(str(edited_at), position_of(str(edited_at)))
        previous: Json = event.get("previous_message") or {}
        if previous and (asked := incoming_from_message({**previous, "channel": channel}, origin)):
            # A session is named anew only while it has the title that this question gave it.
            titled = digest(title_of(asked.text))
            again = replace(again, address={**again.address, TITLED: titled})
        return await self._questions.redo(again, original=incoming.key)

    async def _take_in(self, origin: Origin, event: Json, accept: Accept) -> BoltResponse | None:
        """Have the desk accept an event, after what was said before in the same channel."""
        place = (origin.team, event["channel"])
        return await self._once(_name(event, origin), place, accept)

    async def _once(self, name: Hashable, place: Hashable, accept: Accept) -> BoltResponse | None:
        """Do what an event asks for, once, after what came before of the same place.

        When that takes too long, it is not acknowledged, and Slack delivers it again; what is
        accepted meanwhile is known then.
        """
        if name in self._taken_in:
            return None
        accepting = self._under_way.get(name)
        if accepting is None:
            accepting = self._under_way[name] = self._intake.begin(place, accept)
            accepting.add_done_callback(partial(self._remember, name))
        await asyncio.wait({accepting}, timeout=_PATIENCE)
        if not accepting.done():
            return BoltResponse(status=NOT_YET)
        accepting.result()
        return None

    def _remember(self, name: Hashable, accepting: Accepting) -> None:
        """Keep that an event was taken in; one that failed is tried again when it comes again."""
        self._under_way.pop(name, None)
        if accepting.cancelled() or accepting.exception() is not None:
            return
        self._taken_in[name] = None
        if len(self._taken_in) > _MOST_RECENT:
            self._taken_in.pop(next(iter(self._taken_in)))

    # --- what was missed ---------------------------------------------------------------------

    async def missed(self, event: Json, origin: Origin, listening_since: datetime) -> bool:
        """Accept a message of the history, unless it was accepted when it was said.

        One that was, and was edited since, is answered again unless that has been done. Return
        whether it is done with, as also what can never be read; one that is on its way into the
        inbox may fail there, and is taken in after it.
        """
        channel, edited_at = str(event["channel"]), (event.get("edited") or {}).get("ts")
        if _name(event, origin) in self._taken_in and edited_at is None:
            return True

        async def accept() -> Received | None:
            incoming = await self._incoming(event, origin)
            if incoming is None:
                return None
            incoming = replace(incoming, listening_since=listening_since)
            received = await self._questions.receive(incoming)
            if edited_at is None or not _is_known(received):
                return received
            again = incoming.as_edit(str(edited_at), position_of(str(edited_at)))
            return await self._questions.redo(again, original=incoming.key)

        return await self._catch_up_on((origin.team, channel), str(event["ts"]), accept)

    async def deleted(self, channel: str, ts: str, origin: Origin) -> bool:
        """Forget the question of a deleted message; return whether that is done."""
        event = {
            "subtype": "message_deleted",
            "channel": channel,
            "deleted_ts": ts,
            "ts": f"{now().timestamp():.6f}",
        }
        place = (origin.team, channel)
        return await self._catch_up_on(place, ts, lambda: self._change(event, origin))

    async def _catch_up_on(self, place: Hashable, ts: str, accept: Accept) -> bool:
        """Return whether a message of the history was taken in, or never can be."""
        accepting = self._intake.begin(place, accept, missed=True)
        await asyncio.wait({accepting})
        if accepting.cancelled():
            return False
        failure = accepting.exception()
        if isinstance(failure, Exception) and is_for_now(failure):
            logger.error("a message that was missed cannot be taken in", exc_info=failure)
            return False
        if isinstance(failure, Exception):
            self._unreadable.note(HISTORY, ts, failure)
        return True

    # --- the app itself ----------------------------------------------------------------------

    async def _revoked(self, body: Json) -> BoltResponse | None:
        """Forget a workspace whose bot token is dead; tokens of people do not concern the bot."""
        if not (body["event"].get("tokens") or {}).get("bot"):
            return None
        return await self._uninstalled(body)

    async def _uninstalled(self, body: Json) -> BoltResponse | None:
        """Forget a workspace that took the app out."""
        team, enterprise = body.get("team_id"), body.get("enterprise_id")

        async def forget() -> None:
            await self._uninstalls.take(team, enterprise)

        return await self._once(body["event_id"], (team, enterprise), forget)

    def _aside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do what no one waits for, after the acknowledgement."""
        task = asyncio.create_task(work)
        self._side.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Report what is not awaited."""
        self._side.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            detail = without_text(error)
            logger.error("work aside failed, %s", place_of(error), exc_info=detail)


def _name(event: Json, origin: Origin) -> Hashable:
    """Return what an event has in common with itself, and with a mention's other event.

    A mention that an edit adds to a message is news.
    """
    edited_at = (event.get("edited") or {}).get("ts")
    return (origin.team, event["channel"], event["ts"], event.get("subtype"), edited_at)


def _is_known(received: Received | None) -> bool:
    return received is not None and received.accepted.acceptance is Acceptance.KNOWN


async def _passed_over(ack: AsyncAck) -> None:
    """Acknowledge an event that says nothing to us."""
    await ack()


def _origin(body: Json, context: AsyncBoltContext) -> Origin:
    authorized = context.authorize_result
    assert authorized is not None
    assert authorized.bot_user_id is not None
    # In a shared channel the body names the workspace of the author, the context ours.
    enterprise = context.enterprise_id or body.get("enterprise_id") or None
    return Origin(
        team=str(context.team_id or body.get("team_id") or enterprise),
        enterprise=enterprise,
        me=authorized.bot_user_id,
        bot=authorized.bot_id,
        shared=bool(body.get("is_ext_shared_channel")),
    )
