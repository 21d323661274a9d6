"""The worker answers every accepted event once, whatever the platform does."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.delivery.janitor import Janitor
from adapters.chat.delivery.worker import STEPS
from core.domain import AgentResponse, ConversationTurn, i18n, now, session_id_for
from core.domain.errors import Stopped
from core.domain.telemetry import DELIVERING, ENDED, WAITING, Measure
from core.storage.access import Tenant
from core.storage.database import reading, write
from core.storage.inbox.base import Acceptance, DeletedEvent, Kind, Settlement, State
from core.storage.inbox.rows import InboxRow
from core.storage.sessions import FORGOTTEN_TEXT, SessionStore
from tests.inbox import (
    PLATFORMS,
    ScriptedAgent,
    answer_to,
    event,
    forget,
    inbox_of,
    redo,
    worker_of,
)
from tests.platform import PLACEHOLDER, Platform, PlatformAdapter
from tests.samples import request


class CountingMeter:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.counts = Counter[Measure]()
        self.outcomes = Counter[str]()
        self.times = list[tuple[Measure, float]]()

    def count(self, measure: Measure, *labels: str, amount: float = 1.0) -> None:
        self.counts[measure] += 1
        if measure is ENDED:
            self.outcomes[labels[1]] += 1

    def time(self, measure: Measure, *labels: str, seconds: float) -> None:
        assert 0 <= seconds < 60
        self.times.append((measure, seconds))


QUICKLY = 0.3
"""Seconds: a lease short enough to wait for."""


class House:
    """One process: an inbox, a scripted agent and a worker, before one platform."""

    def __init__(self, engine: AsyncEngine, platform: Platform, **options: Any) -> None:
        self.inbox = inbox_of(engine, healed_after=timedelta(0))
        self.sessions = SessionStore(engine)
        self.agent = ScriptedAgent(self.sessions)
        self.platform = platform
        self.adapter = PlatformAdapter(platform.call, thread=options.pop("thread", None))
        self.steps: list[str] = []
        options.setdefault("reached", self.steps.append)
        self.worker = worker_of(self.inbox, self.agent, self.adapter, **options)
        self.janitor = Janitor(
            inbox=self.inbox, adapters={"test": self.adapter}, reached=self.steps.append
        )
        self._engine = engine

    @asynccontextmanager
    async def open(self) -> AsyncIterator["House"]:
        running = asyncio.create_task(self.worker.run())
        yield self
        await self.worker.drain(1)
        await running

    async def accept(self, *arrivals: Any) -> None:
        for arrival in arrivals:
            await self.inbox.accept(arrival)
            self.worker.wake()

    async def done(self) -> None:
        """Wait until nothing waits any more."""
        async with asyncio.timeout(20):
            while True:
                backlog = await self.inbox.backlog()
                if backlog.waiting + backlog.in_flight == 0:
                    return
                await asyncio.sleep(0.02)

    async def turns(self) -> Sequence[ConversationTurn]:
        """Return what the thread's next question would be told of those before it."""
        following = request(session_id=session_id_for("test", "w", "c1", "t1"))
        return (await self.sessions.recall(following, 9)).turns

    async def row(self, key: str) -> InboxRow:
        async with reading(self._engine) as db:
            return await db.get_one(InboxRow, key)

    async def remembered(self, thread: str) -> list[str]:
        """Return what was asked in a thread and is not forgotten."""
        session_id = session_id_for("test", "w", "c1", thread)
        session = await self.sessions.get(session_id, history=True)
        turns = session.conversation_history if session is not None else ()
        return [turn.user_input for turn in turns if turn.user_input != FORGOTTEN_TEXT]

    def answer(self, n: int) -> list[str]:
        return self.platform.visible(f"q{n}")


async def until(reached: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(20):
        while True:
            if reached():
                return
            await asyncio.sleep(0.01)


@pytest.fixture
def platform() -> Platform:
    return Platform()


@pytest.fixture
async def house(engine: AsyncEngine, platform: Platform) -> House:
    return House(engine, platform)


def right(n: int) -> list[str]:
    asked = event(n).request
    assert asked is not None
    return [answer_to(asked)]


async def test_a_question_is_answered_in_its_placeholder(house: House) -> None:
    async with house.open():
        await house.accept(event(1))
        await house.done()
    assert house.answer(1) == right(1)
    [message] = house.platform.messages.values()
    assert message.history[0] == PLACEHOLDER
    assert set(house.steps) <= set(STEPS)
    kept = ["claimed", "opening", "posted", "posts kept", "opened", "streaming", "turn stored"]
    assert house.steps[:7] == kept
    row = await house.row("test:1")
    assert (row.state, row.request, row.heal_at) == (State.DONE, None, None)


@pytest.mark.costly
@pytest.mark.parametrize("times", [2, 10])
async def test_an_event_delivered_many_times_is_answered_once(house: House, times: int) -> None:
    async with house.open():
        receipts = await asyncio.gather(*(house.inbox.accept(event(1)) for _ in range(times)))
        house.worker.wake()
        await house.done()
        await house.accept(event(1))
        await house.done()
    assert [r.acceptance for r in receipts].count(Acceptance.NEW) == 1
    assert house.answer(1) == right(1)
    assert len(house.agent.asked) == 1


async def test_a_thread_is_answered_in_the_platforms_order(house: House) -> None:
    for n in (3, 1, 2):
        await house.accept(event(n, thread="t"))
    async with house.open():
        await house.done()
    said = [request.query_text for request in house.agent.asked]
    assert said == [f"What is heap number {n}?" for n in (1, 2, 3)]


@pytest.mark.costly
@pytest.mark.parametrize("fault", ["lost", "500", "429"])
@pytest.mark.parametrize("operation", ["post", "edit"])
async def test_a_failing_call_shows_the_answer_once(
    house: House, operation: str, fault: str
) -> None:
    house.platform.fail(operation, fault)
    async with house.open():
        await house.accept(event(1))
        await house.done()
    assert house.answer(1) == right(1)
    assert len(house.agent.asked) == 1


@pytest.mark.costly
async def test_without_nonces_the_lost_post_is_found_again(engine: AsyncEngine) -> None:
    house = House(engine, Platform(forgets_nonces=True))
    house.platform.fail("post", "lost", "lost")
    async with house.open():
        await house.accept(event(1))
        await house.done()
        while await house.janitor.heal_one():
            pass
    assert house.answer(1) == right(1)


async def test_what_the_platform_never_takes_is_given_up(house: House) -> None:
    house.platform.fail("post", "403")
    async with house.open():
        await house.accept(event(1))
        await house.done()
    assert house.answer(1) == []
    assert (await house.row("test:1")).state == State.UNDELIVERABLE
    assert "given up" in house.steps


async def test_a_refusal_is_told_without_the_agent(house: House) -> None:
    async with house.open():
        await house.accept(event(1, request=None, refusal="No course is set here."))
        await house.done()
    assert house.answer(1) == ["No course is set here."]
    assert house.agent.asked == []


async def test_a_stale_question_gets_an_apology(house: House) -> None:
    async with house.open():
        await house.accept(event(1, sent_at=now() - timedelta(minutes=31)))
        await house.done()
    assert house.answer(1) == [i18n.text("asking-too-old")]


async def test_the_conversation_goes_on_in_the_thread_that_was_opened(engine: AsyncEngine) -> None:
    house = House(engine, Platform(), thread="opened")
    async with house.open():
        await house.accept(event(1))
        await house.done()
    session = session_id_for("test", "w", "c1", "opened")
    assert [asked.session_id for asked in house.agent.asked] == [session]
    [message] = house.platform.messages
    answered = await house.inbox.by_message("test", message)
    assert answered is not None
    assert (answered.thread, answered.session_id) == ("opened", session)
    assert await house.inbox.has_lane("test:w:c1:opened")


@pytest.mark.costly
async def test_an_edited_question_is_answered_anew_where_it_stands(house: House) -> None:
    async with house.open():
        await house.accept(event(1))
        await house.done()
        [first] = house.platform.messages
        await house.accept(redo(1))
        await house.done()
    assert house.answer(1) == ["This answers [1]: What is tree number 1?"]
    assert [*house.platform.messages] == [first]
    turns = await house.turns()
    assert [turn.user_input for turn in turns] == ["What is tree number 1?"]


@pytest.mark.costly
async def test_a_deleted_question_loses_its_turn_and_its_answer(house: House) -> None:
    async with house.open():
        await house.accept(event(1), event(2, thread="t1"))
        await house.done()
        await house.accept(forget(1))
        await house.done()
    assert house.answer(1) == []
    assert house.answer(2) == right(2)
    turns = await house.turns()
    assert [turn.user_input for turn in turns] == ["What is heap number 2?"]


async def test_a_question_deleted_before_it_was_heard_is_not_answered(house: House) -> None:
    gone = DeletedEvent(key=event(1).key, platform="test", workspace="w", sent_at=now())
    async with house.open():
        assert await house.inbox.tombstone(gone)
        await house.accept(event(1))
        await house.done()
    assert (house.answer(1), house.agent.asked) == ([], [])


async def test_the_asker_stops_an_answer(house: House) -> None:
    house.agent.hold = asyncio.Event()
    async with house.open():
        await house.accept(event(1))
        await until(lambda: "streaming" in house.steps)
        assert await house.worker.stop("test:1", [Tenant("test", "w")])
        await house.done()
        assert not await house.worker.stop("test:1", [Tenant("test", "w")])
    assert house.answer(1) == [Stopped.user_message]


@pytest.mark.costly
async def test_the_asker_stops_an_answer_of_another_process(house: House) -> None:
    other = House(house._engine, house.platform, lease=QUICKLY)
    other.agent.hold = asyncio.Event()
    async with other.open():
        await other.accept(event(1))
        await until(lambda: "streaming" in other.steps)
        assert await house.worker.stop("test:1", [Tenant("test", "w")])
        await house.done()
    assert house.answer(1) == [Stopped.user_message]


async def test_a_deletion_stops_the_answer_that_is_being_written(house: House) -> None:
    other = House(house._engine, house.platform, lease=QUICKLY)
    other.agent.hold = asyncio.Event()
    async with other.open():
        await other.accept(event(1))
        await until(lambda: "streaming" in other.steps)
        await other.accept(forget(1))
        await other.done()
    assert house.answer(1) == []


@pytest.mark.costly
async def test_a_long_answer_is_kept_whole_and_its_surplus_removed(house: House) -> None:
    text = "Explain " + "a very long question " * 40
    async with house.open():
        long = event(1, text=text[:990])
        await house.accept(long)
        await house.done()
    assert "".join(house.answer(1)) == answer_to(long.request)  # type: ignore[arg-type]


async def test_a_forgotten_user_leaves_neither_answer_nor_turn(house: House) -> None:
    house.agent.hold = asyncio.Event()
    async with house.open():
        await house.accept(event(1))
        await until(lambda: "streaming" in house.steps)
        await house.inbox.forget_user("reader-1")
        house.worker.wake()
        await asyncio.sleep(0.1)
        house.agent.hold.set()
        await house.done()
        await asyncio.sleep(0.1)
        while await house.janitor.heal_one():
            pass
    assert house.answer(1) == []
    turns = await house.turns()
    assert turns == []


async def test_draining_lets_running_answers_finish(house: House) -> None:
    house.agent.hold = asyncio.Event()
    running = asyncio.create_task(house.worker.run())
    await house.accept(event(1), event(2))
    await until(lambda: house.steps.count("streaming") == 2)
    await house.accept(event(3, user_id="reader-2"))
    draining = asyncio.create_task(house.worker.drain(5))
    house.agent.hold.set()
    await draining
    await running
    assert (house.answer(1), house.answer(2)) == (right(1), right(2))
    assert (await house.inbox.backlog()).in_flight == 0


async def test_draining_releases_what_takes_too_long_for_a_successor(house: House) -> None:
    house.agent.hold = asyncio.Event()
    running = asyncio.create_task(house.worker.run())
    await house.accept(event(1))
    await until(lambda: "streaming" in house.steps)
    await house.worker.drain(0.1)
    await running
    assert "released" in house.steps
    successor = House(house._engine, house.platform)
    async with successor.open():
        async with asyncio.timeout(5):
            await successor.done()
    assert house.answer(1) == right(1)


@pytest.mark.costly
async def test_a_worker_whose_event_was_taken_over_writes_nothing_more(house: House) -> None:
    slow = House(house._engine, house.platform, lease=1.0)
    slow.agent.hold = asyncio.Event()
    async with slow.open():
        await slow.accept(event(1))
        await until(lambda: "streaming" in slow.steps)
        later = now() + timedelta(hours=1)
        job = await house.inbox.claim(timedelta(seconds=5), PLATFORMS, later)
        assert job is not None
        await until(lambda: not slow.worker._deliveries)
        assert not {"turn stored", "finished", "released"} & {*slow.steps}
        slow.agent.hold.set()
        await house.inbox.release(job, timedelta(hours=-2))
        await house.done()
    assert house.answer(1) == right(1)


async def test_events_of_unknown_platforms_are_left_to_others(house: House) -> None:
    async with house.open():
        await house.accept(replace(event(1), platform="other"), event(2))
        await until(lambda: house.answer(2) == right(2))
    assert (await house.inbox.backlog()).waiting == 1


async def test_a_platform_that_does_not_know_us_yet_keeps_its_events(house: House) -> None:
    house.adapter.is_ready = False
    async with house.open():
        await house.accept(event(1))
        await asyncio.sleep(0.2)
        assert (await house.row("test:1")).fence == 0
        house.adapter.is_ready = True
        house.worker.wake()
        await house.done()
    assert house.answer(1) == right(1)


@pytest.mark.costly
async def test_what_happens_to_an_event_is_counted(engine: AsyncEngine) -> None:
    meter = CountingMeter()
    platform = Platform()
    platform.fail("post", "lost")
    house = House(engine, platform, meter=meter)
    async with house.open():
        await house.accept(event(1))
        await house.done()
    counted = {measure.name: count for measure, count in meter.counts.items()}
    assert counted["events_claimed"] == 2
    assert counted["posts_ambiguous"] == 1
    assert meter.outcomes == Counter(retried=1, done=1)
    assert {measure for measure, *_ in meter.times} == {WAITING, DELIVERING}


@pytest.mark.costly
async def test_what_nobody_foresaw_is_tried_again(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    call, failures = house.adapter._call, [RuntimeError("bug")]

    async def flawed(operation: str, **arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return await call(operation, **arguments)

    house.adapter._call = flawed
    async with house.open():
        await house.accept(event(1))
        await house.done()
    assert house.answer(1) == right(1)
    assert "nobody foresaw" in caplog.text


@pytest.mark.costly
async def test_what_fails_every_time_for_no_foreseen_reason_is_apologised_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "adapters.chat.delivery.delivery.backoff", lambda attempts, retry_after: 0.0
    )
    tries = list[str]()

    async def flawed(*_: Any) -> Any:
        tries.append("a try")
        raise RuntimeError("bug")

    monkeypatch.setattr(house.adapter, "complete", flawed)
    async with house.open():
        await house.accept(event(1), event(2, kind=Kind.THANK))
        await house.done()
    assert house.answer(1) == [i18n.text("error-unexpected")]
    assert len(tries) == 5
    row = await house.row("test:1")
    assert (row.state, row.settlement) == (State.DONE, Settlement.APOLOGISED)


@pytest.mark.costly
async def test_an_apology_that_fails_for_no_foreseen_reason_is_the_end(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        "adapters.chat.delivery.delivery.backoff", lambda attempts, retry_after: 0.0
    )

    async def flawed(operation: str, **arguments: Any) -> Any:
        raise RuntimeError("bug")

    house.adapter._call = flawed
    async with house.open():
        await house.accept(event(1), event(3, kind=Kind.THANK))
        await house.done()
    for key in ("test:1", "test:3"):
        assert (await house.row(key)).state == State.UNDELIVERABLE
    said = [record.getMessage() for record in caplog.records]
    unforeseen = (one for one in said if one.startswith("test:") and "nobody foresaw" in one)
    failed = Counter(one.partition(" ")[0] for one in unforeseen)
    assert failed == {"test:1": 6, "test:3": 5}


@pytest.mark.costly
async def test_an_apology_that_is_refused_for_now_is_sent_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "adapters.chat.delivery.delivery.backoff", lambda attempts, retry_after: 0.0
    )

    async def flawed(*_: Any) -> Any:
        raise RuntimeError("bug")

    monkeypatch.setattr(house.adapter, "complete", flawed)
    house.platform.fail("post", "500", "500")
    async with house.open():
        await house.accept(event(1))
        await house.done()
    assert house.answer(1) == [i18n.text("error-unexpected")]


@pytest.mark.costly
@pytest.mark.parametrize(("failures", "tries"), [(1, 2), (9, 4)], ids=["once", "every time"])
async def test_an_answer_that_the_store_does_not_take_is_shown_when_no_try_is_left(
    house: House, failures: int, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "adapters.chat.delivery.delivery.backoff", lambda attempts, retry_after: 0.0
    )
    house.agent.unstored = failures
    async with house.open():
        await house.accept(event(1))
        await house.done()
    assert house.answer(1) == right(1)
    assert len(house.agent.asked) == tries
    assert house.steps.count("turn stored") == 1


@pytest.mark.parametrize(("claims", "shown"), [(20, [i18n.text("asking-too-old")]), (26, [])])
async def test_an_event_that_many_processes_began_and_none_ended_is_apologised_for(
    engine: AsyncEngine, claims: int, shown: list[str]
) -> None:
    platform = Platform()
    house = House(engine, platform)
    await house.accept(event(1))
    begun = update(InboxRow).where(InboxRow.key == "test:1").values(fence=claims + 1)
    await write(engine, lambda db: db.execute(begun))
    async with house.open():
        await house.done()
    assert platform.visible("q1") == shown
    assert house.agent.asked == []


async def test_an_answer_that_is_stored_is_shown_however_many_began_to(
    engine: AsyncEngine,
) -> None:
    platform = Platform()
    house = House(engine, platform)
    asked = event(1)
    await house.accept(asked)
    assert asked.request is not None
    answered = [answer async for answer in house.agent.stream(asked.request)][-1]
    begun = update(InboxRow).where(InboxRow.key == "test:1").values(fence=21)
    await write(engine, lambda db: db.execute(begun))
    async with house.open():
        await house.done()
    assert isinstance(answered, AgentResponse)
    assert platform.visible("q1") == [answered.response_text]
