"""What people put into channels: messages with files, forwards, reactions."""

from tests.wire.discord.errors import Json
from tests.wire.playground.discord import requests
from tests.wire.playground.discord.stage import Stage
from tests.wire.playground.side import Action, Refused, checked
from tests.wire.playground.uploads import contents


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
        target = self._stage.message(asked.reply_to, person) if asked.reply_to else None
        files = contents(asked.files)
        said = await self._world.say(person, channel, asked.content, reply_to=target, files=files)
        return {"id": str(said.id)}

    async def _forward(self, asked: requests.Forward) -> Json:
        """Forward a message; Discord sends what is written with it as a message of its own."""
        person = self._stage.person(asked.user)
        channel = self._stage.place(asked.channel, person)
        message = self._stage.message(asked.message, person)
        said = await self._world.say(person, channel, forward_of=message)
        if asked.content:
            await self._world.say(person, channel, asked.content)
        return {"id": str(said.id)}

    async def _react(self, asked: requests.React) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        if message.ephemeral:
            raise Refused("A message that only you can see takes no reactions.")
        mine = person.id in message.reactions.get(asked.emoji, ())
        change = self._world.take_back if mine else self._world.react
        await change(person, message, asked.emoji)
        return {}
