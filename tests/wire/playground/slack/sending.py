"""What people put into channels: messages with files, forwards, reactions."""

from tests.wire.playground.side import Action, Refused, checked
from tests.wire.playground.slack import requests
from tests.wire.playground.slack.stage import Stage
from tests.wire.playground.uploads import contents, media_type
from tests.wire.slack.errors import Json


class Sending:
    """Sends what a person wrote, attached or chose."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world
        self.actions: dict[str, Action] = {
            "say": checked(requests.Say, self._say),
            "forward": checked(requests.Forward, self._forward),
            "react": checked(requests.React, self._react),
        }

    async def _say(self, asked: requests.Say) -> Json:
        person = self._stage.person(asked.user)
        channel = self._stage.place(asked.channel, person)
        found = contents(asked.files)
        if not asked.text and not found:
            raise Refused("There is nothing to send.")
        files = {name: (content, media_type(name)) for name, content in found.items()}
        said = await self._world.say(person, channel, asked.text, thread=asked.thread, files=files)
        return {"id": said.ts}

    async def _forward(self, asked: requests.Forward) -> Json:
        person = self._stage.person(asked.user)
        channel = self._stage.place(asked.channel, person)
        message = self._stage.message(asked.message, person)
        if message.ephemeral:
            raise Refused("A message that only you can see cannot be forwarded.")
        said = await self._world.say(person, channel, asked.text, share_of=message)
        return {"id": said.ts}

    async def _react(self, asked: requests.React) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        if message.ephemeral:
            raise Refused("A message that only you can see takes no reactions.")
        mine = person.id in message.reactions.get(asked.emoji, ())
        change = self._world.take_back if mine else self._world.react
        await change(person, message, asked.emoji)
        return {}
