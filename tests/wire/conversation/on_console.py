"""The conversation at a terminal: the lines of one `glossator chat`."""

import asyncio
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.command_line import CommandLine
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.conversation.recording import MODULE, RECORD


class Console:
    """Types at a terminal."""

    takes_votes = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._chat: Process | None = None
        self._asked = 0

    async def ask(self, question: str) -> None:
        """Begin a conversation."""
        self._chat = await self._started("chat")
        await self._type(question)

    async def follow_up(self, question: str) -> None:
        """Ask on in the conversation."""
        await self._type(question)

    async def quote(self, passage: str, question: str) -> None:
        """Ask about a passage, in the conversation."""
        await self._type(f"> {passage}", question)

    async def ask_within(self, section: str, question: str) -> None:
        """Begin another conversation, with a question to one section of the book."""
        await self._type("/new", f"/section {section}", question)

    async def vote_not_helpful(self, reason: str) -> None:
        """Fail: a terminal has no buttons."""
        raise NotImplementedError

    async def forget(self) -> None:
        """Have everything deleted that is stored about the asker."""
        await self.leave()
        await _succeeded(await self._started("sessions", "forget", "--all", "--yes"))

    async def leave(self) -> None:
        """End the chat, where there is one."""
        chat, self._chat = self._chat, None
        if chat is not None:
            await _succeeded(chat)

    async def _type(self, *lines: str) -> None:
        """Write lines, the last of them a question, and wait for its answer."""
        assert self._chat is not None
        assert self._chat.stdin is not None
        self._chat.stdin.write("".join(f"{line}\n" for line in lines).encode())
        await self._chat.stdin.drain()
        self._asked += 1
        async with asyncio.timeout(PATIENCE * 2):
            while self._answered < self._asked:
                assert self._chat.returncode is None
                await asyncio.sleep(0.02)

    @property
    def _answered(self) -> int:
        record = self.folder / RECORD
        return record.read_text("utf-8").count("\n") if record.exists() else 0

    async def _started(self, *arguments: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", MODULE, *arguments),
            cwd=self.folder,
            env=CommandLine(self.folder).environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


async def _succeeded(process: Process) -> None:
    """Wait for the end of a command whose input ends here."""
    out, err = await process.communicate(b"")
    assert process.returncode == 0, (out.decode(), err.decode())


@asynccontextmanager
async def opened(template: Path, folder: Path) -> AsyncIterator[Console]:
    """Open a terminal in a copy of a data folder."""
    copied(template, folder)
    console = Console(folder)
    try:
        yield console
    finally:
        await console.leave()
