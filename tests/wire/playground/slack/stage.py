"""The places and people on Slack, the app, and what the page offers to try there."""

from dataclasses import asdict
from pathlib import Path

import yaml

from tests.wire.playground.examples import PASSAGE, examples
from tests.wire.playground.side import Refused
from tests.wire.slack.entities import Channel, ChannelKind, Message, User
from tests.wire.slack.errors import Json
from tests.wire.slack.world import World

_MANIFEST = Path(__file__).parents[4] / "docs" / "slack-manifest.yaml"


class Stage:
    """A small workspace: two channels, a student, an admin, and the app of the manifest."""

    def __init__(self, world: World, *, own_courses: bool) -> None:
        self.world = world
        features = yaml.safe_load(_MANIFEST.read_text("utf-8"))["features"]
        self.commands: list[Json] = features["slash_commands"]
        self.shortcuts: list[Json] = features["shortcuts"]
        world.app.commands = frozenset(each["command"] for each in self.commands)
        world.app.escaped = frozenset(
            each["command"] for each in self.commands if each["should_escape"]
        )
        world.workspace.name = "Your course" if own_courses else "Meet Glossator"
        self.student = world.add_user("maya", world.workspace, world.channel)
        self.staff = world.add_user("dr lind", world.workspace, world.channel, admin=True)
        self.channels = [world.channel]
        members = (world.owner, world.bot, *self.people)
        self.channels.append(world.add_channel(world.workspace, "study-group", members=members))
        for person in self.people:
            world.dm(person)
        self._examples = examples("Slack", own_courses=own_courses)
        self._passage: Message | None = None

    @property
    def people(self) -> tuple[User, ...]:
        """The accounts that the page can act as."""
        return (self.student, self.staff)

    def person(self, user_id: str) -> User:
        """Return one of those whom the page can act as, or refuse."""
        for person in self.people:
            if person.id == user_id:
                return person
        raise Refused("There is no such person.")

    async def dress(self) -> None:
        """Post the passage that can be explained."""
        self._passage = await self.world.say(self.staff, self.world.channel, PASSAGE)

    def places(self, person: User) -> list[Channel]:
        """Return the channels that a person is shown, and their messages with the app."""
        return [*self.channels, self.world.dm(person)]

    def is_direct(self, channel: Channel) -> bool:
        """Tell whether a channel is somebody's messages with the app."""
        return channel.kind is ChannelKind.IM

    def examples(self) -> Json:
        """Return what to try, as the page gets it."""
        passage = self._passage
        shown = passage is not None and not passage.deleted
        return {**asdict(self._examples), "passage": passage.ts if shown and passage else None}
