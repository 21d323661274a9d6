"""Who counts as staff in Slack: a workspace's admins, and who created the channel."""

import asyncio
import logging
import time

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.refusals import CHANNEL_IS_CLOSED
from adapters.slack.workspaces import Clients
from core.errors import DeliveryError

logger = logging.getLogger(__name__)

_FRESH = 300.0
"""Seconds for which an answer of Slack's is good enough."""
_MOST_KNOWN = 10_000
_PATIENCE = 1.5
"""Seconds for what a command or a click waits for."""


class People:
    """Asks Slack who somebody is; who cannot be asked about is no staff."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._known: dict[tuple[str, str, str], tuple[float, bool]] = {}

    async def is_staff(self, team: str, enterprise: str | None, user: str, channel: str) -> bool:
        """Return whether somebody may set the bot up in a channel; without one, everywhere."""
        key = (team, user, channel)
        asked_at, known = self._known.get(key, (-_FRESH, False))
        if time.monotonic() - asked_at < _FRESH:
            return known
        try:
            async with asyncio.timeout(_PATIENCE):
                client = await self._clients.of(team, enterprise)
                staff = await _is_admin(client, user) or await _has_created(client, user, channel)
        except (SlackClientError, DeliveryError, aiohttp.ClientError, OSError) as error:
            logger.warning("Slack does not say who is staff: %s", error or "not in time")
            return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = (time.monotonic(), staff)
        return staff


async def is_in(client: AsyncWebClient, channel: str) -> bool:
    """Return whether the bot is in a channel; yes where Slack does not tell soon."""
    try:
        async with asyncio.timeout(_PATIENCE):
            found = (await client.conversations_info(channel=channel))["channel"]
    except SlackApiError as error:
        return error.response.get("error") not in CHANNEL_IS_CLOSED
    except (SlackClientError, aiohttp.ClientError, OSError):
        return True
    return bool(found.get("is_member", True))


async def _is_admin(client: AsyncWebClient, user: str) -> bool:
    found = (await client.users_info(user=user))["user"]
    return bool(found.get("is_admin") or found.get("is_owner"))


async def _has_created(client: AsyncWebClient, user: str, channel: str) -> bool:
    if not channel or channel.startswith("D"):
        return False
    found = (await client.conversations_info(channel=channel))["channel"]
    return bool(found.get("creator") == user)
