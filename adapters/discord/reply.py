"""One answer on its way to a reader on Discord."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import aiohttp
import discord

from adapters.chat.access import choice_of
from adapters.chat.base import EarlierThread, Nearest, PostKeeper
from adapters.chat.delivery.job_lease import send_until_taken
from adapters.chat.delivery.streaming_reply import StreamingReply, Unfinished
from adapters.chat.markdown.dialects import in_pictures, picture
from adapters.chat.markdown.formulas import render_png
from adapters.discord import answer_messages as removing
from adapters.discord import notices as reactions
from adapters.discord import outbound
from adapters.discord.answer_messages import AnswerMessages, nonce
from adapters.discord.outbound import Picture, Post
from adapters.discord.rest import (
    NO_ACCESS,
    NO_PERMISSION,
    THREAD_ARCHIVED,
    THREAD_LOCKED,
    TOKEN_IS_DEAD,
    Refused,
    Rest,
)
from adapters.discord.surroundings import Address
from core.domain import AgentResponse, i18n
from core.domain.errors import DeliveryError
from core.domain.i18n import text
from core.storage.inbox.base import Job, Kind, Posted

logger = logging.getLogger(__name__)


EDIT_INTERVAL = 1.2
"""Seconds between two edits of a growing answer: Discord takes five in five seconds."""

_NOTICE = -1
"""The part of an answer that a notice about its question counts as."""
_CLOSED = frozenset({NO_ACCESS, NO_PERMISSION, THREAD_ARCHIVED, THREAD_LOCKED})
"""With which a place refuses whatever is said in it."""
_LONGEST_NOTICE = 20.0
"""Seconds for which a notice is sent again after refusals."""


class DiscordReply(StreamingReply[Post]):
    """Shows an answer while it grows, then as it is: in one message or several."""

    def __init__(
        self, job: Job, messages: AnswerMessages, *, interval: float = EDIT_INTERVAL
    ) -> None:
        super().__init__(job, messages, longest=outbound.LONGEST_GROWING, interval=interval)
        self._shown = messages
        self._address = Address.of(job)

    @classmethod
    async def open(
        cls,
        client: discord.Client,
        job: Job,
        keeper: PostKeeper,
        *,
        interval: float = EDIT_INTERVAL,
    ) -> Self:
        """Return the way to the reader, as `ChatAdapter.open` does.

        Args:
            interval: Seconds between two edits while the answer grows.
        """
        messages = AnswerMessages(Rest(client, keeper.check), job, keeper)
        request = job.arrival.request
        assert request is not None, "only what is asked is answered"
        post = outbound.announcing(outbound.placeholder(request.request_id), Address.of(job).pings)
        name = outbound.thread_name(request)
        await messages.open(post, name, renew=job.arrival.kind is Kind.REDO)
        return cls(job, messages, interval=interval)

    @property
    def _asked(self) -> str | None:
        """The question, unless readers see it anyway: it is above, or the reader's own."""
        request = self._job.arrival.request
        if request is None or self._address.question is not None or self._address.ephemeral:
            return None
        return request.query_text

    def _answer(self, response: AgentResponse, earlier: EarlierThread | None) -> Sequence[Post]:
        request = self._job.arrival.request
        first, *rest = outbound.answer(
            response,
            quoted=request is not None and request.selected_text is not None,
            asked=self._asked,
            private=self._address.ephemeral,
            one_message=self._shown.is_one_message,
            pictures=[*_drawn(outbound.formulas(response)), *_drawn_tables(response)],
            earlier=earlier,
        )
        return [outbound.announcing(first, self._address.pings), *rest]

    async def _grow(self, unfinished: Unfinished) -> None:
        request = self._job.arrival.request
        assert request is not None, "only an answer to a request grows"
        post = await asyncio.to_thread(
            outbound.growing,
            unfinished.text,
            request.request_id,
            asked=self._asked,
            headings=unfinished.headings,
        )
        await self._shown.show(0, outbound.announcing(post, self._address.pings))


async def tell_reader(
    client: discord.Client,
    job: Job,
    keeper: PostKeeper,
    sentence: str,
    link: str | None = None,
    nearest: Nearest | None = None,
) -> None:
    """Send the asker a sentence, as `ChatAdapter.tell` does.

    An interaction's response is seen by all or by the asker alone from the moment on in which it
    is acknowledged. One for all is deleted, and the sentence follows as a message of its own.
    What is refused is acknowledged for the asker alone, unless something else acknowledged it
    before that was known: a slow database, or another process that was sent it as well.
    """
    address, rest = Address.of(job), Rest(client, keeper.check)
    post = outbound.sentence(sentence, choice_of(job.arrival), link, nearest)
    if not address.of_interaction:
        await _show(AnswerMessages(rest, job, keeper), post)
        return
    alone = address.is_hidden and not await _is_shown_to_all(rest, address)
    if address.apart or not alone:
        await removing.retract(rest, job)
        if job.posted != Posted():
            await keeper.keep(Posted())
        job = replace(job, posted=Posted())
    if alone:
        await _show(AnswerMessages(rest, job, keeper, alone=True), post)
        return
    if address.response is not None:
        await removing.delete_response(rest, address.response)
    await keeper.send_once(lambda: _follow_up(rest, address, job, post))


async def abandon(client: discord.Client, job: Job, error: DeliveryError) -> None:
    """Remove what stands where no answer can be shown, and tell the asker directly.

    Whoever takes no direct messages finds a reaction on their question, where that is allowed.

    Raises:
        DeliveryError: when neither can be done.
    """
    address, rest = Address.of(job), Rest(client, _hold_nothing_back)
    try:
        await removing.retract(rest, job)
        if address.response is not None and not address.response.is_over:
            await removing.delete_response(rest, address.response)
    except DeliveryError as left:
        logger.info("a placeholder is left for now: %s", left)
    if not isinstance(error, Refused) or error.code not in _CLOSED:
        return  # the channel is gone, or the answer itself is not taken
    arrival, question = job.arrival, address.question
    link = None
    if question is not None:
        link = f"https://discord.com/channels/{arrival.workspace}/{address.channel}/{question}"
    post = outbound.sentence(i18n.text("discord-closed-to-me"), link=link)
    try:
        direct = await rest.direct_channel(address.asker)
        if direct != address.channel:
            await rest.post(direct, post, nonce=nonce(arrival.key, direct, _NOTICE))
    except Refused as refusal:
        if question is None or not refusal.permanent:
            raise
        await rest.call(reactions.route("PUT", job, reactions.CLOSED))


async def notify(client: discord.Client, job: Job, sentence: str) -> None:
    """Send the asker a notice while the question waits, as `ChatAdapter.notify` does.

    A reply to a message is removed by the janitor after the answer. The response to an interaction
    is never edited: it may hold the private answer by the time that the edit is carried out.
    """
    address, rest = Address.of(job), Rest(client, _hold_nothing_back)
    post, response = outbound.sentence(sentence), address.response
    if not address.of_interaction:
        name = nonce(job.arrival.key, address.channel, _NOTICE)
        await rest.post(address.channel, post, nonce=name, reply_to=address.question)
    elif response is None or response.is_over:
        return
    else:
        if not address.is_hidden:
            await removing.delete_response(rest, response)
        await send_until_taken(
            lambda: rest.follow_up(response.application, response.token, post),
            within=_LONGEST_NOTICE,
        )


async def _show(messages: AnswerMessages, post: Post) -> None:
    await messages.open(post, None, renew=True)
    await messages.cut(1)
    messages.close()


async def _is_shown_to_all(rest: Rest, address: Address) -> bool:
    """Return whether a response that was to be hidden was acknowledged for all to see."""
    response = address.response
    if address.ephemeral or address.apart or response is None or response.is_over:
        return False
    return await removing.is_for_all(rest, response)


async def _follow_up(rest: Rest, address: Address, job: Job, post: Post) -> None:
    """Send it once at most, in the channel or, when that is too late, directly."""
    response = address.response
    if response is not None and not response.is_over:
        try:
            await rest.follow_up(response.application, response.token, post)
        except Refused as refusal:
            if refusal.code not in TOKEN_IS_DEAD:
                raise
        else:
            return
    direct = await rest.direct_channel(address.asker)
    await rest.post(direct, post, nonce=nonce(job.arrival.key, direct, 0))


async def retract(client: discord.Client, job: Job) -> None:
    """Delete the messages posted for a job, as `ChatAdapter.retract` does."""
    await removing.retract(Rest(client, _hold_nothing_back), job)


async def tidy(client: discord.Client, job: Job) -> None:
    """Delete messages that no worker knows to have posted, as `ChatAdapter.tidy` does."""
    await removing.tidy(Rest(client, _hold_nothing_back), job)


def _hold_nothing_back() -> None:
    """Let every request pass: deleting needs no lease."""


def _drawn_tables(response: AgentResponse) -> Iterator[Picture]:
    """Yield pictures of the tables that can be drawn here, each as a whole."""
    for caption, table in outbound.tables(response):
        drawn = [picture(rows, table.alignments) for rows in in_pictures(table.rows)]
        if all(drawn):
            yield from (replace(caption, data=data) for data in drawn if data is not None)


def _drawn(formulas: Iterable[str]) -> list[Picture]:
    """Return pictures of the formulas that can be drawn here."""
    pictures = ((latex, render_png(latex)) for latex in formulas)
    return [Picture(latex, data) for latex, data in pictures if data is not None]


_WRITTEN = frozenset({0, 19})
"""Types of messages that a user wrote; the others are Discord's own, as of a new name."""
_PATIENCE = 2.0
"""Seconds: Discord has a thread renamed twice in ten minutes, and no one waits that long."""


async def rename(client: discord.Client, rest: Rest, job: Job) -> None:
    """Give the thread of an edited question its new name, unless Discord forbids it now."""
    request = job.arrival.request
    if job.arrival.kind is not Kind.REDO or request is None:
        return
    thread = await _own_thread(client, job)
    name = outbound.thread_name(request)
    if thread is not None and thread.name != name:
        await _change(rest, thread.id, name=name)


async def close(client: discord.Client, rest: Rest, job: Job) -> None:
    """Take a deleted question out of its thread's name; put an empty thread away.

    What Discord forbids now is left: the question's text is then the thread's name still.
    """
    thread = await _own_thread(client, job)
    if thread is None:
        return
    changes: dict[str, Any] = {"name": text("discord-thread-deleted")}
    try:
        left = await rest.messages_after(thread.id, thread.id, most=100)
        if not any(message.get("type") in _WRITTEN for message in left):
            changes["archived"] = True
    except DeliveryError as error:
        logger.info("a thread cannot be read: %s", error)
    await _change(rest, thread.id, **changes)


async def _own_thread(client: discord.Client, job: Job) -> discord.Thread | None:
    """Return the thread that we opened for the question; None: there is none."""
    if job.posted.thread is None:
        return None
    thread_id = int(job.posted.thread)
    try:
        thread = client.get_channel(thread_id) or await client.fetch_channel(thread_id)
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        logger.info("a thread cannot be found: %s", type(error).__name__)
        return None
    if not isinstance(thread, discord.Thread) or client.user is None:
        return None
    return thread if thread.owner_id == client.user.id else None


async def _change(rest: Rest, thread: int, **changes: Any) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await rest.change_thread(thread, **changes)
    except (DeliveryError, TimeoutError) as error:
        logger.info("a thread keeps its name: %s", error)
