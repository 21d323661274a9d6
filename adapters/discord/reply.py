"""One answer on its way to a reader on Discord."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Self

import discord

from adapters.base import PostKeeper
from adapters.discord import outbound, removing
from adapters.discord.address import Address
from adapters.discord.outbound import Picture, Post
from adapters.discord.rest import Rest
from adapters.discord.shown import Shown
from adapters.growing import GrowingReply, Unfinished
from adapters.markdown.formula_images import render_png
from core.errors import BotError
from core.inbox.base import Job, Kind
from core.models import AgentResponse

EDIT_INTERVAL = 1.2
"""Seconds between two edits of a growing answer: Discord takes five in five seconds."""


class DiscordReply(GrowingReply[Post]):
    """Shows an answer while it grows, then as it is: in one message or several."""

    def __init__(self, job: Job, messages: Shown, *, interval: float = EDIT_INTERVAL) -> None:
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
    def _asked(self) -> str | None:
        """The question, unless readers see it anyway: it is above, or the reader's own."""
        request = self._job.arrival.request
        if request is None or self._address.question is not None or self._address.ephemeral:
            return None
        return request.query_text

    def _answer(self, response: AgentResponse) -> Sequence[Post]:
        request = self._job.arrival.request
        return outbound.answer(
            response,
            quoted=request is not None and request.selected_text is not None,
            asked=self._asked,
            private=self._address.ephemeral,
            one_message=self._shown.is_one_message,
            pictures=_drawn(outbound.formulas(response)),
        )

    def _sentence(self, text: str) -> Post:
        return outbound.sentence(text)

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
        await self._shown.show(0, post)


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
