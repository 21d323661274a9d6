"""What fails is started again; what one part meets with, no other part does."""

import asyncio

import pytest

from bot.process import Supervisor
from core.domain.errors import ConfigurationError
from core.domain.telemetry import RESTARTED, Measure

AT_ONCE = (0.0,)


class Counts:
    """A meter that remembers."""

    def __init__(self) -> None:
        self.counted = list[tuple[Measure, tuple[str, ...]]]()

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        self.counted.append((measure, labels))

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        raise AssertionError("nothing is timed here")


class Part:
    """Fails as it is told to, then goes on until it is closed."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.starts = 0
        self.closed = asyncio.Event()

    async def run(self) -> None:
        self.starts += 1
        if self._failures:
            raise self._failures.pop(0)
        await self.closed.wait()


async def until_steady(part: Part, starts: int) -> None:
    async with asyncio.timeout(5):
        while part.starts < starts:  # noqa: ASYNC110 - a part has no event for it
            await asyncio.sleep(0)


async def test_a_part_that_fails_is_started_again_and_the_others_are_left_alone() -> None:
    counts = Counts()
    supervisor = Supervisor(counts, pauses=AT_ONCE)
    broken, whole = Part(KeyError("secret"), ValueError("secret"), OSError()), Part()
    async with asyncio.TaskGroup() as group:
        group.create_task(supervisor.keep("broken", broken.run))
        group.create_task(supervisor.keep("whole", whole.run))
        await until_steady(broken, 4)
        broken.closed.set()
        whole.closed.set()
    assert (broken.starts, whole.starts) == (4, 1)
    assert counts.counted == [(RESTARTED, ("broken",))] * 3


async def test_what_failed_is_logged_without_what_people_wrote(
    caplog: pytest.LogCaptureFixture,
) -> None:
    part = Part(KeyError("what somebody wrote"))
    part.closed.set()
    await Supervisor(Counts(), pauses=AT_ONCE).keep("worker", part.run)
    assert "the part worker failed, KeyError at test_supervision.py" in caplog.text
    assert "Traceback" in caplog.text
    assert "what somebody wrote" not in caplog.text


async def test_a_platform_that_is_refused_ends_nothing_as_long_as_another_is_not() -> None:
    supervisor = Supervisor(Counts(), ["discord", "slack"])
    refused, other = Part(ConfigurationError("the token")), Part()
    refusing = asyncio.create_task(supervisor.keep("discord", refused.run))
    going_on = asyncio.create_task(supervisor.keep("slack", other.run))
    await until_steady(refused, 1)
    await asyncio.sleep(0)
    assert not refusing.done()
    assert not going_on.done()
    refusing.cancel()
    other.closed.set()
    await asyncio.wait([refusing, going_on])


async def test_when_every_platform_is_refused_the_operator_has_to_know() -> None:
    supervisor = Supervisor(Counts(), ["discord", "slack"])
    first = asyncio.create_task(supervisor.keep("discord", Part(ConfigurationError("a")).run))
    await asyncio.sleep(0)
    with pytest.raises(ConfigurationError, match="b"):
        await supervisor.keep("slack", Part(ConfigurationError("b")).run)
    first.cancel()
    with pytest.raises(ConfigurationError, match="c"):
        await Supervisor(Counts(), ["slack"]).keep("slack", Part(ConfigurationError("c")).run)
