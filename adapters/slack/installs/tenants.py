"""Tells the readers which workspaces have let the bot in."""

import logging

from adapters.access.readers import Readers
from adapters.slack.inbound import PLATFORM
from core.access.tenants import Tenant
from core.errors import StoreError
from core.storage.installations.store import Installed

logger = logging.getLogger(__name__)


class InstalledTenants:
    """Notes a workspace when it lets the bot in, and again with what it tells."""

    def __init__(self, readers: Readers, *, of_operator: bool) -> None:
        """Prepare to note.

        Args:
            of_operator: Whether the bot's token is the operator's own, and so is its workspace.
        """
        self._readers = readers
        self._of_operator = of_operator

    async def note(self, installed: Installed, team: str | None = None) -> bool:
        """Keep that an installation, and a workspace that it covers, were met.

        Return whether the installation never was before.

        A failing database blocks no one: who reads there is looked up again, and kept then.
        """
        organisation = Tenant(PLATFORM, installed.organisation) if installed.organisation else None
        tenant = Tenant(PLATFORM, installed.place)
        try:
            if self._of_operator:
                await self._readers.make_home(tenant, organisation)
                return False
            around = None if tenant == organisation else organisation
            is_new = await self._readers.meet(tenant, around)
            if tenant == organisation and team and team != installed.place:
                await self._readers.meet(Tenant(PLATFORM, team), organisation)
        except StoreError as error:
            logger.warning("the workspace %s could not be noted: %s", installed.place, error)
            return False
        return is_new
