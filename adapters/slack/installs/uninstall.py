"""What happens when a workspace takes the app out: everything of it is deleted."""

import logging
from collections.abc import Callable
from typing import Protocol

from adapters.slack.inbound import PLATFORM
from adapters.slack.installs.installations import Installations

logger = logging.getLogger(__name__)


class Stores(Protocol):
    """Hold what is known of workspaces; methods raise StoreError when the database fails."""

    async def forget(self, platform: str, workspace: str) -> int:
        """Delete it all; return how many questions there were."""
        ...

    async def of_organisation(self, platform: str, organisation: str) -> list[str]:
        """Return the ids of the workspaces of an organisation in which a user asked."""
        ...


class Uninstalls:
    """Deletes what is stored of workspaces that took the app out."""

    def __init__(
        self,
        installations: Installations,
        stores: Stores,
        forget: Callable[[str, str | None], None],
    ) -> None:
        """Put together what knows of workspaces.

        Args:
            forget: Drops what is known in memory about a workspace.
        """
        self._installations = installations
        self._stores = stores
        self._forget = forget

    async def take(self, team: str | None, enterprise: str | None) -> None:
        """Delete a workspace's tokens, then all else; without one, the organisation's.

        Slack tells of it twice, and again where it got no answer: what is gone stays gone.

        Raises:
            StoreError: when the database fails; calling again deletes the rest.
            DeliveryError: when Slack does not tell whether the app is out; nothing is deleted.
        """
        if not await self._installations.remove(team, enterprise):
            logger.info("%s has the app all the same", team or enterprise)
            return
        for place in [team] if team else await self._teams_of(enterprise):
            count = await self._stores.forget(PLATFORM, place)
            self._forget(place, enterprise)
            logger.info("%s took the app out: %d questions are deleted", place, count)

    async def _teams_of(self, enterprise: str | None) -> list[str]:
        """Return the workspaces of an organisation that did not install the app themselves."""
        if enterprise is None:
            return []
        installed = set(await self._installations.places())
        teams = await self._stores.of_organisation(PLATFORM, enterprise)
        return [team for team in teams if team not in installed]
