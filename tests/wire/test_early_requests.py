"""Who calls into a window that they know to be closed is counted, however often they call."""

import pytest

from tests.wire.clock import Clock
from tests.wire.discord.limits import Limits as DiscordLimits
from tests.wire.discord.rate_limits import RateLimits as DiscordRateLimits
from tests.wire.slack.limits import Limits as SlackLimits
from tests.wire.slack.rate_limits import RateLimits as SlackRateLimits

ON_THE_WAY = 0.05
METHOD, ROUTE = "chat.update", "PATCH /channels/{channel_id}/messages/{message_id}"


class Still(Clock):
    """Time that passes by `advance` alone."""

    def now(self) -> float:
        return self._skipped


@pytest.fixture
def clock() -> Still:
    return Still()


@pytest.mark.parametrize("pause", [0.01, 0.04, 0.06, 1.0])
def test_slacks_counter_knows_every_caller_who_was_told(clock: Still, pause: float) -> None:
    limits, calls, early = SlackRateLimits(SlackLimits.relaxed(), clock), 0, 0
    assert not limits.close(METHOD, None, "", 30).early
    while clock.now() + pause < 30:
        clock.advance(pause)
        refused = limits.admit(METHOD, None, "")
        assert refused is not None
        calls, early = calls + 1, early + refused.early
    assert calls - early <= ON_THE_WAY / pause
    clock.advance(pause)
    assert limits.admit(METHOD, None, "") is None
    assert not limits.close(METHOD, None, "", 30).early, "nobody was told of the next one"


@pytest.mark.parametrize("pause", [0.01, 0.04, 0.06, 1.0])
@pytest.mark.parametrize("scope", ["user", "global"])
def test_discords_counter_knows_every_caller_who_was_told(
    clock: Still, scope: str, pause: float
) -> None:
    limits, calls, early = DiscordRateLimits(DiscordLimits(), clock), 0, 0
    bucket = limits.bucket(ROUTE, {"channel_id": "1"}, 1)
    limits.close(bucket, scope, 30)
    bucket.headers(clock.now(), 0.0)
    while clock.now() + pause < 30:
        clock.advance(pause)
        bucket = limits.bucket(ROUTE, {"channel_id": "1"}, 1)
        refused = limits.admit(bucket, ROUTE, 1)
        assert refused is not None
        bucket.headers(clock.now(), 0.0)
        calls, early = calls + 1, early + refused.early
    assert calls - early <= ON_THE_WAY / pause
    clock.advance(pause)
    assert limits.admit(limits.bucket(ROUTE, {"channel_id": "1"}, 1), ROUTE, 1) is None
