"""The places and people of the playground, and what the page offers to try."""

from dataclasses import asdict, dataclass

from tests.wire.discord.entities import Channel, Message, User
from tests.wire.discord.errors import Json
from tests.wire.discord.permissions import Permission
from tests.wire.discord.world import World

_STAFF = (
    Permission.MANAGE_CHANNELS
    | Permission.MANAGE_GUILD
    | Permission.MANAGE_MESSAGES
    | Permission.MANAGE_THREADS
)
PASSAGE = (
    "Glossator builds the next edition aside and makes it live in a single step, so a reader sees "
    "the old edition or the new one, never a mixture."
)
"""Stands in the handbook's page about ingesting, word for word."""


@dataclass(frozen=True)
class Examples:
    """What the page suggests to somebody who does not know what to ask."""

    mention: str
    ask: str
    private: str
    about: str
    """Tells what this is."""


HANDBOOK = Examples(
    mention="What is an edition?",
    ask="Does Glossator need the internet?",
    private="What happens when the book does not contain the answer?",
    about=(
        "This is the real bot on a small Discord of its own, on your machine. It answers from "
        "its handbook, and nothing that you write leaves the machine."
    ),
)
OWN_COURSES = Examples(
    mention="What is this course about?",
    ask="Where should I begin?",
    private="Which words do I have to know first?",
    about=(
        "This is the real bot on a small Discord of its own, on your machine. It answers from "
        "your courses, with your settings."
    ),
)


class Stage:
    """A small course server: two channels, a student, a member of staff, and the bot."""

    def __init__(self, world: World, *, own_courses: bool) -> None:
        self.world = world
        world.guild.name = "Your course" if own_courses else "Meet Glossator"
        world.channel.name = "questions"
        self.student = world.add_user("maya", world.guild)
        self.staff = world.add_user("dr lind", world.guild)
        role = world.add_role(world.guild, "Staff", _STAFF)
        world.join(self.staff, world.guild, role)
        world.add_channel(world.guild, "study-group")
        for person in self.people:
            world.direct_channel(person, world.bot)
        self._examples = OWN_COURSES if own_courses else HANDBOOK
        self._passage: Message | None = None

    @property
    def people(self) -> tuple[User, ...]:
        """The accounts that the page can act as."""
        return (self.student, self.staff)

    async def dress(self) -> None:
        """Post the passage that can be explained."""
        self._passage = await self.world.say(self.staff, self.world.channel, PASSAGE)

    def visible(self, channel: Channel, person: User) -> bool:
        """Tell whether a person is shown a channel."""
        return self.world.may(channel, person, Permission.VIEW_CHANNEL)

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
