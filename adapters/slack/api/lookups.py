"""What is looked up in Slack for a question: at once or not at all, and never twice."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.slack.api.refusals import refused
from adapters.slack.installs.workspaces import Workspaces
from core.errors import DeliveryError

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]
Place = tuple[str, str | None]
"""The ids of a workspace and of its organisation."""

_PATIENCE = 1.5
"""Seconds for one call: a user waits for an answer that can do without."""


class Lookups:
    """Reads what may be read of a workspace."""

    def __init__(self, workspaces: Workspaces, *, patience: float = _PATIENCE) -> None:
        self._workspaces = workspaces
        self._patience = patience

    async def call(self, place: Place, method: str, /, **params: Any) -> Json | None:
        """Return what a method says; None where it is not to be had now, or not for us."""
        if not self._workspaces.of(*place).budget.may_show(method):
            return None
        try:
            async with asyncio.timeout(self._patience):
                client = await self._workspaces.clients.of(*place)
                answer = await client.api_call(method, params=params)
        except SlackApiError as error:
            logger.info("%s", refused(method, error))
            return None
        except (DeliveryError, aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.info("%s: %s", method, type(error).__name__)
            return None
        return answer.data if isinstance(answer.data, dict) else None
