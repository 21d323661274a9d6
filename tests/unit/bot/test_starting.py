"""A bot that is started before its database waits for it, and for nothing else."""

import asyncio
from pathlib import Path

import pytest

from bot.process import Starting, StoppedWhileStarting, is_only_process, once_there
from core.domain.errors import ConfigurationError, StoreError, StoreRefused
from core.storage.database import create_engine

SERVER = "postgresql://bot@db.example.org/bot"


class Step:
    """A step of the start that fails in these ways before it succeeds."""

    def __init__(self, *failures: StoreError) -> None:
        self.failures = [*failures]

    async def __call__(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "done"


async def test_a_server_that_is_away_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    step = Step(StoreError("refused"), StoreError("refused"))
    assert await once_there(create_engine(SERVER), step, asyncio.Event()) == "done"
    assert caplog.text.count("waiting for the database") == 2


async def test_whoever_waits_can_be_stopped() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().call_soon(stop.set)
    step = Step(*[StoreError("refused")] * 99)
    with pytest.raises(StoppedWhileStarting):
        await once_there(create_engine(SERVER), step, stop)


async def test_a_server_that_refuses_us_is_not_waited_for() -> None:
    with pytest.raises(ConfigurationError, match="GLOSSATOR_DATABASE__URL"):
        await once_there(
            create_engine(SERVER), Step(StoreRefused("wrong password")), asyncio.Event()
        )


async def test_a_file_that_cannot_be_used_is_not_waited_for(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/bot.db")
    with pytest.raises(StoreError):
        await once_there(engine, Step(StoreError("no database")), asyncio.Event())
    await engine.dispose()


async def test_a_second_process_on_one_file_is_warned_as_long_as_the_first_is_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (create_engine(f"sqlite:///{tmp_path}/bot.db") for _ in range(2))
    async with is_only_process(first):
        assert caplog.text == ""
        async with is_only_process(second):
            assert caplog.text.count("another 'glossator run'") == 1
    async with is_only_process(second):
        assert caplog.text.count("another 'glossator run'") == 1


async def test_on_a_server_nobody_needs_to_be_alone(caplog: pytest.LogCaptureFixture) -> None:
    async with is_only_process(create_engine(SERVER)), is_only_process(create_engine(SERVER)):
        assert caplog.text == ""


async def test_a_start_that_takes_long_says_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.process._SAID_EVERY", 0.02)
    said, shown = list[str](), list[str]()
    starting = Starting(said.append, shown.append)
    starting.begin("reading the handbook")
    async with starting.told():
        starting.read("reading", 12, 25)
        async with asyncio.timeout(5):
            while not said:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        starting.read("embedding", 1, 300)
        async with asyncio.timeout(5):
            while len(said) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert said == [
        "Starting: reading the handbook, 12 of 25 pages ...",
        "Starting: embedding the handbook, 1 of 300 chunks ...",
    ]
    assert shown[-1] == "embedding the handbook, 1 of 300 chunks"
    told = len(said)
    await asyncio.sleep(0.1)
    assert len(said) == told
