"""Sources are ingested again by themselves: on time, once, and by one process alone."""

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.course_tables import RenewedSource
from bot.periodic import SourceRenewal, ingest_aside, state_of
from core.domain import now
from core.ingestion.changes import SourceCheck, SourceCheckRow, SourceChecks
from core.storage.database import writing
from core.storage.ingest_accounts import IngestAccounts
from tests.command_line import CommandLine
from tests.library import Library, open_library

pytestmark = pytest.mark.costly

DAILY = RenewedSource("tides", "https://tides.example/sitemap.xml", timedelta(days=1), False)
KEY = (DAILY.course_id, DAILY.name)


class Ingests:
    """Takes down what is ingested; each takes as long as `going_on` is closed."""

    def __init__(self, problem: str | None = None) -> None:
        self.sources = list[RenewedSource]()
        self.begun = asyncio.Event()
        self.problem = problem
        self.going_on = asyncio.Event()
        self.going_on.set()

    async def __call__(self, source: RenewedSource) -> str | None:
        self.sources.append(source)
        self.begun.set()
        await self.going_on.wait()
        return self.problem


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as opened:
        yield opened


def renewal(engine: AsyncEngine, ingest: Ingests, *sources: RenewedSource) -> SourceRenewal:
    return SourceRenewal(sources, SourceChecks(engine), IngestAccounts(engine), ingest)


async def turn_back(engine: AsyncEngine, by: timedelta) -> None:
    async with writing(engine) as db:
        await db.execute(update(SourceCheckRow).values(checked_at=now() - by))


@pytest.mark.costly
async def test_a_source_is_ingested_when_its_time_has_come(library: Library) -> None:
    ingests = Ingests()
    again = renewal(library.engine, ingests, DAILY)
    assert await again.look() == [DAILY]
    assert await again.look() == []
    await turn_back(library.engine, timedelta(hours=23))
    assert await again.look() == []
    await turn_back(library.engine, timedelta(hours=25))
    assert await again.look() == [DAILY]
    assert len(ingests.sources) == 2


@pytest.mark.costly
async def test_an_ingestion_by_hand_counts(library: Library) -> None:
    library.write({"a.md": "# A\n\nText.\n"})
    await library.ingest("book")
    source = RenewedSource("tides", str(library.folder / "book"), timedelta(days=1), False)
    assert await renewal(library.engine, Ingests(), source).look() == []


async def test_a_failure_is_kept_and_tried_again_within_the_hour(library: Library) -> None:
    again = renewal(library.engine, Ingests("it is away."), DAILY)
    await again.look()
    assert (await SourceChecks(library.engine).all())[KEY].problem == "it is away."
    await turn_back(library.engine, timedelta(minutes=59))
    assert await again.look() == []
    await turn_back(library.engine, timedelta(minutes=61))
    assert await again.look() == [DAILY]
    done = renewal(library.engine, Ingests(), DAILY)
    await turn_back(library.engine, timedelta(minutes=61))
    await done.look()
    assert (await SourceChecks(library.engine).all())[KEY].problem is None


async def test_of_two_processes_one_ingests(library: Library) -> None:
    ingests = Ingests()
    ingests.going_on.clear()
    first = asyncio.create_task(renewal(library.engine, ingests, DAILY).look())
    await ingests.begun.wait()
    other = renewal(library.engine, ingests, DAILY)
    assert await other.look() == []
    ingests.going_on.set()
    assert await first == [DAILY]
    assert await other.look() == []
    assert len(ingests.sources) == 1


@pytest.mark.costly
async def test_a_look_that_is_out_of_date_takes_nothing(library: Library) -> None:
    checks = SourceChecks(library.engine)
    before = SourceCheck()
    assert await checks.claim(*KEY, before)
    await checks.done(*KEY, problem=None, seen=None)
    assert not await checks.claim(*KEY, before)
    assert await checks.claim(*KEY, (await checks.all())[KEY])


async def test_a_claim_of_a_process_that_died_runs_out(library: Library) -> None:
    checks = SourceChecks(library.engine)
    assert await checks.claim(*KEY, SourceCheck())
    assert not await checks.claim(*KEY, SourceCheck())
    async with writing(library.engine) as db:
        await db.execute(update(SourceCheckRow).values(claimed_until=now()))
    assert await checks.claim(*KEY, SourceCheck())


async def test_a_watched_folder_is_ingested_once_its_files_stay_the_same(library: Library) -> None:
    library.write({"a.md": "# A\n\nText.\n"})
    folder = library.folder / "book"
    watched = RenewedSource("tides", str(folder), None, True)
    ingests = Ingests()
    again = renewal(library.engine, ingests, watched)
    assert [await again.look() for _ in range(3)] == [[], [watched], []]
    library.write({"b.md": "# B\n"})
    assert await again.look() == []
    library.write({"b.md": "# B\n\nNow it is whole.\n"})
    assert [await again.look() for _ in range(3)] == [[], [watched], []]
    other = renewal(library.engine, ingests, watched)
    assert [await other.look() for _ in range(3)] == [[], [], []]


async def test_a_folder_that_is_away_has_not_changed(library: Library) -> None:
    library.write({"a.md": "# A\n\nText.\n"})
    folder = library.folder / "book"
    watched = RenewedSource("tides", str(folder), None, True)
    again = renewal(library.engine, Ingests(), watched)
    for _ in range(2):
        await again.look()
    folder.rename(library.folder / "away")
    assert [await again.look() for _ in range(3)] == [[], [], []]
    (library.folder / "away").rename(folder)
    assert [await again.look() for _ in range(3)] == [[], [], []]


def test_the_state_of_a_folder_follows_names_sizes_and_times(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one")
    os.utime(file, (1, 1))
    states = [state_of(tmp_path)]
    os.utime(file, (2, 2))
    states.append(state_of(tmp_path))
    file.rename(tmp_path / "b.md")
    states.append(state_of(tmp_path))
    (tmp_path / ".hidden").write_text("x")
    states.append(state_of(tmp_path))
    assert len(set(states)) == 3
    assert states[2] == states[3]


@pytest.mark.costly
async def test_the_process_that_ingests_says_why_it_could_not(
    glossator: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in glossator.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(glossator.folder)
    nowhere = RenewedSource("tides", str(glossator.folder / "nowhere"), None, True)
    problem = await ingest_aside(nowhere)
    assert problem == f"There is no file or folder called {nowhere.name}."
