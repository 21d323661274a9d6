"""The local Discord, as the playground's site knows it."""

from collections.abc import Callable
from typing import Any

from tests.wire.discord.errors import Json
from tests.wire.discord.limits import Limits
from tests.wire.discord.server import DiscordServer
from tests.wire.discord.state import Event
from tests.wire.playground.discord.actions import Actions
from tests.wire.playground.discord.stage import Stage
from tests.wire.playground.discord.views import Views
from tests.wire.playground.side import Picture, View
from tests.wire.playground.uploads import PICTURES


class DiscordSide:
    """A small course server."""

    def __init__(self, *, own_courses: bool) -> None:
        self.server = DiscordServer(Limits(identify_interval=0.0))
        self.world = self.server.world
        self.stage = Stage(self.world, own_courses=own_courses)
        self._views = Views(self.stage)
        self._actions = Actions(self.stage)

    async def connected(self, patience: float) -> None:
        """Wait until the bot is connected and has registered its commands."""
        await self.server.gateway.connected(timeout=patience)
        commands = self.world.application.commands
        await self.world.until(lambda: bool(commands), timeout=patience)

    def people(self) -> list[Json]:
        """Return whom the page can act as."""
        return [self._views.person(person) for person in self.stage.people]

    def snapshot(self, person_id: str) -> Json:
        """Return everything that a person sees now; raises Refused for a stranger."""
        return self._views.snapshot(self.stage.person(person_id))

    def follow(self, person_id: str, tell: Callable[[View], None]) -> Callable[[], None]:
        """Tell whatever changes for a person; return what ends that."""
        reader = self.stage.person(person_id)

        def pass_on(event: Event) -> None:
            if view := self._views.event(event, reader):
                tell(view)

        return self.world.watch(pass_on)

    async def do(self, action: str, body: Any) -> Json:
        """Do what is asked for; raises Refused."""
        return await self._actions.do(action, body)

    def picture(self, file_id: str) -> Picture | None:
        """Return an attached picture."""
        attachment = self.world.attachments.get(int(file_id)) if file_id.isdecimal() else None
        if attachment is None or attachment.content_type not in PICTURES:
            return None
        return attachment.content, attachment.content_type
