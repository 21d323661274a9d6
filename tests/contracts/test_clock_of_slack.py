"""What Slack tells by its own clock, where this machine's differs."""

from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.incoming_message import PlatformClock
from adapters.slack.inbound import TOKEN_LIFE, Spot, heard_press, position_of
from core.domain import now
from core.storage.access import Tenant
from tests.contracts.test_front_desk import Reception

HERE = Spot(team="T1", enterprise=None, channel="C1", user="U1")
ROUNDING = timedelta(seconds=5)
"""`Date` has whole seconds."""


@pytest.mark.parametrize("minutes", [-30, 0, 30])
async def test_a_press_is_as_old_as_it_is_whatever_our_clock_shows(
    engine: AsyncEngine, minutes: int
) -> None:
    """Slack's clock is so many minutes ahead; a button was pressed 10 s ago."""
    there = now() + timedelta(minutes=minutes)
    clock = PlatformClock("slack")
    clock.note(format_datetime(there, usegmt=True))
    reception = Reception(engine, "biology", "handbook", clocks={"slack": clock})
    await reception.access.meet(Tenant("slack", "T1"))
    ts = f"{(there - timedelta(seconds=10)).timestamp():.6f}"
    body: dict[str, Any] = {
        "trigger_id": "t1",
        "response_url": "https://hooks.slack.com/actions/1",
        "actions": [{"action_ts": ts}],
    }
    received = await reception.desk.receive(heard_press(HERE, body, "What is a cell?"))
    assert received is not None
    arrival = received.arrival
    assert arrival.position == position_of(ts)
    assert arrival.sent_at is not None
    assert arrival.token_expires_at is not None
    assert abs(now() - arrival.sent_at - timedelta(seconds=10)) < ROUNDING
    assert arrival.token_expires_at - arrival.sent_at == TOKEN_LIFE
