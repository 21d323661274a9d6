"""Opens the services for a command, and decides which course it is about."""

import getpass
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from uuid import UUID

from bot.cli.exits import UsageError
from bot.keys import Keys, Pseudonyms
from bot.log import configure_logging, tell
from bot.model_tables import GEMINI
from bot.services import HANDBOOK, Services
from bot.settings import load_settings
from bot.wiring import open_services
from core.domain import EXTRACTIVE, Course
from core.domain.errors import ConfigurationError
from core.storage.catalogue import Edition


@asynccontextmanager
async def services(
    *, keys: Collection[str] = (), needs_room: bool = True
) -> AsyncIterator[Services]:
    """Open what the environment's settings name; slow work is announced on stderr.

    `keys` are made where they are missing. Without `needs_room`, a disk that is full or
    read-only is only read.
    """
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format, beside_answers=True)
    async with open_services(settings, announce=tell, keys=keys, needs_room=needs_room) as opened:
        yield opened


def check_generator(opened: Services, name: str | None) -> None:
    """Raise UsageError for a writer that there is not; one without a key is another mistake."""
    known = [EXTRACTIVE, GEMINI, *opened.models.tables]
    if name is not None and name not in known:
        there = ", ".join(dict.fromkeys(known))
        raise UsageError(f"--generator names {name!r}, and there is: {there}.")


async def choose_course(opened: Services, course_id: str | None) -> Course:
    """Return the course that is named, or the only one there is besides the handbook.

    Raises:
        UsageError: for an unknown course, or when there are several and none is named.
        ConfigurationError: when there is no course yet, or the one named has no text.
    """
    known = await opened.catalogue.courses()
    ready = {course.course_id: course for course, edition in known if edition}
    if course_id is not None:
        if course_id in ready:
            return ready[course_id]
        described = course_id in opened.course_file.tables
        if described or any(course.course_id == course_id for course, _ in known):
            raise _no_text(course_id)
        raise UsageError(unknown_course(opened, course_id, ready))
    if not ready:
        raise ConfigurationError("There is no course yet: run 'glossator ingest SOURCE' first.")
    if len(ready) > 1:
        ready.pop(HANDBOOK.course_id, None)
    if len(ready) > 1:
        raise UsageError(f"Name a course with --course: {', '.join(sorted(ready))}.")
    return next(iter(ready.values()))


async def check_is_known(opened: Services, course_id: str) -> None:
    """Raise UsageError for a course that neither the database nor the course file knows."""
    stored = {course.course_id: course for course, _ in await opened.catalogue.courses()}
    if course_id not in stored and course_id not in opened.course_file.tables:
        raise UsageError(unknown_course(opened, course_id, stored))


async def choose_course_of(
    opened: Services, session_id: UUID | None, course_id: str | None
) -> Course:
    """Return the course that is named, else the one that the conversation is about.

    Raises:
        UsageError: as `choose_course` does, and for a conversation that there is not.
        ConfigurationError: as `choose_course` does.
    """
    if session_id is not None:
        session = await opened.sessions.get(session_id)
        if session is None:
            raise UsageError(
                f"There is no conversation {session_id}: leave --session out to begin one, or see "
                "'glossator sessions list', which lists yours."
            )
        if course_id is None:
            course_id = session.course_id
    return await choose_course(opened, course_id)


async def live_edition(opened: Services, course: Course) -> Edition:
    """Return the edition that the course is answered from.

    Raises:
        ConfigurationError: when the course has no text.
    """
    edition = await opened.catalogue.live(course.course_id)
    if edition is None:
        raise _no_text(course.course_id)
    return edition


def _no_text(course_id: str) -> ConfigurationError:
    return ConfigurationError(
        f"The course {course_id} has no text yet: run 'glossator ingest SOURCE --course "
        f"{course_id}' first."
    )


def unknown_course(opened: Services, course_id: str, known: Collection[str]) -> str:
    """Return that there is no such course, which there are, and where was looked for them."""
    there = f"there is: {', '.join(sorted(known))}" if known else "there is none yet"
    said = f"There is no course called {course_id}; {there}."
    if opened.settings.database.url is not None:
        return said
    return f"{said} The data folder is {opened.settings.data_dir.absolute()}."


def terminal_user(keys: Keys) -> str:
    """Return the pseudonym of the user who sits at this terminal."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid()) if hasattr(os, "getuid") else "user"
    return Pseudonyms(keys.pseudonym).of("console", "local", name)


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in the right number: `1 chunk`, `2,000 chunks`, `3 boxes`.

    Args:
        noun: In the singular, with a regular plural.
    """
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    is_ies = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if is_ies else f"{noun}s"
