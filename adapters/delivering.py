"""What is done for one job: an answer, a refusal, an answer anew, or its removal."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from adapters.base import ChatAdapter, PlatformReply, Reply
from adapters.keeping import Holding, noticed
from adapters.turn import take_turn
from core.agent import Agent
from core.errors import BotError, DeliveryError, RequestError, Stopped, StoreError
from core.grounding.wording import NOT_STORED
from core.inbox.base import Job, Kind, Posted
from core.models import AgentRequest, AgentResponse, now, session_id_for
from core.sessions.rows import FORGOTTEN_USER
from core.sessions.store import SessionStore

TOO_OLD = (
    "I am sorry: I could not answer this in time, and it may not matter any more. "
    "Please ask again if it does."
)
_STORE_TRIES = 3
"""How often a turn is tried again because the database failed, before its asker is told."""


class Delivery:
    """One job on its way; `stop` ends an answer that is being written."""

    def __init__(
        self, *, agent: Agent, adapter: ChatAdapter, sessions: SessionStore, holding: Holding
    ) -> None:
        self._agent = agent
        self._adapter = adapter
        self._sessions = sessions
        self._holding = holding
        self._answering: asyncio.Task[None] | None = None
        self._is_stopped = holding.job.stopped

    @property
    def key(self) -> str:
        """The key of the event."""
        return self._holding.job.arrival.key

    async def run(self, stale_after: timedelta) -> None:
        """Do what the job asks for; run again by whoever, it shows the same, once.

        Args:
            stale_after: The age at which a question is not answered any more.

        Raises:
            DeliveryError: when the platform does not take it.
            LeaseLost: when somebody else holds the job.
        """
        job, holding = self._holding.job, self._holding
        for request_id in job.earlier_requests:
            await holding.persist(partial(self._sessions.forget_turn, request_id))
        if job.earlier_requests:
            await holding.reach("turns forgotten")
        if job.arrival.user_id == FORGOTTEN_USER:
            for request_id in job.earlier_requests:
                await holding.persist(partial(self._sessions.forget_place, request_id))
        if job.arrival.kind is Kind.FORGET:
            await self._adapter.retract(job)
            await holding.reach("retracted")
            return
        if await self._is_stale(stale_after):
            job = replace(job, arrival=replace(job.arrival, request=None, refusal=TOO_OLD))
        await holding.reach("opening")
        reply = await self._adapter.open(job, holding)
        await holding.reach("opened")
        await self._answer(job, reply)

    def stop(self) -> None:
        """Tell the asker that the answer was stopped, unless it is stored already."""
        self._is_stopped = True
        if self._answering is not None:
            self._answering.cancel()

    def stored(self) -> None:
        """Note that the answer is stored: it will be shown, and cannot be stopped."""
        self._answering = None

    async def _answer(self, job: Job, reply: PlatformReply) -> None:
        watched = _WatchedReply(reply, self, self._holding)
        if job.arrival.request is None:
            refusal = job.arrival.refusal or BotError.user_message
            await watched.fail(RequestError(user_message=refusal))
            return
        request = in_its_thread(job.arrival.request, reply.posted)
        if self._is_stopped and not await self._is_stored(request):
            await watched.fail(Stopped())
            return
        answering = asyncio.create_task(self._take_turn(request, watched))
        answering.add_done_callback(noticed)
        self._answering = answering
        try:
            await asyncio.wait({answering})
        finally:
            self._answering = None
            if not answering.done():
                answering.cancel()
                await asyncio.wait({answering})
        if answering.cancelled():
            await watched.fail(Stopped())
        else:
            answering.result()

    async def _take_turn(self, request: AgentRequest, reply: Reply) -> None:
        complete = await self._adapter.complete(self._holding.job, request)
        await take_turn(self._agent, complete, reply)

    async def _is_stale(self, stale_after: timedelta) -> bool:
        """Return whether a question is too old to be answered, and was not before."""
        job = self._holding.job
        asked_at = job.arrival.sent_at or job.accepted_at
        if job.arrival.request is None or now() - asked_at < stale_after:
            return False
        return not await self._is_stored(job.arrival.request)

    async def _is_stored(self, request: AgentRequest) -> bool:
        turn = await self._holding.persist(partial(self._sessions.turn_of, request.request_id))
        return turn is not None


class _WatchedReply:
    """A platform's reply that tells how far it has come."""

    def __init__(self, reply: PlatformReply, delivery: Delivery, holding: Holding) -> None:
        self._reply = reply
        self._delivery = delivery
        self._holding = holding
        self._is_streaming = False

    async def reading(self, headings: Sequence[str]) -> None:
        """Pass on what is read."""
        await self._reply.reading(headings)

    async def update(self, delta: str) -> None:
        """Pass text on, and note that there is some."""
        if not self._is_streaming:
            self._is_streaming = True
            await self._holding.reach("streaming")
        await self._reply.update(delta)

    async def withdraw(self) -> None:
        """Pass on that nothing shown so far holds."""
        await self._reply.withdraw()

    async def finish(self, response: AgentResponse) -> None:
        """Pass the answer on; from now on it cannot be stopped.

        What could not be stored would be answered anew, and differently, in front of its
        reader: another try comes first.
        """
        if NOT_STORED in response.notices and self._holding.job.attempts < _STORE_TRIES:
            raise DeliveryError("the turn could not be stored")
        self._delivery.stored()
        await self._holding.reach("turn stored")
        await self._reply.finish(response)
        await self._holding.reach("answer shown")

    async def fail(self, error: BotError) -> None:
        """Pass a failure on, unless another try may help."""
        if isinstance(error, StoreError) and self._holding.job.attempts < _STORE_TRIES:
            raise DeliveryError("the database failed during the turn") from error
        await self._reply.fail(error)
        await self._holding.reach("refusal shown")


def in_its_thread(request: AgentRequest, posted: Posted) -> AgentRequest:
    """Return the request as part of the thread in which it is answered."""
    where = request.user_context
    if posted.thread is None or where.platform is None:
        return request
    session_id = session_id_for(
        where.platform, where.workspace or "", where.channel or "", posted.thread
    )
    context = where.model_copy(update={"thread": posted.thread})
    return request.model_copy(update={"session_id": session_id, "user_context": context})
