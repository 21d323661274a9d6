"""Which tenants a person shares with the bot: asked of the platform, bounded and remembered."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from core.access.tenants import Tenant
from core.errors import DeliveryError, ServiceError

logger = logging.getLogger(__name__)

IsMember = Callable[[Tenant, str], Awaitable[bool]]
"""Returns whether a person is a member of a tenant; raises DeliveryError when it cannot tell."""

MOST_ASKED = 20
"""Tenants that are asked about for one person: those that come first."""
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
            MembershipUnknown: when the platform does not answer soon, and no tenant is known to
                be shared.
        """
        asked = tenants[:MOST_ASKED]
        if len(tenants) > len(asked):
            logger.warning("%d tenants have courses; %d are asked about", len(tenants), len(asked))
        answers = await asyncio.gather(*(self._answer(tenant, user) for tenant in asked))
        shared = {tenant for tenant, answer in zip(asked, answers, strict=True) if answer}
        if not shared and None in answers:
            raise MembershipUnknown("it is not known which tenants a person shares with the bot")
        return frozenset(shared)

    async def _answer(self, tenant: Tenant, user: str) -> bool | None:
        """Return whether a person is a member; None: that cannot be found out now."""
        asked_at, known = self._known.get((tenant, user), (-_FRESH, False))
        if time.monotonic() - asked_at < _FRESH:
            return known
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
