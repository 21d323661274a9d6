"""Acknowledgements that come too late, or never, let the measurement fail."""

from collections.abc import Sequence

import pytest

from tests.soak.acks import Acks, waited
from tests.wire.slack.history import Delivery

MANY = [0.01] * 980


def acks(*more: float, too_late: int = 0) -> Acks:
    return Acks([*MANY, *more], too_late, sent=150, before=1_000, after=1_500)


@pytest.mark.parametrize(
    ("slow", "good"),
    [
        ([0.09] * 20, True),
        ([0.11] * 20, False),
        ([0.11] * 5, True),
        ([1.99], True),
        ([2.0], False),
    ],
)
def test_one_in_a_hundred_may_take_longer_and_none_two_seconds(
    slow: Sequence[float], good: bool
) -> None:
    assert acks(*slow).are_good is good


def test_one_that_slack_gave_up_is_too_many_however_fast_the_others_were() -> None:
    assert not acks(too_late=1).are_good


def test_an_attempt_without_an_acknowledgement_counts_as_one_that_slack_waited_for() -> None:
    lost = Delivery("A1", "message", {}, "socket", at=5.0, failure="http_timeout")
    come = Delivery("A1", "message", {}, "socket", at=5.0, acked_at=5.25)
    assert [waited(one, 3.0) for one in (lost, come)] == [3.0, 0.25]
    assert "p99 3,000 ms" in str(acks(*[waited(lost, 3.0)] * 20, too_late=20))
