"""Greets who has let the app into a workspace, by direct message."""

import asyncio
import logging

import aiohttp
from slack_sdk.errors import SlackClientError

from adapters.access.location import Location
from adapters.features.greeting import Greeting
from adapters.slack.inbound import PLATFORM
from adapters.slack.installations import InstalledClients
from adapters.slack.told import told
from core.errors import BotError

logger = logging.getLogger(__name__)

_TIMEOUT = 5.0
"""Seconds: the installer's browser waits for its page meanwhile."""


class Greeter:
    """Greets once; a greeting that fails is not repeated."""

    def __init__(self, greeting: Greeting, clients: InstalledClients) -> None:
        self._greeting = greeting
        self._clients = clients

    async def greet(self, token: str, workspace: str, user: str) -> None:
        """Send the greeting of a workspace to one of its people."""
        client = self._clients.with_token(token)
        try:
            words = await self._greeting.words(Location(PLATFORM, workspace, (workspace,), user))
            message = {**told(words), "link_names": False, "unfurl_links": False}
            del message["response_type"]
            async with asyncio.timeout(_TIMEOUT):
                opened = await client.conversations_open(users=user)
                await client.chat_postMessage(channel=opened["channel"]["id"], **message)
        except (BotError, SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.warning("who installed the app in %s was not greeted: %s", workspace, error)
