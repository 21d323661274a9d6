"""Greets who has let the app into a workspace, by direct message."""

import asyncio
import logging

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.access.location import Location
from adapters.features.greeting import Greeting
from adapters.intake.deadline import BackgroundWork
from adapters.slack.commands.modals import told
from adapters.slack.inbound import PLATFORM
from adapters.slack.installs.installations import InstalledClients
from core.errors import BotError
from core.i18n import use_locale

logger = logging.getLogger(__name__)

_TIMEOUT = 5.0
"""Seconds for one try."""
_AGAIN = (2.0, 15.0, 120.0)
"""Seconds before each further try after a failure."""
_FAILURES = (BotError, SlackClientError, aiohttp.ClientError, OSError, TimeoutError)


class Greeter:
    """Greets in the installer's language, and tries again for some minutes after a failure."""

    def __init__(
        self, greeting: Greeting, clients: InstalledClients, unhurried: BackgroundWork
    ) -> None:
        """Prepare to greet.

        Args:
            unhurried: Keeps further tries, for which no browser waits.
        """
        self._greeting = greeting
        self._clients = clients
        self._unhurried = unhurried

    async def greet(self, token: str, workspace: str, user: str) -> None:
        """Send the greeting of a workspace to one of its people; slow tries go on by themselves."""
        await self._unhurried.in_time(self._until_greeted(token, workspace, user))

    async def _until_greeted(self, token: str, workspace: str, user: str) -> None:
        client = self._clients.with_token(token)
        for pause in (*_AGAIN, None):
            try:
                await self._try(client, workspace, user)
            except _FAILURES as error:
                again = "that was all" if pause is None else f"again in {pause:.0f} s"
                logger.warning(
                    "who installed the app in %s was not greeted, %s: %s", workspace, again, error
                )
            else:
                return
            if pause is not None:
                await asyncio.sleep(pause)

    async def _try(self, client: AsyncWebClient, workspace: str, user: str) -> None:
        async with asyncio.timeout(_TIMEOUT):
            with use_locale(await _locale_of(client, user)):
                where = Location(PLATFORM, workspace, (workspace,), user)
                words = await self._greeting.words(where)
            message = {**told(words), "link_names": False, "unfurl_links": False}
            del message["response_type"]
            opened = await client.conversations_open(users=user)
            await client.chat_postMessage(channel=opened["channel"]["id"], **message)


async def _locale_of(client: AsyncWebClient, user: str) -> str | None:
    """Return the locale that a user has set in Slack; None where Slack does not say."""
    try:
        found = await client.users_info(user=user, include_locale=True)
    except SlackClientError as error:
        logger.info("the locale of who installed the app is not known: %s", error)
        return None
    locale = (found.get("user") or {}).get("locale")
    return str(locale) if locale else None
