"""Whether no answer of the staff outlives the passage that it cites.

`python -m tests.bench.teaching.editions` has staff verify answers about a book, on the local
Discord and the local Slack, and ingests a changed book while students go on asking those
questions. It reads the database all the time: how the answers stand, and which edition is live.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import cycle
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.answering.verified import VerifiedAnswer, VerifiedState
from core.storage.catalogue import EditionRow
from core.storage.database import create_engine, dispose, reading
from core.teaching.verified_store import VerifiedAnswerRow, VerifiedAnswers
from tests.bench.teaching.offices import Office, on_both
from tests.books import write_files
from tests.chaos.book import COURSE, COURSE_FILE, book, fact_about, name_of, question_about
from tests.chaos.templates import BUOYS

_APART = 7
"""Buoys from one that is asked about to the next."""
_STUDENTS = 3
"""Who ask at the same time."""
_PAUSE = 4.0
"""Seconds between two questions of a student: Slack has a bot edit 50 messages in a minute."""
_AFTER = 12
"""Questions of each student after the edition was replaced."""


class Change(StrEnum):
    """What the new edition does to the section that an answer cites."""

    QUOTE = "its quote changes"
    SECTION = "another sentence of its section changes"
    GONE = "its section is gone"
    NONE = "its section stays"


@dataclass
class Verified:
    """An answer of the staff, and what becomes of its section."""

    name: str
    change: Change
    answer: VerifiedAnswer

    @property
    def said(self) -> str:
        """What staff said; it stands in no other answer."""
        return said_of(self.name)


@dataclass
class Replaced:
    """What was seen on one platform while the edition was replaced."""

    platform: str
    verified: list[Verified]
    looks: int = 0
    looks_after: int = 0
    """Looks at the database with the new edition live."""
    current_under_it: set[UUID] = field(default_factory=set)
    """Answers that no longer hold, and were CURRENT in one of those looks."""
    asked: Counter[str] = field(default_factory=Counter)
    shown_under_it: int = 0
    """Times that one was shown to a question that was asked with the new edition live."""
    states: Mapping[UUID, str] = field(default_factory=dict)
    """How the answers stand at the end."""

    @property
    def lapsed(self) -> frozenset[UUID]:
        """The answers that do not hold under the new edition."""
        return frozenset(
            one.answer.answer_id for one in self.verified if one.change is not Change.NONE
        )

    def lines(self) -> Iterator[str]:
        """Yield the figures."""
        for change in Change:
            own = [one for one in self.verified if one.change is change]
            stale = sum(self.states[one.answer.answer_id] == VerifiedState.STALE for one in own)
            yield f"{self.platform}: {change}: {stale} of {len(own)} answers STALE"
        yield (
            f"{self.platform}: {self.looks:,} looks at the database, {self.looks_after:,} with the "
            f"new edition live: {len(self.current_under_it)} lapsed answers CURRENT in one of them"
        )
        yield (
            f"{self.platform}: {self.asked['before']} questions asked before it was live, "
            f"{self.asked['after']} after: a lapsed answer shown to {self.shown_under_it} of these"
        )

    @property
    def holds(self) -> bool:
        """Whether each answer stands as it must, and did so from the first moment."""
        stale = {name for name, state in self.states.items() if state == VerifiedState.STALE}
        is_seen = self.looks_after > 0 and self.asked["after"] > 0
        is_clean = not self.current_under_it and not self.shown_under_it
        return is_seen and is_clean and stale == self.lapsed


def said_of(name: str) -> str:
    """Return what staff say about a buoy."""
    return f"The harbour office has read the plate of buoy {name}"


async def verify(office: Office, engine: AsyncEngine, number: int) -> list[Verified]:
    """Have staff verify so many answers, each by a passage of its own section."""
    answers = VerifiedAnswers(engine)
    changes, numbers = cycle(Change), iter(range(1, BUOYS, _APART))
    found: list[Verified] = []
    while len(found) < number:
        name = name_of(next(numbers))
        asked = await office.ask(question_about(name))
        await office.verify(asked, f"{said_of(name)} [1].")
        kept = next(one for one in await answers.all(COURSE) if said_of(name) in one.answer_text)
        sections = {one.headings[-1] for one in kept.citations}
        if sections != {_section(name)}:
            await answers.retire(kept.answer_id, [kept.tenant])
            continue
        found.append(Verified(name, next(changes), kept))
    return found


def changed_book(verified: list[Verified]) -> dict[str, str]:
    """Return the files of the new edition."""
    files = dict(book(BUOYS))
    for one in verified:
        fact, mooring = fact_about(one.name), f"The mooring of buoy {one.name} lies"
        for path, page in files.items():
            if fact not in page:
                continue
            match one.change:
                case Change.QUOTE:
                    page = page.replace(fact, fact.replace("hours", "nights"))
                case Change.SECTION:
                    page = page.replace(mooring, mooring.replace("lies", "has lain"))
                case Change.GONE:
                    begin = page.index(f"## {_section(one.name)}\n")
                    page = page[:begin] + page[page.index("\n\n", page.index(mooring)) + 2 :]
            files[path] = page
    return files


def _section(name: str) -> str:
    return f"Station {int(name[1:])}"


class Observer:
    """Reads in one statement which edition is live and how the answers stand."""

    def __init__(self, engine: AsyncEngine, found: Replaced) -> None:
        self._engine = engine
        self._found = found
        self._first: UUID | None = None
        self.is_new = False
        """Whether the new edition is live."""

    async def look(self) -> None:
        """Look once."""
        answers, editions = VerifiedAnswerRow, EditionRow
        query = select(answers.answer_id, answers.state, editions.generation).join(
            editions, editions.course_id == answers.course_id
        )
        async with reading(self._engine) as db:
            rows = (await db.execute(query)).all()
        generation = rows[0].generation
        self._first = self._first or generation
        self._found.looks += 1
        if generation != self._first:
            current = {row.answer_id for row in rows if row.state == VerifiedState.CURRENT}
            self._found.looks_after += 1
            self._found.current_under_it |= current & self._found.lapsed
            self.is_new = True

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(0.002)


async def _ask_on(office: Office, found: Replaced, seen: Observer, number: int) -> None:
    """Ask the verified questions in turn, until so many were asked of the new edition."""
    after = 0
    for one in cycle(found.verified[number:] + found.verified[:number]):
        is_after = seen.is_new
        asked = await office.ask(question_about(one.name))
        found.asked["after" if is_after else "before"] += 1
        is_lapsed = one.answer.answer_id in found.lapsed
        found.shown_under_it += is_after and is_lapsed and one.said in asked.text
        after += is_after
        if after >= _AFTER:
            return
        await asyncio.sleep(_PAUSE)


async def measured(office: Office, number: int) -> Replaced:
    """Replace the edition under so many verified answers."""
    folder = office.bot.folder
    engine = create_engine(f"sqlite:///{folder / 'data' / 'glossator.db'}")
    try:
        found = Replaced(office.name, await verify(office, engine, number))
        seen = Observer(engine, found)
        await seen.look()
        write_files(folder, {**changed_book(found.verified), "glossator.toml": COURSE_FILE})
        watching = asyncio.create_task(seen.watch())
        try:
            async with asyncio.TaskGroup() as tasks:
                for student in range(_STUDENTS):
                    tasks.create_task(_ask_on(office, found, seen, student))
                done = await asyncio.to_thread(
                    office.bot.shell.run, "ingest", "--course", COURSE, timeout=900
                )
                assert done.code == 0, done.err
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        states = {one.answer_id: one.state for one in await VerifiedAnswers(engine).all(COURSE)}
        found.states = {
            one.answer.answer_id: states[one.answer.answer_id] for one in found.verified
        }
        return found
    finally:
        await dispose(engine)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        prog="python -m tests.bench.teaching.editions", description=__doc__
    )
    reader.add_argument("--number", type=int, default=24, help="verified answers, by platform")
    number = reader.parse_args().number
    raise SystemExit(not asyncio.run(on_both(lambda office: measured(office, number))))
