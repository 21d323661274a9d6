"""All that went over the wire, for tests and checkers."""

from dataclasses import dataclass, field
from typing import Any

from tests.wire.slack.errors import Json


@dataclass
class Call:
    """One call of the Web API or of a response_url; times are seconds of the server's clock."""

    method: str
    at: float
    arguments: Json = field(default_factory=dict)
    team_id: str | None = None
    app_id: str | None = None
    status: int | None = None
    """None: the connection was dropped before an answer."""
    response: Any = None
    applied: bool = False
    """Whether it did what it asked for, whatever was answered."""
    fault: str | None = None
    ended: float | None = None
    late: float = 0.0
    """Seconds for which callers had been told to wait, if it was refused for that."""

    @property
    def error(self) -> str | None:
        """Return Slack's word for what was wrong, if it was refused."""
        return None if not isinstance(self.response, dict) else self.response.get("error")

    def __str__(self) -> str:
        return f"{self.method} -> {self.status} {self.error or 'ok'}"


@dataclass
class Delivery:
    """One attempt to hand something to an app."""

    app_id: str
    name: str
    """The event's type, the command, or the interaction's type."""
    payload: Json
    transport: str
    """socket or http."""
    at: float
    attempt: int = 0
    envelope_id: str | None = None
    acked_at: float | None = None
    response: Any = None
    failure: str | None = None
    """Why it counts as not delivered: http_timeout, http_error, connection_failed ..."""

    @property
    def event_id(self) -> str | None:
        """Return the event's id, None for commands and interactions."""
        return self.payload.get("event_id")

    @property
    def seconds(self) -> float | None:
        """Return how long the app took to acknowledge it."""
        return None if self.acked_at is None else self.acked_at - self.at


@dataclass
class History:
    """What a checker reads."""

    calls: list[Call] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    lost: list[Json] = field(default_factory=list)
    """Payloads given up after all attempts, or lost on purpose."""
    early_requests: list[Call] = field(default_factory=list)
    """Calls into a window that the caller had been told was closed."""

    def of(self, method: str) -> list[Call]:
        """Return the calls of one method, such as `chat.postMessage`."""
        return [call for call in self.calls if call.method == method]

    def delivered(self, name: str) -> list[Delivery]:
        """Return the attempts with one name, such as `app_mention` or `/ask`."""
        return [delivery for delivery in self.deliveries if delivery.name == name]
