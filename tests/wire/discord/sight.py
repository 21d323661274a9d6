"""What a gateway session gets to see of an event."""

from dataclasses import dataclass
from enum import IntFlag

from tests.wire.discord.entities import Application, User
from tests.wire.discord.errors import Json
from tests.wire.discord.message_payloads import dispatched
from tests.wire.discord.payloads import (
    channel_payload,
    guild_create_payload,
    hidden_payload,
    thread_payload,
)
from tests.wire.discord.permissions import Permission
from tests.wire.discord.state import Event, State


class Intent(IntFlag):
    """The gateway intents that matter here."""

    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_REACTIONS = 1 << 10
    GUILD_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_REACTIONS = 1 << 13
    DIRECT_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15


_IN_GUILD = {
    "MESSAGE_REACTION": Intent.GUILD_REACTIONS,
    "MESSAGE": Intent.GUILD_MESSAGES,
    "TYPING": Intent.GUILD_TYPING,
}
_DIRECT = {
    "MESSAGE_REACTION": Intent.DIRECT_REACTIONS,
    "MESSAGE": Intent.DIRECT_MESSAGES,
    "TYPING": Intent.DIRECT_TYPING,
}


@dataclass(frozen=True)
class Sight:
    """Who looks: an application, with its intents, as one of its shards."""

    application: Application
    intents: Intent
    shard: int = 0
    shards: int = 1

    @property
    def user(self) -> User:
        """Return the looking bot's account."""
        return self.application.user

    def serves(self, guild_id: int) -> bool:
        """Tell whether a guild is this shard's."""
        return (guild_id >> 22) % self.shards == self.shard

    def rendered(self, event: Event, state: State) -> Json | None:
        """Return the event's data for this session, or None if it is not for it."""
        if not self._concerned(event, state):
            return None
        if event.message is not None:
            content = bool(self.intents & Intent.MESSAGE_CONTENT)
            return dispatched(event.message, self.user, content)
        if event.name in ("THREAD_CREATE", "THREAD_UPDATE") and event.channel:
            return thread_payload(event.channel, self.user.id) | event.data
        if event.name.startswith("CHANNEL_") and event.channel:
            seen = state.views(event.channel, self.user)
            return channel_payload(event.channel) if seen else hidden_payload(event.channel)
        if event.name == "GUILD_CREATE" and event.guild:
            channels = list(state.channels_of(event.guild))
            known = bool(self.intents & Intent.GUILD_MEMBERS)
            payload = guild_create_payload(event.guild, channels, self.user, not known)
            if event.data.get("joined"):  # then Discord leaves the field out
                del payload["unavailable"]
            return payload
        return event.data

    def _concerned(self, event: Event, state: State) -> bool:
        if event.only_to is not None and self.user.id not in event.only_to:
            return False
        home = event.channel.guild if event.channel else event.guild
        if home is None and self.shard != 0:
            return False
        if home is not None and not self.serves(home.id):
            return False
        if event.name == "INTERACTION_CREATE":
            return True
        if home is not None and home.id in state.hidden:
            return False
        if not self.intents & self._needed(event):
            return False
        if event.name == "THREAD_MEMBERS_UPDATE" and not self._takes_part(event.data):
            return False
        if event.name in ("GUILD_DELETE", "GUILD_CREATE") or event.channel is None:
            return True
        if event.name.startswith("CHANNEL_"):
            return True  # shown as hidden to who may not view it
        if event.message is not None and event.message.ephemeral:
            return True
        return state.may(event.channel, self.user, Permission.VIEW_CHANNEL)

    def _takes_part(self, data: Json) -> bool:
        added = [member["user_id"] for member in data.get("added_members", [])]
        own = str(self.user.id) in [*added, *data.get("removed_member_ids", [])]
        return own or bool(self.intents & Intent.GUILD_MEMBERS)

    def _needed(self, event: Event) -> Intent:
        rules = _DIRECT if event.guild is None else _IN_GUILD
        for prefix, intent in rules.items():
            if event.name.startswith(prefix):
                return intent
        return Intent.GUILDS
