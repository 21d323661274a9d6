"""What a REST route gets to read, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.wire.discord.entities import Application, Attachment, Channel, Guild, User
from tests.wire.discord.errors import ApiError, Json
from tests.wire.discord.world import World


@dataclass
class Request:
    """One call, its body parsed and its caller known."""

    world: World
    params: dict[str, str]
    query: dict[str, str]
    body: Any = None
    files: dict[str, Attachment] = field(default_factory=dict)
    caller: Application | None = None
    """None for routes that need no token."""

    @property
    def application(self) -> Application:
        """Return the calling application."""
        assert self.caller is not None
        return self.caller

    @property
    def user(self) -> User:
        """Return the calling bot's account."""
        return self.application.user

    @property
    def form(self) -> Json:
        """Return the body if it is a JSON object."""
        if not isinstance(self.body, dict):
            raise ApiError(400, 50109, "The request body contains invalid JSON.")
        return self.body

    def channel(self) -> Channel:
        """Return the channel of the path, if the caller may see it."""
        return self.world.visible_channel(self.params["channel_id"], self.user)

    def guild(self) -> Guild:
        """Return the guild of the path, if the caller is in it."""
        guild = self.world.find_guild(self.params["guild_id"])
        if self.user.id not in guild.members:
            raise ApiError(404, 10004, "Unknown Guild")
        return guild


@dataclass(frozen=True)
class Answer:
    """A status and a JSON body; 204 has none."""

    status: int = 204
    body: Any = None


Route = Callable[[Request], Answer]
Table = dict[str, Route]
"""Routes by method and template, such as `GET /channels/{channel_id}`."""
