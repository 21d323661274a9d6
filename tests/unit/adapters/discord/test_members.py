"""Who is staff on Discord: everybody, in every place, by every event that tells who they are.

The objects are discord.py's own, made of what the local Discord sends.
"""

from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any

import discord
import pytest

from adapters.chat.acceptor import Unreadable
from adapters.chat.incoming_message import IncomingMessage
from adapters.discord.inbound import incoming_from_command, incoming_from_message
from adapters.discord.members import member_of
from adapters.discord.payloads import read_message
from adapters.discord.surroundings import around
from bot.database import upgrade
from core.domain.telemetry import NO_METER
from core.storage.access import NamedStaff, StaffKind, Tenant, is_staff
from core.storage.channels import Place, Rules
from core.storage.database import create_engine
from tests.contracts.test_front_desk import Reception
from tests.wire.discord import Channel, Permission, User
from tests.wire.discord.interaction_payloads import interaction_payload
from tests.wire.discord.interactions import InteractionType
from tests.wire.discord.message_payloads import dispatched
from tests.wire.discord.payloads import guild_create_payload, own_user_payload
from tests.wire.discord.world import World

pytestmark = pytest.mark.costly

COURSE, OTHER = "biology", "algebra"
ADMINS = ("owner", "administrator", "manager")
NAMED = ("tutor", "person")
OTHERS = ("nobody", "moderator", "creator", "foreign", "newcomer", "bot")
WHO = (*ADMINS, *NAMED, *OTHERS)
LIMITS = (None, COURSE, OTHER)
PLACES = ("channel", "thread", "direct")


class Connected(discord.Client):
    """A client that is sent its servers."""

    def sees(self, guild_id: int) -> bool:
        """Return whether a server is known here if the bot is a member of it."""
        return guild_id > 0


class Server:
    """A course's server with all kinds of people, as discord.py sees it."""

    def __init__(self, reception: Reception) -> None:
        self.world = world = World()
        self.desk, self.rules, self.store = reception.desk, reception.rules, reception.staff
        guild, self.elsewhere = world.guild, world.add_guild("Elsewhere", world.add_user("eve"))
        self.tutors = world.add_role(guild, "tutors")
        self.foreign = world.add_role(self.elsewhere, "tutors")
        self.people = {
            "owner": world.owner,
            "administrator": self._holding(Permission.ADMINISTRATOR),
            "manager": self._holding(Permission.MANAGE_GUILD),
            "tutor": world.add_user("tutor", guild),
            "person": world.add_user("person", guild),
            "nobody": world.add_user("nobody", guild),
            "moderator": self._holding(Permission.MANAGE_MESSAGES | Permission.MANAGE_CHANNELS),
            "creator": world.add_user("creator", guild),
            "foreign": world.add_user("foreign", guild),
            "newcomer": world.add_user("newcomer", guild),
            "bot": world.add_user("robot", guild, bot=True),
        }
        world.join(self.people["tutor"], guild, self.tutors)
        world.join(self.people["bot"], guild, self.tutors)
        world.join(self.people["foreign"], self.elsewhere, self.foreign)
        everything = Permission.MANAGE_MESSAGES | Permission.MANAGE_CHANNELS
        everything |= Permission.MANAGE_THREADS | Permission.MANAGE_ROLES
        world.restrict(world.channel, self.people["creator"], allow=everything)
        self.client = Connected(intents=discord.Intents.none())
        self.state = self.client._connection
        self.unreadable = Unreadable("discord", (), NO_METER)
        self.me = discord.ClientUser(state=self.state, data=own_user_payload(world.bot))  # type: ignore[arg-type]
        self.state.user = self.me

    def _holding(self, permissions: Permission) -> User:
        user = self.world.add_user(permissions.name or "someone", self.world.guild)
        role = self.world.add_role(self.world.guild, "powers", permissions)
        self.world.join(user, self.world.guild, role)
        return user

    async def name(self, limit: str | None) -> None:
        """Name the tutors' role and a person, for a course or for all, and a foreign role."""
        tenant, person = Tenant("discord", str(self.world.guild.id)), self.people["person"]
        for named in await self.store.of(tenant):
            await self.store.remove(tenant, named.id)
        for role in (self.tutors, self.foreign):
            await self.store.add(tenant, NamedStaff(StaffKind.ROLE, str(role.id), limit))
        await self.store.add(tenant, NamedStaff(StaffKind.PERSON, str(person.id), limit))

    async def place(self, kind: str, user: User) -> Channel:
        """Return a channel of the server, a thread in it, or the direct messages with somebody."""
        world = self.world
        if kind == "direct":
            return world.direct_channel(user, world.bot)
        thread = await world.open_thread(world.owner, world.channel, "thread")
        return thread if kind == "thread" else world.channel

    def see(self) -> None:
        """Have discord.py know the server as it is now."""
        channels = list(self.world.channels_of(self.world.guild))
        seen: Any = guild_create_payload(self.world.guild, channels, self.world.bot, large=False)
        self.state._add_guild_from_data(seen)

    async def said(self, user: User, channel: Channel) -> IncomingMessage | None:
        """Return what is heard of a message."""
        message = await self.world.say(user, channel, "What is a cell?")
        payload: Any = dispatched(message, self.world.bot, content_intent=True)
        shown = read_message(payload)
        return incoming_from_message(
            shown, self.me, await around(self.client, self.unreadable, shown)
        )

    async def commanded(self, user: User, channel: Channel) -> IncomingMessage:
        """Return what is heard of a command."""
        application = self.world.application
        given = self.world.interactions.begin(
            InteractionType.COMMAND, application, user, channel, {"name": "ask"}
        )
        payload: Any = interaction_payload(given)
        return incoming_from_command(discord.Interaction(data=payload, state=self.state), "Why?")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}", synchronous="NORMAL")
    await upgrade(engine)
    reception = Reception(engine, COURSE, OTHER)
    server = Server(reception)
    guild = str(server.world.guild.id)
    await reception.access.meet(Tenant("discord", guild))
    await server.rules.set(Place("discord", guild, guild), Rules(course_id=COURSE))
    yield server
    await server.client.close()
    await engine.dispose()


def meant(who: str, limit: str | None, place: str) -> bool:
    """Return whether somebody is to be staff, where the course COURSE answers."""
    if place == "direct":
        return False
    return who in ADMINS or (who in NAMED and limit in (None, COURSE))


@pytest.mark.costly
async def test_staff_are_admins_and_who_is_named_for_the_course_that_answers(
    server: Server,
) -> None:
    cells = 0
    for limit, kind, who in product(LIMITS, PLACES, WHO):
        if (kind, who) == (PLACES[0], WHO[0]):
            await server.name(limit)
        user = server.people[who]
        if kind == "direct" and user.bot:
            continue
        channel = await server.place(kind, user)
        server.see()
        for incoming in (await server.said(user, channel), await server.commanded(user, channel)):
            cells += 1
            if user.bot:
                assert incoming is None or not await server.desk.is_staff(incoming.presence)
                continue
            assert incoming is not None
            found = await server.desk.is_staff(incoming.presence)
            assert found is meant(who, limit, kind), (who, limit, kind, incoming.key)
    assert cells > 180


@pytest.mark.costly
async def test_what_a_channel_permits_is_no_matter(server: Server) -> None:
    """All of a channel's permissions, Manage Server among them, make nobody an admin."""
    world, creator = server.world, server.people["creator"]
    world.restrict(world.channel, creator, allow=Permission((1 << 53) - 1))
    server.see()
    incoming = await server.commanded(creator, world.channel)
    assert not await server.desk.is_staff(incoming.presence)
    member = await incoming.member(frozenset())
    assert member is not None
    assert not member.is_admin


async def test_in_a_server_that_the_bot_is_not_in_nobody_is_staff(server: Server) -> None:
    owner = server.elsewhere.owner_id
    channel = server.world.add_channel(server.elsewhere, "there")
    incoming = await server.commanded(server.world.users[owner], channel)
    assert incoming.presence.tenants == ()
    assert not await server.desk.is_staff(incoming.presence)


def test_the_role_of_everybody_names_nobody(server: Server) -> None:
    server.see()
    guild = server.state._get_guild(server.world.guild.id)
    assert guild is not None
    data: Any = {"user": {"id": "9", "username": "x", "discriminator": "0", "avatar": None}}
    data |= {"roles": [str(guild.id)], "joined_at": None, "flags": 0}
    member = member_of(discord.Member(data=data, guild=guild, state=server.state))
    assert member is not None
    assert not is_staff(member, [NamedStaff(StaffKind.ROLE, str(guild.id))], None)
