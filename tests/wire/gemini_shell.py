"""The command line as a user runs it, beside the local Gemini."""

import asyncio
from pathlib import Path

from core.domain import AgentResponse
from tests.books import COVERED, LIGHTHOUSE, write_files
from tests.command_line import CommandLine, Finished, shell
from tests.wire.gemini_server import GeminiServer

SECRET = "a-secret-key-of-gemini"


def book_shell(folder: Path, models: Path) -> CommandLine:
    """Return a shell whose only course is the lighthouse book, embedded with the local model."""
    command_line = shell(folder, models)
    write_files(folder / "arden", LIGHTHOUSE)
    done = command_line.here("ingest", "arden")
    assert done.code == 0, done.err
    return command_line


def speaking_to(server: GeminiServer, command_line: CommandLine) -> CommandLine:
    """Return the same shell with a key, and both models of it at the local Gemini."""
    return command_line.knowing(GEMINI_API_KEY=SECRET).setting(
        MODELS__GEMINI__BASE_URL=server.url, MODELS__GEMINI_EMBEDDING__BASE_URL=server.url
    )


def describing(command_line: CommandLine, toml: str) -> CommandLine:
    """Return the same shell with a course file of its own."""
    path = command_line.folder / f"courses-{abs(hash(toml))}.toml"
    path.write_text(toml, encoding="utf-8")
    return command_line.setting(CONFIG=str(path))


async def finished(command_line: CommandLine, *arguments: str, stdin: str = "") -> Finished:
    """Run a command as a process while the server of this loop answers it."""
    return _checked(await asyncio.to_thread(command_line.run, *arguments, stdin=stdin.encode()))


async def finished_here(command_line: CommandLine, *arguments: str) -> Finished:
    """Run a command in a thread of this process, which saves its start."""
    return _checked(await asyncio.to_thread(command_line.here, *arguments))


async def answered(command_line: CommandLine, *arguments: str) -> AgentResponse:
    """Return the answer to the one question that the book covers."""
    done = await finished_here(command_line, "ask", COVERED, "--json", *arguments)
    assert done.code == 0, done.err
    return AgentResponse.model_validate_json(done.out)


def _checked(done: Finished) -> Finished:
    assert "Traceback" not in done.err
    assert SECRET not in done.out + done.err
    return done
