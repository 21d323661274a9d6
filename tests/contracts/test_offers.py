"""Offers to answer, thanks, exchanges and crowds, on every database."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.base import ChatAdapter
from adapters.chat.delivery.janitor import Janitor
from adapters.chat.earlier_answers import TwinWaits, answered_twin
from core.storage.channels import LASTS, Exchanges, Place
from core.storage.inbox import rows as offers
from core.storage.inbox.accepting import TERM
from core.storage.inbox.base import (
    Acceptance,
    IntakeLimits,
    Job,
    Kind,
    Posted,
    Settlement,
    lane_for,
)
from core.storage.inbox.store import Inbox
from tests.inbox import NO_WAIT, PLATFORMS, event, inbox_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=15)
THREAD = Place("test", "w", "t1")


class Reactions:
    """A platform that shows nothing but reactions."""

    is_ready = True

    def __init__(self) -> None:
        self.removed = list[str]()

    async def unreact(self, job: Job) -> None:
        self.removed.append(job.arrival.key)


async def offered(inbox: Inbox, moment: datetime = NOON) -> Job:
    """Offer to answer an event, and show the reaction."""
    await inbox.accept(event(1, kind=Kind.OFFER), moment)
    job = await inbox.claim(LEASE, PLATFORMS, moment)
    assert job is not None
    await inbox.finish(job, Settlement.OFFERED, moment=moment)
    return job


async def test_taking_an_offer_up_counts_as_a_question_of_its_author(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine, limits=IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
    await offered(inbox)
    await inbox.accept(event(2, kind=Kind.OFFER), NOON)
    assert await inbox.take_up("test:1", moment=NOON) is Acceptance.NEW
    assert await inbox.take_up("test:2", moment=NOON) is Acceptance.LIMITED
    told = await inbox.of_key("test:2")
    assert told is not None
    assert (told.kind, told.settles, told.request) == (Kind.ASK, Settlement.NOTICED, None)
    assert told.refusal is not None


async def test_an_offer_stands_when_its_author_was_told_of_the_limit(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine, limits=IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
    for n in (1, 2):
        await inbox.accept(event(n), NOON)
    await inbox.accept(event(3, kind=Kind.OFFER), NOON)
    assert await inbox.take_up("test:3", moment=NOON) is Acceptance.PASSED_OVER
    later = NOON + timedelta(minutes=1)
    assert await inbox.take_up("test:3", moment=later) is Acceptance.NEW


async def test_an_offer_waits_for_a_channel_that_is_full(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine, limits=IntakeLimits(channel_per_minute=1))
    await inbox.accept(event(1, user_id="someone"), NOON)
    await inbox.accept(event(2, kind=Kind.OFFER), NOON)
    assert await inbox.take_up("test:2", moment=NOON) is Acceptance.NEW
    first = await inbox.claim(LEASE, PLATFORMS, NOON)
    assert first is not None
    await inbox.finish(first, moment=NOON)
    assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
    later = await inbox.claim(LEASE, PLATFORMS, NOON + timedelta(minutes=1))
    assert later is not None
    assert later.arrival.key == "test:2"


async def test_an_offer_is_a_question_once_it_is_taken_up(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await offered(inbox)
    assert await inbox.claim(LEASE, PLATFORMS, NOON) is None
    later = NOON + offers.LASTS - timedelta(seconds=1)
    assert await inbox.take_up("test:1", moment=later)
    assert not await inbox.take_up("test:1", moment=later)
    job = await inbox.claim(LEASE, PLATFORMS, later)
    assert job is not None
    assert job.arrival.kind is Kind.ASK
    assert job.arrival.request is not None
    assert job.arrival.request.query_text == "What is heap number 1?"
    assert job.accepted_at == later


async def test_an_offer_vanishes_with_its_question_after_ten_minutes(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await offered(inbox, NOON - timedelta(days=1))
    platform = Reactions()
    janitor = Janitor(inbox=inbox, adapters={"test": cast("ChatAdapter", platform)})
    assert await janitor.heal_one()
    assert platform.removed == ["test:1"]
    assert not await janitor.heal_one()
    known = await inbox.of_key("test:1")
    assert known is not None
    assert known.request is None
    assert not await inbox.take_up("test:1", moment=NOON)


async def test_an_offer_that_is_over_is_not_taken_up_though_it_still_shows(
    engine: AsyncEngine,
) -> None:
    inbox: Inbox = inbox_of(engine)
    await offered(inbox)
    assert not await inbox.take_up("test:1", moment=NOON + offers.LASTS)


async def test_a_withdrawn_offer_is_gone_at_once(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await offered(inbox)
    await inbox.withdraw("test:1", NOON)
    assert not await inbox.take_up("test:1", moment=NOON)
    assert await inbox.claim_healing(LEASE, PLATFORMS, NOON) is not None


async def test_an_offer_makes_the_bot_take_no_part_in_a_thread(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await offered(inbox)
    lane = lane_for("test", "w", "c1", "t1")
    assert not await inbox.has_lane(lane)
    await inbox.take_up("test:1", moment=NOON)
    assert await inbox.has_lane(lane)


async def test_who_is_forgotten_has_no_offer(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await offered(inbox)
    await inbox.forget_user("reader-1")
    assert not await inbox.take_up("test:1", moment=NOON)


async def test_the_first_of_a_crowd_is_found_for_a_minute(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    for number, seconds in ((1, 0), (2, 30), (3, 90)):
        asked = event(number, gist="same", user_id=f"reader-{number}")
        await inbox.accept(asked, NOON + timedelta(seconds=seconds))
    found = []
    for _ in range(3):
        job = await inbox.claim(LEASE, PLATFORMS, NOON + timedelta(seconds=90))
        assert job is not None
        found.append(await inbox.first_of_crowd(job))
        if job.arrival.key == "test:1":
            await inbox.keep(job, Posted(("m1",), "t1"))
            await inbox.finish(job)
    first, second, third = found
    assert first is None
    assert second is not None
    assert (second.messages, second.waits, second.answered) == (("m1",), False, True)
    assert third is not None, "it is asked within a minute of the second"
    assert third.messages == ()


async def of_a_crowd(inbox: Inbox, *seconds: int) -> list[Job]:
    """Return the jobs of the same question, asked by several people at these seconds."""
    for number, at in enumerate(seconds, 1):
        asked = event(number, gist="same", user_id=f"reader-{number}")
        await inbox.accept(asked, NOON + timedelta(seconds=at))
    moment = NOON + timedelta(seconds=max(seconds))
    jobs = [await inbox.claim(LEASE, PLATFORMS, moment) for _ in seconds]
    return [job for job in jobs if job is not None]


async def test_a_question_of_a_crowd_is_put_back_while_the_first_is_answered(
    engine: AsyncEngine,
) -> None:
    inbox: Inbox = inbox_of(engine)
    first, second = await of_a_crowd(inbox, 0, 10)
    assert await answered_twin(inbox, first) is None
    soon, late = (NOON + timedelta(seconds=10 + after) for after in (20, 46))
    with pytest.raises(TwinWaits) as waits:
        await answered_twin(inbox, second, soon)
    assert waits.value.retry_in == 5
    assert await answered_twin(inbox, second, late) is None, "it gets an answer of its own"
    await inbox.keep(first, Posted(("m1",), "t1"))
    await inbox.finish(first)
    twin = await answered_twin(inbox, second, soon)
    assert twin is not None
    assert twin.messages == ("m1",)


async def test_those_who_were_shown_another_answer_are_known(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    first, second, third = await of_a_crowd(inbox, 0, 10, 20)
    await inbox.finish(first)
    await inbox.finish(second, Settlement.POINTED_BACK, linked_to="test:1")
    await inbox.finish(third, Settlement.POINTED_BACK)
    assert [one.key for one in await inbox.linked_to("test:1")] == ["test:2"]
    assert await inbox.linked_to("test:2") == []
    assert await inbox.linked_to("nothing") == []


async def asked_at(inbox: Inbox, number: int, moment: datetime, **changes: Any) -> Job:
    """Return the job of a question that is asked at a moment."""
    asked = event(number, **{"gist": "same", "user_id": f"reader-{number}", **changes})
    await inbox.accept(asked, moment)
    job = await inbox.claim(LEASE, PLATFORMS, moment)
    assert job is not None
    assert job.arrival.key == f"test:{number}"
    return job


async def answered_at(inbox: Inbox, number: int, moment: datetime, **changes: Any) -> None:
    job = await asked_at(inbox, number, moment, **changes)
    await inbox.keep(job, Posted((f"m{number}",), f"t{number}"))
    await inbox.finish(job, moment=moment)


async def test_where_a_question_was_asked_before_is_known_for_a_term(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await answered_at(inbox, 1, NOON - TERM - timedelta(days=1))
    second = await asked_at(inbox, 2, NOON)
    assert await inbox.asked_before(second) is None
    await inbox.finish(second, Settlement.REFUSED, moment=NOON)
    await answered_at(inbox, 3, NOON + timedelta(days=2))
    await answered_at(inbox, 4, NOON + timedelta(days=3), user_id="reader-3")
    later = NOON + timedelta(days=4)
    found = await inbox.asked_before(await asked_at(inbox, 5, later, user_id="reader-3"))
    assert found is not None
    assert (found.key, found.messages, found.thread) == ("test:4", ("m4",), "t4")
    assert found.asked_at == NOON + timedelta(days=3)


@pytest.mark.parametrize(
    "other",
    [
        {"gist": "another"},
        {"gist": None},
        {"channel": "c2"},
        {"workspace": "x"},
    ],
    ids=str,
)
async def test_what_was_asked_elsewhere_or_privately_is_not_shown(
    engine: AsyncEngine, other: dict[str, Any]
) -> None:
    inbox: Inbox = inbox_of(engine)
    await answered_at(inbox, 1, NOON, **other)
    assert await inbox.asked_before(await asked_at(inbox, 2, NOON + timedelta(days=1))) is None


async def test_a_private_question_is_shown_nothing(engine: AsyncEngine) -> None:
    inbox: Inbox = inbox_of(engine)
    await answered_at(inbox, 1, NOON)
    private = await asked_at(inbox, 2, NOON + timedelta(days=1), gist=None)
    assert await inbox.asked_before(private) is None


@pytest.mark.parametrize("how", ["deleted", "edited", "forgotten", "refused", "a moment ago"])
async def test_what_is_gone_or_was_not_answered_is_not_shown(engine: AsyncEngine, how: str) -> None:
    inbox: Inbox = inbox_of(engine)
    if how == "refused":
        refused = await asked_at(inbox, 1, NOON)
        await inbox.finish(refused, Settlement.REFUSED, moment=NOON)
    else:
        await answered_at(inbox, 1, NOON)
    if how in ("deleted", "edited"):
        kind = Kind.FORGET if how == "deleted" else Kind.REDO
        await inbox.accept(event(9, kind=kind, about="test:1"), NOON)
        changed = await inbox.claim(LEASE, PLATFORMS, NOON)
        assert changed is not None
        await inbox.finish(changed, moment=NOON)
    if how == "forgotten":
        await inbox.forget_user("reader-1")
    after = timedelta(seconds=30) if how == "a moment ago" else timedelta(days=1)
    assert await inbox.asked_before(await asked_at(inbox, 2, NOON + after)) is None


async def test_an_exchange_holds_for_its_people_and_ends(engine: AsyncEngine) -> None:
    exchanges = Exchanges(engine)
    await exchanges.go_on(THREAD, ["ann", "ben"], NOON)
    assert await exchanges.holds(THREAD, "ben", NOON)
    assert not await exchanges.holds(THREAD, "cem", NOON)
    assert not await exchanges.holds(Place("test", "w", "t2"), "ben", NOON)
    await exchanges.leave(THREAD, "ann")
    assert not await exchanges.holds(THREAD, "ann", NOON)
    assert not await exchanges.holds(THREAD, "ben", NOON + LASTS)


async def test_an_exchange_goes_on_with_its_latest_message(engine: AsyncEngine) -> None:
    exchanges = Exchanges(engine)
    for minutes in (0, 4, 8):
        await exchanges.go_on(THREAD, ["ann"], NOON + timedelta(minutes=minutes))
    assert await exchanges.holds(THREAD, "ann", NOON + timedelta(minutes=12))
    await exchanges.forget_user("ann")
    assert not await exchanges.holds(THREAD, "ann", NOON)
