"""Who may own a course or be granted one: a guild, a workspace or an organisation."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Self

_NAME = re.compile(r"(?P<platform>[a-z]+):(?P<workspace>[A-Za-z0-9]+)")


@dataclass(frozen=True, order=True, slots=True)
class Tenant:
    """A guild or workspace, or an organisation that stands for all of its workspaces."""

    platform: str
    workspace: str
    """The platform's own id."""

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the tenant of a name such as `slack:T0123` or `discord:42`.

        Raises:
            ValueError: when it is no such name.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError("a tenant is written PLATFORM:ID, such as slack:T0123 or discord:42")
        return cls(**match.groupdict())

    def __str__(self) -> str:
        return f"{self.platform}:{self.workspace}"


@dataclass(frozen=True, slots=True)
class MetTenant:
    """A tenant that the installation knows."""

    tenant: Tenant
    organisation: Tenant | None
    """The organisation that the workspace belongs to, where there is one."""
    is_home: bool
    """Whether it is the operator's own, and may read the operator's courses."""
    met_at: datetime
