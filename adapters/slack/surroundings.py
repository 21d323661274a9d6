"""What Slack can read around a question: its files, and the messages right before it."""

import asyncio
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp

from adapters.chat.acceptor import UnreadableEvent
from adapters.chat.base import mapping, mappings
from adapters.chat.question_context import (
    MOST_BYTES,
    MOST_MESSAGES,
    MOST_OF_A_CANVAS,
    MOST_TAKEN,
    Earlier,
    FetchedFile,
    FileKind,
    MayNotRead,
    MessageWindow,
    TextFile,
    Whose,
    fetched,
)
from adapters.slack.inbound import files_of, is_spoken, moment_of, position_of, readable_message
from adapters.slack.installations import Workspaces, who_are_we
from adapters.slack.mrkdwn import all_of, mentioned
from adapters.slack.outbound import Address
from adapters.slack.rest import FrozenJson, Lookups, Place
from core.domain import EXPLAIN_QUOTE, MIN_QUESTION, AgentRequest, ContextMode, cut_selected_text
from core.domain.errors import DeliveryError, UnsupportedDocument
from core.domain.i18n import Message

logger = logging.getLogger(__name__)


_REPLIES, _HISTORY = "conversations.replies", "conversations.history"
_PAGE = 200
"""Messages of one call; Slack gives fifteen to apps that others install."""
_SMALL_PAGE = 15
_MOST_PAGES = 5
_WINDOW = 3_600
"""Seconds before a question in which its thread's end is looked for first."""
_EVERY = 60.0
_NAMES = ("display_name", "real_name")
_MENTION = re.compile(r"@[UW][A-Z0-9]{6,}\b")
"""How a canvas names people."""


class ThreadReader:
    """Reads threads and channels before a question.

    Slack lets apps that others install read one thread a minute in a workspace, and this keeps
    to it everywhere; the answer does not wait for the next minute.
    """

    def __init__(self, lookups: Lookups, *, every: float = _EVERY) -> None:
        """Prepare to read.

        Args:
            every: Seconds between two threads of a workspace.
        """
        self._lookups = lookups
        self._every = every
        self._read_at: dict[Place, float] = {}
        self._me: dict[Place, str] = {}

    async def thread(
        self, address: Address, root: str, asked: str
    ) -> tuple[list[FrozenJson], bool]:
        """Return a thread's root and its end before a question, and whether that is all of it.

        The end is looked for in the hour before the question. A thread in which nothing was said
        then is read from its beginning on. Slack pages from the oldest message on, so a page
        that is followed by others is not the end. Nothing is returned where it cannot be read.
        """
        place, moment = (address.team, address.enterprise), time.monotonic()
        if moment - self._read_at.get(place, -self._every) < self._every:
            return [], False
        self._read_at[place] = moment
        asked_for: dict[str, Any] = {"channel": address.channel, "ts": root, "latest": asked}
        since = f"{max(float(asked) - _WINDOW, 0):.6f}"
        found, whole = await self._pages(place, {**asked_for, "oldest": since})
        if [one for one in found if one.get("ts") not in (root, asked)]:
            return found, whole and float(root) >= float(since)
        earlier, whole = await self._pages(place, asked_for)
        return (earlier, whole) if earlier else (found, False)

    async def _pages(
        self, place: Place, asked_for: dict[str, Any]
    ) -> tuple[list[FrozenJson], bool]:
        found, cursor = list[FrozenJson](), ""
        for _ in range(_MOST_PAGES):
            more = {"cursor": cursor} if cursor else {}
            page = await self._lookups.call(place, _REPLIES, limit=_PAGE, **asked_for, **more)
            if page is None:
                return found, False
            found += _readable(page.get("messages"))
            cursor = str(mapping(page.get("response_metadata")).get("next_cursor") or "")
            if not cursor:
                return found, not page.get("has_more")
            if len(found) <= _SMALL_PAGE:
                return found, False  # an app that may not read on within this minute
        return found, False

    async def me(self, address: Address) -> str | None:
        """Return the bot's user id in a workspace; None where it cannot be looked up now."""
        place = (address.team, address.enterprise)
        if place not in self._me:
            said = await self._lookups.call(place, "auth.test")
            if said is None:
                return None
            self._me[place] = str(said["user_id"])
        return self._me[place]

    async def names(self, address: Address, users: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return what people are called in a workspace; no one whom Slack does not name."""
        place = (address.team, address.enterprise)
        told = await asyncio.gather(
            *(self._lookups.call(place, "users.info", user=one) for one in users)
        )
        return {
            user: _names_of(mapping(said.get("user")))
            for user, said in zip(users, told, strict=True)
            if said is not None
        }

    async def channel(self, address: Address, before: str | None) -> list[FrozenJson] | None:
        """Return the last messages of a channel before a question, oldest first."""
        place = (address.team, address.enterprise)
        latest = {"latest": before} if before else {}
        page = await self._lookups.call(
            place, _HISTORY, channel=address.channel, limit=MOST_MESSAGES, **latest
        )
        return None if page is None else list(_readable(page.get("messages")))[::-1]


@dataclass(frozen=True, slots=True)
class QuestionSurroundings:
    """Reads around one question; what cannot be had is left out."""

    workspaces: Workspaces
    reader: ThreadReader
    address: Address

    @property
    def in_thread(self) -> bool:
        """Whether it was asked in a thread of a channel; a direct message has one session."""
        address = self.address
        below = address.root is not None and address.root != address.question
        asked = address.question is not None
        return below and asked and not address.channel.startswith("D")

    async def read(self, file: TextFile) -> str | None:
        """Return the text of a file; None when it is none, or cannot be had.

        Without the right to read files, Slack's answer is the page where people sign in.

        Raises:
            MayNotRead: when that is so.
        """
        try:
            client = await self.workspaces.clients.of(self.address.team, self.address.enterprise)
        except DeliveryError as error:
            logger.info("a file cannot be had: %s", error)
            return None
        if not is_slacks(file.url, client.base_url):
            return None
        headers = {"Authorization": f"Bearer {client.token}"}
        most = MOST_OF_A_CANVAS if file.kind is FileKind.CANVAS else MOST_BYTES
        async with aiohttp.ClientSession() as session:
            found = await fetched(session, file.url, headers, most=most)
        if found is None:
            return None
        if (found.is_page or found.is_elsewhere) and not await self._may_be_page(file, found):
            logger.warning(
                "a file in %s cannot be read: the app lacks the scope files:read there; add it on "
                "the app's page, OAuth & Permissions, and install the app again",
                self.address.team,
            )
            raise MayNotRead(user_message=Message("slack-files-not-allowed"))
        if file.kind is not FileKind.CANVAS or found.text is None:
            return found.text
        return await asyncio.to_thread(_text_of_canvas, found.text)

    async def _may_be_page(self, file: TextFile, found: FetchedFile) -> bool:
        """Return whether a page is the file, and not the one where people sign in."""
        if file.kind is FileKind.TEXT or found.is_elsewhere:
            return False
        try:
            client = await self.workspaces.clients.of(self.address.team, self.address.enterprise)
            scopes = (await who_are_we(client)).scopes
        except DeliveryError as error:
            logger.info("what the app may read cannot be looked up: %s", error)
            return False
        return not scopes or "files:read" in scopes.split(",")

    async def window(self) -> MessageWindow | None:
        """Return what stands before the question; None when it cannot be read."""
        address = self.address
        root, asked = address.root, address.question
        me = await self.reader.me(address)
        if root is None or asked is None or root == asked:
            found = await self.reader.channel(address, asked)
            return None if found is None else MessageWindow(tuple(self._said(found, asked, me)))
        found, whole = await self.reader.thread(address, root, asked)
        if not found:
            return None
        said = list(self._said(found, asked, me))
        begins = self._earlier(found[0], me) if str(found[0]["ts"]) == root else None
        latest = said[1:] if begins is not None and said else said
        if begins is not None and begins.ours:
            begins = None
        is_partial = not whole or len(latest) > MOST_TAKEN
        return MessageWindow(tuple(latest[-MOST_MESSAGES:]), begins, is_partial)

    async def names(self, authors: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return what people are called in the workspace."""
        return await self.reader.names(self.address, authors)

    def _said(
        self, messages: Sequence[FrozenJson], asked: str | None, me: str | None
    ) -> Iterator[Earlier]:
        """Yield what was written before a question; what Slack itself says is left out."""
        for message in messages:
            is_earlier = asked is None or position_of(str(message["ts"])) < position_of(asked)
            if is_earlier and (is_spoken(message) or message.get("bot_id")):
                yield self._earlier(message, me)

    def _earlier(self, message: FrozenJson, me: str | None) -> Earlier:
        author = message.get("user")
        return Earlier(
            all_of(message).strip(),
            by_asker=author == self.address.asker,
            ours=author is not None and author == me,
            to_bot=me in mentioned(str(message.get("text") or "")),
            parts=files_of(message, Whose.TARGET),
            author=str(author or ""),
            said_at=moment_of(str(message["ts"])),
        )


def _names_of(user: FrozenJson) -> tuple[str, ...]:
    profile = mapping(user.get("profile"))
    said = [user.get("name"), user.get("real_name"), *(profile.get(n) for n in _NAMES)]
    return tuple(str(one) for one in said if one)


def _text_of_canvas(page: str) -> str | None:
    """Return what a canvas says, without anybody's name; None: it cannot be read."""
    from core.ingestion.formats.html import parse_html

    try:
        blocks = parse_html(page, is_book=True).blocks
    except (UnsupportedDocument, RecursionError) as error:
        logger.info("a canvas cannot be read: %s", type(error).__name__)
        return None
    return _MENTION.sub(" ", "\n\n".join(block.text for block in blocks)).strip()


def is_slacks(url: str, base_url: str) -> bool:
    """Return whether a file lies on Slack's own servers, which alone may see the bot's token."""
    wanted, own = urlsplit(url), urlsplit(base_url)
    if wanted.netloc == own.netloc and wanted.scheme == own.scheme:
        return True
    host, slack = wanted.hostname or "", own.hostname or ""
    return wanted.scheme == own.scheme == "https" and host.endswith(f".{slack}")


def _readable(messages: object) -> Iterator[FrozenJson]:
    for message in messages if isinstance(messages, list) else ():
        with suppress(UnreadableEvent):
            yield readable_message(message)


_LINK = re.compile(
    r"https://(?P<host>[a-z0-9.-]+)/archives/(?P<channel>[CDG][A-Z0-9]+)"
    r"/p(?P<seconds>\d{10})(?P<fraction>\d{6})(?:\?(?P<query>[\w=&.%-]*[\w%-]))?"
)
_MEMBERS = 1_000
"""Members of a channel that one call tells."""


@dataclass(frozen=True, slots=True)
class _Link:
    """Where a permalink leads."""

    text: str
    host: str
    channel: str
    ts: str
    thread: str | None


class Permalinks:
    """Reads linked messages.

    What the asker may not read is not read for them: a link into another workspace, or into a
    channel that they are not in, stays the text that it is. Nor is it shown to who may not: out
    of its channel a message is quoted only where the asker alone sees the answer.
    """

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        self._hosts: dict[Place, str] = {}

    async def complete(self, address: Address, request: AgentRequest) -> AgentRequest:
        """Return a request that quotes the message it links to, unless it quotes something."""
        link = _link_in(request.query_text)
        if link is None or request.selected_text is not None:
            return request
        place = (address.team, address.enterprise)
        if link.host != await self._host(place) or not await self._is_readable(address, link):
            return request
        message = await self._message(place, link)
        quote = all_of(message).strip() if message is not None else ""
        if not quote:
            return request
        text, cut = cut_selected_text(quote)
        asked = " ".join(request.query_text.replace(link.text, " ").split())
        return request.model_copy(
            update={
                "query_text": asked if len(asked) >= MIN_QUESTION else EXPLAIN_QUOTE,
                "context_mode": ContextMode.SELECTED_TEXT,
                "selected_text": text,
                "selected_text_cut": cut,
            }
        )

    async def _host(self, place: Place) -> str | None:
        """Return where a workspace's messages have their addresses."""
        if place not in self._hosts:
            said = await self._lookups.call(place, "auth.test")
            if said is None:
                return None
            self._hosts[place] = urlsplit(str(said["url"])).netloc
        return self._hosts[place]

    async def _is_readable(self, address: Address, link: _Link) -> bool:
        """Return whether the asker, and who sees the answer, may read the linked message."""
        is_here = link.channel == address.channel
        if is_here and address.question is not None:
            return True  # the question was written there
        if not is_here and not address.is_private:
            return False
        return await self._is_member(address, link)

    async def _is_member(self, address: Address, link: _Link) -> bool:
        """Return whether the asker is in the channel of the linked message."""
        place, cursor = (address.team, address.enterprise), ""
        for _ in range(_MOST_PAGES):
            page = await self._lookups.call(
                place,
                "conversations.members",
                channel=link.channel,
                limit=_MEMBERS,
                **({"cursor": cursor} if cursor else {}),
            )
            if page is None:
                return False
            if address.asker in page["members"]:
                return True
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return False
        return False

    async def _message(self, place: Place, link: _Link) -> FrozenJson | None:
        """Return the linked message; None when it is gone, or cannot be read now."""
        exactly = {"latest": link.ts, "oldest": link.ts, "inclusive": "true"}
        channel, call = link.channel, self._lookups.call
        if link.thread is None:
            history = "conversations.history"
            found = await call(place, history, channel=channel, limit=1, **exactly)
        else:
            replies, ts = "conversations.replies", link.thread
            found = await call(place, replies, channel=channel, ts=ts, limit=2, **exactly)
        messages = mappings(mapping(found).get("messages"))
        message = next((m for m in messages if m.get("ts") == link.ts), None)
        return readable_message(message) if message is not None else None


def _link_in(text: str) -> _Link | None:
    """Return the first permalink of a text."""
    match = _LINK.search(text)
    if match is None:
        return None
    ts = f"{match['seconds']}.{match['fraction']}"
    [thread] = parse_qs(match["query"] or "").get("thread_ts", [None])[:1]
    below = thread if thread and thread != ts else None
    return _Link(match[0], match["host"], match["channel"], ts, below)
