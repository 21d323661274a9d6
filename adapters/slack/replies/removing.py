"""Takes answers back, and messages that no worker knows to have posted."""

from collections.abc import Sequence
from datetime import timedelta

from adapters.slack.api.refusals import CANNOT_DELETE, CHANNEL_IS_CLOSED, Refused
from adapters.slack.api.rest import Json, Rest
from adapters.slack.replies.address import Address
from adapters.slack.replies.dedupe import strays, timestamp
from core.inbox.base import Job, request_id_for

_BEFORE = timedelta(minutes=5)
"""How far our clock and Slack's may differ where messages are looked for."""
_NO_SUCH_THREAD = CHANNEL_IS_CLOSED | {"thread_not_found", "missing_scope"}


async def retract(rest: Rest, job: Job) -> None:
    """Delete the messages posted for a job; what is gone is gone.

    Raises:
        DeliveryError: when Slack does not do it now.
    """
    address = Address.of(job)
    if address.ephemeral:
        return  # only its reader has it
    for message in reversed(job.posted.messages):
        await delete(rest, address.channel, timestamp(message))
    if address.posts_question and address.root is not None:
        await delete(rest, address.channel, address.root)


async def tidy(rest: Rest, job: Job) -> None:
    """Delete the bot's messages that answer a job's question other than those it knows.

    Raises:
        DeliveryError: when Slack does not do it now.
    """
    address = Address.of(job)
    if address.ephemeral:
        return
    known = {timestamp(message) for message in job.posted.messages}
    requests = {request_id_for(job.arrival.key)}
    if job.arrival.request is not None:
        requests.add(job.arrival.request.request_id)
    roots = {address.root, None} if address.posts_question else {address.root}
    for root in roots:
        messages = await messages_for(rest, job, root, patient=False)
        known_here = known | ({address.root} if address.root else set())
        found = strays(messages, await rest.me(), job.arrival.key, requests, known_here)
        for ts in found:
            await delete(rest, address.channel, ts)


async def messages_for(
    rest: Rest, job: Job, root: str | None, *, patient: bool = True
) -> Sequence[Json]:
    """Return the messages among which those of a job are: its thread's, or its channel's.

    What is closed to us has none.

    Args:
        patient: Whether to read on where Slack lets us read fifteen messages a minute.

    Raises:
        DeliveryError: when Slack does not tell now.
    """
    address = Address.of(job)
    since = address.question or f"{(job.accepted_at - _BEFORE).timestamp():.6f}"
    try:
        if root is None:
            return await rest.messages(address.channel, since, patient=patient)
        return await rest.replies(address.channel, root, since, patient=patient)
    except Refused as refusal:
        if refusal.word not in _NO_SUCH_THREAD:
            raise
        return ()


async def delete(rest: Rest, channel: str, ts: str) -> None:
    """Delete a message; what is gone or closed to us is no error.

    Raises:
        DeliveryError: when Slack does not do it now.
    """
    try:
        await rest.delete(channel, ts)
    except Refused as refusal:
        if refusal.word not in CANNOT_DELETE | CHANNEL_IS_CLOSED:
            raise
