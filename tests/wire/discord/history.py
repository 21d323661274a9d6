"""All that went over the wire, for tests and checkers."""

from dataclasses import dataclass, field
from typing import Any

from tests.wire.discord.errors import Json


@dataclass
class Call:
    """One REST call; times are seconds of the server's clock."""

    method: str
    path: str
    route: str
    """Method and template, such as `POST /channels/{channel_id}/messages`."""
    at: float
    application_id: int | None = None
    body: Any = None
    files: tuple[str, ...] = ()
    """Names of uploaded files."""
    query: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    """None: the connection was dropped before an answer."""
    response: Any = None
    applied: bool = False
    """Whether it changed or showed what it asked for, whatever was answered."""
    fault: str | None = None
    ended: float | None = None
    late: float = 0.0
    """Seconds for which callers had been told to wait, if it was refused for that."""

    def __str__(self) -> str:
        return f"{self.method} {self.path} -> {self.status}"


@dataclass(frozen=True)
class Dispatch:
    """One event sent to a session, or held for it while it had no connection."""

    session_id: str
    sequence: int
    name: str
    data: Json
    at: float
    replayed: bool = False


@dataclass(frozen=True)
class Command:
    """One frame that a client sent over the gateway."""

    op: int
    data: Any
    at: float


@dataclass
class History:
    """What a checker reads."""

    calls: list[Call] = field(default_factory=list)
    dispatches: list[Dispatch] = field(default_factory=list)
    written: dict[tuple[str, int], float] = field(default_factory=dict)
    """When a session's event, by its sequence, was written to the connection."""
    commands: list[Command] = field(default_factory=list)
    early_requests: list[Call] = field(default_factory=list)
    """Calls into a bucket that the caller had been told was closed."""
    invalid_requests: list[Call] = field(default_factory=list)
    """Calls answered 401, 403 or 429, those of shared limits not counted."""
    validated: int = 0
    """Bodies compared with the platform's own description."""

    def of(self, route: str) -> list[Call]:
        """Return the calls of one route, such as `POST /channels/{channel_id}/messages`."""
        return [call for call in self.calls if call.route == route]
