"""The Discord and the Slack of an installation: kept with its data, and looked into by name."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tests.upgrade.snapshot import Attributes, frozen, thawed
from tests.wire import discord, slack
from tests.wire.discord import entities as of_discord
from tests.wire.slack import entities as of_slack

FILE = "platforms.json"
"""Stands next to the data folder; what the two platforms know, which no bot reads."""
_DISCORD: Attributes = (
    *("users", "applications", "guilds", "channels", "messages", "attachments"),
    *("owner", "application", "guild", "channel"),
)
_SLACK: Attributes = (
    *("workspaces", "users", "channels", "apps", "installations", "former", "messages"),
    *("workspace", "owner", "app", "installation", "channel"),
)


class _Named(Protocol):
    name: str


Thing = TypeVar("Thing", bound=_Named)


@dataclass(frozen=True)
class Worlds:
    """Both platforms; their people and places have names that stand there once."""

    discord: discord.World
    slack: slack.World

    @classmethod
    def begun(cls) -> "Worlds":
        """Return a new Discord and a new Slack, with limits that nothing here meets."""
        return cls(discord.World(discord.Limits.relaxed()), slack.World(slack.Limits.relaxed()))

    @classmethod
    def kept_in(cls, folder: Path) -> "Worlds":
        """Return the platforms as `keep` left them."""
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        worlds = cls.begun()
        _restore(worlds.discord, thawed(stored["discord"], _records(of_discord)))
        _restore(worlds.slack, thawed(stored["slack"], _records(of_slack)))
        for on_discord in worlds.discord.messages.values():
            on_discord.at = 0.0  # by a clock that has just begun
        for on_slack in worlds.slack.messages:
            on_slack.at = 0.0
        worlds.slack.app.request_url = None
        _pass_over_ids(worlds.slack)
        return worlds

    @property
    def tenants(self) -> list[str]:
        """The names of all guilds and workspaces, as the command line writes them."""
        guilds = [f"discord:{guild}" for guild in self.discord.guilds]
        return sorted([*guilds, *(f"slack:{name}" for name in self.slack.workspaces)])

    def keep(self, folder: Path) -> None:
        """Write down all people, places and messages."""
        stored = {"discord": frozen(self.discord, _DISCORD), "slack": frozen(self.slack, _SLACK)}
        (folder / FILE).write_text(json.dumps(stored, indent=0), encoding="utf-8")


def named(things: Iterable[Thing], name: str) -> Thing:
    """Return the one that has a name."""
    [found] = [thing for thing in things if thing.name == name]
    return found


def _records(module: object) -> list[type]:
    return [value for value in vars(module).values() if isinstance(value, type)]


def _restore(world: object, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        setattr(world, name, value)


def _pass_over_ids(world: slack.World) -> None:
    """Let new ids be greater than those that were given."""
    given = [*world.users, *world.channels, *world.apps, *world.workspaces]
    given += [installation.bot_id for installation in world.installations]
    highest = max(int(one[1:]) for one in given)
    while int(world.new_id("X")[1:]) < highest:
        pass
