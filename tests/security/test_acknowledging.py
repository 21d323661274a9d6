"""Slack hears that an event is taken in when the database has it, and not before."""

import asyncio
from typing import Any, cast

import pytest

from adapters.chat.acceptor import Acceptor, Unreadable
from adapters.slack import events
from adapters.slack.events import Events
from core.domain.telemetry import NO_METER

NOTHING: Any = None


@pytest.fixture
def listener() -> Events:
    return Events(
        desk=NOTHING,
        intake=Acceptor(lambda: None),
        unreadable=Unreadable("slack", (), NO_METER),
        questions=NOTHING,
        assistant=NOTHING,
        home=NOTHING,
        uninstalls=NOTHING,
        stop=NOTHING,
    )


async def test_slack_is_told_nothing_before_the_database_has_it(
    listener: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_PATIENCE", 0.05)
    committed, tries = asyncio.Event(), 0

    async def accept() -> None:
        nonlocal tries
        tries += 1
        await committed.wait()

    first = await listener._once("event", "place", accept)
    assert first is not None
    assert first.status == 503
    again = asyncio.create_task(listener._once("event", "place", accept))
    await asyncio.sleep(0)
    committed.set()
    assert await again is None
    assert tries == 1


async def test_what_fails_to_be_accepted_is_not_acknowledged(listener: Events) -> None:
    async def fails() -> None:
        raise ValueError("a bug")

    for _ in range(2):  # delivered again, it is tried again
        with pytest.raises(ValueError, match="a bug"):
            await listener._once("event", "place", cast("Any", fails))
