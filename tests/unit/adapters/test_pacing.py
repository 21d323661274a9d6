"""A growing answer is edited no more often than allowed, and its end always shows."""

import asyncio

import pytest

from adapters.chat.delivery.streaming_reply import Throttle
from core.domain.errors import BotError, DeliveryError
from core.storage.inbox.base import LeaseLost


class Screen:
    """What is edited, with a clock that only sleeping moves."""

    def __init__(self) -> None:
        self.shown: list[tuple[float, str]] = []
        self.now = 100.0
        self.failures: list[BotError] = []
        self.edit_may_end = asyncio.Event()
        self.edit_may_end.set()
        self.under_way = 0

    async def edit(self, content: str) -> None:
        self.under_way += 1
        assert self.under_way == 1
        await self.edit_may_end.wait()
        self.under_way -= 1
        if self.failures:
            raise self.failures.pop(0)
        self.shown.append((round(self.now - 100.0, 6), content))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += seconds

    def pacing(self) -> Throttle[str]:
        return Throttle(self.edit, interval=1.2, clock=lambda: self.now, sleep=self.sleep)


async def rest() -> None:
    """Let everything that can go on go on."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_first_text_shows_at_once_and_the_newest_after_the_interval() -> None:
    screen = Screen()
    pacing = screen.pacing()
    await pacing.show("a")
    await asyncio.sleep(0)
    for text in ("ab", "abc", "abcd"):
        await pacing.show(text)
    await rest()
    assert screen.shown == [(0.0, "a"), (1.2, "abcd")]


async def test_the_end_waits_for_no_interval_and_nothing_follows_it() -> None:
    screen = Screen()
    pacing = screen.pacing()
    await pacing.show("a")
    await asyncio.sleep(0)
    await pacing.show("ab")
    await pacing.finish("the end")
    await rest()
    assert screen.shown == [(0.0, "a"), (0.0, "the end")]


async def test_the_end_waits_for_the_edit_that_is_under_way() -> None:
    screen = Screen()
    screen.edit_may_end.clear()
    pacing = screen.pacing()
    await pacing.show("a")
    await rest()
    ending = asyncio.create_task(pacing.finish("the end"))
    await rest()
    assert screen.shown == []
    screen.edit_may_end.set()
    await ending
    assert [text for _, text in screen.shown] == ["a", "the end"]


async def test_an_edit_that_fails_for_now_is_left_out() -> None:
    screen = Screen()
    screen.failures = [DeliveryError("429", retry_after=5.0)]
    pacing = screen.pacing()
    await pacing.show("a")
    await rest()
    await pacing.show("ab")
    await rest()
    assert screen.shown == [(6.2, "ab")]


@pytest.mark.parametrize("failure", [DeliveryError("gone", permanent=True), LeaseLost()], ids=type)
async def test_a_failure_for_good_is_raised_to_whoever_shows_more(failure: BotError) -> None:
    screen = Screen()
    screen.failures = [failure]
    pacing = screen.pacing()
    await pacing.show("a")
    await rest()
    with pytest.raises(type(failure)):
        await pacing.show("ab")


async def test_the_failure_of_the_last_edit_is_raised() -> None:
    screen = Screen()
    screen.failures = [DeliveryError("500")]
    with pytest.raises(DeliveryError):
        await screen.pacing().finish("the end")


async def test_stopping_leaves_out_what_was_not_shown() -> None:
    screen = Screen()
    pacing = screen.pacing()
    await pacing.show("a")
    await asyncio.sleep(0)
    await pacing.show("ab")
    await pacing.stop()
    await rest()
    assert screen.shown == [(0.0, "a")]


async def test_what_is_held_back_shows_when_its_time_has_come_and_holds_nothing_up() -> None:
    screen = Screen()
    pacing = screen.pacing()
    await pacing.show("reading", after=0.4)
    await rest()
    assert screen.shown == [(0.4, "reading")]
    await pacing.show("text")
    await rest()
    assert screen.shown == [(0.4, "reading"), (0.4, "text")]


async def test_what_is_held_back_is_left_out_when_something_newer_comes() -> None:
    screen = Screen()
    pacing = screen.pacing()
    await pacing.show("reading", after=0.4)
    await pacing.show("text")
    await rest()
    assert screen.shown == [(0.0, "text")]


async def test_what_is_held_back_is_left_out_at_the_end() -> None:
    screen = Screen()
    pacing = screen.pacing()
    await pacing.show("reading", after=0.4)
    await asyncio.sleep(0)
    await pacing.finish("end")
    await rest()
    assert [content for _, content in screen.shown] == ["end"]


async def test_after_a_refusal_of_what_was_held_back_there_is_a_pause() -> None:
    screen = Screen()
    screen.failures = [DeliveryError("429", retry_after=3.0)]
    pacing = screen.pacing()
    await pacing.show("reading", after=0.4)
    await rest()
    await pacing.show("text")
    await rest()
    assert screen.shown == [(4.6, "text")]
