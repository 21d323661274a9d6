"""The local Slack, as the playground's site knows it."""

from collections.abc import Callable
from typing import Any

from tests.wire.playground.side import Picture, View
from tests.wire.playground.slack.actions import Actions
from tests.wire.playground.slack.stage import Stage
from tests.wire.playground.slack.views import Views
from tests.wire.playground.uploads import PICTURES
from tests.wire.slack.errors import Json
from tests.wire.slack.limits import Limits
from tests.wire.slack.server import SlackServer
from tests.wire.slack.state import Change


class SlackSide:
    """A small workspace."""

    def __init__(self, *, own_courses: bool) -> None:
        self.server = SlackServer(Limits())
        self.world = self.server.world
        self.stage = Stage(self.world, own_courses=own_courses)
        self._views = Views(self.stage)
        self._actions = Actions(self.stage)

    async def connected(self, patience: float) -> None:
        """Wait until the bot has opened a socket."""
        await self.server.sockets.connected(timeout=patience)

    def people(self) -> list[Json]:
        """Return whom the page can act as."""
        return [self._views.person(person) for person in self.stage.people]

    def snapshot(self, person_id: str) -> Json:
        """Return everything that a person sees now; raises Refused for a stranger."""
        return self._views.snapshot(self.stage.person(person_id))

    def follow(self, person_id: str, tell: Callable[[View], None]) -> Callable[[], None]:
        """Tell whatever changes for a person; return what ends that."""
        reader = self.stage.person(person_id)

        def pass_on(change: Change) -> None:
            if view := self._views.change(change, reader):
                tell(view)

        return self.world.watch(pass_on)

    async def do(self, action: str, body: Any) -> Json:
        """Do what is asked for; raises Refused."""
        return await self._actions.do(action, body)

    def picture(self, file_id: str) -> Picture | None:
        """Return an attached picture."""
        file = self.world.uploads.get(file_id)
        if file is None or file.content is None or file.mimetype not in PICTURES:
            return None
        return file.content, file.mimetype
