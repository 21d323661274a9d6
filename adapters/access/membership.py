"""Which tenants a person shares with the bot: asked of the platform, bounded and remembered."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence

from core.access.tenants import Tenant
from core.errors import DeliveryError, ServiceError

logger = logging.getLogger(__name__)

IsMember = Callable[[Tenant, str], Awaitable[bool]]
"""Returns whether a person is a member of a tenant; raises DeliveryError when it cannot tell."""

MOST_ASKED = 40
"""Tenants that the platform is asked about at once: Discord takes 50 requests a second."""
_FRESH = 300.0
"""Seconds for which an answer is good enough."""
_MOST_KNOWN = 10_000
_PATIENCE = 1.2
"""Seconds for all answers together: Discord waits three for a command's acknowledgement."""


class MembershipUnknown(ServiceError):
    """The platform does not tell now which tenants a person shares with the bot."""


class Membership:
    """Remembers for some minutes who is a member where."""

    def __init__(self, is_member: IsMember) -> None:
        self._is_member = is_member
        self._known = dict[tuple[Tenant, str], tuple[float, bool]]()

    async def shared(self, user: str, tenants: Sequence[Tenant]) -> frozenset[Tenant]:
        """Return those of the tenants that a person is a member of.

        Raises:
            MembershipUnknown: when no tenant is known to be shared, and the platform does not
                answer soon, or there are too many to ask about at once; calling again asks on.
        """
        answers = {tenant: self._noted(tenant, user) for tenant in tenants}
        unknown = [tenant for tenant, answer in answers.items() if answer is None]
        asked = unknown[:MOST_ASKED]
        if len(unknown) > len(asked):
            logger.warning("%d of %d tenants are asked about now", len(asked), len(unknown))
        told = await asyncio.gather(*(self._told(tenant, user) for tenant in asked))
        answers.update(zip(asked, told, strict=True))
        shared = {tenant for tenant, answer in answers.items() if answer}
        if not shared and None in answers.values():
            raise MembershipUnknown("it is not known which tenants a person shares with the bot")
        return frozenset(shared)

    def _noted(self, tenant: Tenant, user: str) -> bool | None:
        """Return whether a person is a member, as was found out lately; None: it was not."""
        asked_at, known = self._known.get((tenant, user), (-math.inf, False))
        return known if time.monotonic() - asked_at < _FRESH else None

    async def _told(self, tenant: Tenant, user: str) -> bool | None:
        """Return whether a person is a member, as the platform says; None: not in time."""
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await self._is_member(tenant, user)
        except (DeliveryError, TimeoutError) as error:
            logger.info("%s does not tell who is a member: %s", tenant, error or "not in time")
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[tenant, user] = (time.monotonic(), answer)
        return answer
