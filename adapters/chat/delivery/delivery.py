"""What is done for one job: an answer, a refusal, a new answer, or its removal."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.attention import OFFERED, meta_of
from adapters.chat.base import ChatAdapter, EarlierThread
from adapters.chat.delivery.job_lease import DONE, JobLease, backoff, noticed
from adapters.chat.delivery.streaming_reply import Outgoing
from adapters.chat.delivery.take_turn import take_turn
from adapters.chat.earlier_answers import (
    SEEN_AGAIN,
    PointedBack,
    about_last,
    answered_twin,
    unlink_all,
)
from core.answering.agent import Agent
from core.domain import AgentRequest, AgentResponse, Outcome, now, session_id_for
from core.domain.errors import BotError, DeliveryError, RequestError, Stopped, StoreError
from core.domain.i18n import text, use_locale
from core.storage.budgets import TokenBudgets
from core.storage.inbox import rows as offers
from core.storage.inbox.base import Job, Kind, Posted, Settlement, Twin
from core.storage.inbox.store import Inbox
from core.storage.sessions import FORGOTTEN_USER, SessionStore

if TYPE_CHECKING:
    pass

logger = logging.getLogger(__name__)


Checked = Callable[[Job], Awaitable[Job]]
Withdraw = Callable[[str], Awaitable[object]]
"""Takes back what was asked of the staff about a question, by the key of its event."""
_ABANDONING = 20.0
"""Seconds for telling the asker elsewhere that no answer comes."""
_HELPED = (Outcome.ANSWERED, Outcome.PARTIAL)


class Delivery:
    """One job on its way; `stop` ends an answer that is being written."""

    def __init__(
        self,
        *,
        agent: Agent,
        adapter: ChatAdapter,
        sessions: SessionStore,
        inbox: Inbox,
        lease: JobLease,
        checked: Checked,
        withdraw: Withdraw,
    ) -> None:
        """Prepare to deliver.

        Args:
            checked: Returns the job as it may be answered now; raises StoreError.
            withdraw: Is called for a question that was edited or deleted; raises StoreError.
        """
        self._withdraw = withdraw
        self._agent = agent
        self._adapter = adapter
        self._sessions = sessions
        self._inbox = inbox
        self._lease = lease
        self._checked = checked
        self._answering: asyncio.Task[None] | None = None
        self._is_stopped = lease.job.stopped
        self._stands_alone = False

    @property
    def key(self) -> str:
        """The key of the event."""
        return self._lease.job.arrival.key

    async def run(self, stale_after: timedelta) -> None:
        """Do what the job asks for; run again by any worker, it shows the same, once.

        Args:
            stale_after: The age at which a question is not answered any more.

        Raises:
            DeliveryError: when the platform does not take it.
            LeaseLost: when another worker holds the job.
            TwinWaits: when the same question is being answered: it is to be put back.
        """
        job, lease = self._lease.job, self._lease
        for request_id in job.earlier_requests:
            await lease.persist(partial(self._sessions.forget_turn, request_id))
        if job.earlier_requests:
            await lease.reach("turns forgotten")
        if job.arrival.user_id == FORGOTTEN_USER:
            for request_id in job.earlier_requests:
                await lease.persist(partial(self._sessions.forget_place, request_id))
        if job.arrival.kind.is_reaction:
            await self._react()
            return
        if job.arrival.kind in (Kind.REDO, Kind.FORGET):
            assert job.arrival.about is not None, "a change is about a question"
            await lease.persist(partial(self._withdraw, job.arrival.about))
            await lease.persist(partial(unlink_all, self._inbox, job.arrival))
            await lease.reach("unlinked")
        if job.arrival.kind is Kind.FORGET:
            lease.settlement = Settlement.REMOVED
            await self._adapter.retract(job)
            await lease.reach("retracted")
            return
        if await self._is_stale(stale_after):
            late = replace(job.arrival, request=None, refusal=text("asking-too-old"))
            job = replace(job, arrival=replace(late, settles=Settlement.APOLOGISED))
        else:
            job = await lease.persist(partial(self._checked, job))
        outgoing = Outgoing(self._adapter, job, lease, self.decided, self._earlier)
        try:
            await self._answer(job, outgoing)
        finally:
            await outgoing.close()

    async def _react(self) -> None:
        """Show the reaction that a message gets, unless it is too late for an offer."""
        job, lease = self._lease.job, self._lease
        is_offer = job.arrival.kind is Kind.OFFER
        if is_offer and now() - (job.arrival.sent_at or job.accepted_at) > offers.LASTS:
            lease.settlement = Settlement.PASSED_OVER
            return
        await self._adapter.react(job)
        lease.settlement = Settlement.OFFERED if is_offer else Settlement.THANKED
        await lease.reach("reacted")

    @property
    def owes_apology(self) -> bool:
        """Whether the asker is to read something, and has not been sent it for sure."""
        kind = self._lease.job.arrival.kind
        return not (kind.is_reaction or kind is Kind.FORGET or self._lease.is_settled)

    async def apologise(self) -> None:
        """Show the asker that something went wrong, in place of whatever was shown so far.

        Raises:
            DeliveryError, LeaseLost: as `run` does.
        """
        outgoing = Outgoing(
            self._adapter, self._lease.job, self._lease, self.decided, self._earlier
        )
        try:
            await outgoing.tell(Settlement.APOLOGISED, BotError.user_message)
        finally:
            await outgoing.close()

    async def abandon(self, error: DeliveryError) -> None:
        """Tell the asker elsewhere that the place takes no answer; raises LeaseLost.

        The platform's messages are known no more: the janitor removes those that are left.
        """
        lease = self._lease
        kind = lease.job.arrival.kind
        is_due = not lease.is_settled or lease.was_refused
        if not error.permanent or kind.is_reaction or kind is Kind.FORGET or not is_due:
            return
        job = replace(lease.job, posted=lease.posted)
        try:
            async with asyncio.timeout(_ABANDONING):
                with use_locale(job.arrival.locale):
                    await self._adapter.abandon(job, error)
        except (DeliveryError, TimeoutError) as why:
            logger.warning("the asker of %s cannot be told: %s", self.key, why)
        except Exception:
            logger.exception("the asker of %s could not be told", self.key)
        if lease.posted.messages and not lease.is_settled:
            await lease.keep(replace(lease.posted, messages=()))

    def stop(self) -> None:
        """Show the asker that the answer was stopped, unless it is decided what is shown."""
        self._is_stopped = True
        if self._answering is not None:
            self._answering.cancel()

    def decided(self) -> None:
        """Note that it is certain what is shown, be it an answer or not: it cannot be stopped."""
        self._answering = None

    async def _answer(self, job: Job, outgoing: Outgoing) -> None:
        if job.arrival.address.get(OFFERED):
            with suppress(DeliveryError):  # it has served; the answer counts
                await self._adapter.unreact(job)
        if job.arrival.request is None:
            refusal = job.arrival.refusal or BotError.user_message
            await outgoing.tell(job.arrival.settles, refusal)
            return
        request = in_its_thread(job.arrival.request, job.posted)
        if again := SEEN_AGAIN.get(meta_of(job.arrival)):
            request = request.model_copy(update={"again": again})
        with use_locale(request.user_context.locale):
            if (back := await self._about_last(job, request)) is not None:
                await outgoing.tell(Settlement.POINTED_BACK, back.sentence, back.link)
                return
        is_stored = await self._is_stored(request)
        if self._is_stopped and not is_stored:
            await outgoing.fail(Stopped())
            return
        twin = None if is_stored else await self._twin(job)
        if self._is_stopped and not is_stored:  # meanwhile
            await outgoing.fail(Stopped())
            return
        answering = asyncio.create_task(self._take_turn(request, twin, outgoing))
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
            await outgoing.fail(Stopped())
        else:
            answering.result()

    async def _about_last(self, job: Job, request: AgentRequest) -> PointedBack | None:
        """Return what is said of the last answer, where that is asked; None: it is not.

        Of an answer from another course nothing is said: it may be closed to the asker by now.
        """
        intent = meta_of(job.arrival)
        if intent is None or request.again is not None or request.session_id is None:
            return None
        last = await self._lease.persist(partial(self._sessions.latest, request.session_id))
        if last is None or last.agent_response.course_id != request.course_id:
            return None
        is_answer = last.outcome is not Outcome.ERROR and not last.agent_response.asks_nothing
        return about_last(intent, last) if is_answer else None

    async def _twin(self, job: Job) -> Twin | None:
        """Return the answered one of a crowd; raises TwinWaits, as `answered_twin` does."""
        return await self._lease.persist(partial(answered_twin, self._inbox, job))

    async def _take_turn(
        self, request: AgentRequest, twin: Twin | None, outgoing: Outgoing
    ) -> None:
        try:
            complete = await self._adapter.complete(self._lease.job, request)
        except RequestError as error:
            await outgoing.fail(error)
            return
        self._stands_alone = _asks_the_same(complete, request)
        if twin is not None and self._stands_alone:
            back = await self._of_twin(twin)
            if back is not None:
                self._lease.linked_to = twin.key if back.link is not None else None
                await outgoing.tell(Settlement.POINTED_BACK, back.sentence, back.link)
                return

        def placed(asked: AgentRequest) -> AgentRequest:
            return in_its_thread(asked, outgoing.posted)

        await take_turn(self._agent, complete, outgoing, placed)

    async def _of_twin(self, twin: Twin) -> PointedBack | None:
        """Return what leads to a twin's answer; that of an abstention says the same itself."""
        turn = await self._lease.persist(partial(self._sessions.turn_of, twin.request_id))
        if turn is None or turn.outcome is Outcome.ERROR:
            return None
        if turn.outcome is Outcome.ABSTAINED:
            return PointedBack(turn.agent_response.response_text, None)
        link = await self._adapter.link(self._lease.job, twin)
        return None if link is None else PointedBack(text("speaking-crowd"), link)

    async def _earlier(self, response: AgentResponse) -> EarlierThread | None:
        """Return where the same question was answered before in the same channel.

        Below what a policy allows nothing is shown: what was said before may be more.
        """
        is_error = response.outcome is Outcome.ERROR
        if not self._stands_alone or is_error or response.held_to is not None:
            return None
        twin = await self._lease.persist(partial(self._inbox.asked_before, self._lease.job))
        if twin is None or not twin.messages:
            return None
        turn = await self._lease.persist(partial(self._sessions.turn_of, twin.request_id))
        if turn is None or turn.user_id == FORGOTTEN_USER or turn.outcome not in _HELPED:
            return None
        link = await self._adapter.link(self._lease.job, twin)
        return None if link is None else EarlierThread(link, twin.asked_at)

    async def _is_stale(self, stale_after: timedelta) -> bool:
        """Return whether a question is too old to be answered, and was not before."""
        job = self._lease.job
        asked_at = job.arrival.sent_at or job.accepted_at
        if job.arrival.request is None or now() - asked_at < stale_after:
            return False
        return not await self._is_stored(job.arrival.request)

    async def _is_stored(self, request: AgentRequest) -> bool:
        turn = await self._lease.persist(partial(self._sessions.turn_of, request.request_id))
        return turn is not None


def _asks_the_same(complete: AgentRequest, request: AgentRequest) -> bool:
    """Return whether a question is about nothing that its words alone do not say."""
    return all(
        getattr(complete, name) == getattr(request, name)
        for name in ("query_text", "selected_text", "thread_messages", "may_mean")
    )


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


_GIVEN_UP_AFTER = timedelta(hours=6)
"""How long a platform may refuse an answer."""


async def finish(lease: JobLease) -> None:
    """End a job that was delivered."""
    job = lease.job
    await lease.settle()
    await lease.reach("finished")
    lease.ended(DONE)
    seconds = (now() - job.accepted_at).total_seconds()
    logger.info(
        "%s (%s) %s %.2f s after it came, fence %d",
        *(job.arrival.key, job.arrival.kind, lease.settlement, seconds, job.fence),
    )


async def retry_later(inbox: Inbox, lease: JobLease, error: DeliveryError) -> None:
    """Have a delivery that failed tried again after a while, unless that is useless."""
    job = lease.job
    if lease.is_settled:
        if lease.was_refused:
            logger.warning("the asker of %s was not told: %s", job.arrival.key, error)
            await note_unsent(inbox, lease)
        else:
            logger.warning("the asker of %s may not have been told: %s", job.arrival.key, error)
            lease.ended(DONE)
        return
    if error.permanent or now() - job.accepted_at > _GIVEN_UP_AFTER:
        logger.warning("%s cannot be delivered: %s", job.arrival.key, error)
        await give_up(inbox, lease)
        return
    wait = backoff(job.attempts, error.retry_after)
    logger.info("%s is tried again in %.1f s: %s", job.arrival.key, wait, error)
    later = timedelta(seconds=wait)
    await lease.persist(partial(inbox.release, job, later, failed=True))
    await lease.reach("released")
    lease.ended("retried")


async def put_back(inbox: Inbox, lease: JobLease, seconds: float) -> None:
    """Have a job that nothing was done for claimed again after a while."""
    later = timedelta(seconds=seconds)
    await lease.persist(partial(inbox.release, lease.job, later))
    await lease.reach("released")
    lease.ended("released")


async def give_up(inbox: Inbox, lease: JobLease) -> None:
    """End a job that cannot be delivered."""
    await lease.persist(partial(inbox.give_up, lease.job))
    await lease.reach("given up")
    lease.ended("given_up")


async def note_unsent(inbox: Inbox, lease: JobLease) -> None:
    """Note that a job was settled, and that its platform then took nothing."""
    try:
        await inbox.note_unsent(lease.job)
    except StoreError as error:
        logger.warning("%s counts as delivered: %s", lease.job.arrival.key, error)
    await lease.reach("given up")
    lease.ended("given_up")


async def lost(inbox: Inbox, sessions: SessionStore, budgets: TokenBudgets, job: Job) -> None:
    """Have the janitor look for what we posted unseen; keep nothing that was to be forgotten.

    We may have stored a turn, and counted its tokens, after whatever has forgotten them.
    """
    request, user_id = job.arrival.request, job.arrival.user_id
    try:
        is_forgotten = await inbox.mark_ambiguous(job)
        if request is not None and (is_forgotten or await inbox.is_overtaken(job)):
            await sessions.forget_turn(request.request_id)
        if request is not None and is_forgotten:
            await sessions.forget_place(request.request_id)
            await budgets.forget_user(user_id)  # once more: it may be another day
        if await inbox.of_key(job.arrival.key) is None:  # its workspace took the bot out
            await sessions.forget_user(user_id)
            await budgets.delete_user(user_id)
    except StoreError as error:
        logger.warning("%s may have left a message: %s", job.arrival.key, error)
