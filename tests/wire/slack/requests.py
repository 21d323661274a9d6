"""What a Web API method gets to read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.wire.slack.entities import App, Channel, ChannelKind, Installation, Message
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.world import World


@dataclass
class Request:
    """One call, its arguments parsed and its caller known."""

    world: World
    arguments: Json
    """As sent: a form holds texts, JSON holds what it holds."""
    caller: Installation | None = None
    app: App | None = None
    """The app behind an app-level token, or behind client id and secret."""

    @property
    def installation(self) -> Installation:
        """Return the calling installation."""
        assert self.caller is not None
        return self.caller

    def text(self, name: str, default: str = "") -> str:
        """Return an argument as text."""
        value = self.arguments.get(name)
        return default if value is None else str(value)

    def required(self, name: str) -> str:
        """Return an argument that must be there, or refuse."""
        value = self.text(name)
        if not value:
            raise SlackError("invalid_arguments", f"missing required field: {name} [json-pointer:]")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an argument as yes or no."""
        value = self.arguments.get(name)
        if value is None:
            return default
        return value is True or str(value).lower() in ("1", "true")

    def number(self, name: str, default: int) -> int:
        """Return an argument as a number, or refuse."""
        value = self.text(name, str(default))
        if not value.isdecimal():
            raise SlackError("invalid_arguments", f"must be a number [json-pointer:/{name}]")
        return int(value)

    def structure(self, name: str, malformed: str) -> Any:
        """Return an argument that is JSON in a form too; None if absent or empty."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError:
            raise SlackError(malformed) from None

    def needs(self, scope: str) -> None:
        """Refuse unless the caller holds a scope."""
        if scope not in self.installation.scopes:
            provided = ",".join(sorted(self.installation.scopes))
            raise SlackError("missing_scope", needed=scope, provided=provided)

    def known_channel(self, name: str = "channel") -> Channel:
        """Return a channel that the caller may know of, or refuse."""
        channel = self.world.channels.get(self.required(name))
        if channel is None or not self._knows(channel):
            raise SlackError("channel_not_found")
        return channel

    def joined_channel(self, name: str = "channel") -> Channel:
        """Return a channel in which the caller is, or refuse."""
        channel = self.known_channel(name)
        if self.installation.bot.id not in channel.members:
            raise SlackError("not_in_channel")
        return channel

    def message(self, channel: Channel, name: str = "ts") -> Message:
        """Return a message of a channel, or refuse."""
        return self.world.find_message(channel, self.required(name))

    def _knows(self, channel: Channel) -> bool:
        if self.installation.bot.id in channel.members:
            return True
        here = self.installation.workspace in channel.workspaces
        return here and channel.kind is ChannelKind.PUBLIC


@dataclass(frozen=True)
class Method:
    """A Web API method: what it does, the scope it needs, and whether it reads JSON."""

    call: Callable[[Request], Json]
    scope: str | None = None
    json: bool = True
    """Slack's reading methods take forms only, and do not see a JSON body."""
    token: str = "bot"
    """bot, app or none."""


Table = dict[str, Method]
"""Methods by name, such as `chat.postMessage`."""
