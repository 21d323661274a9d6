"""One answer on its way to a reader on Discord."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Self

import discord

from adapters.base import PostKeeper
from adapters.discord import outbound, removing
from adapters.discord.address import Address
from adapters.discord.outbound import Picture, Post
from adapters.discord.rest import Rest
from adapters.discord.shown import Shown
from adapters.markdown.formula_images import render_png
from adapters.pacing import Pacing
from core.errors import BotError, DeliveryError
from core.inbox.base import Job, Kind, Posted
from core.models import AgentResponse

logger = logging.getLogger(__name__)

EDIT_INTERVAL = 1.2
"""Seconds between two edits of a growing answer: Discord takes five in five seconds."""


class DiscordReply:
    """Shows an answer while it grows, then as it is: in one message or several."""

    def __init__(self, job: Job, messages: Shown, *, interval: float = EDIT_INTERVAL) -> None:
        self._job = job
        self._shown = messages
        self._address = Address.of(job)
        self._text = ""
        self._pacing = Pacing(self._grow, interval=interval)

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
        messages = Shown(Rest(client, keeper.check), job, keeper)
        request = job.arrival.request
        if request is None:
            post, name = outbound.sentence(job.arrival.refusal or BotError.user_message), None
        else:
            post = outbound.placeholder(request.request_id)
            name = outbound.thread_name(request)
        await messages.open(post, name, renew=job.arrival.kind is Kind.REDO)
        return cls(job, messages, interval=interval)

    @property
    def posted(self) -> Posted:
        """What Discord has of the answer so far."""
        return self._shown.posted

    async def update(self, delta: str) -> None:
        """Show some more of the answer, soon."""
        is_full = len(self._text) > outbound.LONGEST_GROWING
        self._text += delta
        if not is_full:
            await self._pacing.show(self._text)

    async def withdraw(self) -> None:
        """Show the placeholder again, and what follows from the beginning."""
        self._text = ""
        await self._pacing.show("")

    async def finish(self, response: AgentResponse) -> None:
        """Show the finished answer, in as many messages as it needs."""
        await self._show_all(await asyncio.to_thread(self._posts, response))

    async def fail(self, error: BotError) -> None:
        """Show the error's sentence in place of all that was shown."""
        await self._show_all([outbound.sentence(error.user_message)])

    @property
    def _asked(self) -> str | None:
        """The question, unless readers see it anyway: it is above, or the reader's own."""
        request = self._job.arrival.request
        if request is None or self._address.question is not None or self._address.ephemeral:
            return None
        return request.query_text

    def _posts(self, response: AgentResponse) -> list[Post]:
        """Return the messages of an answer; takes some hundredths of a second of computing."""
        request = self._job.arrival.request
        return outbound.answer(
            response,
            quoted=request is not None and request.selected_text is not None,
            asked=self._asked,
            private=self._address.ephemeral,
            one_message=self._shown.is_one_message,
            pictures=_drawn(outbound.formulas(response)),
        )

    async def _show_all(self, posts: list[Post]) -> None:
        await self._pacing.stop()
        for part, post in enumerate(posts):
            await self._shown.show(part, post)
        await self._shown.cut(len(posts))

    async def _grow(self, text: str) -> None:
        """Show unfinished text; what Discord does not take now, a later edit makes good."""
        request = self._job.arrival.request
        assert request is not None, "only an answer to a request grows"
        post = await asyncio.to_thread(
            outbound.growing, text, request.request_id, asked=self._asked
        )
        try:
            await self._shown.show(0, post)
        except DeliveryError as error:
            if error.permanent:
                raise
            logger.debug("an edit of a growing answer was left out: %s", error)


async def retract(client: discord.Client, job: Job) -> None:
    """Delete the messages posted for a job, as `ChatAdapter.retract` does."""
    await removing.retract(Rest(client, _hold_nothing_back), job)


async def tidy(client: discord.Client, job: Job) -> None:
    """Delete messages that no worker knows to have posted, as `ChatAdapter.tidy` does."""
    await removing.tidy(Rest(client, _hold_nothing_back), job)


def _hold_nothing_back() -> None:
    """Let every request pass: deleting needs no lease."""


def _drawn(formulas: Iterable[str]) -> list[Picture]:
    """Return pictures of the formulas that can be drawn here."""
    pictures = ((latex, render_png(latex)) for latex in formulas)
    return [Picture(latex, data) for latex, data in pictures if data is not None]
