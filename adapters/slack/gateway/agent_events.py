"""Events of the app's tabs and of the sessions that Slack shows: stopped, or renamed."""

from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.commands.app_context import channel_looked_at
from adapters.slack.commands.assistant import Assistant, Spoken
from adapters.slack.commands.home import Home
from adapters.slack.inbound import Origin, Spot

Json = dict[str, Any]
Once = Callable[[Hashable, Hashable, Callable[[], Awaitable[None]]], Awaitable[BoltResponse | None]]
Aside = Callable[[Coroutine[Any, Any, None]], object]
OriginOf = Callable[[Json, AsyncBoltContext], Origin]
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
        self, body: Json, context: AsyncBoltContext, client: AsyncWebClient
    ) -> BoltResponse | None:
        """Show a user their page, or begin their conversation."""
        event, origin = body["event"], self._origin_of(body, context)
        channel, user = str(event.get("channel", "")), str(event["user"])
        if event.get("tab") == "home":
            spot = Spot(origin.team, origin.enterprise, channel, user)
            self._aside(self._home.show(spot, client))
        if event.get("tab") != "messages" or "context" not in event:
            return None  # an app that is no agent has no conversations to begin
        spoken = Spoken(origin.team, channel, user)
        beside = channel_looked_at(event["context"], origin.team)
        name = (origin.team, channel, "tab", str(event.get("event_ts")))
        return await self._once(name, (origin.team, channel), self._opening(spoken, beside, client))

    async def _looks_elsewhere(
        self, body: Json, context: AsyncBoltContext, client: AsyncWebClient
    ) -> None:
        """Note what a user looks at now, and suggest what fits that; Slack may not say who."""
        event, origin = body["event"], self._origin_of(body, context)
        channel, user = event.get("channel"), event.get("user")
        if not channel or not user:
            return  # the next message tells it again
        spoken = Spoken(origin.team, str(channel), str(user))
        beside = channel_looked_at(event.get("context"), origin.team)
        await self._assistant.note(spoken, beside)
        self._aside(self._assistant.suggest(client, spoken, beside))

    async def _stopped(self, body: Json, context: AsyncBoltContext) -> None:
        """Stop what is written in a thread, whose stop button was pressed."""
        event, origin = body["event"], self._origin_of(body, context)
        thread, channel = event.get("thread_ts"), str(event["channel"])
        if thread:
            user, direct = str(event["user"]), channel.startswith("D")
            spot = Spot(origin.team, origin.enterprise, channel, user, str(thread), direct)
            self._aside(self._stop(spot, str(thread)))

    def _opening(
        self, spoken: Spoken, beside: str | None, client: AsyncWebClient
    ) -> Callable[[], Awaitable[None]]:
        async def begin(*, is_new: bool) -> None:
            if is_new:
                await self._assistant.greet(client, spoken, beside)
            await self._assistant.suggest(client, spoken, beside)

        async def opening() -> None:
            is_new = await self._assistant.note(spoken, beside)
            self._aside(begin(is_new=is_new))

        return opening
