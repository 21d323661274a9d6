"""What is asked before the connection stands waits for Discord, but not for ever."""

import discord
import pytest

from adapters.discord.gateway import bootstrap as module
from adapters.discord.gateway.bootstrap import patiently


class Limited:
    """A request that has to wait a number of times before it is answered."""

    def __init__(self, *seconds: float) -> None:
        self._left = [*seconds]
        self.tries = 0

    async def __call__(self) -> str:
        self.tries += 1
        if self._left:
            raise discord.RateLimited(self._left.pop(0))
        return "answered"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES", (0.0, 0.1))
    monkeypatch.setattr(module, "_LONGEST_LIMIT", 0.1)


async def test_a_limit_that_others_met_is_waited_out(caplog: pytest.LogCaptureFixture) -> None:
    request = Limited(0.05, 0.05)
    assert await patiently(request) == "answered"
    assert request.tries == 3
    assert "takes no more requests now" in caplog.text


async def test_a_limit_for_long_is_no_reason_to_wait() -> None:
    request = Limited(0.2)
    with pytest.raises(discord.RateLimited):
        await patiently(request)
    assert request.tries == 1
