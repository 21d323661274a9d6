"""Reads what stands in a workspace's channels, as slowly as Slack wants it to be read."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.intake.unreadable import Unreadable, UnreadableEvent
from adapters.payloads import mapping, mappings, text
from adapters.slack.api.lookups import Place
from adapters.slack.api.refusals import Refused, refused
from adapters.slack.gateway.dispatch import HISTORY
from adapters.slack.gateway.payloads import readable_message
from adapters.slack.inbound import moment_of
from adapters.slack.installs.workspaces import Workspaces
from core.errors import DeliveryError

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]

_KINDS = "public_channel,private_channel,mpim,im"
_CHANNELS = 200
_MESSAGES = 100
"""In one page; apps that others install get fifteen."""
_MOST_PAGES = 50
_PAUSES = (1.0, 2.0, 5.0, *(10.0,) * 14)
"""Seconds before a call is made again that failed, or that Slack did not take.

Short ones: questions wait to be found when Slack is back for good.
"""
_TIMEOUT = 20.0
_BEGINNING, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Read:
    """What was read of a channel, and how far that goes."""

    since: datetime
    there: dict[str, dict[str, Any]] = field(default_factory=dict)
    """All messages, by their timestamps; some from before the moment."""
    begin: datetime = _END
    """From when on all messages outside threads were read."""
    threads: set[str] = field(default_factory=set)
    """The threads of which all was read since the moment."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages since the moment, oldest first."""
        found = [ts for ts in self.there if moment_of(ts) > self.since]
        return [self.there[ts] for ts in sorted(found, key=moment_of)]

    def covers(self, ts: str, thread: str | None) -> bool:
        """Return whether a message, of a thread or of none, would have been read."""
        if thread is None or thread == ts:
            return moment_of(ts) >= self.begin
        return thread in self.threads and moment_of(ts) > self.since


class History:
    """The channels of one workspace that the bot is in.

    Methods raise Refused where Slack lets nothing be read, and another DeliveryError when it
    cannot be reached for long.
    """

    def __init__(
        self, workspaces: Workspaces, place: Place, unreadable: Unreadable, *, pause: float = 0.0
    ) -> None:
        """Prepare to read.

        Args:
            unreadable: Notes the messages that cannot be read; all others are returned.
            pause: Seconds before each call, which leave room for the calls of others.
        """
        self._workspaces = workspaces
        self._place = place
        self._unreadable = unreadable
        self._pause = pause

    async def channels(self) -> list[Json]:
        """Return the channels and direct messages that the bot is in."""
        asked = {"types": _KINDS, "exclude_archived": "true", "limit": _CHANNELS}
        pages = self._pages("users.conversations", asked)
        found = [channel async for page in pages for channel in mappings(page.get("channels"))]
        return [channel for channel in found if text(channel.get("id"))]

    async def since(self, channel: str, since: datetime, threads: Collection[str]) -> Read:
        """Return the messages of a channel since a moment, and what was read for them.

        A channel's messages say of their threads when a user replied last. Threads that
        began long ago are looked into where they are given: one by one, or by reading on in the
        channel, whichever takes fewer calls.
        """
        read = Read(since)
        grown, unseen, read_on = set[str](), set(threads), 0
        pages = self._pages("conversations.history", {"channel": channel, "limit": _MESSAGES})
        async for page in pages:
            messages = self._messages_of(page)
            read.there |= {message["ts"]: message for message in messages}
            for message in messages:
                ts, latest = message["ts"], message.get("latest_reply")
                unseen.discard(ts)
                if latest is not None and moment_of(latest) > since:
                    grown.add(ts)
                read.begin = moment_of(ts)
            if any(moment_of(m["ts"]) <= since for m in messages[-1:]):
                read_on += 1
                if read_on >= len(unseen):
                    break
        if not _has_more(page):
            read.begin = _BEGINNING
        for root in sorted(grown | unseen):
            await self._read_replies(read, channel, root)
        return read

    async def _read_replies(self, read: Read, channel: str, root: str) -> None:
        asked = {"channel": channel, "ts": root, "oldest": f"{read.since.timestamp():.6f}"}
        try:
            async for page in self._pages("conversations.replies", {**asked, "limit": _MESSAGES}):
                read.there |= {message["ts"]: message for message in self._messages_of(page)}
        except Refused as refusal:  # its first message was deleted
            logger.info("a thread cannot be read: %s", refusal)
        else:
            if not _has_more(page):
                read.threads.add(root)

    def _messages_of(self, page: Json) -> list[dict[str, Any]]:
        """Return the messages of a page that can be read; the others are noted."""
        messages, found = page.get("messages"), list[dict[str, Any]]()
        for one in messages if isinstance(messages, list) else ():
            try:
                found.append(readable_message(one))
            except UnreadableEvent as error:
                self._unreadable.note(HISTORY, mapping(one).get("client_msg_id"), error)
        return found

    async def _pages(self, method: str, asked: Mapping[str, Any]) -> AsyncIterator[Json]:
        cursor = ""
        for _ in range(_MOST_PAGES):
            page = await self._called(method, {**asked, **({"cursor": cursor} if cursor else {})})
            yield page
            cursor = _cursor(page)
            if not cursor:
                return

    async def _called(self, method: str, asked: Mapping[str, Any]) -> Json:
        """Call a method when it may be called, again where Slack did not take it."""
        await asyncio.sleep(self._pause)
        for pause in (*_PAUSES, None):
            try:
                await self._workspaces.of(*self._place).budget.wait(method, self)
                return await self._call(method, asked)
            except DeliveryError as error:
                if error.permanent or pause is None:
                    raise
                logger.info("the history is read on later: %s", error)
                await asyncio.sleep(max(pause, error.retry_after or 0.0))
        raise AssertionError("the last pause is None")

    async def _call(self, method: str, asked: Mapping[str, Any]) -> Json:
        client = await self._workspaces.clients.of(*self._place)
        try:
            async with asyncio.timeout(_TIMEOUT):
                answer = await client.api_call(method, params=dict(asked))
        except SlackApiError as error:
            raise refused(method, error) from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise DeliveryError(f"{method}: {type(error).__name__}") from error
        return mapping(answer.data)


def _cursor(page: Json) -> str:
    return text(mapping(page.get("response_metadata")).get("next_cursor"))


def _has_more(page: Json) -> bool:
    return bool(_cursor(page) or page.get("has_more"))
