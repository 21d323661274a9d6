"""Questions whose way through the product is recorded: at a terminal, and on Discord."""

import asyncio
import subprocess
import sys
from asyncio import StreamReader
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.bench.touched.recorder import BEGIN, END, MODULE, read_record
from tests.books import COVERED
from tests.command_line import CommandLine
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.conversation.script import FOLLOW_UP
from tests.wire.discord_bot import a_trial

_BANNER = "Ask away"
_LAST_LINE = "(from the book"


@dataclass(frozen=True)
class Way:
    """What one or more questions ran of the product, in the order of the first calls."""

    calls: Sequence[tuple[str, str]]
    """File, as `core/domain/errors.py`, and qualified name of the function."""

    @cached_property
    def files(self) -> Sequence[str]:
        """The files, in the order in which they were first entered."""
        return list(dict.fromkeys(file for file, _ in self.calls))


async def at_terminal(template: Path, folder: Path) -> Way:
    """Return the way of a question to `glossator chat`, over a copy of a data folder."""
    copied(template, folder)
    chat = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", MODULE, "chat", "--course", "arden"),
        cwd=folder,
        env=CommandLine(folder).environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert chat.stdin is not None
    assert chat.stdout is not None
    assert chat.stderr is not None
    async with asyncio.timeout(PATIENCE * 2):
        await _line_with(_BANNER, chat.stderr)
        chat.send_signal(BEGIN)
        chat.stdin.write(f"{COVERED}\n".encode())
        await _line_with(_LAST_LINE, chat.stdout)
        chat.send_signal(END)
        way = await _recorded(folder)
        await chat.communicate(b"")
    assert chat.returncode == 0
    return way


async def on_discord(template: Path, folder: Path) -> Way:
    """Return the way of a question and its follow-up on Discord, over a copy of a data folder."""
    async with a_trial(template, folder, start=False) as trial:
        trial.bot.module = MODULE
        await trial.bot.start()
        ann, channel = trial.user(), trial.channel()
        trial.bot.signal(BEGIN)
        answer = await trial.ask(ann, channel, COVERED)
        await trial.answer_to(await trial.world.say(ann, answer.channel, FOLLOW_UP))
        trial.bot.signal(END)
        async with asyncio.timeout(PATIENCE):
            return await _recorded(folder)


async def _line_with(words: str, stream: StreamReader) -> None:
    """Read up to a line that contains some words."""
    while words not in (line := (await stream.readline()).decode()):
        assert line, f"the output ended without {words!r}"


async def _recorded(folder: Path) -> Way:
    """Wait for the record of a process that was sent END."""
    while (calls := read_record(folder)) is None:  # noqa: ASYNC110 - a file has no event
        await asyncio.sleep(0.02)
    return Way(calls)
