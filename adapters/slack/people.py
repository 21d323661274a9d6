"""Who counts as staff in Slack, and who as a guest of another organisation."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.inbound import Spot, spot_of_interaction
from adapters.slack.installations import Installations
from adapters.slack.refusals import CHANNEL_IS_CLOSED
from adapters.slack.workspaces import Clients
from core.errors import BotError
from core.installations.store import Installed

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]

_COLLEAGUE = "colleague"
"""Stands for the channel where it is asked who is of the organisation."""
_FRESH = 300.0
"""Seconds for which an answer of Slack's is good enough."""
_MOST_KNOWN = 10_000
_PATIENCE = 1.5
"""Seconds for what a command or a click waits for."""


class People:
    """Asks Slack who somebody is; who cannot be asked about is no staff, and a guest.

    Staff are a workspace's admins, and who created the channel; guests never are.
    """

    def __init__(self, clients: Clients, installations: Installations) -> None:
        self._clients = clients
        self._installations = installations
        self._known: dict[tuple[str, str, str], tuple[float, bool]] = {}

    async def is_staff(self, team: str, enterprise: str | None, user: str, channel: str) -> bool:
        """Return whether somebody may set the bot up in a channel; without one, everywhere."""

        async def is_staff() -> bool:
            client = await self._clients.of(team, enterprise)
            home = await self._installations.find(team, enterprise)
            found = await _user(client, user)
            if home is None or not _is_of(home, found):
                return False
            return _is_admin(found) or await _has_created(client, user, channel)

        return await self._asked((team, user, channel), is_staff)

    async def spot_of(self, body: Json) -> Spot:
        """Return where somebody clicked, or chose a shortcut, and whether they are a guest there.

        Whatever workspace they are of, it happened in ours.

        Raises:
            StoreError: when the database fails.
            DeliveryError: when Slack does not say who we are.
        """
        spot, team = spot_of_interaction(body), body["user"].get("team_id")
        home = await self._installations.find(spot.team, spot.enterprise)
        if home is None or team in (None, home.place):
            return spot
        if home.organisation is not None and await self._is_colleague(home, spot.user):
            return spot
        return replace(spot, team=home.place, enterprise=home.organisation, outsider=True)

    async def _is_colleague(self, home: Installed, user: str) -> bool:
        """Return whether somebody of another workspace is of our organisation."""

        async def is_colleague() -> bool:
            client = await self._clients.of(home.place, home.organisation)
            return _is_of(home, await _user(client, user))

        return await self._asked((home.place, user, _COLLEAGUE), is_colleague)

    async def _asked(
        self, key: tuple[str, str, str], asking: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Return what Slack says, or said lately; no where it does not tell soon."""
        asked_at, known = self._known.get(key, (-_FRESH, False))
        if time.monotonic() - asked_at < _FRESH:
            return known
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await asking()
        except (SlackClientError, BotError, aiohttp.ClientError, OSError) as error:
            logger.warning("Slack does not say who somebody is: %s", error or "not in time")
            return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = (time.monotonic(), answer)
        return answer


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


async def _user(client: AsyncWebClient, user: str) -> Json:
    found: Json = (await client.users_info(user=user))["user"]
    return found


def _is_of(home: Installed, user: Json) -> bool:
    """Return whether a user is of the workspace, or of the organisation, that let the app in."""
    if user.get("team_id") == home.place:
        return True
    organisation = (user.get("enterprise_user") or {}).get("enterprise_id")
    return home.organisation is not None and organisation == home.organisation


def _is_admin(user: Json) -> bool:
    return bool(user.get("is_admin") or user.get("is_owner"))


async def _has_created(client: AsyncWebClient, user: str, channel: str) -> bool:
    if not channel or channel.startswith("D"):
        return False
    found = (await client.conversations_info(channel=channel))["channel"]
    return bool(found.get("creator") == user)
