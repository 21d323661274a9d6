"""The gateway's sessions are kept for the next process, on both databases."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.storage.database import create_engine
from core.storage.gateway_sessions import LEFT, GatewaySession, GatewaySessions, left

A_SESSION = GatewaySession(
    session_id="one",
    bot="discord:1",
    shard=0,
    shards=2,
    holder="a process",
    url="wss://gateway.example/",
    sequence=1,
    noted_at=datetime(2026, 11, 23, tzinfo=UTC),
)


@pytest.fixture
async def sessions(database_url: str) -> AsyncIterator[GatewaySessions]:
    engine = create_engine(database_url)
    yield GatewaySessions(engine)
    await engine.dispose()


async def test_a_session_is_kept_as_far_as_it_was_noted(sessions: GatewaySessions) -> None:
    other = replace(A_SESSION, session_id="two", shard=1)
    for session in (A_SESSION, other, replace(A_SESSION, session_id="three", bot="discord:2")):
        await sessions.begin(session)
    assert await sessions.of("discord:1") == [A_SESSION, other]
    await sessions.note([replace(A_SESSION, sequence=1 << 40), left(other)])
    first, second = await sessions.of("discord:1")
    assert (first.sequence, first.holder) == (1 << 40, "a process")
    assert (second.sequence, second.holder) == (1, LEFT)
    assert first.noted_at > A_SESSION.noted_at


async def test_what_was_forgotten_is_not_noted_again(sessions: GatewaySessions) -> None:
    await sessions.begin(A_SESSION)
    await sessions.begin(replace(A_SESSION, sequence=7))
    assert await sessions.of("discord:1") == [A_SESSION], "as it was begun"
    await sessions.forget(["one"])
    await sessions.note([A_SESSION])
    await sessions.note([])
    assert await sessions.of("discord:1") == []
