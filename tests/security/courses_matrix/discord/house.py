"""A local Discord with several tenants, their people, and the unmodified bot in front of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.security.courses_matrix import granting
from tests.security.courses_matrix.cells import Cell
from tests.security.courses_matrix.matrix import Lane, Silent
from tests.security.courses_matrix.relations import (
    BONDS,
    FIRST,
    HOME,
    LOCKS,
    SETTINGS,
    TENANTS,
    Place,
    Relation,
    Role,
    course_file,
)
from tests.security.courses_matrix.witness import HOLDER, Witness
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.discord import (
    Channel,
    DiscordServer,
    Event,
    Guild,
    Limits,
    Message,
    Permission,
    User,
)
from tests.wire.discord_bot import BotProcess, is_finished

T = TypeVar("T")


class DiscordHouse:
    """Guilds, lanes, and all that they are shown."""

    def __init__(self, server: DiscordServer, bot: BotProcess) -> None:
        self.server, self.bot, self.world = server, bot, server.world
        self.witness = Witness()
        self.guilds: dict[str, Guild] = {HOME: self.world.guild}
        self.owners: dict[str, User] = {HOME: self.world.owner}
        for tenant in TENANTS[1:]:
            self.owners[tenant] = self.world.add_user(f"{tenant}-owner")
            self.guilds[tenant] = self.world.add_guild(f"Guild {tenant}", self.owners[tenant])
        self.tutors = {
            tenant: self.world.add_role(
                guild, "tutors", Permission.MANAGE_MESSAGES | Permission.MANAGE_CHANNELS
            )
            for tenant, guild in self.guilds.items()
        }
        self.admins = {
            tenant: self.world.add_role(guild, "admins", Permission.ADMINISTRATOR)
            for tenant, guild in self.guilds.items()
        }
        self.tenants = {tenant: f"discord:{guild.id}" for tenant, guild in self.guilds.items()}
        self.lanes: list[Lane] = []
        self._people = 0
        self.aside = HOME
        """The tenant in which a question is asked to see that the bot has come so far."""
        self.sent: list[tuple[str, Any]] = []
        """What the bot was told that people did: their ids, each with what can be told again."""
        self.world.watch(self._hear)

    def person(self, tenant: str, role: Role = Role.STUDENT) -> User:
        """Return a new member of one guild alone."""
        self._people += 1
        guild = self.guilds[tenant]
        user = self.world.add_user(f"person{self._people}", guild)
        roles = {Role.STAFF: [self.tutors[tenant]], Role.ADMIN: [self.admins[tenant]]}
        self.world.join(user, guild, *roles.get(role, []))
        return user

    def room(self, tenant: str) -> Channel:
        """Return a new channel."""
        self._people += 1
        return self.world.add_channel(self.guilds[tenant], f"room-{self._people}")

    async def make_lanes(self, cells: Iterable[Cell]) -> None:
        """Make a place and a person for each kind of cell."""
        for relation, role, place in dict.fromkeys((c.relation, c.role, c.place) for c in cells):
            tenant = BONDS[relation].tenant
            user, channel = self.person(tenant, role), self.room(tenant)
            where = channel
            if place is Place.THREAD:
                where = await self.world.open_thread(self.owners[tenant], channel, "Lunch")
            direct = self.world.direct_channel(user, self.world.bot)
            if place is Place.DIRECT:
                where = direct
            places = frozenset({str(channel.id), str(direct.id), f"user {user.id}"})
            lane = Lane(relation, role, place, user, channel, where, places=places)
            self.lanes.append(lane)

    def course_file(self) -> str:
        """Return glossator.toml, with the locks of the lanes that have some."""
        tables = [course_file()]
        for lane in self.lanes:
            if lane.relation in LOCKS and lane.relation is not Relation.SWITCHED_OFF:
                tables.append(_table(lane.channel.id, granting.locked(lane.relation)))
        shut = self.guilds[BONDS[Relation.SWITCHED_OFF].tenant]
        tables.append(_table(shut.id, granting.locked(Relation.SWITCHED_OFF)))
        named = {self.tenants[t]: [str(role.id)] for t, role in self.tutors.items()}
        return "\n".join([*tables, granting.staff_tables("roles", named)])

    async def move_in(self) -> None:
        """Let the bot into the guilds that come later, once it knows the first one."""
        await self.ask_at(HOME)
        for tenant in TENANTS[1:]:
            self.world.install(self.world.application, self.guilds[tenant])
        for tenant in TENANTS[1:]:
            await self.ask_at(tenant)

    async def ask_at(self, tenant: str) -> None:
        """Use a command in a guild, and wait until it is answered."""
        person, room = self.person(tenant), self.room(tenant)
        asked = await self.world.slash(person, room, "glossator about")
        await self.until(lambda: asked.original is not None and is_finished(asked.original))

    async def until(self, condition: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """Wait until a condition is true and return its value."""
        try:
            value = await self.world.until(condition, seconds)
        except TimeoutError:
            raise Silent(self.bot.log[-600:]) from None
        assert value is not None
        return value

    async def incoming(self, lane: Lane, mark: int, *, quiet: bool = False) -> Message | None:
        """Wait for a finished message of the bot; None where it keeps silent, as it may."""

        def finished() -> Message | None:
            new = self.witness.new_since(mark, lane.places)
            return next((m for m in new if isinstance(m, Message) and is_finished(m)), None)

        if not quiet:
            return await self.until(finished)
        await self.barrier()
        return finished()

    async def barrier(self) -> None:
        """Wait until a question that is asked now, elsewhere, is answered."""
        person, room = self.person(self.aside), self.room(self.aside)
        mark = self.witness.mark()
        await self.world.say(person, room, f"<@{self.world.bot.id}> {FIRST}")
        places = frozenset({str(room.id)})
        await self.until(
            lambda: any(
                isinstance(seen.subject, Message) and is_finished(seen.subject)
                for seen in self.witness.since(mark, places)
            )
        )

    def tenant_of(self) -> dict[str, str]:
        """Return the tenant of each channel and of each person, by what entries call them."""
        by_guild = {guild.id: tenant for tenant, guild in self.guilds.items()}
        found = {str(c.id): by_guild[c.guild.id] for c in self.world.channels.values() if c.guild}
        for tenant, guild in self.guilds.items():
            for user in (member.user for member in guild.members.values()):
                direct = self.world.direct_channel(user, self.world.bot)
                found |= {f"user {user.id}": tenant, str(direct.id): tenant}
        return found

    async def deliver_again(self, user: User, since: int) -> None:
        """Tell the bot once more what a person did since, and wait until it has come so far."""
        for author, event in self.sent[since:]:
            if author == str(user.id):
                self.world.tell(event)
        await self.barrier()

    def _hear(self, event: Event) -> None:
        channel, message = event.channel, event.message
        if (author := _author(event)) is not None:
            self.sent.append((author, event))
        if channel is None or (message is not None and message.text == HOLDER):
            return
        root = channel.parent if channel.thread and channel.parent else channel
        if message is not None and message.author is self.world.bot:
            self.witness.note([root.id], _shown(message), public=not message.ephemeral,
                              subject=message)  # fmt: skip
        elif event.name == "INTERACTION_SUCCESS":
            whom = [f"user {user}" for user in event.only_to or ()]
            text = json.dumps([event.data["modal"], event.data["choices"]])
            modal = (event.data["modal"] or {}).get("custom_id", "")
            self.witness.note([root.id, *whom], text, public=False, modal=modal)
        elif event.name.startswith("THREAD_"):
            self.witness.note([root.id], channel.name, public=True)


def _author(event: Event) -> str | None:
    """Return whose deed an event is; None: it is nothing that a person did."""
    if event.name == "INTERACTION_CREATE":
        data = event.data
        return str((data.get("member") or data)["user"]["id"])
    if event.name == "MESSAGE_CREATE" and event.message is not None:
        return str(event.message.author.id)
    return None


def _shown(message: Message) -> str:
    texts = [message.text, json.dumps(message.components), json.dumps(message.embeds)]
    files = [f"{a.filename} {a.content.decode(errors='replace')}" for a in message.attachments]
    return "\n".join([*texts, *files])


def _table(place: int, rules: dict[str, Any]) -> str:
    lines = [f"{key} = {value}" for key, value in rules.items()]
    return "\n".join([f"[discord.channels.{place}]", *lines, ""])


@asynccontextmanager
async def discord_house(
    template: Path, folder: Path, cells: Iterable[Cell]
) -> AsyncIterator[DiscordHouse]:
    """Let the bot run among tenants whose courses have their owners and grants."""
    copied(template, folder)
    limits = Limits.relaxed()
    limits.first_response = 60.0
    async with DiscordServer(limits) as server:
        house = DiscordHouse(server, BotProcess(folder, server, SETTINGS))
        await house.make_lanes(cells)
        (folder / "glossator.toml").write_text(house.course_file(), encoding="utf-8")
        try:
            await house.bot.start()
            await asyncio.wait_for(house.move_in(), PATIENCE)
            yield house
            assert await house.bot.stop() == 0, house.bot.log
            house.bot.check_log()
        finally:
            if house.bot.is_running:
                await house.bot.kill()
