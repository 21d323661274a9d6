"""What a person at a terminal sees while Gemini writes, and when it breaks off."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.command_line import CommandLine
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_prompts import number_of, read_prompt
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer
from tests.wire.gemini_shell import SECRET, book_shell, speaking_to
from tests.wire.scripted_models import answer, claim

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
    pytest.mark.costly,
]

WICK = "The keeper trims the wick of the lamp every four hours."
SOOT = (
    "An untrimmed wick smokes, and the soot darkens the prisms until ships no longer see the beam."
)


@pytest.fixture(scope="module")
def arden(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    return book_shell(tmp_path_factory.mktemp("arden"), models)


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer(api_key=SECRET) as server:
        yield server


async def test_at_a_terminal_the_first_sentence_is_seen_before_the_last_is_written(
    arden: CommandLine, server: GeminiServer
) -> None:
    last_written = asyncio.Event()

    async def slow_model(call: GeminiCall) -> AsyncIterator[str]:
        number = number_of(read_prompt(call), WICK)
        text = answer(claim(WICK, number), claim(f"\n\n{SOOT}", number_of(read_prompt(call), SOOT)))
        first_end = text.index("}") + 1
        yield text[:first_end]
        await asyncio.wait_for(first_seen.wait(), 20)
        last_written.set()
        yield text[first_end:]

    first_seen = asyncio.Event()
    server.answer_with(slow_model)
    terminal = Terminal(speaking_to(server, arden), "ask", COVERED)
    await terminal.shows(lambda text: "wick of the lamp every four" in text)
    assert not last_written.is_set()
    assert "soot darkens" not in terminal.text
    first_seen.set()
    assert await terminal.ends() == 0
    assert "soot darkens" in terminal.text
    assert "Trimming the wick" in terminal.text
    assert terminal.text.rfind("\x1b[?25h") > terminal.text.rfind("\x1b[?25l")


async def test_at_a_terminal_what_gemini_could_not_finish_gives_way_to_the_books_own_words(
    arden: CommandLine, server: GeminiServer
) -> None:
    def broken_off(call: GeminiCall) -> Reply:
        text = answer(claim(SOOT, number_of(read_prompt(call), SOOT)))
        return Reply(text[:-20], finish_reason=None)

    server.answer_with(broken_off)
    terminal = Terminal(speaking_to(server, arden), "ask", COVERED)
    assert await terminal.ends() == 0
    assert "\x1b[2KWARNING" in terminal.text  # on a line of its own, above what is searched
    _, _, final = terminal.text.rpartition("\x1b[?25h")
    assert COVERED_FACT in final
    assert i18n.text("notice-model-failed")[:40] in final


class Terminal:
    """A command that runs at a pseudo-terminal of 100 columns."""

    def __init__(self, command_line: CommandLine, *arguments: str) -> None:
        self._master, slave = os.openpty()
        sized = command_line.knowing(TERM="xterm-256color", COLUMNS="100", LINES="40")
        self._process = sized.start(*arguments, stdout=slave, stderr=slave)
        os.close(slave)
        self.text = ""

    async def shows(self, condition: Callable[[str], bool]) -> None:
        """Read until the condition holds of all that was shown; fail at the end."""
        while not condition(self.text):
            assert await self._read(), self.text

    async def ends(self) -> int:
        """Read to the end and return the exit code."""
        while await self._read():
            pass
        os.close(self._master)
        return await asyncio.to_thread(self._process.wait, 30)

    async def _read(self) -> bool:
        try:
            piece = await asyncio.wait_for(asyncio.to_thread(os.read, self._master, 65_536), 30)
        except OSError:  # Linux's way to say that nobody writes any more
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)
