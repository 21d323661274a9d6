"""An answer that only its asker sees: one message, shown when it is finished."""

import logging

from adapters.base import PostKeeper
from adapters.slack.address import Address
from adapters.slack.outbound import Growing, Post
from adapters.slack.refusals import Refused
from adapters.slack.rest import Rest
from core.inbox.base import Job, Posted

logger = logging.getLogger(__name__)

_MOST_RESPONSES = 2
"""Tries to answer by the address of the command; Slack allows five in half an hour."""


class Whispered:
    """The one ephemeral message of an answer.

    It goes to the address that came with the command, which also works where the bot is no
    member; else, and when that is dead, into the channel. Slack tells nobody which ephemeral
    messages there are: one whose sending nobody can vouch for is sent again.
    """

    is_one_message = True

    def __init__(self, rest: Rest, job: Job, keeper: PostKeeper) -> None:
        self._rest = rest
        self._job = job
        self._keeper = keeper
        self._address = Address.of(job)
        self.posted = job.posted

    async def open(self, post: Post, *, renew: bool) -> None:
        """Show nothing: the acknowledgement of the command says that it is being worked on."""

    async def grow(self, growing: Growing) -> None:
        """Show nothing until the answer is finished: the address may be used five times."""

    async def show(self, part: int, post: Post) -> None:
        """Show the post, unless an earlier holder has.

        Raises:
            DeliveryError: when Slack does not take it.
        """
        if self.posted.messages:
            return
        if not await self._responded(post):
            address = self._address
            await self._rest.whisper(address.channel, address.root, address.asker, post)
        self.posted = Posted((f"ephemeral:{self._job.arrival.key}",), self.posted.thread)
        await self._keeper.keep(self.posted)

    async def cut(self, parts: int) -> None:
        """Delete nothing: there is one message."""

    def close(self) -> None:
        """Give nothing back: no calls are kept for it."""

    async def _responded(self, post: Post) -> bool:
        """Answer by the command's address; return whether it took the answer."""
        response = self._address.response
        if response is None or response.is_over or self._job.fence > _MOST_RESPONSES:
            return False
        try:
            await self._rest.respond(response.url, post)
        except Refused as refusal:
            if not refusal.permanent:
                raise
            logger.info("a command is answered in its channel: %s", refusal)
            return False
        return True
