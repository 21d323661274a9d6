"""Makes the installation that a version's program leaves behind, and keeps it as a fixture."""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.command_line import ROOT, CommandLine, Finished
from tests.upgrade import courses
from tests.upgrade.fixture import pack, path_of
from tests.upgrade.installation import Bot, Written
from tests.upgrade.people import populate
from tests.upgrade.story import Town, live
from tests.upgrade.worlds import Worlds
from tests.wire.discord import DiscordServer
from tests.wire.slack import SlackServer

_ASKED_THERE = (courses.WICK, courses.BELL)


_REQUIREMENTS = "requirements"


@dataclass(frozen=True)
class Program:
    """A commit's files in a folder of their own, and the interpreter that can run them."""

    folder: Path
    python: str

    @classmethod
    def of(cls, commit: str, folder: Path) -> "Program":
        """Unpack a commit, and install what it requires unless that is installed here.

        Raises:
            subprocess.CalledProcessError: when there is no such commit, or an installation fails.
        """
        folder.mkdir(parents=True)
        archive = ("git", "-C", str(ROOT), "archive", commit)
        packed = subprocess.run(archive, check=True, capture_output=True).stdout
        subprocess.run(("tar", "-x", "-C", str(folder)), input=packed, check=True)
        for page in (folder / "docs").rglob("*.md"):
            if page.name != "index.md":  # a handbook of one page: the installation stays small
                page.unlink()
        if _required(folder) == _required(ROOT):
            return cls(folder, sys.executable)
        subprocess.run(("make", "-C", str(folder), "install"), check=True)
        return cls(folder, str(folder / ".venv" / "bin" / "python"))

    @property
    def version(self) -> str:
        """As it calls itself."""
        told = (self.folder / "bot" / "__init__.py").read_text(encoding="utf-8")
        return told.split('__version__ = "')[1].split('"')[0]

    @property
    def example(self) -> str:
        """The list of its settings."""
        return (self.folder / ".env.example").read_text(encoding="utf-8")

    def shell(self, folder: Path) -> CommandLine:
        """Return a shell in which this program is run."""
        return CommandLine(folder, {"PYTHONPATH": str(self.folder)}, self.python)


def _required(folder: Path) -> dict[str, bytes]:
    names = ("runtime.txt", "model.txt")
    return {name: (folder / _REQUIREMENTS / name).read_bytes() for name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Build a fixture as the arguments say, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade.build", description=_ABOUT)
    parser.add_argument("commit", nargs="?", default="HEAD", help="a commit; default: HEAD")
    parser.add_argument("--into", type=Path, help="the archive; default: where the tests look")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="glossator-upgrade-") as name:
        program = Program.of(asked.commit, Path(name) / "program")
        archive = asked.into or path_of(program.version)
        folder = Path(name) / "installation"
        build(program, folder)
        pack(folder, archive)
    print(f"{archive}: {archive.stat().st_size // 1000} kB", file=sys.stderr)
    return 0


_ABOUT = (
    "Run the program of a commit as an operator would: ingest two courses, ask at the terminal, "
    "let its bot answer on a local Discord and a local Slack, kill it in the middle of answers, "
    "and pack the folder. Whatever the commit requires is installed unless this interpreter has "
    "it. Identifiers and times differ from one run to the next, nothing else does."
)


def build(program: Program, folder: Path) -> None:
    """Let a program live in a folder until it is killed."""
    worlds = Worlds.begun()
    populate(worlds)
    folder.mkdir(parents=True)
    Written(folder, program.example).files(worlds)
    shell = program.shell(folder)
    for course in courses.BOOKS:
        _done(shell.run("ingest", "--course", course, timeout=_LONG))
        for tenant in worlds.tenants:
            _done(shell.run("courses", "grant", course, tenant))
    continued: tuple[str, ...] = ()
    for asked in _ASKED_THERE:
        answer = shell.run("ask", "--course", "arden", *continued, asked.text, timeout=_LONG)
        assert asked.fact in _done(answer), answer.out
        continued = ("--session", conversation_at_the_terminal(shell))
    asyncio.run(_live(program, folder, worlds))
    worlds.keep(folder)


_LONG = 600.0


def conversation_at_the_terminal(shell: CommandLine) -> str:
    """Return the id of the only conversation that was held there."""
    sessions = json.loads(_done(shell.run("sessions", "list", "--json")))
    [only] = [one for one in sessions if one["metadata"].get("platform") == "console"]
    return str(only["session_id"])


def _done(finished: Finished) -> str:
    assert finished.code == 0, finished.err
    return finished.out


async def _live(program: Program, folder: Path, worlds: Worlds) -> None:
    async with (
        DiscordServer(world=worlds.discord) as discord,
        SlackServer(world=worlds.slack) as slack,
    ):
        bot = Bot(program.shell(folder), discord, slack)
        try:
            await bot.start()
            await live(Town.around(bot, discord, slack))
        finally:
            if bot.is_running:
                await bot.kill()


if __name__ == "__main__":
    sys.exit(main())
