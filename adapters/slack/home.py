"""The App Home: the courses, how to ask, one's own threads, and what is stored about one."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import aiohttp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.about import Facts, in_words
from adapters.actions.reports import DataExport
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk
from adapters.chat.markdown.layout import shortened
from adapters.slack.inbound import Spot
from adapters.slack.modals import data_buttons, forget_button, plain, respond_with, told
from adapters.slack.mrkdwn import controls_escaped, escaped, link, to_mrkdwn, words
from adapters.slack.people import People
from adapters.slack.presses import ButtonActions
from adapters.slack.refusals import Refused, send_file
from core.domain.errors import BotError
from core.domain.i18n import text
from core.domain.links import one_line
from core.storage.access import Reader
from core.storage.inbox.base import Answered
from core.storage.inbox.store import Inbox
from core.storage.privacy import PersonalData
from core.storage.sessions import FORGOTTEN_TEXT, SessionStore

logger = logging.getLogger(__name__)


Json = dict[str, Any]

MOST_BLOCKS = 100
"""Blocks that Slack takes in a view."""
_THREADS = 5
_LATEST = 50
_LONGEST = 2_900
_LONGEST_LINE = 500
_LONGEST_QUESTION = 150


class Home:
    """Shows everybody their own page of the app."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        directory: CourseDirectory,
        facts: Facts,
        personal: PersonalData,
        clicks: ButtonActions,
        inbox: Inbox,
        sessions: SessionStore,
    ) -> None:
        self._desk = desk
        self._directory = directory
        self._facts = facts
        self._personal = personal
        self._clicks = clicks
        self._inbox = inbox
        self._sessions = sessions

    async def show(self, spot: Spot, client: AsyncWebClient) -> None:
        """Show a user their page, as it is now."""
        try:
            blocks = await self._blocks(spot, client)
        except BotError as error:
            blocks = [section(escaped(error.user_message))]
        try:
            await client.views_publish(user_id=spot.user, view={"type": "home", "blocks": blocks})
        except (SlackClientError, aiohttp.ClientError, OSError) as error:
            logger.warning("the App Home could not be shown: %s", error)

    async def _blocks(self, spot: Spot, client: AsyncWebClient) -> list[Json]:
        pseudonyms = await self._clicks.pseudonyms(spot)
        stored = await self._personal.stored(pseudonyms)
        reader = (await self._desk.here(spot.location)).reader
        titles = await self._facts.courses(reader)
        courses = [_mrkdwn(f"- {shortened(title, _LONGEST_LINE)}") for title in titles]
        threads = await self._threads(spot, reader, pseudonyms, client)
        below = [
            section(_mrkdwn(text("slack-how-to-ask"))),
            header(text("slack-home-threads")),
            *_sections(threads or [text("slack-home-no-threads")]),
            header(text("slack-home-stored")),
            section(escaped(in_words(stored, "Slack"))),
            *([forget_button()] if stored.anything else []),
        ]
        below = [*await self._clicks.staff.home_blocks(spot), *below]
        above = _sections(courses or [text("course-none-yet")])
        room = MOST_BLOCKS - len(below) - 1
        return [header(text("slack-home-courses")), *_fitting(above, room), *below]

    async def _threads(
        self, spot: Spot, reader: Reader, pseudonyms: list[str], client: AsyncWebClient
    ) -> list[str]:
        """Return a line for each of the latest conversations, linking to it where that works.

        Those of other workspaces, about courses that may not be read here, and those whose first
        question is deleted, are left out.
        """
        lines = dict[UUID, str]()
        for asked in await self._inbox.latest_of(pseudonyms, _LATEST):
            if asked.session_id is None or asked.session_id in lines:
                continue
            is_here = asked.workspace == spot.team
            if not is_here or await self._directory.mark(reader, asked.course_id) is None:
                continue
            question = await self._sessions.first_question(asked.session_id)
            if question not in ("", FORGOTTEN_TEXT):
                lines[asked.session_id] = await _line(question, asked, client)
            if len(lines) == _THREADS:
                break
        return [*lines.values()]


async def _line(question: str, asked: Answered, client: AsyncWebClient) -> str:
    short = shortened(one_line(question), _LONGEST_QUESTION)
    ts = asked.thread or asked.address.get("thread") or asked.address.get("message")
    if ts is None:
        return f"• {words(short)}"
    try:
        found = await client.chat_getPermalink(channel=asked.address["channel"], message_ts=ts)
    except (SlackClientError, aiohttp.ClientError, OSError):
        return f"• {words(short)}"
    return f"• {link(short, str(found['permalink']))}"


def _sections(lines: Sequence[str]) -> list[Json]:
    """Return lines as sections, each with as many as it has room for."""
    return [section(packed) for packed in _packed(lines)]


def _packed(lines: Sequence[str]) -> Iterator[str]:
    packed = ""
    for line in lines:
        if packed and len(packed) + len(line) + 1 > _LONGEST:
            yield packed
            packed = ""
        packed = f"{packed}\n{line}" if packed else line
    if packed:
        yield packed


def _fitting(sections: list[Json], room: int) -> list[Json]:
    """Return as many sections as there is room for, and how many lines are left out."""
    if len(sections) <= room:
        return sections
    left_out = sum(one["text"]["text"].count("\n") + 1 for one in sections[room - 1 :])
    return [*sections[: room - 1], section(text("slack-home-more", count=left_out))]


def header(title: str) -> Json:
    """Return a title of the page."""
    return {"type": "header", "text": plain(title)}


def section(mrkdwn: str) -> Json:
    """Return a part of the page, its controls escaped."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}


def _mrkdwn(markdown: str) -> str:
    return controls_escaped(to_mrkdwn(markdown))


class MyData:
    """Shows, gives and deletes what is stored about who asks for it, to them alone."""

    def __init__(
        self,
        personal: PersonalData,
        own_data: DataExport,
        clicks: ButtonActions,
        people: People,
        unhurried: BackgroundWork,
    ) -> None:
        self._personal = personal
        self._own_data = own_data
        self._clicks = clicks
        self._people = people
        self._unhurried = unhurried

    async def shown(self, spot: Spot) -> Json:
        """Return how much is stored, with buttons that give it or delete it."""
        try:
            stored = await self._personal.stored(await self._clicks.pseudonyms(spot))
        except BotError as error:
            return told(error.user_message)
        return told(in_words(stored, "Slack"), data_buttons(may_delete=stored.anything))

    async def exported(self, spot: Spot, client: AsyncWebClient) -> Json:
        """Send all that is stored by direct message, and return what the asker reads here."""
        try:
            file = await self._own_data.file(await self._clicks.pseudonyms(spot), spot.location)
            await send_file(client, spot.user, file, text("privacy-export-sent"))
        except Refused as refusal:
            logger.warning("a file was not sent: %s", refusal)
            is_forbidden = refusal.word == "missing_scope"
            return told(text("slack-export-no-files") if is_forbidden else refusal.user_message)
        except BotError as error:
            return told(error.user_message)
        return told(text("slack-export-in-direct-messages"))

    async def export_pressed(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Send all that is stored to the person who pressed the button."""

        async def exporting() -> None:
            try:
                spot = await self._people.spot_of(body)
            except BotError as error:
                await respond_with(respond, told(error.user_message))
            else:
                await respond_with(respond, await self.exported(spot, client))

        await self._unhurried.in_time(exporting())
        await ack()
