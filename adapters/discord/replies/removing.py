"""Takes answers back, and messages that no worker knows to have posted."""

import asyncio
import logging
from collections.abc import Sequence

import discord

from adapters.discord.api.refusals import (
    CHANNEL_IS_CLOSED,
    THREAD_ARCHIVED,
    TOKEN_IS_DEAD,
    UNKNOWN_MESSAGE,
    Refused,
)
from adapters.discord.api.rest import Json, Rest
from adapters.discord.replies.address import EARLY_PAUSE, MOST_EARLY, Address, Response
from adapters.discord.replies.dedupe import strays
from core.errors import DeliveryError
from core.i18n import text
from core.inbox.base import Job, request_id_for

logger = logging.getLogger(__name__)

_EPHEMERAL = discord.MessageFlags(ephemeral=True).value


async def retract(rest: Rest, job: Job) -> None:
    """Delete the messages posted for a job, and put the thread on one of the bot's away.

    What is gone is gone. The thread is named by the question, and others may have written in it:
    it gets another name, and is archived.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    address = Address.of(job)
    thread = int(job.posted.thread) if job.posted.thread and address.question is None else None
    for part, message in reversed(list(enumerate(job.posted.messages))):
        if part == 0 and thread is not None:
            await _put_away(rest, thread)  # last in it: deleting in it would open it again
        await delete(rest, address.channel_of(part, job.posted), message)


async def tidy(rest: Rest, job: Job) -> None:
    """Delete the bot's messages that answer a job's question other than those it knows.

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
            await delete(rest, channel, message, locked_is_gone=False)


async def delete_response(rest: Rest, response: Response) -> None:
    """Delete the response to an interaction, which may be on its way still.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    for _ in range(MOST_EARLY):
        try:
            await rest.delete_original(response.application, response.token)
        except Refused as refusal:
            if refusal.code not in {UNKNOWN_MESSAGE, *TOKEN_IS_DEAD}:
                raise
            if not response.may_be_early:
                return
            await asyncio.sleep(EARLY_PAUSE)
        else:
            return


async def is_for_all(rest: Rest, response: Response) -> bool:
    """Return whether readers of the channel see the response to an interaction, or saw it.

    False as well while Discord has none for so long that none is to be expected.

    Raises:
        DeliveryError: when Discord does not tell now.
    """
    for _ in range(MOST_EARLY):
        try:
            message = await rest.original(response.application, response.token)
        except Refused as refusal:
            if refusal.code in TOKEN_IS_DEAD and not response.may_be_early:
                return False
            if refusal.code not in {UNKNOWN_MESSAGE, *TOKEN_IS_DEAD}:
                raise
            if not response.may_be_early:
                return True  # it was deleted, as one for the asker alone never is
            await asyncio.sleep(EARLY_PAUSE)
        else:
            return not is_hidden(message)
    return False


def is_hidden(message: Json) -> bool:
    """Return whether one person alone sees a message."""
    return bool(int(message.get("flags") or 0) & _EPHEMERAL)


async def delete(rest: Rest, channel: int, message: str, *, locked_is_gone: bool = True) -> None:
    """Delete a message, also in an archived thread; what is gone or closed to us is no error.

    Args:
        locked_is_gone: Whether a thread that is archived and locked counts as closed: nothing in
            it can be deleted until a moderator opens it again.

    Raises:
        DeliveryError: when Discord does not do it now.
    """
    try:
        try:
            await rest.delete(channel, message)
        except Refused as refusal:
            if refusal.code != THREAD_ARCHIVED:
                raise
            try:
                await rest.unarchive(channel)
            except Refused as locked:
                if locked_is_gone or not locked.permanent:
                    raise
                raise DeliveryError(f"{locked}; it may be opened again") from locked
            await rest.delete(channel, message)
    except Refused as refusal:
        if refusal.code not in {UNKNOWN_MESSAGE, *CHANNEL_IS_CLOSED}:
            raise


async def _put_away(rest: Rest, thread: int) -> None:
    try:
        await rest.change_thread(thread, name=text("discord-thread-retracted"), archived=True)
    except Refused as refusal:
        if not refusal.permanent:
            raise
        logger.info("a thread is left: %s", refusal)


async def _messages(rest: Rest, channel: int, behind: int) -> Sequence[Json]:
    try:
        return await rest.messages_after(channel, behind)
    except Refused as refusal:
        if refusal.code not in CHANNEL_IS_CLOSED:
            raise
        return ()
