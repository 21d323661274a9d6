"""What is sent about one question: an answer where it belongs, or a sentence to its asker."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from adapters.base import ChatAdapter, EarlierThread, PlatformReply
from adapters.delivery.job_lease import JobLease, noticed
from adapters.nearest_sections import Nearest
from core.errors import BotError, DeliveryError, StoreError, UnknownSection
from core.i18n import current_language, in_language, text
from core.inbox.audience import Audience, Settlement, settled_by, settled_with
from core.inbox.base import Job, Posted
from core.models import AgentResponse

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
