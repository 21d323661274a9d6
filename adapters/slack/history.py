"""Reads what stands in a workspace's channels, as slowly as Slack wants it to be read."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.slack.inbound import moment_of
from adapters.slack.lookups import Place
from adapters.slack.refusals import Refused, refused
from adapters.slack.workspaces import Workspaces
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

    def __init__(self, workspaces: Workspaces, place: Place, *, pause: float = 0.0) -> None:
        """Prepare to read.

        Args:
            pause: Seconds before each call, which leave room for the calls of others.
        """
        self._workspaces = workspaces
        self._place = place
        self._pause = pause

    async def channels(self) -> list[Json]:
        """Return the channels and direct messages that the bot is in."""
        asked = {"types": _KINDS, "exclude_archived": "true", "limit": _CHANNELS}
        pages = self._pages("users.conversations", asked)
        return [channel async for page in pages for channel in page["channels"]]

    async def since(self, channel: str, since: datetime, threads: Collection[str]) -> Read:
        """Return the messages of a channel since a moment, and what was read for them.

        A channel's messages say of their threads when somebody replied last. Threads that
        began long ago are looked into where they are given: one by one, or by reading on in the
        channel, whichever takes fewer calls.
        """
        read = Read(since)
        grown, unseen, read_on = set[str](), set(threads), 0
        pages = self._pages("conversations.history", {"channel": channel, "limit": _MESSAGES})
        async for page in pages:
            read.there |= {str(message["ts"]): message for message in page["messages"]}
            for message in page["messages"]:
                ts, latest = str(message["ts"]), message.get("latest_reply")
                unseen.discard(ts)
                if latest is not None and moment_of(str(latest)) > since:
                    grown.add(ts)
                read.begin = moment_of(ts)
            if any(moment_of(str(m["ts"])) <= since for m in page["messages"][-1:]):
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
                read.there |= {str(message["ts"]): message for message in page["messages"]}
        except Refused as refusal:  # its first message was deleted
            logger.info("a thread cannot be read: %s", refusal)
        else:
            if not _has_more(page):
                read.threads.add(root)

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
        assert isinstance(answer.data, dict)
        return answer.data


def _cursor(page: Json) -> str:
    return (page.get("response_metadata") or {}).get("next_cursor") or ""


def _has_more(page: Json) -> bool:
    return bool(_cursor(page) or page.get("has_more"))
