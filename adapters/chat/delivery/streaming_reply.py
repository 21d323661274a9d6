"""What is sent about one question: an answer where it belongs, or a sentence to its asker."""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from adapters.chat.base import ChatAdapter, EarlierThread, Nearest, PlatformReply
from adapters.chat.delivery.job_lease import JobLease, noticed
from core.domain import AgentResponse
from core.domain.errors import BotError, DeliveryError, StoreError, UnknownSection
from core.domain.i18n import current_language, in_language, text
from core.storage.inbox.base import Audience, Job, Posted, Settlement, settled_by, settled_with

logger = logging.getLogger(__name__)


_STORE_TRIES = 3
"""How often a turn is tried again because the database failed, before its asker is notified."""


class Outgoing:
    """What the asker gets: an answer where the question belongs, or a sentence to them alone.

    Nothing is shown until `Answerable` says that the request is not refused. When the answer fails
    or is stopped after that, `tell` removes or replaces what stood there.
    """

    def __init__(
        self,
        adapter: ChatAdapter,
        job: Job,
        lease: JobLease,
        decided: Callable[[], None],
        earlier: Callable[[AgentResponse], Awaitable[EarlierThread | None]],
    ) -> None:
        """Prepare to send.

        Args:
            decided: Called when it is certain what is shown: it cannot be stopped any more.
            earlier: Returns where the question of an answer was answered before.
        """
        self._earlier = earlier
        self._adapter = adapter
        self._job = job
        self._decided = decided
        self._lease = lease
        self._opening: asyncio.Task[PlatformReply] | None = None
        self._is_streaming = False

    @property
    def posted(self) -> Posted:
        """What the platform has by now."""
        return self._lease.posted

    async def begin(self) -> None:
        """Show that an answer is being written."""
        await self._reply()

    async def reading(self, headings: Sequence[str]) -> None:
        """Pass on what is read."""
        await (await self._reply()).reading(headings)

    async def update(self, delta: str) -> None:
        """Pass text on, and note that there is some."""
        reply = await self._reply()
        if not self._is_streaming:
            self._is_streaming = True
            await self._lease.reach("streaming")
        await reply.update(delta)

    async def withdraw(self) -> None:
        """Pass on that nothing shown so far holds."""
        await (await self._reply()).withdraw()

    async def finish(self, response: AgentResponse) -> None:
        """Pass the answer on, or tell what it is instead; from now on it cannot be stopped.

        What could not be stored would be answered again, and differently, in front of its
        reader: another try comes first.
        """
        if (
            text("notice-not-stored") in response.notices
            and self._lease.job.attempts < _STORE_TRIES
        ):
            raise DeliveryError("the turn could not be stored")
        self._decided()
        await self._lease.reach("turn stored")
        settlement = settled_with(response.outcome)
        if settlement.audience is Audience.ASKER:
            await self.tell(settlement, response.response_text)
            return
        if response.asks_nothing and self._opening is None:
            self._job = _without_thread(self._job)
        await (await self._reply()).finish(response, await self._earlier(response))
        await self._lease.reach("answer shown")

    async def fail(self, error: BotError) -> None:
        """Show a failure to the asker, unless another try may help."""
        if isinstance(error, StoreError) and self._lease.job.attempts < _STORE_TRIES:
            raise DeliveryError("the database failed during the turn") from error
        if isinstance(error, UnknownSection) and (near := self._near(error)) is not None:
            bare = in_language(error.bare, current_language())
            await self.tell(settled_by(error), bare, nearest=near)
            return
        await self.tell(settled_by(error), error.user_message)

    def _near(self, error: UnknownSection) -> Nearest | None:
        """Return the sections to ask within instead; None: none comes near."""
        request = self._job.arrival.request
        return Nearest(request.request_id, error.nearest) if request and error.nearest else None

    async def tell(
        self,
        settlement: Settlement,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Send the asker a sentence that settles the question, in place of what was shown.

        From now on it cannot be stopped: that would be sent as well.
        """
        self._decided()
        if self._opening is not None:
            with suppress(DeliveryError):  # what was posted unseen, the janitor finds
                await (await asyncio.shield(self._opening)).leave()
        self._lease.settlement = settlement
        refusal = self._lease.job.arrival.refusal
        arrival = replace(self._job.arrival, refusal=refusal)
        job = replace(self._job, arrival=arrival, posted=self.posted)
        await self._adapter.tell(job, self._lease, sentence, link, nearest)
        await self._lease.reach("refusal shown")

    async def close(self) -> None:
        """Open nothing any more."""
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
            await asyncio.wait({self._opening})

    async def _reply(self) -> PlatformReply:
        """Return the way to the reader, opened once; who stops waiting for it does not end it."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(noticed)
        return await asyncio.shield(self._opening)

    async def _open(self) -> PlatformReply:
        await self._lease.reach("opening")
        reply = await self._adapter.open(self._job, self._lease)
        await self._lease.reach("opened")
        return reply


def _without_thread(job: Job) -> Job:
    """Return a job that opens no thread: nobody goes on from what asked nothing of the book."""
    address = {**job.arrival.address, "open_thread": False}
    return replace(job, arrival=replace(job.arrival, address=address))


Content = TypeVar("Content")


class Throttle(Generic[Content]):
    """Passes on the newest of many contents, and the last one without fail.

    The first content is passed on at once. What comes faster than the interval is left out,
    save for the newest, which follows when the interval is over, whatever waits meanwhile.
    Two edits are never under way at the same time.
    """

    def __init__(
        self,
        edit: Callable[[Content], Awaitable[None]],
        *,
        interval: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare to pass contents on.

        Args:
            edit: Shows a content in place of the one before.
            interval: Seconds at least between the starts of two edits.
        """
        self._edit = edit
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._newest: list[Content] = []
        self._edited_at = -float("inf")
        self._passing: asyncio.Task[None] | None = None
        self._is_waiting = False
        self._is_held = False
        self._failure: BotError | None = None

    async def show(self, content: Content, *, after: float = 0.0) -> None:
        """Show the content soon, unless a newer one comes before; waits for no edit.

        An edit that fails for now is left out: the next one shows more anyway.

        Args:
            after: Seconds for which the content is held back; what follows waits neither for
                it nor for an interval after it.

        Raises:
            BotError: what an edit failed with, when no later one can succeed either.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        self._newest = [content]
        if self._is_held and self._passing is not None:
            self._passing.cancel()
        elif self._passing is not None and not self._passing.done():
            return
        self._is_held = after > 0
        self._passing = asyncio.create_task(self._pass_on(after))

    async def finish(self, content: Content) -> None:
        """Show the content at once, after the edit that is under way; nothing follows it.

        Raises:
            BotError: what showing it failed with; an earlier edit's failure is of no account.
        """
        await self.stop()
        await self._edit(content)

    async def stop(self) -> None:
        """Leave out what was not shown yet, and wait for the edit that is under way."""
        self._newest = []
        passing, self._passing = self._passing, None
        if passing is None:
            return
        if self._is_waiting:
            passing.cancel()
        await asyncio.wait({passing})

    async def _pass_on(self, after: float) -> None:
        await self._wait_until(self._clock() + after)
        while self._newest:
            await self._wait_until(self._edited_at + self._interval)
            if self._newest:
                await self._pass(self._newest.pop())

    async def _pass(self, content: Content) -> None:
        started, was_held, self._is_held = self._clock(), self._is_held, False
        if not was_held:
            self._edited_at = started
        try:
            await self._edit(content)
        except DeliveryError as error:
            if error.permanent:
                self._failure = error
            self._edited_at = started + (error.retry_after or 0.0)
        except BotError as error:  # for the caller that shows the next content
            self._failure = error

    async def _wait_until(self, moment: float) -> None:
        self._is_waiting = True
        try:
            while (wait := moment - self._clock()) > 0:
                await self._sleep(wait)
        finally:
            self._is_waiting = False


Shows = TypeVar("Shows", contravariant=True)

_READING_AFTER = 0.4
"""Seconds without text until readers see what is read; most answers need no such line."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """How far an answer has come."""

    text: str
    headings: tuple[str, ...]
    """The sections that are read, best first; to be shown as long as there is no text."""


class Messages(Protocol[Shows]):
    """The messages that show one answer."""

    @property
    def posted(self) -> Posted:
        """What the platform has of it so far."""
        ...

    async def show(self, part: int, post: Shows) -> None:
        """Show the post as this part of the answer; raises DeliveryError."""
        ...

    async def cut(self, parts: int) -> None:
        """Show nothing after this many parts."""
        ...

    def close(self) -> None:
        """Note that nothing more will be shown."""
        ...


class StreamingReply(ABC, Generic[Content]):
    """What the replies of all chat platforms do alike; `Content` is what one message shows."""

    def __init__(
        self, job: Job, messages: Messages[Content], *, longest: int, interval: float
    ) -> None:
        """Prepare to show an answer.

        Args:
            longest: Characters of a growing answer after which nothing is added any more.
            interval: Seconds between two edits while it grows.
        """
        self._job = job
        self._messages = messages
        self._longest = longest
        self._text = ""
        self._headings: tuple[str, ...] = ()
        self._pacing = Throttle(self._edit, interval=interval)

    @property
    def posted(self) -> Posted:
        """What the platform has of the answer so far."""
        return self._messages.posted

    async def reading(self, headings: Sequence[str]) -> None:
        """Say which sections are read, unless there is text soon."""
        self._headings = tuple(headings)
        await self._pacing.show(self._unfinished, after=_READING_AFTER)

    async def update(self, delta: str) -> None:
        """Show some more of the answer, soon."""
        is_full = len(self._text) > self._longest
        self._text += delta
        if not is_full:
            await self._pacing.show(self._unfinished)

    async def withdraw(self) -> None:
        """Show no text any more, and what follows from the beginning."""
        self._text = ""
        await self._pacing.show(self._unfinished)

    async def finish(self, response: AgentResponse, earlier: EarlierThread | None = None) -> None:
        """Show the finished answer, in as many messages as it needs."""
        await self._show_all(await asyncio.to_thread(self._answer, response, earlier))

    async def leave(self) -> None:
        """Show nothing more."""
        await self._pacing.stop()
        self._messages.close()

    @abstractmethod
    def _answer(self, response: AgentResponse, earlier: EarlierThread | None) -> Sequence[Content]:
        """Return the messages of an answer; takes some hundredths of a second of computing."""

    @abstractmethod
    async def _grow(self, unfinished: Unfinished) -> None:
        """Show an unfinished answer; raises DeliveryError."""

    @property
    def _unfinished(self) -> Unfinished:
        return Unfinished(self._text, self._headings)

    async def _edit(self, unfinished: Unfinished) -> None:
        """Show unfinished text; what is not taken now, a later edit makes good."""
        try:
            await self._grow(unfinished)
        except DeliveryError as error:
            if error.permanent:
                raise
            logger.debug("an edit of a growing answer was left out: %s", error)

    async def _show_all(self, posts: Sequence[Content]) -> None:
        await self._pacing.stop()
        for part, post in enumerate(posts):
            await self._messages.show(part, post)
        await self._messages.cut(len(posts))
        self._messages.close()
