"""One answer on its way to a reader on Slack."""

import asyncio
import logging
from typing import Self

from adapters.base import PostKeeper
from adapters.pacing import Pacing
from adapters.slack import outbound, removing
from adapters.slack.address import Address
from adapters.slack.outbound import Post
from adapters.slack.refusals import CHANNEL_IS_CLOSED, Refused
from adapters.slack.rest import Rest
from adapters.slack.shown import Shown
from adapters.slack.whispered import Whispered
from adapters.slack.workspaces import Workspaces
from core.errors import BotError, DeliveryError
from core.inbox.base import Job, Kind, Posted
from core.models import AgentRequest, AgentResponse

logger = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two looks at what there is to add to a growing answer."""


class SlackReply:
    """Shows an answer while it grows, then as it is: in one message or several."""

    def __init__(
        self, job: Job, messages: Shown | Whispered, *, interval: float = INTERVAL
    ) -> None:
        self._job = job
        self._shown = messages
        self._address = Address.of(job)
        self._text = ""
        self._pacing = Pacing(self._grow, interval=interval)

    @classmethod
    async def open(
        cls, workspaces: Workspaces, job: Job, keeper: PostKeeper, *, interval: float = INTERVAL
    ) -> Self:
        """Return the way to the reader, as `ChatAdapter.open` does.

        Args:
            workspaces: What all answers share; one for the whole process.
            interval: Seconds between two changes while the answer grows.
        """
        address = Address.of(job)
        rest = await Rest.of(workspaces, (address.team, address.enterprise), keeper.check)
        request = job.arrival.request
        post = _placeholder(job, request)
        if not address.ephemeral:
            messages = Shown(rest, job, keeper)
            try:
                await messages.open(post, renew=job.arrival.kind is Kind.REDO)
            except BotError as error:
                messages.close()
                if address.response is None or not _is_closed(error):
                    raise
            else:
                return cls(job, messages, interval=interval)
        return cls(job, Whispered(rest, job, keeper), interval=interval)

    @property
    def posted(self) -> Posted:
        """What Slack has of the answer so far."""
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
        request, address = self._job.arrival.request, self._address
        is_seen = address.question is not None or address.posts_question
        return None if request is None or is_seen or self._is_private else request.query_text

    @property
    def _is_private(self) -> bool:
        return isinstance(self._shown, Whispered)

    def _posts(self, response: AgentResponse) -> list[Post]:
        """Return the messages of an answer; takes some hundredths of a second of computing."""
        request = self._job.arrival.request
        return outbound.answer(
            response,
            quoted=request is not None and request.selected_text is not None,
            asked=self._asked,
            private=self._is_private,
            one_message=self._shown.is_one_message,
        )

    async def _show_all(self, posts: list[Post]) -> None:
        await self._pacing.stop()
        for part, post in enumerate(posts):
            await self._shown.show(part, post)
        await self._shown.cut(len(posts))
        self._shown.close()

    async def _grow(self, text: str) -> None:
        """Show unfinished text; what Slack does not take now, a later change makes good."""
        request = self._job.arrival.request
        assert request is not None, "only an answer to a request grows"
        post, settled = await asyncio.to_thread(_unfinished, text, request, self._asked)
        try:
            await self._shown.grow(post, settled)
        except DeliveryError as error:
            if error.permanent:
                raise
            logger.debug("a change of a growing answer was left out: %s", error)


async def retract(workspaces: Workspaces, job: Job) -> None:
    """Delete the messages posted for a job, as `ChatAdapter.retract` does."""
    await removing.retract(await _rest_for(workspaces, job), job)


async def tidy(workspaces: Workspaces, job: Job) -> None:
    """Delete messages that no worker knows to have posted, as `ChatAdapter.tidy` does."""
    await removing.tidy(await _rest_for(workspaces, job), job)


async def _rest_for(workspaces: Workspaces, job: Job) -> Rest:
    address = Address.of(job)
    return await Rest.of(workspaces, (address.team, address.enterprise), _hold_nothing_back)


def _hold_nothing_back() -> None:
    """Let every call pass: deleting needs no lease."""


def _is_closed(error: BotError) -> bool:
    """Return whether the bot may not write where it was asked."""
    return isinstance(error, Refused) and error.word in CHANNEL_IS_CLOSED


def _placeholder(job: Job, request: AgentRequest | None) -> Post:
    if request is None:
        return outbound.sentence(job.arrival.refusal or BotError.user_message)
    return outbound.placeholder(request.request_id)


def _unfinished(text: str, request: AgentRequest, asked: str | None) -> tuple[Post, str]:
    post = outbound.growing(text, request.request_id, asked=asked)
    return post, outbound.settled(text, asked=asked)
