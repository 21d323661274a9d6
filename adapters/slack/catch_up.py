"""Takes in what Slack could not deliver, which it tries again for minutes only."""

import asyncio
import logging
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.chat.acceptor import Acceptor, Unreadable, UnreadableEvent, place_of, without_text
from adapters.chat.arrivals import LOOKED_BACK, MOST_QUESTIONS, changed_in
from adapters.chat.base import clean_text, mapping, mappings
from adapters.chat.incoming_message import PlatformClock, ReadCursor
from adapters.slack.events import Events
from adapters.slack.inbound import PLATFORM, Origin, message_key, moment_of, readable_message
from adapters.slack.installations import Installations, Workspaces
from adapters.slack.refusals import Refused, refused
from adapters.slack.rest import Place
from adapters.slack.sockets import HISTORY
from core.domain import now
from core.domain.errors import DeliveryError, StoreError
from core.storage.inbox.queries import InboxPlaces, PlacedQuestion
from core.storage.inbox.store import Inbox
from core.storage.installations import Installed

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
        return [channel for channel in found if clean_text(channel.get("id"))]

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
    return clean_text(mapping(page.get("response_metadata")).get("next_cursor"))


def _has_more(page: Json) -> bool:
    return bool(_cursor(page) or page.get("has_more"))


FURTHEST_BACK = timedelta(hours=24)
_MARGIN = timedelta(seconds=30)
"""What was said just before a look may not have stood in the history yet."""
_THREADS_BACK = timedelta(days=3)
"""How long after its last question a thread is looked into for another one."""
_AGAIN_IN = 10.0
"""Seconds before a look after a pause that failed is begun again."""
_LOOKS_EVERY = 300.0
"""Seconds between looks for what is lost on its way while everything seems well."""
_RESTS = 4.0
"""How many times as long as a look took there is none; Slack makes some take very long."""
_AWAKE_EVERY = 20.0
"""Seconds after which is asked how long ago a process looked."""
_BETWEEN_CALLS = 2.0
"""Seconds; a look that no one waits for leaves half of Slack's calls to others."""
_MOST_TRIES = 3
"""Looks in which a message may fail before it is given up."""


class Cursors(Protocol):
    """Remembers how far Slack was heard; methods raise StoreError when the database fails."""

    async def note(self, moment: datetime) -> None:
        """Keep the moment up to which a look took everything in."""
        ...

    async def last(self) -> datetime | None:
        """Return the latest such moment; None before the first connection ever."""
        ...

    async def positions(self) -> Mapping[str, int]:
        """Return the position of the latest question by channel."""
        ...

    async def threads(self, workspace: str, since: datetime) -> Sequence[tuple[str, str]]:
        """Return the channel and first message of the threads a user asked in since then."""
        ...

    async def questions(self, since: datetime) -> Sequence[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class _Look:
    """What is looked through, and how."""

    since: datetime
    """By Slack's clock."""
    begun: datetime
    """By this machine's."""
    after_pause: bool
    """Whether nothing was heard before it began, and people wait for it."""
    asked: Sequence[PlacedQuestion]
    """Questions that were in the inbox before anything was read."""


class CatchUp:
    """Looks through the history after each pause of the connection, and now and then besides.

    An event that is lost on its way leaves no trace, so that only a look knows up to when
    nothing was missed; all processes of an app note it in one place, and one of them looks. What
    was heard before is known by its key. Of what the rules passed over at its time nothing is
    answered later.
    """

    def __init__(
        self,
        *,
        workspaces: Workspaces,
        installations: Installations,
        events: Events,
        intake: Acceptor,
        unreadable: Unreadable,
        cursors: Cursors,
        is_listening: Callable[[], Awaitable[bool]],
        clock: PlatformClock | None = None,
    ) -> None:
        """Prepare to look.

        Args:
            intake: Knows of events that are not in the inbox yet.
            unreadable: Notes the messages that cannot be read.
            is_listening: Returns whether Slack could tell us something right now.
            clock: Slack's, which its history and the cursors go by.
        """
        self._workspaces = workspaces
        self._installations = installations
        self._events = events
        self._intake = intake
        self._unreadable = unreadable
        self._cursors = cursors
        self._is_listening = is_listening
        self._clock = clock or PlatformClock(PLATFORM)
        self._begun: datetime | None = None
        self._wanted = asyncio.Event()
        self._rest = _LOOKS_EVERY
        self._rested_at = time.monotonic() + self._rest
        self._failed_before = dict[tuple[str, str], int]()
        self._failed = dict[tuple[str, str], int]()
        """In how many looks in a row, by the channel and time of a message."""

    def begin(self) -> None:
        """Have the history looked through: from now on everything is heard again."""
        self._begun = now()
        self._wanted.set()

    async def run(self) -> None:
        """Look when there was a pause, and every few minutes besides; never ends."""
        while True:
            try:
                async with asyncio.timeout(_AWAKE_EVERY):
                    await self._wanted.wait()
            except TimeoutError:
                await self._look_if_due()
            else:
                self._wanted.clear()
                await self._look_after_pause()

    async def _look_after_pause(self) -> None:
        begun = self._begun
        if begun is None:
            return  # another pause was looked through since this look was put off
        if not await self._look(begun, after_pause=True):
            asyncio.get_running_loop().call_later(_AGAIN_IN, self._wanted.set)
        elif self._begun == begun:
            self._begun = None

    async def _look_if_due(self) -> None:
        """Look, unless a process did of late, this one rests, or another look is due."""
        if self._begun is not None or time.monotonic() < self._rested_at:
            return
        try:
            last = await self._cursors.last()
        except StoreError as error:
            logger.warning("it is not known how far Slack was heard: %s", error)
            return
        is_due = last is None or self._clock.theirs(now()) - last >= timedelta(seconds=self._rest)
        if is_due and await self._is_listening():
            await self._look(now(), after_pause=False)

    async def _look(self, begun: datetime, *, after_pause: bool) -> bool:
        """Look through what was said up to a moment; False: that could not be read to its end."""
        try:
            last = await self._cursors.last()
            if last is None:  # nothing of what was said before is for us
                await self._cursors.note(self._clock.theirs(begun))
                return True
            since = max(last - _MARGIN, self._clock.theirs(begun) - FURTHEST_BACK)
            asked = await self._settled_questions(since)
            await self._look_through(_Look(since, begun, after_pause, asked))
            await self._note(begun)
        except (StoreError, DeliveryError) as error:
            logger.warning("the history could not be read to its end: %s", error)
            return False
        except Exception as error:
            detail = without_text(error)
            logger.error("the history cannot be read, %s", place_of(error), exc_info=detail)
            return False
        finally:
            self._rested_at = time.monotonic() + self._rest
        return True

    async def _settled_questions(self, since: datetime) -> list[PlacedQuestion]:
        """Return the questions whose messages must stand in the history if they are there."""
        settled = self._clock.theirs(now()) - _MARGIN
        asked = await self._cursors.questions(self._clock.ours(since) - LOOKED_BACK)
        return [q for q in asked if moment_of(str(q.message)) < settled]

    async def _note(self, begun: datetime) -> None:
        """Keep that everything is in the inbox up to a look, unless a later one is to make sure."""
        are_given_up = all(tries >= _MOST_TRIES for tries in self._failed.values())
        if are_given_up and not self._intake.waiting:
            await self._cursors.note(self._clock.theirs(begun))

    async def _look_through(self, look: _Look) -> None:
        positions = await self._cursors.positions()
        self._failed_before, self._failed = self._failed, {}
        count, longest, failure = 0, 0.0, None
        for place in await self._installations.places():
            started = time.monotonic()
            try:
                count += await self._of_place(place, look, positions)
            except DeliveryError as error:  # the others are not to wait for it
                logger.warning("the history of %s cannot be read: %s", place, error)
                failure = failure if error.permanent else error
            longest = max(longest, time.monotonic() - started)
        self._rest = max(_LOOKS_EVERY, _RESTS * longest)
        if failure is not None:
            raise failure
        logger.info("looked through %d messages for missed ones", count)

    async def _of_place(self, place: str, look: _Look, positions: Mapping[str, int]) -> int:
        installed = await self._installations.find(place, None)
        if installed is None or installed.place != place or place == installed.organisation:
            logger.info("the history of %s is not read", place)
            return 0
        return await self._of_workspace(installed, look, positions)

    async def _of_workspace(
        self, installed: Installed, look: _Look, positions: Mapping[str, int]
    ) -> int:
        """Take in what a workspace missed, and return how many messages there were.

        Channels in which a user asked of late come first.
        """
        team, count = installed.place, 0
        pause = 0.0 if look.after_pause else _BETWEEN_CALLS
        history = History(
            self._workspaces, (team, installed.organisation), self._unreadable, pause=pause
        )
        threads = defaultdict[str, set[str]](set)
        for channel_id, root in await self._cursors.threads(team, look.begun - _THREADS_BACK):
            threads[channel_id].add(root)
        channels = await history.channels()
        for channel in sorted(channels, key=lambda c: -positions.get(str(c["id"]), 0)):
            channel_id = str(channel["id"])
            origin = Origin(
                team=team,
                enterprise=installed.organisation,
                me=installed.bot_user,
                bot=installed.bot,
                shared=bool(channel.get("is_ext_shared")),
            )
            listening_since = look.begun if look.after_pause else now()
            try:
                read = await history.since(channel_id, look.since, threads[channel_id])
            except DeliveryError as error:
                if not error.permanent:
                    raise
                logger.warning("a channel's history cannot be read: %s", error)
                continue
            deleted, edited = _changed(read, channel_id, team, look)
            for message in [*edited, *read.messages]:
                count += 1
                event = {**message, "channel": channel_id}
                with self._unreadable.contained(HISTORY, message["ts"]):
                    if not await self._events.missed(event, origin, listening_since):
                        self._keep_failed(channel_id, message["ts"])
            for ts in deleted:
                if not await self._events.deleted(channel_id, ts, origin):
                    self._keep_failed(channel_id, ts)
        return count

    def _keep_failed(self, channel: str, ts: str) -> None:
        tries = self._failed_before.get((channel, ts), 0) + 1
        self._failed[channel, ts] = tries
        if tries == _MOST_TRIES:
            logger.error("a message is given up: it could not be taken in by %d looks", tries)


def _changed(
    read: Read, channel: str, team: str, look: _Look
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the questions of a channel that are gone, and those edited that are no news.

    Of a first message that was deleted, Slack leaves a tombstone where its thread has replies.
    """
    keys = {message_key(team, channel, str(q.message)): q for q in look.asked}
    threads = {str(q.message): q.thread for key, q in keys.items() if q.key == key}
    there = {ts: m for ts, m in read.there.items() if m.get("subtype") != "tombstone"}
    edited_at = {ts: _edited_at(message) for ts, message in there.items()}
    found = [*changed_in(threads, edited_at, lambda ts: read.covers(ts, threads[ts]), look.since)]
    deleted = [ts for ts in found if ts not in there]
    return deleted, [there[ts] for ts in found if ts in there and moment_of(ts) <= look.since]


def _edited_at(message: Mapping[str, Any]) -> datetime | None:
    ts = (message.get("edited") or {}).get("ts")
    return None if ts is None else moment_of(str(ts))


class SlackCursors(ReadCursor):
    """Keeps how far Slack was heard, and where something may have been said since."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        super().__init__(inbox, PLATFORM)
        self._places = places

    async def positions(self) -> Mapping[str, int]:
        """Return the position of the latest question by channel."""
        return await self._inbox.cursors(PLATFORM)

    async def threads(self, workspace: str, since: datetime) -> Sequence[tuple[str, str]]:
        """Return the channel and first message of the threads a user asked in since then."""
        found = await self._places.threads(PLATFORM, workspace, since)
        return [(channel, thread) for channel, thread in found if _TS.fullmatch(thread)]

    async def questions(self, since: datetime) -> Sequence[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        return await self._places.asked_since(PLATFORM, since, MOST_QUESTIONS)


_TS = re.compile(r"\d+\.\d+")
