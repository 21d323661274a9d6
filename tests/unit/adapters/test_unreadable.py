"""What cannot be read is noted, and nothing that it says."""

import pytest

from adapters.chat.acceptor import OTHER, Unreadable, UnreadableEvent
from core.domain.errors import StoreDataError, StoreError
from core.domain.telemetry import UNREADABLE, Measure

WORDS = "what somebody wrote"


class Counts:
    """A meter that remembers."""

    def __init__(self) -> None:
        self.counted = list[tuple[str, ...]]()

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        assert measure is UNREADABLE
        self.counted.append(labels)

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        raise AssertionError("nothing is timed here")


def test_a_failure_is_contained_logged_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    counts = Counts()
    unreadable = Unreadable("discord", ["MESSAGE_CREATE"], counts)
    with unreadable.contained("MESSAGE_CREATE", "118000000000000001"):
        raise KeyError(WORDS)
    assert counts.counted == [("discord", "MESSAGE_CREATE")]
    assert "MESSAGE_CREATE 118000000000000001, KeyError at test_unreadable.py" in caplog.text
    assert "Traceback" in caplog.text
    assert WORDS not in caplog.text


@pytest.mark.parametrize("event", [WORDS, "NEW_EVENT", None, {}, ["MESSAGE_CREATE"], "x" * 10_000])
def test_the_labels_are_few_whatever_an_event_calls_itself(
    event: object, caplog: pytest.LogCaptureFixture
) -> None:
    counts = Counts()
    Unreadable("slack", ["MESSAGE_CREATE"], counts).note(event, WORDS, ValueError())
    assert counts.counted == [("slack", OTHER)]
    assert WORDS not in caplog.text


def test_what_may_be_over_later_is_raised_and_what_no_database_can_hold_is_not() -> None:
    counts = Counts()
    unreadable = Unreadable("discord", (), counts)
    with pytest.raises(StoreError), unreadable.contained("message", 1):
        raise StoreError
    assert counts.counted == []
    with unreadable.contained("message", 1):
        raise StoreDataError
    with unreadable.contained("message", 1):
        raise UnreadableEvent("id")
    assert len(counts.counted) == 2


def test_no_event_is_blamed_for_what_fails_once_the_platform_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counts = Counts()
    unreadable = Unreadable("discord", ["MESSAGE_CREATE"], counts)
    unreadable.end()
    with pytest.raises(RuntimeError), unreadable.contained("MESSAGE_CREATE", 1):
        raise RuntimeError("Session is closed")
    unreadable.note("MESSAGE_CREATE", 1, RuntimeError("Session is closed"))
    assert counts.counted == []
    assert "passed over" not in caplog.text
