"""Only what Slack signed, now, is Slack's."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.incoming_message import PlatformClock
from adapters.slack.http import Signatures
from tests.wire.slack.callbacks import signed

NOW = 1_700_000_000
BODY = '{"a": "ä"}'
HALF_AN_HOUR = 1_800


class Slack:
    """Says what time it is, if it can be reached."""

    def __init__(self, *, behind: float = 0.0, says: bool = True) -> None:
        """Have this machine's clock be so many seconds behind Slack's, which it does not know."""
        here = datetime.fromtimestamp(NOW - behind, UTC)
        self.clock = PlatformClock("slack", lambda: here)
        self.signatures = Signatures("secret", self.clock, self._ask)
        self.asked = 0
        self._says = says

    async def _ask(self) -> None:
        self.asked += 1
        if self._says:
            self.clock.note(format_datetime(datetime.fromtimestamp(NOW, UTC), usegmt=True))

    async def takes(self, at: float) -> bool:
        """Return whether a request that is signed with that time is taken for a recent one."""
        stamp, signature = headers(at=int(at))
        check = self.signatures.check([stamp], [signature])
        assert check is not None
        check.feed(BODY.encode())
        assert check.is_slack()
        return await self.signatures.is_recent(check)


CHECK = Slack().signatures


def headers(body: str = BODY, at: int = NOW, secret: str = "secret") -> tuple[str, str]:
    found = signed(secret, body, str(at))
    return found["X-Slack-Request-Timestamp"], found["X-Slack-Signature"]


def is_slack(body: bytes, stamps: list[str], signatures: list[str]) -> bool:
    """Return whether a body, read in two parts, is Slack's."""
    check = CHECK.check(stamps, signatures)
    if check is None:
        return False
    check.feed(body[:3])
    check.feed(body[3:])
    return check.is_slack()


def test_what_slack_signs_is_slacks() -> None:
    stamp, signature = headers()
    assert is_slack(BODY.encode(), [stamp], [signature])


@pytest.mark.parametrize("behind", [-HALF_AN_HOUR, 0, HALF_AN_HOUR])
@pytest.mark.parametrize("is_known", [False, True])
async def test_a_request_is_recent_by_slacks_clock_whatever_ours_shows(
    behind: int, is_known: bool
) -> None:
    slack = Slack(behind=behind)
    if is_known:
        await slack.signatures.learn_time()
    for seconds in (-300, 0, 300):
        assert await slack.takes(NOW + seconds)
    for seconds in (-301, 301, -HALF_AN_HOUR, HALF_AN_HOUR):
        assert not await slack.takes(NOW + seconds)
    assert slack.clock.behind == timedelta(seconds=behind)


async def test_a_clock_that_is_set_while_the_bot_runs_is_asked_for_again() -> None:
    slack = Slack()
    slack.clock.behind = timedelta(seconds=HALF_AN_HOUR)
    assert await slack.takes(NOW)
    assert slack.asked == 1


async def test_requests_teach_nothing_and_have_slack_asked_once_in_a_while() -> None:
    slack = Slack(says=False)
    for _ in range(20):
        assert not await slack.takes(NOW + HALF_AN_HOUR)
    assert (slack.clock.behind, slack.asked) == (timedelta(), 1)


async def test_a_slack_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("adapters.slack.http._LONGEST_ASKING", 0.05)
    clock = PlatformClock("slack", lambda: datetime.fromtimestamp(NOW, UTC))
    signatures = Signatures("secret", clock, asyncio.Event().wait)
    async with asyncio.timeout(20):
        await signatures.learn_time()
    assert clock.behind == timedelta()


def test_another_secret_or_body_is_refused() -> None:
    stamp, signature = headers(secret="guessed")
    assert not is_slack(BODY.encode(), [stamp], [signature])
    stamp, signature = headers()
    assert not is_slack(BODY.encode() + b" ", [stamp], [signature])


@pytest.mark.costly
@given(st.lists(st.text()), st.lists(st.text()), st.binary())
def test_nothing_garbled_is_accepted_or_raises(
    stamps: list[str], signatures: list[str], body: bytes
) -> None:
    assert not is_slack(body, stamps, signatures)
    assert not is_slack(body, [str(NOW)], signatures)


def test_without_a_secret_there_is_nothing_to_check_with() -> None:
    with pytest.raises(ValueError, match="secret"):
        Signatures("", Slack().clock, asyncio.Event().wait)
