"""What all answers in one Slack workspace share: its client, its budget, its abilities."""

from dataclasses import dataclass, field
from typing import Protocol

from adapters.slack.api.budget import Budget
from adapters.slack.api.client import SlackClient


class Clients(Protocol):
    """Knows with which token the bot speaks in each workspace."""

    async def of(self, team: str, enterprise: str | None) -> SlackClient:
        """Return a client with a workspace's token.

        Raises:
            DeliveryError: when the app is not installed there, or the token cannot be had now.
        """
        ...

    async def close(self) -> None:
        """Close their connections."""
        ...


@dataclass(slots=True)
class Workspace:
    """What is known about a workspace for as long as the process lives."""

    budget: Budget
    may_stream: bool = True
    """False from the moment on that Slack refuses to stream there."""
    has_sessions: bool = True
    """False from the moment on that Slack says that there are no `agents.sessions.*`."""
    is_warned: bool = False
    """Whether the log says already that Slack shows no stop button there."""
    me: str | None = None
    """The bot's user id, once it was asked for."""
    escape_code: bool = False
    """Whether `&`, `<` and `>` are escaped inside of code in a block of Markdown."""


@dataclass(slots=True)
class Workspaces:
    """All workspaces that the bot answers in; one for the whole process."""

    clients: Clients
    minute: float = 60.0
    """Seconds of Slack's minute; tests have a shorter one."""
    escape_code: bool = False
    """As of each workspace."""
    _known: dict[tuple[str | None, str], Workspace] = field(default_factory=dict)

    def of(self, team: str, enterprise: str | None) -> Workspace:
        """Return what all answers of a workspace share."""
        place = (enterprise, team)
        if place not in self._known:
            budget = Budget(minute=self.minute)
            self._known[place] = Workspace(budget, escape_code=self.escape_code)
        return self._known[place]

    def forget(self, team: str, enterprise: str | None) -> None:
        """Know nothing of a workspace any more: the app was removed from it."""
        self._known.pop((enterprise, team), None)
