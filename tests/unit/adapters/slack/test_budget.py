"""Who may call when: what ends an answer before what shows that it grows."""

import asyncio

import pytest

from adapters.slack.client import APPEND, POST, START, STOP, UPDATE, Budget
from core.domain.errors import DeliveryError


class Clock:
    """Seconds that pass only while somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock, sleep = Clock(), asyncio.sleep

    async def pass_by(seconds: float) -> None:
        clock.now += seconds
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", pass_by)
    return clock


async def used(budget: Budget, method: str, times: int) -> None:
    for _ in range(times):
        await budget.wait(method, object())


async def test_calls_that_are_too_many_wait_for_the_next_minute(clock: Clock) -> None:
    budget, begin = Budget(clock=clock), clock.now
    await used(budget, UPDATE, 50)
    assert clock.now == begin
    await used(budget, UPDATE, 1)
    assert clock.now - begin == pytest.approx(60, abs=2)


async def test_posts_in_a_channel_are_a_second_apart_and_others_do_not_wait(clock: Clock) -> None:
    budget, begin = Budget(clock=clock), clock.now
    for channel in ("C1", "C2", "C3"):
        await budget.wait(POST, object(), channel)
    assert clock.now == begin
    await budget.wait(POST, object(), "C1")
    assert clock.now - begin >= 1


async def test_growing_answers_leave_the_calls_that_end_the_others(clock: Clock) -> None:
    budget, answers, begin = Budget(clock=clock), [object() for _ in range(10)], clock.now
    for answer in answers:
        budget.expect_update(answer)
    assert sum(budget.may_show(UPDATE) for _ in range(100)) == 20
    for answer in [*answers, *range(20)]:
        await budget.wait(UPDATE, answer)
    assert clock.now == begin


async def test_no_stream_begins_that_could_not_end_at_once(clock: Clock) -> None:
    budget = Budget(clock=clock)
    answers = [object() for _ in range(30)]
    streams = [answer for answer in answers if budget.may_stream(answer)]
    assert len(streams) == 20
    clock.now += 70
    assert not budget.may_stream(object()), "twenty are still to be ended"
    begin = clock.now
    for answer in streams:
        await budget.wait(STOP, answer)
    assert clock.now == begin


async def test_what_was_promised_is_free_again_when_it_is_given_back_or_forgotten(
    clock: Clock,
) -> None:
    budget = Budget(clock=clock)
    answers = [object() for _ in range(30)]
    for answer in answers:
        budget.expect_update(answer)
    assert not budget.may_show(UPDATE)
    budget.release(answers[0])
    assert budget.may_show(UPDATE)
    assert not budget.may_show(UPDATE)
    clock.now += 200
    assert budget.may_show(UPDATE)
    failed = object()
    assert budget.may_stream(failed)
    budget.release_stream(failed)


async def test_a_closed_method_is_not_called_by_anybody(clock: Clock) -> None:
    budget, begin = Budget(clock=clock), clock.now
    budget.close(APPEND, 30)
    assert not budget.may_show(APPEND)
    await used(budget, APPEND, 1)
    assert clock.now - begin >= 30


async def test_what_takes_too_long_is_tried_again_later(clock: Clock) -> None:
    budget = Budget(clock=clock)
    budget.close(START, 600)
    with pytest.raises(DeliveryError) as failure:
        await budget.wait(START, object())
    assert failure.value.retry_after == pytest.approx(600, abs=1)
