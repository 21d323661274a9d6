"""When a service that keeps failing is left alone, and when it is asked again."""

import logging

import pytest

from core.providers.pacing import CircuitBreaker


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("the model", clock=clock)


def fail(breaker: CircuitBreaker, times: int = 5) -> None:
    for _ in range(times):
        breaker.failed()


def test_four_failures_in_a_row_change_nothing(breaker: CircuitBreaker) -> None:
    fail(breaker, 4)
    assert breaker.admits()
    assert not breaker.is_open


def test_the_fifth_failure_in_a_row_opens_it(breaker: CircuitBreaker) -> None:
    fail(breaker, 5)
    assert breaker.is_open
    assert not breaker.admits()


def test_a_success_in_between_starts_the_count_anew(breaker: CircuitBreaker) -> None:
    fail(breaker, 4)
    breaker.succeeded()
    fail(breaker, 4)
    assert breaker.admits()


def test_failures_that_lie_far_apart_do_not_open_it(breaker: CircuitBreaker, clock: Clock) -> None:
    for _ in range(20):
        breaker.failed()
        clock.now += 16.0
    assert not breaker.is_open


def test_one_probe_is_let_through_after_the_period(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker)
    clock.now += 19.9
    assert not breaker.admits()
    clock.now += 5.2
    assert [breaker.admits() for _ in range(3)] == [True, False, False]


def test_a_probe_that_succeeds_closes_it(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker)
    clock.now += 25.1
    assert breaker.admits()
    breaker.succeeded()
    assert [breaker.admits() for _ in range(3)] == [True, True, True]
    fail(breaker, 4)
    assert not breaker.is_open


def test_a_probe_that_fails_keeps_it_open(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker)
    clock.now += 25.1
    assert breaker.admits()
    breaker.failed()
    clock.now += 19.9
    assert not breaker.admits()
    clock.now += 5.2
    assert breaker.admits()


def test_a_probe_that_nobody_waited_for_is_followed_by_another(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    fail(breaker)
    clock.now += 25.1
    assert breaker.admits()
    clock.now += 25.1
    assert breaker.admits()


def test_replicas_do_not_come_back_at_the_same_moment(clock: Clock) -> None:
    breakers = [CircuitBreaker("the model", clock=clock) for _ in range(40)]
    for breaker in breakers:
        fail(breaker)
    clock.now += 22.5
    assert 0 < sum(breaker.admits() for breaker in breakers) < 40


def test_it_is_logged_once_that_it_opens_and_once_that_it_closes(
    breaker: CircuitBreaker, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    fail(breaker, 9)
    for _ in range(3):
        clock.now += 25.1
        breaker.admits()
        breaker.failed()
    breaker.succeeded()
    breaker.succeeded()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "the model failed 5 times in a row and is not asked for 20 s"),
        ("INFO", "the model answers again"),
    ]
