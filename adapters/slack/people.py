"""Who counts as staff in Slack: a workspace's admins, and who created the channel."""

import logging
import time

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.workspaces import Clients
from core.errors import DeliveryError

logger = logging.getLogger(__name__)

_FRESH = 300.0
"""Seconds for which an answer of Slack's is good enough."""
_MOST_KNOWN = 10_000


class People:
    """Asks Slack who somebody is; who cannot be asked about is no staff."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._known: dict[tuple[str, str, str], tuple[float, bool]] = {}

    async def is_staff(self, team: str, enterprise: str | None, user: str, channel: str) -> bool:
        """Return whether somebody may set the bot up in a channel."""
        key = (team, user, channel)
        asked_at, known = self._known.get(key, (-_FRESH, False))
        if time.monotonic() - asked_at < _FRESH:
            return known
        try:
            client = await self._clients.of(team, enterprise)
            staff = await _is_admin(client, user) or await _has_created(client, user, channel)
        except (SlackClientError, DeliveryError, aiohttp.ClientError, OSError) as error:
            logger.warning("Slack does not say who is staff: %s", error)
            return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = (time.monotonic(), staff)
        return staff


async def _is_admin(client: AsyncWebClient, user: str) -> bool:
    found = (await client.users_info(user=user))["user"]
    return bool(found.get("is_admin") or found.get("is_owner"))


async def _has_created(client: AsyncWebClient, user: str, channel: str) -> bool:
    if not channel or channel.startswith("D"):
        return False
    found = (await client.conversations_info(channel=channel))["channel"]
    return bool(found.get("creator") == user)
