"""The smallest complete chat platform, and the one to copy: one room, lines over TCP.

`nc 127.0.0.1 7070`: the first line is one's name, and each other line is said in the room. A line
that begins with `bot:` is for the bot.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from adapters.chat.acceptor import Acceptor
from adapters.chat.base import EarlierThread, Nearest, PlatformReply, PostKeeper
from adapters.chat.front_desk import FrontDesk
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.footnotes import footnotes
from adapters.chat.markdown.layout import visible
from core.domain import AgentRequest, AgentResponse
from core.domain.errors import DeliveryError
from core.storage.access import Tenant
from core.storage.inbox.base import Job, Posted, Twin
from core.teaching.help_requests import CardDue, QueueCard
from core.teaching.radar_store import RadarChannel, RadarPost

PLATFORM = "line"
WORKSPACE, ROOM = "server", "room"
MENTION = "bot:"


class LineChat:
    """A `ChatPlatform`: hears the lines of the room, and writes answers into it."""

    platform = PLATFORM
    is_ready = True

    def __init__(
        self, desk: FrontDesk, intake: Acceptor, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Prepare to listen; nothing is opened yet."""
        self._desk = desk
        self._intake = intake
        self._host, self._port = host, port
        self._people = set[asyncio.StreamWriter]()
        self._said = 0
        self._posts = dict[str, str]()
        self._announced = set[str]()
        self._closing = asyncio.Event()
        self._server: asyncio.Server | None = None

    # --- the connection ------------------------------------------------------------------

    async def run(self) -> None:
        """Let people in until `close`."""
        self._server = await asyncio.start_server(self._person, self._host, self._port)
        async with self._server:
            await self._closing.wait()
            for writer in self._people:
                writer.close()

    async def close(self) -> None:
        """Let no more lines in; what is being accepted is finished first."""
        self._closing.set()
        await self._intake.close()

    async def is_connected(self) -> bool:
        """Return whether people can come in."""
        return self._server is not None and self._server.is_serving()

    async def is_member(self, tenant: Tenant, user: str) -> bool:
        """Return False: here a tenant stands around every place."""
        return False

    async def _person(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._people.add(writer)
        with suppress(ConnectionError, ValueError):
            name = (await reader.readline()).decode(errors="replace").strip() or "somebody"
            async for line in reader:
                await self._hear(name, line.decode(errors="replace").strip())
        self._people.discard(writer)
        writer.close()

    async def _hear(self, name: str, line: str) -> None:
        """Have a line accepted; it is in the inbox before the next one is read."""
        self._said += 1
        incoming = IncomingMessage(
            key=f"{PLATFORM}:{self._said}",
            platform=PLATFORM,
            workspace=WORKSPACE,
            channel=ROOM,
            places=(ROOM, WORKSPACE),
            position=self._said,
            user=name,
            text=line.removeprefix(MENTION).strip(),
            address={"channel": ROOM, "message": str(self._said)},
            message=str(self._said),
            addressed=line.startswith(MENTION),
        )
        await self._intake.begin(ROOM, lambda: self._desk.receive(incoming))

    # --- answers ---------------------------------------------------------------------------

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader; a room of lines needs no placeholder."""
        keeper.check()
        await keeper.keep(job.posted)
        return LineReply(self, job, keeper)

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Say a sentence instead of an answer; nearest sections are named, there is no button."""
        keeper.check()
        near = f" ({'; '.join(nearest.sections)})" if nearest is not None else ""
        await keeper.keep(self.post(job, " ".join(filter(None, (sentence + near, link)))))

    async def notify(self, job: Job, sentence: str) -> None:
        """Say something while the question waits."""
        self._write(sentence)

    async def retract(self, job: Job) -> None:
        """Take an answer back: what was written stays, so this is said."""
        if self._posts.pop(_name_of(job), None) is not None:
            self._write(f"#{_name_of(job)} is taken back.")

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return the request: a line comes with nothing else."""
        return request

    async def ended(self, job: Job) -> None:
        """Show nothing: nothing said that something is being done."""

    async def abandon(self, job: Job, error: DeliveryError) -> None:
        """Say nothing: a line is never closed."""

    async def react(self, job: Job) -> None:
        """Show nothing: a line has no reactions, so an offer is not seen."""

    async def unreact(self, job: Job) -> None:
        """Remove nothing."""

    async def link(self, job: Job, twin: Twin) -> str | None:
        """Return None: lines have no addresses."""
        return None

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return a room and its workspace."""
        return channel, workspace

    async def announce(self, channel: RadarChannel, post: RadarPost, key: str) -> None:
        """Write the text of a report into the room, once; a line shows no picture."""
        if key not in self._announced:
            self._announced.add(key)
            self._write(post.text)

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Write what waits into the room, and again what became of it: lines do not change."""
        self._write(f"{card.question} {card.status}")
        return str(card.help_id)

    async def remove_card(self, due: CardDue) -> None:
        """Remove nothing: what was written stays."""

    async def tidy(self, job: Job) -> None:
        """Remove nothing: a post is never shown twice."""

    def post(self, job: Job, text: str) -> Posted:
        """Write a text into the room, unless it is what was last written for the job."""
        name = _name_of(job)
        if self._posts.get(name) != text:
            self._posts[name] = text
            self._write(f"#{name} {text}")
        return Posted((name,))

    def posts(self) -> list[str]:
        """Return what stands in the room of the bot's."""
        return list(self._posts.values())

    def _write(self, text: str) -> None:
        for writer in self._people:
            writer.write(visible(text).encode() + b"\n")


class LineReply:
    """A `PlatformReply` that shows an answer when it is finished."""

    def __init__(self, chat: LineChat, job: Job, keeper: PostKeeper) -> None:
        self._chat = chat
        self._job = job
        self._keeper = keeper
        self.posted = job.posted

    async def reading(self, headings: Sequence[str]) -> None:
        """Show nothing yet."""

    async def update(self, delta: str) -> None:
        """Show nothing yet: a line cannot be changed."""

    async def withdraw(self) -> None:
        """Take nothing back: nothing was shown."""

    async def finish(self, response: AgentResponse, earlier: EarlierThread | None = None) -> None:
        """Write the answer, and a line for each place that it cites."""
        self._keeper.check()
        places = [f"{note.numbers} {note.title}" for note in footnotes(response)]
        self.posted = self._chat.post(self._job, "\n".join([response.response_text, *places]))
        await self._keeper.keep(self.posted)

    async def leave(self) -> None:
        """Show nothing more."""


def _name_of(job: Job) -> str:
    """Return what is written before an answer: the number of its question."""
    return str(job.arrival.address["message"])
