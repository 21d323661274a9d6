"""Bots with one token over one database: one holds Discord's gateway, the others stand by."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.chaos.book import COURSE, name_of, names_in, question_about
from tests.chaos.templates import STAND_INS, Templates
from tests.postgres import PostgresServer
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.discord import Channel, DiscordServer, Guild, Limits, Message, User
from tests.wire.discord_bot import BotProcess, Trial
from tests.wire.grants import grant
from tests.wire.monitored import Pages

LEASE = 4.0
HOLDS, STANDS_BY = "this process holds discord:", "another process holds discord:"


def holds(bot: BotProcess) -> bool:
    """Return whether a process says that it holds the gateway."""
    said = [*re.finditer(f"{HOLDS}|{STANDS_BY}", bot.log)]
    return bool(said) and said[-1][0] == HOLDS


@dataclass
class Asked:
    """A question, and the buoy that it is about."""

    message: Message
    name: str


@dataclass
class Fleet:
    """Bots over one database, and a guild in each shard."""

    server: DiscordServer
    folder: Path
    template: Path
    settings: Mapping[str, str]
    guilds: list[Guild]
    """By the shard that serves them."""
    bots: list[BotProcess] = field(default_factory=list)
    asked: int = 0

    @property
    def running(self) -> list[BotProcess]:
        """The processes that run, the oldest first."""
        return [bot for bot in self.bots if bot.is_running]

    @property
    def holder(self) -> BotProcess:
        """The process that runs and says that it holds the gateway."""
        (found,) = (bot for bot in self.running if holds(bot))
        return found

    async def add(self, settings: Mapping[str, str] = MappingProxyType({})) -> BotProcess:
        """Start a process with more settings, and wait until it is ready."""
        folder = self.folder / f"bot-{len(self.bots)}"
        copied(self.template, folder)
        bot = BotProcess(folder, self.server, {**self.settings, **settings})
        self.bots.append(bot)
        await bot.launch()
        await bot.says("monitoring at")
        await Pages(bot).becomes("/readyz", 200)
        return bot

    async def have(self, count: int) -> None:
        """Let so many processes run, of which one is connected with every shard."""
        while len(self.running) < count:
            await self.add()
        for bot in self.running[count:]:
            assert await bot.stop() == 0, bot.log
        if count:
            await self.until(self.is_whole, "one connection a shard")

    def is_whole(self) -> bool:
        """Return whether one process says that it holds, and each shard has one connection."""
        shards = [*range(len(self.guilds))]
        return (
            sum(map(holds, self.running)) == 1
            and self.server.gateway.connected_shards() == shards
            and len(self.server.gateway.connections) == len(shards)
        )

    async def until(self, condition: Callable[[], object], wanted: str) -> float:
        """Wait until a condition is true, and return after how many seconds it was."""
        begun = time.monotonic()
        try:
            await self.server.world.until(lambda: condition() or None, PATIENCE * 2)
        except TimeoutError:
            logs = "\n".join(f"--- {bot.folder.name}\n{bot.log[-3000:]}" for bot in self.bots)
            shards = self.server.gateway.connected_shards()
            raise AssertionError(f"{wanted} did not come; connected {shards}\n{logs}") from None
        return time.monotonic() - begun

    def room(self, guild: Guild) -> tuple[User, Channel]:
        """Return somebody, and an empty channel, in a guild."""
        world, number = self.server.world, len(self.server.world.channels)
        user = world.add_user(f"user{number}", guild)
        return user, world.add_channel(guild, f"channel-{number}")

    async def ask(self, shard: int = 0) -> Asked:
        """Ask about a buoy of which nobody has asked, in a guild of a shard."""
        user, channel = self.room(self.guilds[shard])
        return await self.say(user, channel, f"<@{self.server.world.bot.id}> ")

    async def say(self, user: User, channel: Channel, before: str = "") -> Asked:
        """Ask somewhere about a buoy of which nobody has asked."""
        name = name_of(self.asked)
        self.asked += 1
        text = f"{before}{question_about(name)}"
        return Asked(await self.server.world.say(user, channel, text), name)

    async def ask_everywhere(self) -> list[Asked]:
        """Ask in a guild of each shard."""
        return [await self.ask(shard) for shard in range(len(self.guilds))]

    async def answered_once(self, asked: list[Asked]) -> float:
        """Wait for the answers, each the only one of its question; return the seconds it took."""
        begun = time.monotonic()
        trial = Trial(self.server, self.running[0])
        for one in asked:
            answer = await trial.answer_to(one.message)
            assert one.name in names_in(answer.text), answer.text
        seconds = time.monotonic() - begun
        for one in asked:
            place = one.message.thread or one.message.channel
            about = [m for m in trial.from_bot(place) if one.name in names_in(m.text)]
            assert len(about) == 1, [m.text for m in trial.from_bot(place)]
        return seconds


@asynccontextmanager
async def a_fleet(
    folder: Path, models: Path, server: PostgresServer | None, *, shards: int = 1
) -> AsyncIterator[Fleet]:
    """Serve a Discord with guilds in so many shards; what bots may never do fails the test.

    Args:
        server: Where the database is; None: in a file that all processes share.
    """
    templates = Templates(folder / "template", models, server)
    template = await templates.get(on_postgres=server is not None, stand_ins=True)
    url = f"{server.url}{template.database}" if server else f"sqlite:///{folder}/shared.db"
    if server is None:
        (template.data / "glossator.db").rename(folder / "shared.db")
    settings = {
        **STAND_INS,
        "DATABASE__URL": url,
        "MONITORING__PORT": "0",
        "PSEUDONYM_KEY": "the same for all",
        "ENCRYPTION_KEY": "the same for all, too",
        "INBOX__LEASE": f"{LEASE:.0f}",
    }
    limits = Limits.relaxed()
    limits.shards = limits.max_concurrency = shards
    async with DiscordServer(limits) as discord:
        fleet = Fleet(discord, folder, template.data, settings, await _guilds(discord, shards))
        await grant(url, COURSE, *(f"discord:{guild.id}" for guild in fleet.guilds))
        try:
            yield fleet
            for bot in reversed(fleet.running):
                assert await bot.stop() == 0, bot.log
            for bot in fleet.bots:
                Trial(discord, bot).check_manners()
                bot.check_log()
        finally:
            for bot in fleet.running:
                await bot.kill()


async def _guilds(server: DiscordServer, shards: int) -> list[Guild]:
    """Return a guild for each shard, with the bot in it; an id's time says which shard it is."""
    world = server.world
    found = {(world.guild.id >> 22) % shards: world.guild}
    while len(found) < shards:
        await asyncio.sleep(0.001)
        guild = world.add_guild("Course", world.owner)
        if found.setdefault((guild.id >> 22) % shards, guild) is guild:
            world.install(world.application, guild)
    return [found[shard] for shard in range(shards)]
