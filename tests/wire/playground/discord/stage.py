"""The places and people on Discord, and what the page offers to try there."""

from dataclasses import asdict

from tests.wire.discord.entities import Channel, Message, User
from tests.wire.discord.errors import Json
from tests.wire.discord.permissions import Permission
from tests.wire.discord.world import World
from tests.wire.playground.examples import NEWS, PASSAGE, READING, READING_TITLE, examples
from tests.wire.playground.side import Refused

_STAFF = (
    Permission.MANAGE_CHANNELS
    | Permission.MANAGE_GUILD
    | Permission.MANAGE_MESSAGES
    | Permission.MANAGE_THREADS
)


class Stage:
    """A small course server: two channels, two students, a member of staff, two bots."""

    def __init__(self, world: World, *, own_courses: bool) -> None:
        self.world = world
        world.guild.name = "Your course" if own_courses else "Meet Glossator"
        world.channel.name = "questions"
        self.student = world.add_user("maya", world.guild)
        self.friend = world.add_user("ben", world.guild)
        self.staff = world.add_user("dr lind", world.guild)
        self.news = world.add_user("course news", world.guild, bot=True)
        role = world.add_role(world.guild, "Staff", _STAFF)
        world.join(self.staff, world.guild, role)
        self.group = world.add_channel(world.guild, "study-group")
        for person in self.people:
            world.direct_channel(person, world.bot)
        self._examples = examples("Discord", own_courses=own_courses)
        self._passage: Message | None = None

    @property
    def people(self) -> tuple[User, ...]:
        """The accounts that the page can act as."""
        return (self.student, self.friend, self.staff)

    @property
    def everyone(self) -> tuple[User, ...]:
        """All accounts there are: people and bots."""
        return (*self.people, self.news, self.world.bot)

    def person(self, user_id: str) -> User:
        """Return one of those whom the page can act as, or refuse."""
        for person in self.people:
            if str(person.id) == user_id:
                return person
        raise Refused("There is no such person.")

    async def dress(self) -> None:
        """Post the passage that can be explained, and an embed that can be forwarded."""
        self._passage = await self.world.say(self.staff, self.world.channel, PASSAGE)
        card = await self.world.say(self.news, self.group, NEWS)
        embed = {"type": "rich", "title": READING_TITLE, "description": READING}
        await self.world.unfurl(card, embed)

    def visible(self, channel: Channel, person: User) -> bool:
        """Tell whether a person is shown a channel."""
        return self.world.may(channel, person, Permission.VIEW_CHANNEL)

    def place(self, channel_id: str, person: User) -> Channel:
        """Return a channel that a person is shown, or refuse."""
        channel = self.world.find_channel(channel_id)
        if not self.visible(channel, person):
            raise Refused("There is no such channel.")
        return channel

    def message(self, message_id: str, person: User) -> Message:
        """Return a message that a person is shown, or refuse."""
        message = self.world.messages.get(int(message_id))
        if message is None or not self.world.sees(person, message):
            raise Refused("There is no such message.")
        return message

    def moderates(self, channel: Channel, person: User) -> bool:
        """Tell whether a person may delete what others wrote."""
        return self.world.may(channel, person, Permission.MANAGE_MESSAGES)

    def examples(self) -> Json:
        """Return what to try, as the page gets it."""
        passage = self._passage
        return {
            **asdict(self._examples),
            "passage": str(passage.id) if passage and not passage.deleted else None,
        }
