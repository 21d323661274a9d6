"""What a platform tells is taken in as soon as the database lets it be."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from adapters.chat import acceptor as module
from adapters.chat.acceptor import Acceptor
from adapters.chat.front_desk import Received
from core.domain.errors import StoreDataError, StoreError


class Database:
    """Takes what it is given unless it is away."""

    def __init__(self) -> None:
        self.is_away = True
        self.taken = list[str]()

    def accepting(self, name: str) -> Callable[[], "asyncio.Future[Received | None]"]:
        return lambda: asyncio.ensure_future(self._take(name))

    async def _take(self, name: str) -> Received | None:
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreError("the database is away")
        self.taken.append(name)
        return None


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def intake() -> Acceptor:
    return Acceptor(lambda: None)


def test_a_database_that_is_back_is_noticed_however_long_it_was_away() -> None:
    assert max(module._pause(tries) for tries in range(1_000)) <= 2.5


async def test_what_was_said_in_one_place_is_taken_in_in_order(
    intake: Acceptor, database: Database
) -> None:
    tasks = [intake.begin("here", database.accepting(name)) for name in ("one", "two", "three")]
    await asyncio.sleep(0.05)
    database.is_away = False
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks)
    assert database.taken == ["one", "two", "three"]


async def test_events_wait_from_their_beginning_to_their_end(
    intake: Acceptor, database: Database
) -> None:
    tasks = [intake.begin("here", database.accepting(name)) for name in ("one", "two")]
    assert intake.waiting == 2, "the first has not been tried, the second is behind it"
    await asyncio.sleep(0.05)
    assert intake.waiting == 2
    database.is_away = False
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks)
    await asyncio.sleep(0)
    assert intake.waiting == 0


async def test_what_is_given_up_fails_and_is_never_counted_as_heard(
    intake: Acceptor,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(module, "_TRIED_FOR", -1.0)
    with pytest.raises(StoreError), caplog.at_level(logging.ERROR):
        await intake.begin("here", database.accepting("one"))
    assert "given up" in caplog.text
    assert intake.gave_up
    database.is_away = False
    await intake.begin("here", database.accepting("two"))
    assert intake.gave_up


async def test_what_the_database_cannot_hold_keeps_nobody_waiting(
    intake: Acceptor, database: Database
) -> None:
    async def unfit() -> None:
        raise StoreDataError("a value that it cannot hold")

    database.is_away = False
    first = intake.begin("here", unfit)
    second = intake.begin("here", database.accepting("two"))
    async with asyncio.timeout(10):
        await second
        with pytest.raises(StoreDataError):
            await first
    assert database.taken == ["two"]
    assert not intake.gave_up


async def test_what_is_closed_before_it_was_begun_leaves_nothing_behind(
    intake: Acceptor, database: Database
) -> None:
    task = intake.begin("here", database.accepting("one"))
    task.cancel()
    await asyncio.wait({task})
    await intake.close()
    assert database.taken == []


async def test_what_comes_after_the_end_is_left_for_the_next_start(
    intake: Acceptor, database: Database
) -> None:
    database.is_away = False
    await intake.close()
    with pytest.raises(asyncio.CancelledError):
        await intake.begin("here", database.accepting("late"))
    assert database.taken == []
    assert not intake.waiting
