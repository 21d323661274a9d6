"""A machine's clock that is not the platforms', and what is made of their times."""

import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from adapters.chat.incoming_message import PlatformClock
from adapters.slack.http import Signatures

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def date(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (30, "30 minutes behind Discord's"),
        (-30, "30 minutes ahead of Discord's"),
        (600, "600 minutes behind Discord's"),
        (0.5, None),
        (-0.9, None),
        (0, None),
    ],
)
def test_a_difference_is_noticed_and_told_once(
    minutes: float, words: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    clock = PlatformClock("Discord", lambda: NOON)
    there = NOON + timedelta(minutes=minutes)
    for _ in range(3):
        clock.note(date(there))
    told = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(told) == (0 if words is None else 1)
    assert words is None or words in told[0].getMessage()
    assert (clock.warning is None) is (words is None)
    assert clock.ours(there) == (NOON if words else there)
    assert clock.theirs(clock.ours(there)) == there


def test_a_clock_that_is_set_right_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    clock = PlatformClock("Slack", lambda: NOON)
    clock.note(date(NOON + timedelta(minutes=30)))
    clock.note(date(NOON))
    assert clock.behind == timedelta()
    assert "agrees with Slack's again" in caplog.text


@pytest.mark.parametrize(
    "value",
    [None, "", "yesterday", "Mon, 99 Foo 2026 99:99:99 GMT", "2026-03-01T12:00:00Z", "é" * 9_000],
)
def test_what_is_no_date_is_ignored(value: str | None) -> None:
    clock = PlatformClock("Slack", lambda: NOON)
    clock.note(value)
    assert clock.behind == timedelta()


@pytest.mark.parametrize(("late", "side"), [(1_800, "ahead of"), (-1_800, "behind")])
async def test_a_request_of_another_time_is_refused_and_the_log_names_the_clock(
    late: int, side: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def unreachable() -> None:
        """Learn nothing."""

    signatures = Signatures("secret", PlatformClock("slack", lambda: NOON), unreachable)
    for _ in range(5):
        stamp = str(int(NOON.timestamp()) - late)
        check = signatures.check([stamp], [f"v0={'0' * 64}"])
        assert check is not None
        assert not await signatures.is_recent(check)
    [told] = caplog.records
    assert f"this machine's clock is that much {side} Slack's" in told.getMessage()
