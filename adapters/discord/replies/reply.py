"""One answer on its way to a reader on Discord."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Self

import discord

from adapters.access.choice import choice_of
from adapters.base import EarlierThread, PostKeeper
from adapters.delivery.resending import send_until_taken
from adapters.delivery.streaming_reply import StreamingReply, Unfinished
from adapters.discord import reactions
from adapters.discord.api.refusals import (
    NO_ACCESS,
    NO_PERMISSION,
    THREAD_ARCHIVED,
    THREAD_LOCKED,
    TOKEN_IS_DEAD,
    Refused,
)
from adapters.discord.api.rest import Rest
from adapters.discord.replies import outbound, removing
from adapters.discord.replies.address import Address
from adapters.discord.replies.answer_messages import AnswerMessages
from adapters.discord.replies.dedupe import nonce
from adapters.discord.replies.outbound import Picture, Post
from adapters.markdown.formula_images import render_png
from adapters.markdown.tables import in_pictures, picture
from adapters.nearest_sections import Nearest
from core import i18n
from core.errors import DeliveryError
from core.inbox.base import Job, Kind, Posted
from core.models import AgentResponse

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


async def tell(
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
