"""The inbox keeps its promises on every database."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import session_id_for
from core.domain.errors import RateLimited, StoreError
from core.storage.access import Tenant
from core.storage.database import create_engine, write, writing
from core.storage.inbox.base import (
    Acceptance,
    Counted,
    Counting,
    IntakeLimits,
    Job,
    LeaseLost,
    Posted,
    Settlement,
    State,
    request_id_for,
)
from core.storage.inbox.rows import InboxRow, values_of
from core.storage.inbox.store import Inbox
from tests.inbox import GENEROUS, NO_WAIT, PLATFORMS, event, forget, inbox_of, redo, unheard

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=15)


@pytest.fixture
def inbox(engine: AsyncEngine) -> Inbox:
    return inbox_of(engine)


async def claimed(inbox: Inbox, moment: datetime = NOON) -> Job:
    job = await inbox.claim(LEASE, PLATFORMS, moment)
    assert job is not None
    return job


async def accepted(inbox: Inbox, *arrivals: Any, moment: datetime = NOON) -> list[Acceptance]:
    return [(await inbox.accept(arrival, moment)).acceptance for arrival in arrivals]


async def answered(inbox: Inbox, *messages: str, moment: datetime = NOON) -> Job:
    """Claim an event, post these messages for it, and finish it."""
    job = await claimed(inbox, moment)
    await inbox.keep(job, Posted(messages))
    await inbox.finish(job, moment=moment)
    return job


class TestAccepting:
    async def test_ten_deliveries_at_once_are_one_event(self, database_url: str) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        inboxes = [inbox_of(engine) for engine in engines]
        receipts = await asyncio.gather(*(inboxes[n % 3].accept(event(1)) for n in range(10)))
        kinds = Counter(receipt.acceptance for receipt in receipts)
        assert kinds == {Acceptance.NEW: 1, Acceptance.KNOWN: 9}
        assert (await inboxes[0].backlog()).waiting == 1
        for engine in engines:
            await engine.dispose()

    async def test_an_event_comes_out_as_it_went_in(self, inbox: Inbox) -> None:
        arrival = event(1, token="secret", token_expires_at=datetime(2999, 1, 1, tzinfo=UTC))
        await inbox.accept(arrival, NOON)
        job = await claimed(inbox)
        assert job.arrival == arrival
        assert (job.fence, job.taken_over, job.posted) == (1, False, Posted())
        assert (job.accepted_at, job.lease_until) == (NOON, NOON + LEASE)

    async def test_direct_messages_are_those_with_the_bot(self, inbox: Inbox) -> None:
        for n, address in enumerate(({"dm": True}, {"dm": False}, {})):
            await inbox.accept(event(n, channel=f"c{n}", address=address), NOON)
        assert await inbox.active_direct_channels("test", NOON) == {"c0"}
        assert await inbox.active_direct_channels("test", NOON + timedelta(seconds=1)) == set()
        assert await inbox.active_direct_channels("other", NOON) == set()

    async def test_a_token_is_sealed_and_gone_when_it_has_expired(
        self, inbox: Inbox, engine: AsyncEngine
    ) -> None:
        await inbox.accept(event(1, token="secret", token_expires_at=NOON), NOON)
        async with engine.connect() as connection:
            row = (await connection.execute(text("SELECT * FROM inbox"))).one()
        assert "secret" not in str(row)
        assert (await claimed(inbox)).arrival.token is None

    async def test_a_token_that_cannot_be_unsealed_counts_as_expired(
        self, engine: AsyncEngine
    ) -> None:
        def unknown(sealed: bytes) -> str:
            raise StoreError("unknown key")

        inbox = Inbox(engine, seal=str.encode, unseal=unknown, limits=GENEROUS)
        await inbox.accept(event(1, token="secret"), NOON)
        assert (await claimed(inbox)).arrival.token is None

    async def test_a_request_that_cannot_be_read_any_more_is_refused(
        self, inbox: Inbox, engine: AsyncEngine
    ) -> None:
        await inbox.accept(event(1), NOON)
        async with writing(engine) as db:
            await db.execute(update(InboxRow).values(request={"of": "another version"}))
        arrival = (await claimed(inbox)).arrival
        assert (arrival.request, bool(arrival.refusal)) == (None, True)


class TestLimits:
    async def test_a_user_too_fast_is_told_once_a_minute(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=2, user_wait=NO_WAIT))
        kinds = await accepted(inbox, *(event(n) for n in range(6)))
        stopped = [Acceptance.LIMITED, *[Acceptance.PASSED_OVER] * 3]
        assert kinds == [*[Acceptance.NEW] * 2, *stopped]
        backlog = await inbox.backlog(NOON)
        assert backlog.waiting == 3
        told = await inbox.of_key("test:2")
        assert told is not None
        assert "wait 60 seconds" in str(told.refusal)
        assert told.request is None
        assert await accepted(inbox, event(7), moment=NOON + timedelta(minutes=1)) == ["new"]

    async def test_what_a_user_asks_too_fast_is_kept_and_answered_when_its_time_has_come(
        self, engine: AsyncEngine
    ) -> None:
        limits = IntakeLimits(user_per_minute=2, user_wait=timedelta(minutes=2))
        inbox = inbox_of(engine, limits)
        kinds = await accepted(inbox, *(event(n) for n in range(8)))
        assert kinds == [*[Acceptance.NEW] * 6, Acceptance.LIMITED, Acceptance.PASSED_OVER]
        assert await accepted(inbox, event(9), moment=NOON + timedelta(minutes=1)) == ["new"]
        begun = dict[int, list[int]]()
        for minute in range(4):
            moment = NOON + timedelta(minutes=minute)
            begun[minute] = []
            while job := await inbox.claim(LEASE, PLATFORMS, moment):
                begun[minute].append(job.arrival.position)
                await inbox.finish(job, moment=moment)
        assert begun == {0: [0, 1, 6], 1: [2, 3], 2: [4, 5], 3: [9]}, "6 is the notice"

    async def test_what_a_user_has_waiting_leaves_the_channels_room_to_others(
        self, engine: AsyncEngine
    ) -> None:
        limits = IntakeLimits(user_per_minute=1, channel_per_minute=2, channel_in_flight=100)
        inbox = inbox_of(engine, limits)
        await accepted(inbox, *(event(n) for n in range(4)))
        others = [event(10 + n, user_id=f"u{n}") for n in range(3)]
        assert await accepted(inbox, *others) == [Acceptance.NEW] * 3
        begun = list[set[str]]()
        for minute in range(3):
            moment, users = NOON + timedelta(minutes=minute), set[str]()
            while job := await inbox.claim(LEASE, PLATFORMS, moment):
                users.add(job.arrival.user_id)
                await inbox.finish(job, moment=moment)
            begun.append(users)
        assert begun == [{"reader-1", "u0"}, {"reader-1", "u1"}, {"reader-1", "u2"}]

    async def test_what_is_refused_anyway_is_told_no_more_often_than_the_limit_says(
        self, engine: AsyncEngine
    ) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=2))
        asked = [event(n, refusal="No course answers here.") for n in range(5)]
        stopped = [Acceptance.LIMITED, *[Acceptance.PASSED_OVER] * 2]
        assert await accepted(inbox, *asked) == [*[Acceptance.NEW] * 2, *stopped]

    async def test_a_press_too_many_waits_for_nothing(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=1))
        await accepted(inbox, event(1))
        with pytest.raises(RateLimited):
            await inbox.accept(event(2, pressed=True), NOON)
        assert await accepted(inbox, event(3)) == [Acceptance.NEW], "which is kept"

    async def test_ten_at_once_beyond_the_limit_are_told_once(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
        await asyncio.gather(*(inbox.accept(event(n), NOON) for n in range(11)))
        assert (await inbox.backlog(NOON)).waiting == 2

    async def test_a_command_too_many_is_told_once_like_a_message(
        self, engine: AsyncEngine
    ) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
        await accepted(inbox, *(event(n, token="t") for n in range(5)))
        assert (await inbox.backlog(NOON)).waiting == 2

    async def test_each_person_is_told_of_the_limit(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
        for user, first in (("u1", 10), ("u2", 20)):
            asked = (event(first + n, user_id=user) for n in range(3))
            kinds = await accepted(inbox, *asked)
            assert kinds == [Acceptance.NEW, Acceptance.LIMITED, Acceptance.PASSED_OVER]

    async def test_an_edit_too_many_takes_nobodys_notice(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
        assert await accepted(inbox, event(0), redo(0, 1)) == [Acceptance.NEW] * 2
        assert await accepted(inbox, event(2)) == [Acceptance.LIMITED]

    async def test_over_the_channels_limit_questions_wait_their_turn(
        self, engine: AsyncEngine
    ) -> None:
        inbox = inbox_of(engine, IntakeLimits(channel_per_minute=3, channel_in_flight=100))
        kinds = await accepted(inbox, *(event(n, user_id=f"u{n}") for n in range(8)))
        assert kinds == [Acceptance.NEW] * 8
        for minute, expected in ((0, [0, 1, 2]), (1, [3, 4, 5]), (2, [6, 7])):
            moment = NOON + timedelta(minutes=minute)
            answered = []
            while job := await inbox.claim(LEASE, ["test"], moment):
                answered.append(job.arrival.position)
                await inbox.finish(job, moment=moment)
            assert answered == expected

    async def test_a_question_that_would_wait_until_it_is_too_old_is_refused_at_once(
        self, engine: AsyncEngine
    ) -> None:
        limits = IntakeLimits(
            user_per_minute=9, channel_per_minute=1, longest_wait=timedelta(minutes=3)
        )
        inbox = inbox_of(engine, limits)
        moment = NOON + timedelta(seconds=20)
        earlier = event(9, user_id="u9", sent_at=moment - timedelta(minutes=2))
        asked = [event(n, user_id=f"u{n}") for n in range(4)]
        kinds = await accepted(inbox, asked[0], earlier, *asked[1:], moment=moment)
        in_time = [Acceptance.NEW] * 2
        assert kinds == [Acceptance.NEW, Acceptance.LIMITED, *in_time, Acceptance.LIMITED]
        assert await accepted(inbox, event(13, user_id="u3"), moment=moment) == ["passed over"]
        refused = await inbox.of_key("test:3")
        assert refused is not None
        assert refused.refusal == (
            "Too many questions wait for an answer in this channel. Please ask again in 40 seconds."
        )
        assert (refused.request, refused.settles) == (None, Settlement.NOTICED)
        waited = moment + timedelta(seconds=40)
        assert await accepted(inbox, event(23, user_id="u3"), moment=waited) == ["new"]

    async def test_an_edit_in_a_channel_that_is_full_for_long_waits_for_the_next_minute(
        self, engine: AsyncEngine
    ) -> None:
        limits = IntakeLimits(channel_per_minute=1, longest_wait=timedelta(minutes=1))
        inbox = inbox_of(engine, limits)
        await accepted(inbox, event(1))
        await answered(inbox, "m1")
        assert await accepted(inbox, redo(1)) == ["new"]
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        assert (await claimed(inbox, NOON + timedelta(minutes=1))).arrival.key == "test:1:edit:1"

    async def test_who_waits_for_long_is_told_once(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(channel_per_minute=1))
        await accepted(inbox, event(0, user_id="u0"))
        await inbox.finish(await claimed(inbox))
        await accepted(inbox, *(event(n, user_id=f"u{1 + n % 2}") for n in range(1, 5)))
        assert await inbox.tell_of_wait(["test"], NOON + timedelta(seconds=9)) is None
        late = NOON + timedelta(seconds=11)
        told = [await inbox.tell_of_wait(["test"], late) for _ in range(3)]
        assert [job and job.arrival.user_id for job in told] == ["u2", "u1", None]
        again = inbox_of(engine, IntakeLimits(channel_per_minute=1))
        assert await again.tell_of_wait(["test"], late) is None
        job = await again.claim(LEASE, ["test"], NOON + timedelta(minutes=1))
        assert job is not None
        assert job.arrival.told_to_wait

    @pytest.mark.costly
    async def test_who_was_told_is_not_told_again_in_that_minute_though_that_is_answered(
        self, engine: AsyncEngine
    ) -> None:
        inbox = inbox_of(engine, GENEROUS)
        elsewhere = event(9, channel="c2")
        await accepted(inbox, *(event(n) for n in range(4)), elsewhere)
        told = list[tuple[int, int]]()
        for seconds in range(11, 171, 5):
            moment = NOON + timedelta(seconds=seconds)
            while job := await inbox.tell_of_wait(["test"], moment):
                told.append((seconds, job.arrival.position))
            if seconds % 50 == 11:
                answered = await inbox.claim(LEASE, ["test"], moment)
                assert answered is not None
                await inbox.finish(answered, moment=moment)
        assert [position for _, position in told] == [0, 9, 3]
        first, _, again = (seconds for seconds, _ in told)
        assert again - first >= 60

    async def test_that_somebody_was_told_to_wait_is_forgotten_with_them(
        self, inbox: Inbox, engine: AsyncEngine
    ) -> None:
        await accepted(inbox, event(1), event(2, user_id="reader-10"))
        for _ in range(2):
            assert await inbox.tell_of_wait(["test"], NOON + timedelta(seconds=11)) is not None
        await inbox.forget_user("reader-1")
        async with engine.connect() as connection:
            kept = await connection.scalars(text("SELECT subject FROM inbox_counts"))
            subjects = [*kept]
        assert any(subject.startswith("waits:reader-10:") for subject in subjects)
        assert not any("reader-1:" in subject for subject in subjects)

    async def test_a_question_is_counted_when_its_users_count_was_just_deleted(
        self, engine: AsyncEngine
    ) -> None:
        counting = Counting(engine, IntakeLimits(user_per_minute=2))
        assert await write(engine, lambda db: counting.count(db, event(1), 2, NOON)) == Counted()

    @pytest.mark.costly
    async def test_a_spammer_does_not_use_up_the_channels_limit(self, engine: AsyncEngine) -> None:
        limits = IntakeLimits(user_per_minute=2, channel_per_minute=4, channel_in_flight=100)
        inbox = inbox_of(engine, limits)
        await accepted(inbox, *(event(n) for n in range(20)))
        others = [event(30 + n, user_id=f"u{n}") for n in range(3)]
        assert await accepted(inbox, *others) == ["new"] * 3
        begun = set[str]()
        while job := await inbox.claim(LEASE, PLATFORMS, NOON):
            begun.add(job.arrival.user_id)
            await inbox.finish(job, moment=NOON)
        assert begun == {"reader-1", "u0", "u1"}, "u2 waits for the next minute"

    async def test_an_edit_beyond_the_limit_waits_for_the_next_minute(
        self, engine: AsyncEngine
    ) -> None:
        inbox = inbox_of(engine, IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
        await accepted(inbox, event(1))
        await answered(inbox, "m1")
        assert await accepted(inbox, redo(1)) == ["new"]
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        assert (await claimed(inbox, NOON + timedelta(minutes=1))).arrival.key == "test:1:edit:1"


class TestClaiming:
    async def test_a_lane_is_answered_in_the_platforms_order_one_by_one(self, inbox: Inbox) -> None:
        await accepted(inbox, *(event(n, thread="t", user_id=f"u{n}") for n in (3, 1, 2)))
        for n in (1, 2, 3):
            job = await claimed(inbox)
            assert job.arrival.position == n
            assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
            await inbox.finish(job)

    async def test_a_late_event_waits_for_the_one_under_way(self, inbox: Inbox) -> None:
        await accepted(inbox, event(2, thread="t"))
        job = await claimed(inbox)
        await accepted(inbox, event(1, thread="t"))
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        await inbox.finish(job)
        assert (await claimed(inbox)).arrival.position == 1

    async def test_two_of_a_user_and_four_of_a_channel_are_in_flight(self, inbox: Inbox) -> None:
        await accepted(inbox, *(event(n, user_id=f"u{n // 3}") for n in range(12)))
        taken = [await claimed(inbox) for _ in range(4)]
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        assert max(Counter(job.arrival.user_id for job in taken).values()) <= 2
        await accepted(inbox, event(20, channel="c2", user_id="u20"))
        assert (await claimed(inbox)).arrival.channel == "c2"

    async def test_one_user_has_two_in_flight_wherever_they_ask(self, inbox: Inbox) -> None:
        await accepted(inbox, *(event(n, user_id="spammer", channel=f"c{n}") for n in range(6)))
        assert [(await claimed(inbox)).arrival.channel for _ in range(2)] == ["c0", "c1"]
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        await accepted(inbox, event(10, user_id="ann", channel="c9"))
        assert (await claimed(inbox)).arrival.user_id == "ann"

    async def test_no_more_than_the_limit_is_in_flight_in_all(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine, IntakeLimits(in_flight=3))
        await accepted(inbox, *(event(n, user_id=f"u{n}", channel=f"c{n}") for n in range(5)))
        jobs = [await claimed(inbox) for _ in range(3)]
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        await inbox.finish(jobs[0])
        await claimed(inbox)

    @pytest.mark.costly
    async def test_a_spammer_of_a_thousand_delays_nobody(self, engine: AsyncEngine) -> None:
        inbox = inbox_of(engine)
        await accepted(inbox, event(0, user_id="spammer"))
        await _spam(engine, 1000)
        await accepted(inbox, *(event(2000 + n, user_id=f"u{n}") for n in range(3)))
        order = []
        for _ in range(6):
            job = await claimed(inbox)
            order.append(job.arrival.user_id)
            await inbox.finish(job)
        assert {"u0", "u1", "u2"} <= {*order[:4]}
        assert order.count("spammer") == 3

    async def test_channels_take_turns_within_a_round(self, inbox: Inbox) -> None:
        busy = [event(n, user_id=f"u{n}") for n in range(8)]
        await accepted(inbox, *busy, event(20, user_id="v", channel="c2"))
        channels = [(await claimed(inbox)).arrival.channel for _ in range(2)]
        assert {*channels} == {"c1", "c2"}

    @pytest.mark.costly
    async def test_many_processes_claim_each_event_once(self, database_url: str) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        inboxes = [inbox_of(engine) for engine in engines]
        await accepted(inboxes[0], *(event(n, user_id=f"u{n}", channel=f"c{n}") for n in range(24)))
        jobs = await asyncio.gather(*(claimed(inboxes[n % 3]) for n in range(24)))
        assert len({job.arrival.key for job in jobs}) == 24
        for engine in engines:
            await engine.dispose()


async def _spam(engine: AsyncEngine, count: int) -> None:
    """Store many events of one user, as accepting them one by one would."""
    stored = {"token": None, "accepted_at": NOON, "not_before": NOON, "state": State.WAITING.value}
    rows = [
        {**values_of(event(n, user_id="spammer")), **stored, "round": n, "channel_round": 0}
        for n in range(1, count)
    ]
    async with writing(engine) as db:
        await db.execute(insert(InboxRow), rows)


class TestHolding:
    @pytest.mark.costly
    async def test_after_its_lease_an_event_is_taken_over(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        first = await claimed(inbox)
        await inbox.keep(first, Posted(("m1",)))
        later = NOON + LEASE
        second = await claimed(inbox, later)
        assert (second.fence, second.taken_over, second.posted) == (2, True, Posted(("m1",)))
        for late in (
            inbox.renew(first, LEASE, later),
            inbox.keep(first, Posted(("m2",))),
            inbox.release(first),
            inbox.finish(first),
            inbox.give_up(first),
        ):
            with pytest.raises(LeaseLost):
                await late
        await inbox.finish(second)
        with pytest.raises(LeaseLost):
            await inbox.finish(second)

    async def test_a_renewed_lease_is_not_taken_over(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        later = NOON + LEASE
        assert await inbox.renew(job, LEASE, later - timedelta(seconds=1)) is False
        assert await inbox.claim(LEASE, PLATFORMS, later) is None

    async def test_a_released_event_waits_and_counts_its_failures(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        await inbox.release(job, timedelta(seconds=5), failed=True, moment=NOON)
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        again = await claimed(inbox, NOON + timedelta(seconds=5))
        assert (again.attempts, again.fence) == (1, 2)

    async def test_a_holder_hears_of_a_stop_when_it_renews(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        assert not await inbox.stop("test:1", [Tenant("test", "x")])
        assert await inbox.stop("test:1", [Tenant("test", "w")])
        assert await inbox.renew(job, LEASE) is True
        await inbox.finish(job)
        assert not await inbox.stop("test:1", [Tenant("test", "w")])

    async def test_what_was_asked_is_blanked_at_the_end(
        self, inbox: Inbox, engine: AsyncEngine
    ) -> None:
        await accepted(inbox, event(1, token="secret"), event(2))
        await inbox.finish(await claimed(inbox))
        await inbox.give_up(await claimed(inbox))
        async with engine.connect() as connection:
            rows = await connection.execute(text("SELECT state, request, token FROM inbox"))
            assert sorted(map(tuple, rows)) == [
                (State.DONE, None, None),
                (State.UNDELIVERABLE, None, None),
            ]


class TestPosts:
    async def test_a_message_leads_to_what_it_answers(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        await answered(inbox, "m1", "m2")
        for message in ("m1", "m2"):
            found = await inbox.by_message("test", message)
            assert found is not None
            assert (found.key, found.request_id) == ("test:1", request_id_for("test:1"))
            assert (found.thread, found.course_id) == ("t1", "algorithms")
            assert found.session_id == session_id_for("test", "w", "c1", "t1")
            assert [found] == await inbox.all_of_request(found.request_id)
        assert await inbox.by_message("other", "m1") is None

    async def test_an_edit_has_the_messages_and_the_lane_of_its_question(
        self, inbox: Inbox
    ) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        await accepted(inbox, redo(1))
        await inbox.keep(job, Posted(("m1",), "opened"))
        await inbox.finish(job)
        edit = await claimed(inbox)
        assert edit.posted.messages == ("m1",)
        assert edit.arrival.lane == "test:w:c1:opened"
        assert edit.earlier_requests == (request_id_for("test:1"),)
        await inbox.keep(edit, Posted(("m1", "m3")))
        await inbox.finish(edit)
        found = await inbox.by_message("test", "m3")
        assert found is not None
        assert found.request_id == request_id_for("test:1:edit:1")

    async def test_a_newer_edit_replaces_one_that_nobody_began(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        await answered(inbox, "m1")
        await accepted(inbox, redo(1, 1), redo(1, 2), redo(1, 3))
        assert (await inbox.backlog(NOON)).waiting == 1
        assert (await claimed(inbox)).arrival.key == "test:1:edit:3"

    async def test_a_deletion_is_claimed_with_all_that_was_posted(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        await answered(inbox, "m1", "m2")
        await accepted(inbox, forget(1))
        job = await claimed(inbox)
        assert job.posted.messages == ("m1", "m2")
        assert request_id_for("test:1") in job.earlier_requests
        await inbox.finish(job)
        assert await inbox.by_message("test", "m1") is None

    async def test_a_deletion_closes_a_question_that_nobody_began(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1), forget(1))
        assert (await claimed(inbox)).arrival.key == "test:1:delete"

    async def test_an_edit_of_an_unknown_question_is_nothing(self, inbox: Inbox) -> None:
        await accepted(inbox, redo(1), forget(2))
        assert (await inbox.backlog(NOON)).waiting == 0


class TestBurying:
    async def test_a_question_that_was_deleted_before_it_came_is_not_taken_in(
        self, inbox: Inbox, engine: AsyncEngine
    ) -> None:
        assert await inbox.tombstone(unheard(1), NOON)
        receipt = await inbox.accept(event(1, text="Why is the sky blue?"), NOON)
        assert receipt.acceptance is Acceptance.KNOWN
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        async with engine.connect() as connection:
            row = (await connection.execute(text("SELECT * FROM inbox"))).one()
        assert "sky" not in str(row)
        assert "reader-1" not in str(row)

    async def test_a_question_that_is_there_is_not_buried(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        assert not await inbox.tombstone(unheard(1), NOON)
        assert (await claimed(inbox)).arrival.key == "test:1"

    async def test_of_a_question_and_its_deletion_at_once_one_finds_the_other(
        self, inbox: Inbox
    ) -> None:
        for n in range(20):
            receipt, is_buried = await asyncio.gather(
                inbox.accept(event(n, user_id=f"reader-{n}"), NOON),
                inbox.tombstone(unheard(n), NOON),
            )
            assert is_buried == (receipt.acceptance is Acceptance.KNOWN)

    async def test_the_bot_takes_no_part_where_a_message_was_buried(self, inbox: Inbox) -> None:
        await inbox.tombstone(unheard(1), NOON)
        assert not await inbox.has_lane("test:1")


class TestHealing:
    async def test_only_what_is_in_doubt_is_healed(self, inbox: Inbox) -> None:
        later = NOON + timedelta(seconds=10)
        await accepted(inbox, event(1), event(2))
        await answered(inbox, "m1")
        job = await claimed(inbox)
        await inbox.finish(job, doubtful=True, moment=NOON)
        assert await inbox.claim_healing(LEASE, PLATFORMS, NOON) is None
        healing = await inbox.claim_healing(LEASE, PLATFORMS, later)
        assert healing is not None
        assert healing.arrival.key == job.arrival.key
        assert await inbox.claim_healing(LEASE, PLATFORMS, later) is None
        await inbox.recovered(healing)
        assert await inbox.claim_healing(LEASE, PLATFORMS, later + LEASE) is None

    async def test_what_changed_hands_is_healed(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        await claimed(inbox)
        later = NOON + LEASE
        await inbox.finish(await claimed(inbox, later), moment=later)
        later += timedelta(seconds=10)
        assert await inbox.claim_healing(LEASE, PLATFORMS, later) is not None

    async def test_a_lost_job_is_healed_once_it_has_ended(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        assert await inbox.mark_ambiguous(job, NOON - timedelta(minutes=1)) is False
        assert await inbox.claim_healing(LEASE, PLATFORMS, NOON) is None
        await inbox.finish(job)
        assert await inbox.mark_ambiguous(job, NOON - timedelta(minutes=1)) is False
        assert await inbox.claim_healing(LEASE, PLATFORMS, NOON) is not None

    async def test_an_edit_waits_for_the_healing_of_its_question(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        await inbox.finish(job, doubtful=True, moment=NOON - timedelta(minutes=1))
        healing = await inbox.claim_healing(LEASE, PLATFORMS, NOON)
        assert healing is not None
        await accepted(inbox, redo(1))
        assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
        await inbox.recovered(healing)
        await claimed(inbox)

    async def test_nothing_is_healed_while_an_edit_is_answered(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        job = await claimed(inbox)
        await inbox.finish(job, doubtful=True, moment=NOON - timedelta(minutes=1))
        await accepted(inbox, redo(1))
        assert await inbox.claim_healing(LEASE, PLATFORMS, NOON) is None


class TestForgetting:
    async def test_a_forgotten_user_leaves_keys_only(
        self, inbox: Inbox, engine: AsyncEngine
    ) -> None:
        await accepted(inbox, event(1), event(2), event(3))
        await answered(inbox, "m1")
        under_way = await claimed(inbox)
        await accepted(inbox, event(4, user_id="other"))
        await inbox.keep(under_way, Posted(("m2",)))
        assert await inbox.forget_user("reader-1") == 3
        with pytest.raises(LeaseLost):
            await inbox.finish(under_way)
        removal = await claimed(inbox)
        while removal.arrival.user_id == "other":
            removal = await claimed(inbox)
        assert removal.arrival.key == under_way.arrival.key
        assert (removal.arrival.kind, removal.posted.messages) == ("forget", ("m2",))
        await inbox.finish(removal, moment=NOON - timedelta(minutes=1))
        healing = await inbox.claim_healing(LEASE, PLATFORMS, NOON)
        assert healing is not None
        await inbox.recovered(healing)
        async with engine.connect() as connection:
            rows = await connection.execute(text("SELECT * FROM inbox WHERE user_id <> 'other'"))
            stored = str(rows.all()) + str(
                (await connection.execute(text("SELECT * FROM inbox_counts"))).all()
            )
        assert "reader-1" not in stored
        assert "question" not in stored
        assert await accepted(inbox, event(1), event(2), event(3)) == ["known"] * 3
        assert await inbox.by_message("test", "m1") is None


class TestLooking:
    async def test_the_backlog_is_counted(self, inbox: Inbox) -> None:
        empty = await inbox.backlog(NOON)
        assert (empty.waiting, empty.in_flight, empty.oldest) == (0, 0, None)
        await accepted(inbox, event(1), event(2))
        await claimed(inbox)
        backlog = await inbox.backlog(NOON)
        assert (backlog.waiting, backlog.in_flight, backlog.oldest) == (1, 1, NOON)

    async def test_a_cursor_only_moves_on(self, inbox: Inbox) -> None:
        await accepted(inbox, event(5), event(3), event(9, channel="c2"))
        assert await inbox.cursors("test") == {"c1": 5, "c2": 9}
        await inbox.advance_cursor("test", "c1", 7)
        await inbox.advance_cursor("test", "c2", 7)
        assert await inbox.cursors("test") == {"c1": 7, "c2": 9}
        assert await inbox.cursors("other") == {}

    async def test_lanes_and_keys_are_known_for_good(self, inbox: Inbox) -> None:
        await accepted(inbox, event(1))
        await answered(inbox, "m1")
        assert await inbox.has_lane("test:w:c1:t1")
        assert not await inbox.has_lane("test:w:c1:t2")
        assert not await inbox.has_lane("test:w:c1:t1", before=1)
        assert await inbox.has_lane("test:w:c1:t1", before=2)
        known = await inbox.of_key("test:1")
        assert known is not None
        assert known.request is None
        assert await inbox.of_key("test:2") is None
