"""How fast a model is, by what its calls took."""

import pytest

from core.providers.base import Speed, Speedometer
from core.providers.pacing import Timeouts


def test_nothing_is_known_of_a_model_that_read_next_to_nothing() -> None:
    meter = Speedometer()
    meter.note_reading(20, 0, 0.5)
    assert meter.speed is None


def test_the_time_of_the_smallest_prompt_is_none_of_the_reading() -> None:
    meter = Speedometer()
    meter.note_reading(20, 0, 0.5)
    meter.note_reading(1_000, 0, 2.5)
    assert meter.speed == Speed(500.0, None, 0.5, 0)


def test_what_a_service_kept_is_not_read_again() -> None:
    meter = Speedometer()
    meter.note_reading(20, 0, 0.0)
    meter.note_reading(1_500, 1_000, 5.0)
    for cached in (0, 1_200, 1_000, 1_100):
        meter.note_kept(cached)
    assert meter.speed == Speed(100.0, None, 0.0, 1_000)
    assert meter.speed.tokens_within(5.0) == 1_500
    assert meter.speed.seconds(1_500) == pytest.approx(5.0)


def test_the_latest_call_counts_most_and_not_alone() -> None:
    meter = Speedometer()
    meter.note_reading(20, 0, 0.0)
    for seconds in (10.0, 10.0, 1.0):
        meter.note_reading(1_000, 0, seconds)
        meter.note_writing(100, seconds)
    assert meter.speed is not None
    assert 100 < meter.speed.read_rate < 1_000
    assert meter.speed.write_rate == pytest.approx(10.0 + 0.3 * 90.0)


def test_a_prompt_that_was_waited_for_in_vain_is_read_slowly() -> None:
    meter = Speedometer()
    meter.note_waiting(1_000, 0.2)
    assert meter.speed is None  # it was refused, say
    meter.note_waiting(1_000, 8.0)
    assert meter.speed is not None
    assert meter.speed.tokens_within(8.0) < 2_001
    before = meter.speed.read_rate
    meter.note_waiting(1_000, 1.0)
    assert meter.speed.read_rate == before
    meter.note_waiting(1_000, 40.0)
    assert meter.speed.read_rate < before


def test_a_call_takes_its_reading_and_its_writing() -> None:
    speed = Speed(100.0, 10.0, 0.5)
    assert speed.seconds(300, 20) == pytest.approx(0.5 + 3.0 + 2.0)
    assert speed.tokens_within(0.1) == 0


def test_a_slow_model_may_keep_silent_for_longer_unless_an_operator_said_how_long() -> None:
    speed = Speed(100.0, 1.0)
    usual = Timeouts(first_piece=6.0, silence=3.0)
    assert usual.for_prompt(1_000, speed) == Timeouts(first_piece=20.0, silence=8.0)
    assert usual.for_prompt(100, Speed(1_000.0, 50.0)) == usual
    assert usual.for_prompt(1_000, None) == usual
    fixed = Timeouts(first_piece=6.0, silence=3.0, is_fixed=True)
    assert fixed.for_prompt(1_000, speed) == fixed
