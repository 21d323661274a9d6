"""The smallest platform has every command, button and form, as lines."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.bot_process import PATIENCE, BotProcess, copied

pytestmark = pytest.mark.costly


class Person:
    """Somebody in the room."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def leaves(self) -> None:
        """Close the connection."""
        self._writer.close()
        await self._writer.wait_closed()

    async def says(self, line: str, until: str) -> str:
        """Say a line, and return what is written until a text comes."""
        self._writer.write(line.encode() + b"\n")
        written = ""
        async with asyncio.timeout(PATIENCE):
            while until not in written:
                written += (await self._reader.readline()).decode()
        return written


@asynccontextmanager
async def a_room(template: Path, folder: Path) -> AsyncIterator[int]:
    copied(template, folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    bot = BotProcess(folder, {"LINE__PORT": str(port)}, "ready")
    bot.module = "tests.line_chat"
    await bot.launch()
    try:
        yield port
    finally:
        await bot.stop()
    bot.check_log()


async def enters(port: int, name: str) -> Person:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.write(name.encode() + b"\n")
            return Person(reader, writer)


async def test_lines_ask_press_and_set_all_that_there_is(one_course: Path, tmp_path: Path) -> None:
    async with a_room(one_course, tmp_path) as port:
        ann, owner = await enters(port, "ann"), await enters(port, "owner")
        answer = await ann.says(f"bot: {COVERED}", "Evidence")
        assert COVERED_FACT in answer
        assert "/press 1  Helpful" in answer
        form = await ann.says("/press 2", "Ask the staff")
        assert "because: Reason (wrong, aside, missing, unclear)" in form
        assert "/send because: …; reason: …" in form
        await ann.says("/send reason: It is about another lamp.", "Ask the staff")
        await ann.says("/press 1", "staff")
        await ann.says("/course show", "can do that")
        await owner.says("/course show", "private")
        assert COVERED in await owner.says("/course queue", "Dismiss")
        assert "answer: " in await owner.says("/press 2", "/send")
        await owner.says("/send answer: It burns rapeseed oil [1].", "rapeseed")
        assert "rapeseed" in await ann.says("/glossator about", "Glossator")
        await ann.says(f"/ask {COVERED}", "rapeseed")
        await ann.says("/course policy set hints", "can do that")
        await owner.says("/course policy set hints until 2030-12-01", "hints")
        await owner.says("/course policy list", "hints")
        await ann.says("/course bind", "can do that")
        await ann.says("/course dance", "can do that")
        await owner.says("/course dance", "How to set me up here")
        assert "There is no such command" in await ann.says("/dance", "/course")
        assert "no such button" in await ann.says("/press 99", "no such button")
        await ann.leaves()
        await owner.leaves()


async def test_what_one_person_asks_privately_no_one_else_reads(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_room(one_course, tmp_path) as port:
        ann, owner = await enters(port, "ann"), await enters(port, "owner")
        await owner.says("/course show", "private")
        assert "Share" in await ann.says(f"/ask private {COVERED}", "Share")
        read = await owner.says("/glossator about", "Glossator")
        assert COVERED_FACT not in read
        await owner.says("/course set private: yes", "private")
        assert COVERED_FACT in await ann.says(f"/ask {COVERED}", "Share")
        read = await owner.says("/glossator about", "Glossator")
        assert COVERED_FACT not in read
        await ann.says("/press 4", "Shared in this channel")
        assert COVERED_FACT in await owner.says("/course show", "Evidence")
        await ann.leaves()
        await owner.leaves()


async def test_answers_are_deleted_and_verified_and_cards_change(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_room(one_course, tmp_path) as port:
        ann, owner = await enters(port, "ann"), await enters(port, "owner")
        await owner.says("/course queue post", "posted here")
        await ann.says(f"bot: {COVERED}", "Evidence")
        assert "answer: " in await owner.says("/verify", "/send")
        await ann.says("/press 2", "Ask the staff")
        await ann.says("/press 1", "staff")
        await owner.says("/course queue", "Dismiss")
        await owner.says("/press 1", COVERED)
        await ann.says("/delete", "is taken back")
        await ann.says("/glossator data", "Get it as a file")
        assert "{" in await ann.says("/press 1", "}")
        await ann.leaves()
        await owner.leaves()


async def test_a_guest_sees_what_is_stored_and_gets_nothing_else(
    one_course: Path, tmp_path: Path
) -> None:
    async with a_room(one_course, tmp_path) as port:
        guest = await enters(port, "guest")
        await guest.says("/glossator about", i18n.text("asking-not-for-guests"))
        await guest.says("/glossator data", "as a file")
        await guest.leaves()
