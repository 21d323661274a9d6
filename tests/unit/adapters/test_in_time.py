"""Work that is slower than a platform waits goes on behind its acknowledgement."""

import asyncio
import logging

import pytest

from adapters.chat import acceptor as deadline
from adapters.chat.acceptor import BackgroundWork


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "PATIENCE", 0.05)


async def _result(word: str, after: asyncio.Event | None = None) -> str:
    if after is not None:
        await after.wait()
    return word


async def test_what_is_quick_is_returned() -> None:
    late = list[str]()

    async def told(word: str) -> None:
        late.append(word)

    assert await BackgroundWork().in_time(_result("done"), told) == "done"
    assert not late


async def test_what_is_slow_goes_on_and_is_told_when_it_is_done() -> None:
    background, may_end, late = BackgroundWork(), asyncio.Event(), asyncio.Queue[str]()
    assert await background.in_time(_result("done", may_end), late.put) is None
    may_end.set()
    assert await late.get() == "done"


async def test_what_goes_on_is_awaited_at_the_end() -> None:
    background, may_end, late = BackgroundWork(), asyncio.Event(), asyncio.Queue[str]()
    await background.in_time(_result("done", may_end), late.put)
    closing = asyncio.create_task(background.close())
    await asyncio.sleep(0)
    may_end.set()
    await closing
    assert late.get_nowait() == "done"


async def test_what_does_not_end_is_given_up_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_LAST_WORDS", 0.05)
    background, ended = BackgroundWork(), asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await background.in_time(endless())
    assert not ended.is_set(), "it goes on until then"
    await background.close()
    async with asyncio.timeout(5):
        await ended.wait()


async def test_a_failure_that_nobody_awaits_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    background, may_end = BackgroundWork(), asyncio.Event()

    async def failing() -> None:
        await may_end.wait()
        raise LookupError("nobody foresaw it")

    with caplog.at_level(logging.ERROR):
        await background.in_time(failing())
        may_end.set()
        await background.close()
        await asyncio.sleep(0)
    assert "nobody foresaw it" in caplog.text


async def test_a_failure_in_time_is_raised() -> None:
    async def failing() -> None:
        raise LookupError("at once")

    with pytest.raises(LookupError, match="at once"):
        await BackgroundWork().in_time(failing())
