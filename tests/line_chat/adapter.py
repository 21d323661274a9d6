"""The smallest complete chat platform, and the one to copy: one room, lines over TCP.

`nc 127.0.0.1 7070`: the first line is one's name, and each other line is said in the room. A line
that begins with `bot:` is for the bot, and one that begins with `/` is a command.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from adapters.actions.commands import Commands
from adapters.actions.presses import Presses
from adapters.actions.text_platform import TextPlatform
from adapters.chat.acceptor import Acceptor
from adapters.chat.front_desk import FrontDesk
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.layout import visible
from core.storage.access import Member
from core.storage.inbox.base import Job, Posted

PLATFORM = "line"
WORKSPACE, ROOM = "server", "room"
MENTION = "bot:"
ADMIN = "owner"
GUEST = "guest"
"""Somebody of another organisation."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Who somebody is, by the name that they give."""

    name: str

    async def __call__(self, _: frozenset[str]) -> Member:
        return Member(self.name, is_admin=self.name == ADMIN, name=self.name)


class LineChat(TextPlatform):
    """Hears the lines of the room, and writes answers into it."""

    platform = PLATFORM

    def __init__(
        self,
        desk: FrontDesk,
        intake: Acceptor,
        commands: Commands,
        presses: Presses,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """Prepare to listen; nothing is opened yet."""
        super().__init__(desk, intake, commands, presses)
        self._host, self._port = host, port
        self._people = dict[asyncio.StreamWriter, str]()
        self._said = 0
        self._posts = dict[str, str]()
        self._closing = asyncio.Event()
        self._server: asyncio.Server | None = None

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

    async def _person(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, ValueError):
            name = (await reader.readline()).decode(errors="replace").strip() or "somebody"
            self._people[writer] = name
            async for line in reader:
                await self._run_program(name, line.decode(errors="replace").strip())
        self._people.pop(writer, None)
        writer.close()

    async def _run_program(self, name: str, line: str) -> None:
        """Have a line taken in; it is in the inbox before the next one is read."""
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
            outsider=name == GUEST,
            member=_Known(name),
        )
        await self.hear(incoming)

    def write(self, channel: str, text: str, user: str | None = None) -> None:
        """Write a text into the room, or to one of its people."""
        for writer, name in self._people.items():
            if user in (None, name):
                lines = [visible(line) for line in text.split("\n")]
                writer.write("\n".join(lines).encode() + b"\n")

    def post(self, job: Job, shown: str) -> Posted:
        """Write a text unless it is what was last written for the job."""
        name = str(job.arrival.address["message"])
        if self._posts.get(name) != shown:
            self._posts[name] = shown
            self.write(ROOM, f"#{name} {shown}", self.reader(job))
        return Posted((name,))

    async def retract(self, job: Job) -> None:
        """Say that an answer is taken back: what was written stays."""
        name = str(job.arrival.address["message"])
        if self._posts.pop(name, None) is not None:
            self.write(ROOM, f"#{name} is taken back.", self.reader(job))

    def posts(self) -> list[str]:
        """Return what stands in the room of the bot's."""
        return list(self._posts.values())
