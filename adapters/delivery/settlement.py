"""What becomes of a job after its delivery: finished, tried again, given up or lost."""

import logging
from datetime import timedelta
from functools import partial

from adapters.delivery.job_lease import DONE, JobLease
from adapters.delivery.resending import backoff
from core.errors import DeliveryError, StoreError
from core.inbox.base import Job
from core.inbox.store import Inbox
from core.models import now
from core.storage.budgets.store import TokenBudgets
from core.storage.sessions.store import SessionStore

logger = logging.getLogger(__name__)

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
