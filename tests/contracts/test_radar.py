"""What may be told of a course's weeks, on every database."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import now
from core.storage.access import Tenant
from core.storage.sessions import Feedback, SessionStore, Vote
from core.teaching.radar import Radar, before, bounds, last_complete
from core.teaching.radar_activity import OTHER, Ending
from core.teaching.radar_store import RadarChannel, RadarStore, WeekReader
from tests.embedding import HashingEmbedder
from tests.inbox import answered_in
from tests.samples import chunk, request, response_to

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = date(2026, 3, 2)
HOME, ABROAD = "discord:1", "discord:2"
LATER = datetime(2026, 3, 10, 12, tzinfo=BERLIN)
"""In the week after the one that is told of."""


def radar(engine: AsyncEngine, least: int = 3) -> Radar:
    async def words(course_id: str) -> "type[bool]":
        return bool

    return Radar(
        store=RadarStore(engine),
        reader=WeekReader(engine),
        embedder=HashingEmbedder(),
        words=words,
        zone_of=lambda _: BERLIN,
        least_of=lambda _: least,
    )


async def ask(
    engine: AsyncEngine,
    people: Sequence[str],
    question: str = "What is a heap?",
    *,
    section: str = "Definition",
    tenant: str = HOME,
    week: date = MONDAY,
    reason: str | None = None,
) -> None:
    """Have each of some people ask a question, and vote it down where there is a reason."""
    moment = bounds(week, BERLIN)[0] + timedelta(days=2)
    platform, _, workspace = tenant.partition(":")
    for person in people:
        asked = request(query_text=question, user_id=person, request_id=uuid4(), created_at=moment)
        ground = chunk(headings=("Heaps", section))
        answer = response_to(
            asked,
            uuid4(),
            cited=ground,
            requested_at=moment,
            generated_at=moment,
        )
        details = {"platform": platform, "workspace": workspace}
        await SessionStore(engine).remember(asked, answer, metadata=details, moment=moment)
        if reason is not None:
            vote = Vote(asked.request_id, person, "algorithms", False, f"{reason} {person}")
            await answered_in(engine, asked.request_id, Tenant(platform, workspace))
            await Feedback(engine).vote(vote, [Tenant(platform, workspace)])


async def test_a_week_is_told_of_once_it_is_over_and_never_changes(engine: AsyncEngine) -> None:
    await ask(engine, "abcd")
    assert (await radar(engine).report("algorithms", HOME, moment=LATER)).this_week[
        0
    ].questions == 4
    await ask(engine, "efg")
    assert await SessionStore(engine).forget_user("a") == 1
    report = await radar(engine).report("algorithms", HOME, moment=LATER)
    assert report.week == MONDAY
    (one,) = report.this_week
    assert (one.section, one.endings) == (("Heaps", "Definition"), {Ending.ANSWERED: 4})
    assert one.askers == 3
    assert report.last_week == ()


async def test_the_week_that_goes_on_is_told_of_nowhere(engine: AsyncEngine) -> None:
    await ask(engine, "abcd", week=date(2026, 3, 9))
    assert (await radar(engine).report("algorithms", HOME, moment=LATER)).is_empty


async def test_questions_are_listed_as_long_as_enough_people_are_left(engine: AsyncEngine) -> None:
    await ask(engine, "abc", "What is a heap?")
    report = await radar(engine).report("algorithms", HOME, moment=LATER)
    assert report.asked == ("What is a heap?",)
    await SessionStore(engine).forget_user("a")
    again = await radar(engine).report("algorithms", HOME, moment=LATER)
    assert again.asked == ()
    assert again.this_week == report.this_week


async def test_each_tenant_is_told_of_its_own_and_the_sum_hides_what_each_hides(
    engine: AsyncEngine,
) -> None:
    await ask(engine, "abc", tenant=HOME)
    await ask(engine, "de", tenant=ABROAD)
    home = await radar(engine).report("algorithms", HOME, moment=LATER)
    abroad = await radar(engine).report("algorithms", ABROAD, moment=LATER)
    whole = await radar(engine).report("algorithms", moment=LATER)
    assert home.this_week[0].questions == 3
    assert abroad.this_week == ()
    assert whole.this_week == home.this_week


async def test_reasons_are_for_staff_and_of_enough_people(engine: AsyncEngine) -> None:
    await ask(engine, "abc", reason="wrong,")
    await ask(engine, "xy", section="Rare", reason="also wrong,")
    told = await radar(engine).report("algorithms", HOME, with_reasons=True, moment=LATER)
    assert {name for name, _ in told.reasons} == {"Heaps › Definition"}
    assert len(told.reasons) == 3
    assert not (await radar(engine).report("algorithms", HOME, moment=LATER)).reasons


async def test_small_sections_are_other_sections(engine: AsyncEngine) -> None:
    for person, section in zip("abc", ("One", "Two", "Three"), strict=True):
        await ask(engine, person, section=section)
    (other,) = (await radar(engine).report("algorithms", HOME, moment=LATER)).this_week
    assert (other.section, other.questions) == (OTHER, 3)


async def anywhere(_: RadarChannel) -> bool:
    return True


async def nowhere(_: RadarChannel) -> bool:
    return False


async def test_a_channel_that_may_not_read_its_course_is_not_claimed(engine: AsyncEngine) -> None:
    store, channel = RadarStore(engine), RadarChannel("algorithms", "discord", "1", "77")
    await store.choose(channel, before(MONDAY))
    assert await store.claim(lambda _: MONDAY, ["discord"], nowhere) is None
    assert await store.claim(lambda _: MONDAY, ["discord"], anywhere) == (channel, MONDAY)


async def test_a_channel_is_claimed_by_one_and_its_week_kept(engine: AsyncEngine) -> None:
    store, channel = RadarStore(engine), RadarChannel("algorithms", "discord", "1", "77")
    await store.choose(channel, before(MONDAY))
    assert await store.claim(lambda _: MONDAY, ["slack"], anywhere) is None
    assert await store.claim(lambda _: MONDAY, ["discord"], anywhere) == (channel, MONDAY)
    assert await store.claim(lambda _: MONDAY, ["discord"], anywhere) is None
    await store.posted(channel, MONDAY)
    assert await store.claim(lambda _: MONDAY, ["discord"], anywhere) is None
    assert await store.claim(lambda _: MONDAY + timedelta(7), ["discord"], anywhere) is not None
    assert await store.stop("algorithms", "discord", "1")
    assert await store.channel("algorithms", "discord", "1") is None


@pytest.mark.parametrize(
    ("moment", "monday"),
    [
        (datetime(2026, 3, 9, 0, 0, tzinfo=BERLIN), MONDAY),
        (datetime(2026, 3, 8, 23, 59, tzinfo=BERLIN), before(MONDAY)),
        (datetime(2026, 4, 5, 23, 0, tzinfo=BERLIN), date(2026, 3, 23)),
    ],
)
def test_weeks_begin_on_monday_in_the_courses_zone(moment: datetime, monday: date) -> None:
    assert last_complete(moment, BERLIN) == monday
    since, until = bounds(date(2026, 3, 23), BERLIN)
    assert until - since == timedelta(days=7, hours=-1)  # the clocks go forward
    assert last_complete(now(), BERLIN) < now().astimezone(BERLIN).date()
