"""`glossator init`: writes a first glossator.toml and .env from a few answers."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from pydantic import TypeAdapter, ValidationError

from bot.cli.exits import Exit, UsageError
from bot.platforms.registry import PLATFORMS
from core.models import CourseId

COURSE_FILE, ENV_FILE = Path("glossator.toml"), Path(".env")
TOKENS: Mapping[str, Mapping[str, str]] = {
    **{name: entry.tokens for name, entry in PLATFORMS.items()},
    "terminal": {},
}
"""The variables that each platform needs, with what is asked for."""


@dataclass(frozen=True, slots=True)
class InitArguments:
    """What the command line says; what it leaves out is asked for."""

    course: str | None
    title: str | None
    sources: Sequence[str]
    platforms: Sequence[str]
    tokens: Mapping[str, str]
    asks: bool


def init(arguments: InitArguments) -> int:
    """Write both files in the current folder, and say what comes next.

    Raises:
        UsageError: when one of them is there, or an answer is missing or cannot be used.
    """
    for file in (COURSE_FILE, ENV_FILE):
        if file.exists() or file.is_symlink():
            raise UsageError(f"{file} is there already, and stays as it is: nothing was written.")
    course = _answer(arguments.course, "--course", "Id of the course", "biology", arguments)
    try:
        TypeAdapter(CourseId).validate_python(course)
    except ValidationError as error:
        message = f"{course!r} is no course's id: lower-case letters, digits, - and _."
        raise UsageError(message) from error
    title = arguments.title or course
    if arguments.title is None and arguments.asks:
        title = typer.prompt("Title of the course", default=course)
    sources = arguments.sources or [
        _answer(None, "--source", "Folder, file or URL of the book", "book", arguments)
    ]
    tokens = _tokens(arguments)
    _write(COURSE_FILE, _course_file(course, title, sources), 0o644)
    _write(ENV_FILE, "".join(f"{name}={value}\n" for name, value in tokens.items()), 0o600)
    print(f"Wrote {COURSE_FILE} and {ENV_FILE}", end="")
    print(f"; the tokens are in {ENV_FILE}, for you alone." if tokens else ".")
    for source in sources:
        if "://" not in source and not Path(source).expanduser().exists():
            print(f"There is no file or folder {source} yet: put the book there first.")
    print("Next: glossator doctor, then glossator ingest, then", end=" ")
    print("glossator run" if tokens else "glossator chat")
    return Exit.OK


def _answer(given: str | None, option: str, prompt: str, default: str, how: InitArguments) -> str:
    if given is not None:
        return given
    if not how.asks:
        raise UsageError(f"Give {option}: there is no terminal to ask on.")
    answer: str = typer.prompt(prompt, default=default)
    return answer


def _tokens(arguments: InitArguments) -> dict[str, str]:
    platforms = arguments.platforms
    if not platforms and arguments.asks:
        named: str = typer.prompt(f"Platforms ({', '.join(TOKENS)})", default="terminal")
        platforms = named.replace(",", " ").split()
    if unknown := [name for name in platforms if name not in TOKENS]:
        raise UsageError(f"There is no platform {unknown[0]}; there is: {', '.join(TOKENS)}.")
    tokens: dict[str, str] = {}
    for platform in platforms:
        for name, prompt in TOKENS[platform].items():
            value = arguments.tokens.get(name)
            if value is None and arguments.asks:
                value = typer.prompt(prompt, hide_input=True)
            if value is None:
                raise UsageError(f"{name} is not set, and there is no terminal to ask on.")
            if any(character.isspace() or character in "'\"#$\\" for character in value):
                raise UsageError(f"The value for {name} has a character that no token has.")
            tokens[name] = value
    return tokens


def _course_file(course: str, title: str, sources: Sequence[str]) -> str:
    """Return the table of a course; a JSON string is a TOML string."""
    listed = ", ".join(json.dumps(source, ensure_ascii=False) for source in sources)
    return (
        f"[courses.{course}]\n"
        f"title = {json.dumps(title, ensure_ascii=False)}\n"
        f"sources = [{listed}]\n"
    )


def _write(file: Path, content: str, mode: int) -> None:
    """Write a new file that has its mode from the first byte on."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(content)
