"""The thread that writes to a SQLite file: one turn after the other, the urgent ones first."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import StoreError
from core.storage.database import create_engine, reading, write, writing

PATIENCE = 30.0
"""Seconds; nobody waits so long unless something hangs."""


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    await write(engine, lambda db: db.execute(text("CREATE TABLE notes (said TEXT)")))
    yield engine
    await engine.dispose()


class Gate:
    """Holds the writer's thread inside a turn until it is opened."""

    def __init__(self) -> None:
        self._begun, self._opened = threading.Event(), threading.Event()

    def pass_through(self, db: Connection) -> None:
        self._begun.set()
        assert self._opened.wait(PATIENCE)

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, PATIENCE)

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
async def gate(engine: AsyncEngine) -> AsyncIterator[Gate]:
    """A turn that has begun, and lasts until the gate is opened."""
    gate = Gate()
    passing = asyncio.create_task(write(engine, gate.pass_through))
    await gate.begun()
    yield gate
    gate.open()
    await passing


def note(said: str) -> Callable[[Connection], str]:
    """Return work that adds a note and returns it."""

    def add(db: Connection) -> str:
        db.execute(text("INSERT INTO notes VALUES (:said)"), {"said": said})
        return said

    return add


async def notes(engine: AsyncEngine) -> list[str]:
    """Return all notes in the order in which they were written."""
    async with reading(engine) as db:
        return [*await db.scalars(text("SELECT said FROM notes ORDER BY rowid"))]


async def enqueued(engine: AsyncEngine, said: str, *, urgent: bool = False) -> "asyncio.Task[str]":
    """Return the task of a write that waits for its turn."""
    task = asyncio.create_task(write(engine, note(said), urgent=urgent))
    await asyncio.sleep(0)
    return task


async def test_turns_are_taken_in_order_and_the_urgent_ones_first(
    engine: AsyncEngine, gate: Gate
) -> None:
    waiting = [
        await enqueued(engine, said, urgent=said.startswith("urgent"))
        for said in ("first", "urgent first", "second", "urgent second")
    ]
    gate.open()
    assert await asyncio.gather(*waiting) == ["first", "urgent first", "second", "urgent second"]
    assert await notes(engine) == ["urgent first", "urgent second", "first", "second"]


async def test_who_gives_up_before_the_turn_has_written_nothing(
    engine: AsyncEngine, gate: Gate
) -> None:
    given_up, patient = await enqueued(engine, "given up"), await enqueued(engine, "patient")
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    gate.open()
    await patient
    assert await notes(engine) == ["patient"]


async def test_who_gives_up_before_the_commit_has_written_nothing(engine: AsyncEngine) -> None:
    gate = Gate()

    def slowly(db: Connection) -> None:
        note("given up")(db)
        gate.pass_through(db)

    writing_slowly = asyncio.create_task(write(engine, slowly))
    await gate.begun()
    writing_slowly.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing_slowly
    gate.open()
    await write(engine, note("next"))
    assert await notes(engine) == ["next"]


async def test_what_fails_undoes_its_own_turn_and_no_other(engine: AsyncEngine) -> None:
    def fail(db: Connection) -> None:
        note("failed")(db)
        raise ZeroDivisionError

    def fail_in_the_database(db: Connection) -> None:
        note("refused")(db)
        db.execute(text("INSERT INTO nowhere VALUES (1)"))

    outcomes = await asyncio.gather(
        write(engine, note("before")),
        write(engine, fail),
        write(engine, fail_in_the_database),
        write(engine, note("after")),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [str, ZeroDivisionError, StoreError, str]
    assert await notes(engine) == ["before", "after"]


async def test_another_connection_writes_in_a_turn_of_its_own(
    engine: AsyncEngine, gate: Gate
) -> None:
    async def write_step_by_step() -> None:
        async with writing(engine) as db:
            for said in ("one", "two"):
                await db.execute(text("INSERT INTO notes VALUES (:said)"), {"said": said})
                await asyncio.sleep(0)

    steps = asyncio.create_task(write_step_by_step())
    await asyncio.sleep(0)
    after = await enqueued(engine, "after")
    gate.open()
    await asyncio.gather(steps, after)
    assert await notes(engine) == ["one", "two", "after"]


async def test_a_turn_that_nobody_waits_for_any_more_is_not_taken(
    engine: AsyncEngine, gate: Gate
) -> None:
    async def write_in_vain() -> None:
        async with writing(engine):
            raise AssertionError("the turn has not come")

    vain = asyncio.create_task(write_in_vain())
    await asyncio.sleep(0)
    vain.cancel()
    with pytest.raises(asyncio.CancelledError):
        await vain
    gate.open()
    assert await write(engine, note("next")) == "next"


async def test_a_disposed_engine_leaves_no_thread_and_can_be_used_again(
    engine: AsyncEngine,
) -> None:
    def writers() -> list[str]:
        names = [thread.name for thread in threading.enumerate()]
        return [name for name in names if name.startswith("sqlite-writer")]

    await write(engine, note("before"))
    assert writers()
    await engine.dispose()
    assert not writers()
    await write(engine, note("after"))
    assert await notes(engine) == ["before", "after"]


async def test_writes_of_many_tasks_lose_nothing(engine: AsyncEngine, tmp_path: Path) -> None:
    other = create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    await asyncio.gather(
        *(write(e, note(f"{n}"), urgent=n % 3 == 0) for e in (engine, other) for n in range(50))
    )
    await other.dispose()
    assert len(await notes(engine)) == 100
