"""The App Home: the courses, how to ask, one's own threads, and what is stored about one."""

import logging
from itertools import accumulate
from typing import Any
from uuid import UUID

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.about import Facts, in_words
from adapters.desk import FrontDesk
from adapters.guide import Guide
from adapters.markdown.slack import to_mrkdwn
from adapters.markdown.slack_text import controls_escaped, escaped_length, link, words
from adapters.markdown.splitting import shortened, split
from adapters.slack.clicks import Clicks
from adapters.slack.inbound import Spot
from adapters.slack.plain import escaped
from adapters.slack.told import forget_button, plain
from core import i18n
from core.access.reading import Reader
from core.errors import BotError
from core.inbox.base import Answered
from core.inbox.store import Inbox
from core.markdown.writing import one_line
from core.personal import PersonalData
from core.sessions.store import SessionStore

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_THREADS = 5
_LATEST = 50
_LONGEST = 2_900
_LONGEST_QUESTION = 150


class Home:
    """Shows everybody their own page of the app."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        guide: Guide,
        facts: Facts,
        personal: PersonalData,
        clicks: Clicks,
        inbox: Inbox,
        sessions: SessionStore,
    ) -> None:
        self._desk = desk
        self._guide = guide
        self._facts = facts
        self._personal = personal
        self._clicks = clicks
        self._inbox = inbox
        self._sessions = sessions

    async def show(self, spot: Spot, client: AsyncWebClient) -> None:
        """Show somebody their page, as it is now."""
        try:
            blocks = await self._blocks(spot, client)
        except BotError as error:
            blocks = [_section(escaped(error.user_message))]
        try:
            await client.views_publish(user_id=spot.user, view={"type": "home", "blocks": blocks})
        except (SlackClientError, aiohttp.ClientError, OSError) as error:
            logger.warning("the App Home could not be shown: %s", error)

    async def _blocks(self, spot: Spot, client: AsyncWebClient) -> list[Json]:
        pseudonyms = await self._clicks.pseudonyms(spot)
        stored = await self._personal.stored(pseudonyms)
        reader = (await self._desk.here(spot.location)).reader
        courses = await self._facts.courses(reader)
        lines = [f"- {line}" for line in courses] or [i18n.text("course-none-yet")]
        threads = await self._threads(spot, reader, pseudonyms, client)
        return [
            _header(i18n.text("slack-home-courses")),
            _section(_mrkdwn("\n".join(lines))),
            _section(_mrkdwn(i18n.text("slack-how-to-ask"))),
            _header(i18n.text("slack-home-threads")),
            _section("\n".join(_fitting(threads)) or i18n.text("slack-home-no-threads")),
            _header(i18n.text("slack-home-stored")),
            _section(escaped(in_words(stored, "Slack"))),
            *([forget_button()] if stored.anything else []),
        ]

    async def _threads(
        self, spot: Spot, reader: Reader, pseudonyms: list[str], client: AsyncWebClient
    ) -> list[str]:
        """Return a line for each of the latest conversations, linking to it where that works.

        Those of other workspaces, and about courses that may not be read here, are left out.
        """
        lines = dict[UUID, str]()
        for asked in await self._inbox.latest_of(pseudonyms, _LATEST):
            if asked.session_id is None or asked.session_id in lines:
                continue
            is_here = asked.workspace == spot.team
            if not is_here or await self._guide.mark(reader, asked.course_id) is None:
                continue
            question = await self._sessions.first_question(asked.session_id)
            if question:
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


def _fitting(lines: list[str]) -> list[str]:
    """Return the first lines, as many as a section has room for."""
    lengths = accumulate(len(line) + 1 for line in lines)
    return [line for line, length in zip(lines, lengths, strict=True) if length <= _LONGEST]


def _header(text: str) -> Json:
    return {"type": "header", "text": plain(text)}


def _section(mrkdwn: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}


def _mrkdwn(markdown: str) -> str:
    shown = split(to_mrkdwn(markdown), _LONGEST, count=escaped_length)
    return controls_escaped(shown[0]) if shown else "…"
