"""The App Home: the courses, how to ask, one's own threads, and what is stored about one."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.about import Facts, in_words
from adapters.actions.reports import OwnData
from adapters.chat.buttons import NO_ID, Button
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import FrontDesk
from adapters.chat.markdown.layout import shortened
from adapters.slack.inbound import Spot
from adapters.slack.modals import button_row, card_blocks, plain
from adapters.slack.mrkdwn import controls_escaped, escaped, link, to_mrkdwn, words
from adapters.slack.presses import SlackClicks, SlackUse
from core.domain.errors import BotError
from core.domain.i18n import text
from core.domain.links import one_line
from core.storage.access import Reader
from core.storage.inbox.base import Answered
from core.storage.inbox.store import Inbox
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
        own_data: OwnData,
        clicks: SlackClicks,
        inbox: Inbox,
        sessions: SessionStore,
    ) -> None:
        self._desk = desk
        self._directory = directory
        self._facts = facts
        self._own_data = own_data
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
        use = SlackUse(self._clicks.around, spot, {}, client)
        pseudonyms = await self._own_data.pseudonyms(use)
        stored = await self._own_data.amounts(use)
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
            *([button_row((Button.FORGET_ME,), NO_ID)] if stored.anything else []),
        ]
        below = [*await self._waiting(use), *below]
        above = _sections(courses or [text("course-none-yet")])
        room = MOST_BLOCKS - len(below) - 1
        return [header(text("slack-home-courses")), *_fitting(above, room), *below]

    async def _waiting(self, use: SlackUse) -> list[Json]:
        """Return what waits for staff; nothing for anybody else."""
        try:
            cards = await self._clicks.presses.queue(use)
        except BotError:
            return []
        heading: Json = {"type": "section", "text": plain(cards.heading)}
        return [heading, *card_blocks(replace(cards, next_page=None))]

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
