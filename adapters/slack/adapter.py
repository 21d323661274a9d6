"""Slack as a chat platform: lets events in, and opens the way back for their answers."""

import asyncio
import itertools
import logging
from collections.abc import Sequence
from typing import Protocol

from adapters.base import PlatformReply, PostKeeper
from adapters.intake import Intake
from adapters.slack.events import Events
from adapters.slack.inbound import PLATFORM
from adapters.slack.installations import OneInstallation
from adapters.slack.reply import SlackReply, retract, tidy
from adapters.slack.workspaces import Workspaces
from core.errors import ConfigurationError, DeliveryError
from core.inbox.base import Job

logger = logging.getLogger(__name__)

BAD_TOKEN = (
    "Slack refuses the bot token: copy it anew from the app's page, OAuth & Permissions, "
    "into GLOSSATOR_SLACK__BOT_TOKEN."
)
_PAUSES = (1, 2, 5, 10, 30, 60)
"""Seconds between two tries to reach Slack when we start."""


class Transport(Protocol):
    """A way by which Slack tells us something."""

    async def run(self) -> None:
        """Let events in until `close`; raises ConfigurationError when that is impossible."""
        ...

    async def close(self) -> None:
        """Let nothing in any more."""
        ...


class SlackAdapter:
    """One Slack app, in one workspace or many."""

    platform = PLATFORM

    def __init__(
        self,
        *,
        workspaces: Workspaces,
        events: Events,
        intake: Intake,
        transports: Sequence[Transport],
        one: OneInstallation | None,
    ) -> None:
        """Put the parts together; nothing is connected yet.

        Args:
            one: The workspace of the operator's bot token; none: workspaces install the app.
        """
        self._workspaces = workspaces
        self._events = events
        self._intake = intake
        self._transports = transports
        self._one = one

    async def run(self) -> None:
        """Stay connected until `close`.

        Raises:
            ConfigurationError: when Slack refuses a token.
        """
        if self._one is not None:
            await _until_known(self._one)
        await asyncio.gather(*(transport.run() for transport in self._transports))

    async def close(self) -> None:
        """Disconnect; what is being taken in is finished before."""
        await self._intake.close()
        await self._events.close()
        for transport in self._transports:
            await transport.close()

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader, with the placeholder in place."""
        return await SlackReply.open(self._workspaces, job, keeper)

    async def retract(self, job: Job) -> None:
        """Remove what was posted for a job."""
        await retract(self._workspaces, job)

    async def tidy(self, job: Job) -> None:
        """Remove messages of ours that answer a job's question and that nobody knows of."""
        await tidy(self._workspaces, job)


async def _until_known(one: OneInstallation) -> None:
    """Find out who we are, as soon as Slack can be reached.

    Raises:
        ConfigurationError: when Slack refuses the bot token.
    """
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        try:
            installed = await one.find()
        except DeliveryError as error:
            if error.permanent:
                raise ConfigurationError(BAD_TOKEN) from error
            logger.warning("%s; I try again in %d s", error, pause)
            await asyncio.sleep(pause)
        else:
            logger.info("the bot is %s in %s", installed.bot_user, installed.place)
            return
