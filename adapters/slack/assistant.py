"""The assistant's panel: its greeting, its prompts, its title, and what it stands beside."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.access.location import Location
from adapters.desk import FrontDesk
from adapters.guide import Guide
from adapters.markdown.visible import visible
from adapters.slack.inbound import PLATFORM
from adapters.slack.plain import escaped
from core.channels.beside import Panels
from core.channels.store import Place
from core.errors import BotError
from core.i18n import Message, text

logger = logging.getLogger(__name__)

LOADING = (
    Message("notice-searching"),
    Message("slack-loading-reading"),
    Message("slack-loading-checking"),
)
_MOST_PROMPTS = 4
_LONGEST_TITLE = 60
_LONGEST_SECTION = 75


class Assistant:
    """Makes the panel's threads ready for their users.

    Which channel a thread stands beside is kept by us: Slack's libraries would read the whole
    thread for it, at one call a minute.
    """

    def __init__(self, desk: FrontDesk, guide: Guide, panels: Panels) -> None:
        self._desk = desk
        self._guide = guide
        self._panels = panels

    async def note(self, team: str, thread: Mapping[str, Any]) -> None:
        """Keep which channel a thread stands beside; raises StoreError."""
        place = _place(team, str(thread["channel_id"]), str(thread["thread_ts"]))
        await self._panels.note(place, (thread.get("context") or {}).get("channel_id"))

    async def beside(self, team: str, channel: str, thread: str) -> str | None:
        """Return the channel that a thread stands beside; raises StoreError."""
        return await self._panels.beside(_place(team, channel, thread))

    async def greet(self, client: AsyncWebClient, team: str, thread: Mapping[str, Any]) -> None:
        """Say hello, and suggest what could be asked; what Slack refuses is left out."""
        channel, ts = str(thread["channel_id"]), str(thread["thread_ts"])
        beside = (thread.get("context") or {}).get("channel_id")
        try:
            places = tuple(str(place) for place in (beside, channel, team) if place)
            user = str(thread.get("user_id") or "")
            prompts = await self._prompts(Location(PLATFORM, team, places, user))
        except BotError as error:
            logger.warning("no prompts could be suggested: %s", error)
            prompts = []
        try:
            await client.chat_postMessage(
                channel=channel, thread_ts=ts, text=escaped(text("slack-greeting"))
            )
            if prompts:
                await client.assistant_threads_setSuggestedPrompts(
                    channel_id=channel, thread_ts=ts, title=text("slack-prompts"), prompts=prompts
                )
        except (SlackClientError, aiohttp.ClientError, OSError) as error:
            logger.warning("an assistant's thread was not greeted: %s", error)

    async def busy(self, client: AsyncWebClient, channel: str, ts: str) -> None:
        """Show that an answer is being looked for, until there is one."""
        await self._show_status(
            client, channel, ts, text("slack-status"), [str(one) for one in LOADING]
        )

    async def idle(self, client: AsyncWebClient, channel: str, ts: str) -> None:
        """Show that nothing is being looked for."""
        await self._show_status(client, channel, ts, "", ())

    async def _show_status(
        self, client: AsyncWebClient, channel: str, ts: str, status: str, loading: Sequence[str]
    ) -> None:
        try:
            await client.assistant_threads_setStatus(
                channel_id=channel, thread_ts=ts, status=status, loading_messages=[*loading]
            )
        except (SlackClientError, aiohttp.ClientError, OSError) as error:
            logger.info("an assistant's thread has no status: %s", error)

    async def entitle(self, client: AsyncWebClient, channel: str, ts: str, question: str) -> None:
        """Name a thread by the question that is asked in it."""
        title = " ".join(visible(question).split())
        if len(title) > _LONGEST_TITLE:
            title = f"{title[:_LONGEST_TITLE].rstrip()}…"
        try:
            await client.assistant_threads_setTitle(channel_id=channel, thread_ts=ts, title=title)
        except (SlackClientError, aiohttp.ClientError, OSError) as error:
            logger.info("an assistant's thread has no title: %s", error)

    async def _prompts(self, location: Location) -> list[dict[str, str]]:
        """Return questions about the largest sections of the course."""
        here = await self._desk.here(location)
        course_id = await self._desk.course_of(here)
        if course_id is None:
            return []
        sections = await self._guide.sections_like(
            here.reader, course_id, "", limit=_MOST_PROMPTS, longest=_LONGEST_SECTION
        )
        names = [section.rpartition(" › ")[2] for section in sections]
        return [
            {"title": visible(name), "message": text("slack-prompt-about", name=name)}
            for name in names
        ]


def _place(team: str, channel: str, thread: str) -> Place:
    return Place(PLATFORM, team, f"{channel}:{thread}")
