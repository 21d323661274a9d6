"""What people do with the app besides writing to it: open its tabs, and stop it."""

from tests.wire.playground.side import Action, Refused, checked
from tests.wire.playground.slack import requests
from tests.wire.playground.slack.stage import Stage
from tests.wire.slack.errors import Json


class Agent:
    """Opens the app's Home and its Messages tab, and presses Slack's own stop button."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world
        self.actions: dict[str, Action] = {
            "home": checked(requests.OpenHome, self._open_home),
            "messages": checked(requests.OpenMessages, self._open_messages),
            "stop": checked(requests.Stop, self._stop),
        }

    async def _open_home(self, asked: requests.OpenHome) -> Json:
        await self._world.open_home(self._stage.person(asked.user))
        return {}

    async def _open_messages(self, asked: requests.OpenMessages) -> Json:
        person = self._stage.person(asked.user)
        beside = self._stage.place(asked.channel, person) if asked.channel else None
        await self._world.open_home(person, "messages", beside=beside)
        return {}

    async def _stop(self, asked: requests.Stop) -> Json:
        person = self._stage.person(asked.user)
        channel = self._stage.place(asked.channel, person)
        session = self._world.sessions.get((channel.id, asked.thread))
        if session is None:
            raise Refused("There is nothing to stop.")
        await self._world.agents.stop(person, session)
        return {}
