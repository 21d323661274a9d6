"""Events in an odd form: real ones in which one field is null, absent, of another type or huge."""

import random
from dataclasses import dataclass
from typing import Any

from tests.chaos.ground import Ground
from tests.wire.discord.history import Dispatch as DiscordDispatch
from tests.wire.odd_payloads import FRAMES, odd_ones
from tests.wire.slack.state import Dispatch as SlackDispatch

_STEP = 7
"""Every so many odd forms of an event are kept to choose from."""
_FRAME = 0.1
"""How many are frames that are no event at all."""
_PATIENCE = 40.0
_WORDS = "the heron sleeps at noon"
"""No question, and not said to the bot."""


@dataclass(frozen=True)
class _Odd:
    name: str
    payload: Any


class Poison:
    """Sends such events, of things that happen apart from all that is asked."""

    def __init__(self, ground: Ground, seed: int) -> None:
        self._there, self._here = ground.discord.world, ground.slack.world
        self._gateway = ground.discord.gateway
        self._random = random.Random(seed)
        self._for_discord = list[_Odd]()
        self._for_slack = list[SlackDispatch]()
        self.places = set[str]()
        """The channels in which they happen; the bot may say there what it likes."""

    async def prepare(self) -> None:
        """Do each thing once as it should be, and make odd ones of what the bot was sent."""
        await self._on_discord()
        await self._on_slack()

    def send(self, events: int) -> None:
        """Send so many to each platform, as far as it has somebody who listens."""
        for _ in range(events):
            self._send_to_discord()
            self._here.emit(self._random.choice(self._for_slack))

    def _send_to_discord(self) -> None:
        if self._random.random() < _FRAME:
            for connection in self._gateway.connections:
                connection.send_text(self._random.choice(FRAMES))
            return
        live = [one for one in self._gateway.sessions.values() if one.send is not None]
        odd = self._random.choice(self._for_discord)
        if live:
            self._random.choice(live).dispatch(odd.name, odd.payload)

    async def _on_discord(self) -> None:
        world = self._there
        before = len(world.history.dispatches)
        guild = world.add_guild("Odd", world.owner)
        world.install(world.application, guild)
        ann, channel = world.add_user("odd", guild), world.add_channel(guild, "odd")
        self.places.add(str(channel.id))
        said = await world.say(ann, channel, _WORDS)
        thread = await world.open_thread(ann, said, "odd")
        self.places.add(str(thread.id))
        await world.edit(said, f"{_WORDS}!")
        told = await world.slash(ann, channel, "glossator about")
        await told.response(_PATIENCE)
        await world.delete(said)
        sent = world.history.dispatches[before:]
        names = {one.name: one.data for one in sent if _is_of(one, str(guild.id))}
        self._for_discord = [
            _Odd(name, odd.payload)
            for name, payload in names.items()
            for odd in odd_ones(payload, step=_STEP)
        ]

    async def _on_slack(self) -> None:
        world, seen = self._here, list[SlackDispatch]()
        world.listen(seen.append)
        ann = world.add_user("odd", world.workspace)
        members = (world.owner, world.bot, ann)
        channel = world.add_channel(world.workspace, "odd", members=members)
        self.places |= {channel.id, world.dm(ann).id}
        said = await world.say(ann, channel, _WORDS)
        await world.edit(said, f"{_WORDS}!")
        told = await world.slash(ann, channel, "/glossator", "about")
        await told.ack(_PATIENCE)
        await world.open_home(ann)
        await world.join(world.add_user("odd too", world.workspace), channel)
        await world.delete(said)
        one_of_each = {(one.name, one.payload.get("event", {}).get("subtype")): one for one in seen}
        self._for_slack = [
            SlackDispatch(good.app, good.kind, good.name, odd.payload)
            for good in one_of_each.values()
            for odd in odd_ones(good.payload, step=_STEP)
        ]


def _is_of(sent: DiscordDispatch, guild: str) -> bool:
    """Return whether an event is of a server, itself included."""
    return guild in (sent.data.get("guild_id"), sent.data.get("id"))
