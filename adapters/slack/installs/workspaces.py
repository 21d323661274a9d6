"""What all answers in one Slack workspace share: its client, its budget, its abilities."""

import time
from dataclasses import dataclass, field
from typing import Protocol

from adapters.slack.api.budget import Budget
from adapters.slack.api.client import SlackClient

_REST = 600.0
"""Seconds until something is tried again that a workspace did not have."""


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


class Ability:
    """Something that not every workspace can do: tried again a while after Slack refused it.

    Slack turns abilities on while the bot runs, and at times refuses by mistake what it can do.
    """

    def __init__(self, rest: float) -> None:
        """Suppose that it is there; `rest` are the seconds until it is tried again."""
        self._rest = rest
        self._again_at = -float("inf")

    @property
    def is_there(self) -> bool:
        """Whether it is worth trying."""
        return time.monotonic() >= self._again_at

    def refused(self) -> None:
        """Note that Slack does not have it at present."""
        self._again_at = time.monotonic() + self._rest


@dataclass(slots=True)
class Workspace:
    """What is known about a workspace for as long as the process lives."""

    budget: Budget
    streams: Ability = field(default_factory=lambda: Ability(_REST))
    """Whether Slack streams there."""
    sessions: Ability = field(default_factory=lambda: Ability(_REST))
    """Whether Slack has `agents.sessions.*` there."""
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
            rest = _REST / 60.0 * self.minute
            self._known[place] = Workspace(
                budget, Ability(rest), Ability(rest), escape_code=self.escape_code
            )
        return self._known[place]

    def forget(self, team: str, enterprise: str | None) -> None:
        """Know nothing of a workspace any more: the app was removed from it."""
        self._known.pop((enterprise, team), None)
