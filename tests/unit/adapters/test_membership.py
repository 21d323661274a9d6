"""Which tenants a person shares with the bot, however many there are."""

import pytest

from adapters.chat.access import MOST_ASKED, Membership, MembershipUnknown
from core.storage.access import Tenant

TENANTS = [Tenant("discord", f"{number}") for number in range(3 * MOST_ASKED - 5)]


class Platform:
    """Tells who is a member, and counts how often it is asked."""

    def __init__(self, *shared: Tenant) -> None:
        self.shared = shared
        self.asked = 0

    async def is_member(self, tenant: Tenant, _: str) -> bool:
        self.asked += 1
        return tenant in self.shared


async def test_the_last_of_many_tenants_is_found_and_never_said_not_to_be_shared() -> None:
    platform = Platform(TENANTS[-1])
    membership = Membership(platform.is_member)
    for _ in range(2):
        before = platform.asked
        with pytest.raises(MembershipUnknown):
            await membership.shared("ann", TENANTS)
        assert platform.asked == before + MOST_ASKED
    assert await membership.shared("ann", TENANTS) == {TENANTS[-1]}
    assert await membership.shared("ann", TENANTS) == {TENANTS[-1]}
    assert platform.asked == len(TENANTS)


async def test_who_shares_none_of_many_is_told_so_once_all_were_asked_about() -> None:
    membership = Membership(Platform().is_member)
    for _ in range(2):
        with pytest.raises(MembershipUnknown):
            await membership.shared("ann", TENANTS)
    assert await membership.shared("ann", TENANTS) == frozenset()
