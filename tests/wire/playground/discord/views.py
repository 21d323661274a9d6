"""What the page is sent: the platform's own objects, as one person sees them."""

from tests.wire.discord.entities import Channel, ChannelType, Message, User
from tests.wire.discord.errors import Json
from tests.wire.discord.interaction_payloads import SUBCOMMANDS
from tests.wire.discord.message_payloads import dispatched
from tests.wire.discord.payloads import channel_payload
from tests.wire.discord.state import Event
from tests.wire.playground.discord.stage import Stage
from tests.wire.playground.side import View

_MESSAGES = ("MESSAGE_CREATE", "MESSAGE_UPDATE")
_REACTIONS = ("MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE")
_CHANNELS = ("CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE")


class Views:
    """Cuts the world to what one person may see of it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world

    def snapshot(self, reader: User) -> Json:
        """Return everything that a person sees now."""
        channels = [c for c in self._world.channels.values() if self._shown(c, reader)]
        messages = [
            self.message(message, reader)
            for channel in channels
            for message in self._world.transcript(channel, reader)
        ]
        return {
            "me": str(reader.id),
            "bot_id": str(self._world.bot.id),
            "server": self._world.guild.name,
            "people": [self.person(user) for user in self._stage.everyone],
            "channels": [channel_payload(channel) for channel in channels],
            "messages": messages,
            "examples": self._stage.examples(),
        }

    def event(self, event: Event, reader: User) -> View | None:
        """Return an event as a person's page gets it; None where it is not for them."""
        channel = event.channel
        if channel is None or not self._stage.visible(channel, reader):
            return None
        if event.name in _MESSAGES and event.message is not None:
            seen = self._world.sees(reader, event.message)
            return ("message", self.message(event.message, reader)) if seen else None
        if event.name in _REACTIONS:
            reacted = self._world.messages[int(event.data["message_id"])]
            return "message", self.message(reacted, reader)
        if event.name == "MESSAGE_DELETE":
            return "gone", {"id": event.data["id"]}
        if event.name in _CHANNELS and self._shown(channel, reader):
            return "channel", channel_payload(channel)
        return None

    def message(self, message: Message, reader: User) -> Json:
        """Return a message, with the name of the command that it answers."""
        payload = dispatched(message, reader, content_intent=True)
        answered = self._world.interactions.all.get(int((message.interaction or {}).get("id", 0)))
        if answered is not None and "name" in answered.data:  # a button or a form has none
            payload["command"] = _path(answered.data)
        return payload

    def person(self, user: User) -> Json:
        """Return an account, with its name for readers and what it is."""
        role = "app" if user.bot else "staff" if user is self._stage.staff else "student"
        return {"id": str(user.id), "name": user.name.title(), "role": role}

    def _shown(self, channel: Channel, reader: User) -> bool:
        return channel.kind is not ChannelType.CATEGORY and self._stage.visible(channel, reader)


def _path(data: Json) -> str:
    """Return the name of a command with those of its subcommands."""
    names, options = [str(data["name"])], data.get("options") or []
    while options and options[0]["type"] in SUBCOMMANDS:
        names.append(options[0]["name"])
        options = options[0]["options"]
    return " ".join(names)
