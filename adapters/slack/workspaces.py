"""What all answers in one Slack workspace share: its client, its budget, its abilities."""

from dataclasses import dataclass, field
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.budget import Budget
from core.closed_windows import ClosedWindows


class Clients(Protocol):
    """Knows with which token the bot speaks in each workspace."""

    async def of(self, team: str, enterprise: str | None) -> AsyncWebClient:
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
    name: str = ""
    """By which all processes know it."""
    closed: ClosedWindows | None = None
    may_stream: bool = True
    """False from the moment on that Slack refuses to stream there."""
    me: str | None = None
    """The bot's user id, once it was asked for."""

    async def close(self, method: str, seconds: float) -> None:
        """Call a method no more for so many seconds, here and in other processes."""
        self.budget.close(method, seconds)
        if self.closed is not None:
            await self.closed.close(f"{self.name}:{method}", seconds)

    async def closed_for(self, method: str) -> float:
        """Return the seconds for which a method was refused to this process or another one.

        0.0: it is open. To be asked right before a call: what the budget knew may be over.
        """
        if self.closed is not None:
            seconds = await self.closed.seconds_left(f"{self.name}:{method}")
            if seconds:
                self.budget.close(method, seconds)
        return self.budget.closed_for(method)


@dataclass(slots=True)
class Workspaces:
    """All workspaces that the bot answers in; one for the whole process."""

    clients: Clients
    closed: ClosedWindows | None = None
    """What other processes were refused; None: there are none."""
    minute: float = 60.0
    """Seconds of Slack's minute; tests have a shorter one."""
    _known: dict[tuple[str | None, str], Workspace] = field(default_factory=dict)

    def of(self, team: str, enterprise: str | None) -> Workspace:
        """Return what all answers of a workspace share."""
        place = (enterprise, team)
        if place not in self._known:
            self._known[place] = Workspace(
                Budget(minute=self.minute), f"slack:{enterprise or ''}:{team}", self.closed
            )
        return self._known[place]

    def forget(self, team: str, enterprise: str | None) -> None:
        """Know nothing of a workspace any more: the app was removed from it."""
        self._known.pop((enterprise, team), None)
