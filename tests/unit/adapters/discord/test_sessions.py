"""How far a session was heard is noted only when everything before it is in the inbox."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import aiohttp
import pytest

from adapters.discord.gateway import session_notes
from adapters.discord.gateway import sessions as module
from adapters.discord.gateway.dispatch import EVENTS
from adapters.discord.gateway.replay import Replay
from adapters.discord.gateway.sessions import ResumedSessions
from adapters.intake.unreadable import Unreadable
from core.errors import StoreError
from core.models import now
from core.storage.gateway_sessions import LEFT, GatewaySession
from core.telemetry.metering import NO_METER, Measure

OTHER = GatewaySession(
    "other",
    "discord:1",
    0,
    1,
    "other process",
    "ws://127.0.0.1:9/",
    5,
    now() - timedelta(minutes=1),
)


class Kept:
    """What a database would hold."""

    def __init__(self) -> None:
        self.rows = dict[str, GatewaySession]()
        self.is_away = False

    async def begin(self, session: GatewaySession) -> None:
        self._check()
        self.rows.setdefault(session.session_id, session)

    async def note(self, sessions: Iterable[GatewaySession]) -> None:
        self._check()
        for one in sessions:
            if one.session_id in self.rows:
                self.rows[one.session_id] = replace(one, noted_at=now())

    async def of(self, bot: str) -> list[GatewaySession]:
        self._check()
        return [one for one in self.rows.values() if one.bot == bot]

    async def forget(self, session_ids: Iterable[str]) -> None:
        self._check()
        for one in session_ids:
            self.rows.pop(one, None)

    def _check(self) -> None:
        if self.is_away:
            raise StoreError


class Inbox:
    """Tells what the intake would."""

    def __init__(self) -> None:
        self.gave_up = False
        self.since: float | None = None

    def waits_since(self) -> float | None:
        return self.since


class Counts:
    """Remembers the gaps."""

    def __init__(self) -> None:
        self.gaps = list[str]()

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        self.gaps.append(labels[1])

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        raise AssertionError("nothing is timed here")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setattr(module, "_LOOKS_EVERY", 0.02)
    monkeypatch.setattr(module, "_PAUSES", (0.01, 0.02))
    monkeypatch.setattr(session_notes, "_TICK", 0.02)
    monkeypatch.setattr(session_notes, "_SETTLED", 0.1)
    monkeypatch.setattr(session_notes, "_TOUCHED", 0.02)
    return Kept()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


async def unreachable(url: str) -> Any:
    """Connect as if nobody were there."""
    raise aiohttp.ClientConnectionError


def sessions_of(
    kept: Kept, inbox: Inbox, counts: Any = NO_METER, *, alone: bool = True
) -> ResumedSessions:
    """Return the sessions of a process that has logged in."""
    found = ResumedSessions(kept, inbox, Unreadable("discord", EVENTS, NO_METER), counts)
    found.serve("1", 1, is_alone=alone, connect=cast("Any", unreachable), token="t")
    return found


async def noted(kept: Kept, sequence: int, name: str = "mine") -> None:
    """Wait until a session is noted that far."""
    async with asyncio.timeout(10.0):
        while name not in kept.rows or kept.rows[name].sequence < sequence:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_session_is_kept_at_once_and_noted_as_far_as_all_is_stored(
    kept: Kept, inbox: Inbox
) -> None:
    sessions = sessions_of(kept, inbox)
    noting = asyncio.create_task(sessions.notes.run())
    sessions.notes.incoming(0, None, "ws://x/", None)
    sessions.notes.incoming(0, "mine", "ws://x/", 1)
    await noted(kept, 1)
    inbox.since = asyncio.get_running_loop().time()
    sessions.notes.incoming(0, "mine", "ws://x/", 20)
    await asyncio.sleep(0.4)
    assert kept.rows["mine"].sequence == 1, "something said since is not stored"
    inbox.since = None
    await noted(kept, 20)
    inbox.gave_up = True
    sessions.notes.incoming(0, "mine", "ws://x/", 30)
    await asyncio.sleep(0.3)
    assert kept.rows["mine"].sequence == 20, "what was given up is to be told again"
    noting.cancel()
    await sessions.end([0])
    await sessions.notes.close()
    assert kept.rows["mine"].holder == LEFT


ODD: tuple[object, ...] = (None, "20", 3.5, True, {}, [], -1, 2**60)


@pytest.mark.parametrize("sequence", ODD)
async def test_what_is_no_sequence_leaves_the_latest_event_as_it_was(
    kept: Kept, inbox: Inbox, sequence: object
) -> None:
    sessions = sessions_of(kept, inbox)
    noting = asyncio.create_task(sessions.notes.run())
    sessions.notes.incoming(0, {}, "ws://x/", sequence)
    sessions.notes.incoming(0, "mine", "ws://x/", sequence)
    sessions.notes.incoming(0, "mine", "ws://x/", 7)
    sessions.notes.incoming(0, "mine", "ws://x/", sequence)
    await noted(kept, 7)
    sessions.notes.incoming(0, "mine", "ws://x/", 8)
    await noted(kept, 8)
    assert not noting.done()
    noting.cancel()


async def test_a_failing_database_ends_nothing(kept: Kept, inbox: Inbox) -> None:
    sessions, kept.is_away = sessions_of(kept, inbox), True
    noting = asyncio.create_task(sessions.notes.run())
    sessions.notes.incoming(0, "mine", "ws://x/", 1)
    await sessions.take_up(0)
    await asyncio.sleep(0.1)
    assert not noting.done()
    kept.is_away = False
    await noted(kept, 1)
    noting.cancel()


@pytest.mark.parametrize("odd", ["", "x" * 600, "a\0b"])
async def test_an_odd_name_of_a_session_is_not_kept(kept: Kept, inbox: Inbox, odd: str) -> None:
    sessions = sessions_of(kept, inbox)
    sessions.notes.incoming(0, odd, "ws://x/", 1)
    await sessions.notes.close()
    assert kept.rows == {}


async def test_while_discord_is_away_a_session_is_kept_for_the_next_try(
    kept: Kept, inbox: Inbox
) -> None:
    kept.rows["other"] = OTHER
    sessions = sessions_of(kept, inbox)
    with pytest.raises(aiohttp.ClientConnectionError):
        await sessions.take_up(0)
    assert kept.rows == {"other": OTHER}


async def test_an_old_session_is_a_gap_and_so_is_one_of_which_nothing_is_known(
    kept: Kept, inbox: Inbox
) -> None:
    counts = Counts()
    kept.rows["other"] = replace(OTHER, noted_at=now() - timedelta(hours=2))
    sessions = sessions_of(kept, inbox, counts)
    await sessions.take_up(0)
    assert (counts.gaps, kept.rows) == (["expired"], {})
    assert not sessions.is_first(0)
    sessions = sessions_of(kept, inbox, counts)
    await sessions.take_up(0)
    assert sessions.is_first(0)
    assert not sessions.is_first(0), "told once"


async def test_a_session_of_another_process_is_asked_for_when_it_is_not_noted_any_more(
    kept: Kept, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    async def all_missed() -> list[Any]:
        return [event async for event in sessions.missed(0)]

    async def live() -> None:
        while True:
            await kept.note([OTHER])
            await asyncio.sleep(0.005)

    kept.rows["other"] = replace(OTHER, noted_at=now())
    sessions = sessions_of(kept, inbox, alone=False)
    living = asyncio.create_task(live())
    await sessions.take_up(0)
    assert await all_missed() == []
    assert "is not taken up" not in caplog.text
    living.cancel()
    await sessions.take_up(0)
    assert await all_missed() == []
    assert "is not taken up yet: ClientConnectionError" in caplog.text


async def test_a_left_session_is_tried_again_and_is_a_gap_when_all_tries_fail(
    kept: Kept, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    counts = Counts()
    kept.rows["other"] = OTHER
    sessions = sessions_of(kept, inbox, counts, alone=False)
    await sessions.take_up(0)
    assert [event async for event in sessions.missed(0)] == []
    assert caplog.text.count("is not taken up yet") == 2
    assert (counts.gaps, kept.rows) == (["broken"], {})


async def test_a_left_session_is_resumed_when_discord_is_reached_again(
    kept: Kept, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, counts = 0, Counts()

    async def begin(replay: Replay) -> None:
        nonlocal tries
        tries += 1
        if tries < 2:
            raise aiohttp.ClientConnectionError
        replay._events.append(("MESSAGE_CREATE", {}))

    async def settled(replay: Replay) -> None:
        return

    monkeypatch.setattr(Replay, "begin", begin)
    monkeypatch.setattr(Replay, "settled", settled)
    kept.rows["other"] = OTHER
    sessions = sessions_of(kept, inbox, counts, alone=False)
    await sessions.take_up(0)
    found = [event async for event in sessions.missed(0)]
    assert found == [("MESSAGE_CREATE", {})]
    assert (tries, counts.gaps, kept.rows) == (2, [], {})


async def test_a_database_that_is_away_for_long_keeps_no_session_from_being_found(
    kept: Kept, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TRIES", 2)
    counts = Counts()
    kept.rows["other"], kept.is_away = replace(OTHER, holder=LEFT), True
    sessions = sessions_of(kept, inbox, counts)
    await sessions.take_up(0)
    sessions.notes.incoming(0, "mine", "ws://x/", 1)
    await asyncio.sleep(0.2)
    kept.is_away = False
    await sessions.notes.note()
    async with asyncio.timeout(10.0):
        assert [event async for event in sessions.missed(0)] == []
    assert counts.gaps == ["broken"], "it was asked for"
    assert [*kept.rows] == ["mine"], "the own one is left alone"


async def test_sessions_of_another_number_of_shards_are_the_first_shards(
    kept: Kept, inbox: Inbox
) -> None:
    kept.rows["other"] = replace(OTHER, shard=3, shards=4, holder=LEFT)
    sessions = sessions_of(kept, inbox)
    await sessions.take_up(1)
    with pytest.raises(aiohttp.ClientConnectionError):
        await sessions.take_up(0)


async def test_a_session_is_found_once_the_database_answers_again(kept: Kept, inbox: Inbox) -> None:
    kept.rows["other"], kept.is_away = OTHER, True
    sessions = sessions_of(kept, inbox)
    asked = asyncio.create_task(sessions.take_up(0))
    await asyncio.sleep(0.1)
    assert not asked.done()
    kept.is_away = False
    with pytest.raises(aiohttp.ClientConnectionError):
        await asked


async def test_a_session_is_still_watched_when_the_database_answers_again(
    kept: Kept, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    kept.rows["other"] = replace(OTHER, noted_at=now())
    sessions = sessions_of(kept, inbox, alone=False)
    await sessions.take_up(0)
    kept.is_away = True
    await asyncio.sleep(0.1)
    kept.is_away = False
    assert [event async for event in sessions.missed(0)] == []
    assert "is not taken up yet: ClientConnectionError" in caplog.text
