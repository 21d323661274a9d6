"""Takes answers back, and messages that no worker knows to have posted."""

from collections.abc import Sequence

from adapters.discord.address import Address
from adapters.discord.posting import strays
from adapters.discord.refusals import (
    CHANNEL_IS_CLOSED,
    THREAD_ARCHIVED,
    UNKNOWN_MESSAGE,
    Refused,
)
from adapters.discord.rest import Json, Rest
from core.inbox.base import Job, request_id_for


async def retract(rest: Rest, job: Job) -> None:
    """Delete the messages posted for a job; what is gone is gone.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    address = Address.of(job)
    for part, message in reversed(list(enumerate(job.posted.messages))):
        await delete(rest, address.channel_of(part, job.posted), message)


async def tidy(rest: Rest, job: Job) -> None:
    """Delete messages of ours that answer a job's question beside those it knows.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    address = Address.of(job)
    requests = {request_id_for(job.arrival.key)}
    if job.arrival.request is not None:
        requests.add(job.arrival.request.request_id)
    thread = int(job.posted.thread) if job.posted.thread else None
    for channel in {address.channel, thread or address.channel}:
        found = strays(
            await _messages(rest, channel, job.arrival.position),
            rest.me,
            job.posted.messages,
            requests=requests,
            question=address.question,
            own_thread=channel == thread,
        )
        for message in found:
            await delete(rest, channel, message)


async def delete(rest: Rest, channel: int, message: str) -> None:
    """Delete a message, also in an archived thread; what is gone or closed to us is no error.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    try:
        try:
            await rest.delete(channel, message)
        except Refused as refusal:
            if refusal.code != THREAD_ARCHIVED:
                raise
            await rest.unarchive(channel)
            await rest.delete(channel, message)
    except Refused as refusal:
        if refusal.code not in {UNKNOWN_MESSAGE, *CHANNEL_IS_CLOSED}:
            raise


async def _messages(rest: Rest, channel: int, behind: int) -> Sequence[Json]:
    try:
        return await rest.messages_after(channel, behind)
    except Refused as refusal:
        if refusal.code not in CHANNEL_IS_CLOSED:
            raise
        return ()
