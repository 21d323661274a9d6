"""The places and people on Slack, the app, and what the page offers to try there."""

from dataclasses import asdict
from pathlib import Path

import yaml

from tests.wire.playground.examples import NEWS, PASSAGE, READING, READING_TITLE, examples
from tests.wire.playground.side import Refused
from tests.wire.slack.entities import Channel, ChannelKind, Message, User
from tests.wire.slack.errors import Json
from tests.wire.slack.manifest import check_manifest
from tests.wire.slack.world import World

_MANIFEST = Path(__file__).parents[4] / "docs" / "slack-manifest.yaml"


class Stage:
    """A small workspace: two channels, two students, an admin, another app, and the manifest's."""

    def __init__(self, world: World, *, own_courses: bool) -> None:
        self.world = world
        manifest = check_manifest(yaml.safe_load(_MANIFEST.read_text("utf-8")))
        self.commands: list[Json] = manifest["features"]["slash_commands"]
        self.shortcuts: list[Json] = manifest["features"]["shortcuts"]
        _take_over(manifest, world)
        world.workspace.name = "Your course" if own_courses else "Meet Glossator"
        self.student = world.add_user("maya", world.workspace, world.channel)
        self.friend = world.add_user("ben", world.workspace, world.channel)
        self.staff = world.add_user("dr lind", world.workspace, world.channel, admin=True)
        self.news = world.add_user("course news", world.workspace, world.channel, bot=True)
        members = (world.owner, *self.everyone)
        self.group = world.add_channel(world.workspace, "study-group", members=members)
        self.channels = [world.channel, self.group]
        for person in self.people:
            world.dm(person)
        self._examples = examples("Slack", own_courses=own_courses)
        self._passage: Message | None = None

    @property
    def people(self) -> tuple[User, ...]:
        """The accounts that the page can act as."""
        return (self.student, self.friend, self.staff)

    @property
    def everyone(self) -> tuple[User, ...]:
        """All accounts that are shown: people and apps."""
        return (*self.people, self.news, self.world.bot)

    def person(self, user_id: str) -> User:
        """Return one of those whom the page can act as, or refuse."""
        for person in self.people:
            if person.id == user_id:
                return person
        raise Refused("There is no such person.")

    async def dress(self) -> None:
        """Post the passage that can be explained, and an app's card that can be forwarded."""
        self._passage = await self.world.say(self.staff, self.world.channel, PASSAGE)
        texts = (f"{NEWS} *{READING_TITLE}*", READING)
        blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in texts]
        await self.world.say(self.news, self.group, blocks=blocks)

    def places(self, person: User) -> list[Channel]:
        """Return the channels that a person is shown, and their messages with the app."""
        return [*self.channels, self.world.dm(person)]

    def place(self, channel_id: str, person: User) -> Channel:
        """Return a channel that a person is shown, or refuse."""
        for channel in self.places(person):
            if channel.id == channel_id:
                return channel
        raise Refused("There is no such channel.")

    def message(self, ts: str, person: User) -> Message:
        """Return a message that a person is shown, or refuse."""
        for message in self.world.messages:
            if message.ts == ts and self.world.sees(person, message):
                return message
        raise Refused("There is no such message.")

    def is_direct(self, channel: Channel) -> bool:
        """Tell whether a channel is somebody's messages with the app."""
        return channel.kind is ChannelKind.IM

    def examples(self) -> Json:
        """Return what to try, as the page gets it."""
        passage = self._passage
        shown = passage is not None and not passage.deleted
        return {**asdict(self._examples), "passage": passage.ts if shown and passage else None}


def _take_over(manifest: Json, world: World) -> None:
    """Make the world's app, and its installation, what the manifest says."""
    app, commands = world.app, manifest["features"]["slash_commands"]
    app.is_agent = True
    app.commands = frozenset(each["command"] for each in commands)
    app.escaped = frozenset(each["command"] for each in commands if each["should_escape"])
    app.events = frozenset(manifest["settings"]["event_subscriptions"]["bot_events"])
    app.scopes = world.installation.scopes = frozenset(manifest["oauth_config"]["scopes"]["bot"])
