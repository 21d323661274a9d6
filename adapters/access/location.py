"""Where a user is, and who they are: what decides which courses they may read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.access.tenants import Tenant
from core.inbox.base import Arrival

_NO_TENANT = "@me"
"""What stands for the workspace of Discord's direct messages."""


@dataclass(frozen=True, slots=True)
class Location:
    """A user at a place, by the platform's ids."""

    platform: str
    workspace: str
    places: tuple[str, ...]
    """Where rules may be set for, narrowest first: thread, channel, category, workspace."""
    user: str
    personal: bool = False
    """Whether no tenant stands around it: the tenants that the person shares with the bot count."""

    guest_in: str | None = None
    """The server around a personal place, which has not let the bot in."""

    @property
    def tenant(self) -> Tenant | None:
        """The tenant that it belongs to; none for a personal place."""
        return None if self.personal else Tenant(self.platform, self.workspace)

    @property
    def around(self) -> Tenant | None:
        """The tenant that it is in, though it may have let no bot in; none for direct messages."""
        return Tenant(self.platform, self.guest_in) if self.guest_in else self.tenant


def address_with(address: Mapping[str, Any], location: Location) -> dict[str, Any]:
    """Return an arrival's address from which `location_of` tells the location again."""
    guest = {} if location.guest_in is None else {"guest_in": location.guest_in}
    return {**address, "places": [*location.places], "personal": location.personal, **guest}


def location_of(arrival: Arrival) -> Location:
    """Return where an event came from.

    Older rows do not tell the places around its channel; Discord's direct messages are known
    by their workspace.
    """
    row = {name: getattr(arrival, name) for name in ("platform", "workspace", "channel", "address")}
    return location_in(row)


def location_in(row: Mapping[str, Any]) -> Location:
    """Return where an event came from, by its columns in the inbox."""
    workspace, address = str(row["workspace"]), row["address"]
    around = address.get("places") or dict.fromkeys((str(row["channel"]), workspace))
    return Location(
        platform=str(row["platform"]),
        workspace=workspace,
        places=tuple(str(place) for place in around if place),
        user=str(address.get("asker") or ""),
        personal=bool(address.get("personal", workspace == _NO_TENANT)),
        guest_in=address.get("guest_in"),
    )
