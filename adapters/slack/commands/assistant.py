"""How a conversation with the bot begins: its greeting, its prompts, and whose course it is.

An agent's conversations lie in the Messages tab, each below a message of its user.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.access.course_directory import CourseDirectory, ListedCourse
from adapters.access.location import Location
from adapters.features.suggestions import Suggestion, Suggestions
from adapters.intake.front_desk import FrontDesk
from adapters.markdown.visible import visible
from adapters.slack.commands.app_context import channel_looked_at
from adapters.slack.inbound import PLATFORM
from adapters.slack.mrkdwn_parser import escaped
from core.errors import BotError
from core.i18n import text
from core.storage.channels.panels import Panels
from core.storage.channels.store import Place

logger = logging.getLogger(__name__)

_BROKEN = (SlackClientError, aiohttp.ClientError, OSError)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A conversation of a user with the bot."""

    team: str
    channel: str
    user: str

    @property
    def place(self) -> Place:
        """Where it is kept what it stands next to."""
        return Place(PLATFORM, self.team, self.channel)


class Assistant:
    """Makes conversations ready for their users.

    Which channel one stands next to is kept by us: Slack's libraries would read the whole thread
    for it, at one call a minute.
    """

    def __init__(
        self, desk: FrontDesk, directory: CourseDirectory, panels: Panels, suggestions: Suggestions
    ) -> None:
        self._desk = desk
        self._directory = directory
        self._panels = panels
        self._suggestions = suggestions

    async def note(self, spoken: Spoken, beside: str | None) -> bool:
        """Keep which channel a conversation stands next to; return whether it is a new one.

        Raises:
            StoreError: when the database fails.
        """
        is_new = not await self._panels.knows(spoken.place)
        await self._panels.note(spoken.place, beside)
        return is_new

    async def beside(self, event: Mapping[str, Any], team: str) -> str | None:
        """Return the channel that a direct message stands next to; raises StoreError."""
        if "app_context" in event:
            return channel_looked_at(event["app_context"], team)
        return await self._panels.beside(Spoken(team, str(event["channel"]), "").place)

    async def course_looked_at(self, spoken: Spoken, beside: str | None) -> str | None:
        """Return the title of the course that `beside` chooses; None: it changes nothing.

        Raises:
            BotError: when it is not known.
        """
        if beside is None:
            return None
        chosen = await self._mark(spoken, beside)
        otherwise = await self._mark(spoken, None)
        return chosen.course.title if chosen is not None and chosen != otherwise else None

    async def greet(self, client: AsyncWebClient, spoken: Spoken, beside: str | None) -> None:
        """Say hello; what Slack refuses is left out."""
        greeting = text("slack-greeting")
        if (title := await self._title(spoken, beside)) is not None:
            greeting += f" {text('slack-greeting-course', course=title)}"
        try:
            await client.chat_postMessage(
                channel=spoken.channel,
                text=escaped(greeting),
                unfurl_links=False,
                unfurl_media=False,
            )
        except _BROKEN as error:
            logger.warning("a conversation was not greeted: %s", error)

    async def suggest(self, client: AsyncWebClient, spoken: Spoken, beside: str | None) -> None:
        """Suggest what could be asked: only what the course has answered already."""
        try:
            mark = await self._mark(spoken, beside)
            prompts = await self._prompts(spoken, beside, mark)
        except BotError as error:
            logger.warning("no prompts could be suggested: %s", error)
            return
        if mark is None or not prompts:
            return
        try:
            await client.assistant_threads_setSuggestedPrompts(
                channel_id=spoken.channel,  # and no thread_ts: Slack would show nothing
                title=text("slack-prompts-course", course=mark.course.title),
                prompts=[{"title": visible(p.topic), "message": p.question} for p in prompts],
            )
        except _BROKEN as error:
            logger.warning("no prompts could be suggested: %s", error)

    async def _title(self, spoken: Spoken, beside: str | None) -> str | None:
        try:
            mark = await self._mark(spoken, beside)
        except BotError as error:
            logger.warning("a greeting names no course: %s", error)
            return None
        return mark.course.title if mark is not None else None

    async def _prompts(
        self, spoken: Spoken, beside: str | None, mark: ListedCourse | None
    ) -> Sequence[Suggestion]:
        if mark is None:
            return ()
        here = await self._desk.here(_location(spoken, beside))
        return await self._suggestions.about(here.reader, mark.course.course_id)

    async def _mark(self, spoken: Spoken, beside: str | None) -> ListedCourse | None:
        """Return the course that a conversation is answered from; None: it is not clear."""
        here = await self._desk.here(_location(spoken, beside))
        return await self._directory.mark(here.reader, await self._desk.course_of(here))


def _location(spoken: Spoken, beside: str | None) -> Location:
    places = tuple(place for place in (beside, spoken.channel, spoken.team) if place)
    return Location(PLATFORM, spoken.team, places, spoken.user)
