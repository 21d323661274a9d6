"""Several bots that share Discord's shards, and people in the servers of each shard."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.chaos.book import COURSE, name_of, names_in, question_about
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.discord import Channel, DiscordServer, Guild, Limits, Message, User
from tests.wire.discord_bot import BotProcess, Trial
from tests.wire.grants import grant
from tests.wire.monitored import Pages
from tests.wire.on_postgres import BookOnPostgres

LEASE = 4.0
_TOLD = re.compile(
    r"this process has shard (?P<new>\d+)"
    r"|shard (?P<given>\d+) is handed over"
    r"|(?:another process has|the leases of) shards \[(?P<lost>[\d, ]+)\]"
)
_SEALED = {"ENCRYPTION_KEY": "the same for all, too"}
HANDED_OVER = "is handed over to another process"


def shards_of(bot: BotProcess) -> set[int]:
    """Return the shards that a process says it has."""
    shards = set[int]()
    for told in _TOLD.finditer(bot.log):
        if told["new"]:
            shards.add(int(told["new"]))
        shards -= {int(n) for n in re.findall(r"\d+", told["given"] or told["lost"] or "")}
    return shards


@dataclass
class Asked:
    """A question, and the buoy that it is about."""

    message: Message
    name: str


@dataclass
class Fleet:
    """Bots with one token over one database, and a guild in each shard."""

    server: DiscordServer
    book: BookOnPostgres
    folder: Path
    guilds: list[Guild]
    """By the shard that serves them."""
    bots: list[BotProcess] = field(default_factory=list)
    asked: int = 0

    @property
    def running(self) -> list[BotProcess]:
        """The processes that run, the oldest first."""
        return [bot for bot in self.bots if bot.is_running]

    @property
    def all_shards(self) -> list[int]:
        """Every shard once."""
        return list(range(len(self.guilds)))

    async def add(
        self, count: int = 1, settings: Mapping[str, str] = MappingProxyType({})
    ) -> list[BotProcess]:
        """Start processes with more settings, and wait until they are ready."""
        new = list[BotProcess]()
        for _ in range(count):
            folder = self.folder / f"bot-{len(self.bots)}"
            copied(self.book.template.data, folder)
            bot = BotProcess(folder, self.server, {**self.book.settings, **_SEALED, **settings})
            self.bots.append(bot)
            new.append(bot)
        await asyncio.gather(*(bot.launch() for bot in new))
        for bot in new:
            await bot.says("monitoring at")
            await Pages(bot).becomes("/readyz", 200)
        return new

    async def have(self, count: int) -> None:
        """Let so many processes run that share the shards evenly, each with one connection."""
        if count > len(self.running):
            await self.add(count - len(self.running))
        await self.stop(self.running[count:])
        await self.balanced()

    async def stop(self, bots: Sequence[BotProcess]) -> None:
        """Tell processes to end, and wait until they have."""
        for bot in bots:
            assert await bot.stop() == 0, bot.log

    async def balanced(self) -> None:
        """Wait until each shard has one connection, and the processes have even shares."""

        def is_even() -> bool:
            sizes = [len(shards_of(bot)) for bot in self.running]
            return self.is_whole() and max(sizes) - min(sizes) <= 1

        await self.until(is_even, "even shares")

    def is_whole(self) -> bool:
        """Return whether each shard has one connection, and one process that says it is its."""
        told = sorted(shard for bot in self.running for shard in shards_of(bot))
        return told == self.all_shards == self.server.gateway.connected_shards()

    async def until(self, condition: Callable[[], bool], wanted: str) -> float:
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

    async def ask(self, shard: int) -> Asked:
        """Ask about a buoy of which nobody has asked, in a guild of a shard."""
        name = name_of(self.asked)
        self.asked += 1
        user, channel = self.room(self.guilds[shard])
        text = f"<@{self.server.world.bot.id}> {question_about(name)}"
        return Asked(await self.server.world.say(user, channel, text), name)

    async def ask_everywhere(self) -> list[Asked]:
        """Ask in a guild of each shard."""
        return [await self.ask(shard) for shard in self.all_shards]

    async def answered_once(self, asked: list[Asked]) -> float:
        """Wait for the answers, each the only message of the bot; return the seconds it took."""
        begun = time.monotonic()
        trial = Trial(self.server, self.running[0])
        for one in asked:
            answer = await trial.answer_to(one.message)
            assert set(names_in(answer.text)) <= {one.name}
        seconds = time.monotonic() - begun
        for one in asked:
            place = one.message.thread
            assert place is not None, "a mention is answered in a thread of its own"
            assert len(trial.from_bot(place)) == 1
            assert trial.from_bot(one.message.channel) == []
        return seconds


@asynccontextmanager
async def a_fleet(book: BookOnPostgres, folder: Path, shards: int) -> AsyncIterator[Fleet]:
    """Serve a Discord with guilds in so many shards; what bots may never do fails the test."""
    limits = Limits.relaxed()
    limits.shards = limits.max_concurrency = shards
    limits.identify_interval = 5.0
    async with DiscordServer(limits) as server:
        fleet = Fleet(server, book, folder, await _guilds(server, shards))
        readers = [f"discord:{guild.id}" for guild in fleet.guilds]
        await grant(book.settings["DATABASE__URL"], COURSE, *readers)
        try:
            yield fleet
            await fleet.stop(fleet.running)
            for bot in fleet.bots:
                Trial(server, bot).check_manners()
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
