"""The token budgets keep their promises on every database."""

import asyncio
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import StoreError
from core.storage.budgets import Reservation, Scope, TokenBudgets, TokenLimits, Usage
from core.storage.database import create_engine

DAY = date(2026, 3, 1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE_DAY = timedelta(days=1)


@pytest.fixture
def budgets(engine: AsyncEngine) -> TokenBudgets:
    return TokenBudgets(engine, limits=TokenLimits())


async def counted(
    budgets: TokenBudgets,
    query_tokens: int = 100,
    response_tokens: int = 20,
    *,
    user_id: str = "ann",
    course_id: str = "algorithms",
    moment: datetime = NOON,
) -> None:
    await budgets.add(
        user_id,
        course_id,
        query_tokens=query_tokens,
        response_tokens=response_tokens,
        moment=moment,
    )


async def rows_of_users(engine: AsyncEngine) -> set[tuple[str, str]]:
    """Return the day and the user of every row that names one."""
    async with engine.connect() as connection:
        query = text("SELECT day, subject FROM token_usage WHERE scope = 'user'")
        return {(str(day), subject) for day, subject in await connection.execute(query)}


async def calls_of_users(engine: AsyncEngine) -> list[int]:
    """Return the calls of every row that names a user."""
    async with engine.connect() as connection:
        query = text("SELECT calls FROM token_usage WHERE scope = 'user'")
        return [*(await connection.execute(query)).scalars()]


class TestCounting:
    async def test_calls_of_a_day_are_summed_by_course_and_in_total(
        self, budgets: TokenBudgets
    ) -> None:
        await counted(budgets, 100, 20)
        await counted(budgets, 50, 5, user_id="ben")
        await counted(budgets, 7, 1, course_id="biology")
        assert await budgets.used(DAY) == [
            Usage(DAY, "algorithms", 150, 25, calls=2),
            Usage(DAY, "biology", 7, 1, calls=1),
            Usage(DAY, None, 157, 26, calls=3),
        ]

    async def test_several_calls_can_be_counted_at_once(self, budgets: TokenBudgets) -> None:
        await budgets.add(
            "ann", "algorithms", query_tokens=300, response_tokens=60, calls=3, moment=NOON
        )
        await counted(budgets)
        assert (await budgets.used(DAY))[-1] == Usage(DAY, None, 400, 80, calls=4)

    async def test_a_day_begins_at_midnight_in_utc(self, budgets: TokenBudgets) -> None:
        midnight = datetime(2026, 3, 2, tzinfo=UTC)
        await counted(budgets, 1, 0, moment=midnight - timedelta(microseconds=1))
        await counted(budgets, 10, 0, moment=midnight)
        in_india = timezone(timedelta(hours=5, minutes=30))
        await counted(budgets, 100, 0, moment=datetime(2026, 3, 2, 5, tzinfo=in_india))
        assert [u.query_tokens for u in await budgets.used(DAY)] == [101, 101]
        assert [u.query_tokens for u in await budgets.used(DAY + ONE_DAY)] == [10, 10]

    async def test_now_is_the_moment_when_none_is_given(self, engine: AsyncEngine) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(total_tokens=1))
        before = datetime.now(UTC).date()
        await budgets.add("ann", "algorithms", query_tokens=1, response_tokens=0)
        assert len(await budgets.used(before, datetime.now(UTC).date())) == 2
        if datetime.now(UTC).date() == before:
            assert await budgets.exhausted("ann", "algorithms") is Scope.TOTAL

    async def test_a_report_over_days_begins_with_the_first_and_leaves_empty_ones_out(
        self, budgets: TokenBudgets
    ) -> None:
        for days in (4, 2, 0, 1):
            await counted(budgets, moment=NOON + days * ONE_DAY)
        reported = await budgets.used(DAY + ONE_DAY, DAY + 4 * ONE_DAY)
        expected = [DAY + n * ONE_DAY for n in (1, 2, 4)]
        assert [(u.day, u.course_id) for u in reported] == [
            (day, course_id) for day in expected for course_id in ("algorithms", None)
        ]
        assert await budgets.used(DAY + 3 * ONE_DAY) == []

    async def test_counts_may_exceed_what_fits_into_32_bits(self, budgets: TokenBudgets) -> None:
        for _ in range(2):
            await counted(budgets, 2**40, 2**33)
        assert (await budgets.used(DAY))[-1] == Usage(DAY, None, 2**41, 2**34, calls=2)


class TestLimits:
    @pytest.mark.parametrize(
        ("limits", "scope"),
        [
            (TokenLimits(user_tokens=120), Scope.USER),
            (TokenLimits(course_tokens=120), Scope.COURSE),
            (TokenLimits(total_tokens=120), Scope.TOTAL),
            (TokenLimits(user_tokens=120, course_tokens=120, total_tokens=120), Scope.USER),
            (TokenLimits(user_tokens=121, course_tokens=120, total_tokens=1), Scope.COURSE),
            (TokenLimits(user_tokens=121, course_tokens=121, total_tokens=121), None),
        ],
    )
    async def test_the_narrowest_spent_budget_is_named(
        self, engine: AsyncEngine, limits: TokenLimits, scope: Scope | None
    ) -> None:
        budgets = TokenBudgets(engine, limits=limits)
        await counted(budgets, 100, 20)
        assert await budgets.exhausted("ann", "algorithms", NOON) is scope

    async def test_a_budget_is_spent_by_those_it_is_for(self, engine: AsyncEngine) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(user_tokens=100, course_tokens=200))
        await counted(budgets, 90, 10)
        assert await budgets.exhausted("ann", "biology", NOON) is Scope.USER
        assert await budgets.exhausted("ben", "algorithms", NOON) is None
        await counted(budgets, 90, 10, user_id="ben")
        assert await budgets.exhausted("eve", "algorithms", NOON) is Scope.COURSE
        assert await budgets.exhausted("eve", "biology", NOON) is None

    async def test_a_user_and_a_course_of_the_same_name_are_counted_apart(
        self, engine: AsyncEngine
    ) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(user_tokens=100, course_tokens=100))
        await counted(budgets, user_id="biology", course_id="algorithms")
        assert await budgets.exhausted("ann", "biology", NOON) is None

    async def test_the_next_day_begins_anew(self, engine: AsyncEngine) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(100, 100, 100))
        await counted(budgets)
        last = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
        assert await budgets.exhausted("ann", "algorithms", last) is Scope.USER
        assert await budgets.exhausted("ann", "algorithms", last + timedelta(seconds=1)) is None

    async def test_a_limit_of_nothing_is_spent_from_the_start(self, engine: AsyncEngine) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(course_tokens=0))
        assert await budgets.exhausted("ann", "algorithms", NOON) is Scope.COURSE

    async def test_without_limits_the_database_is_not_asked(self) -> None:
        nowhere = create_engine("sqlite:////nowhere/bot.db")
        budgets = TokenBudgets(nowhere, limits=TokenLimits())
        assert await budgets.exhausted("ann", "algorithms") is None
        await nowhere.dispose()


class TestReserving:
    async def test_what_is_reserved_counts_as_spent_until_it_is_settled(
        self, engine: AsyncEngine
    ) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(user_tokens=100, total_tokens=40_000))
        ann = await budgets.reserve("ann", "algorithms", NOON)
        assert isinstance(ann, Reservation)
        assert await budgets.reserve("ann", "biology", NOON) is Scope.USER
        ben = await budgets.reserve("ben", "algorithms", NOON)
        assert isinstance(ben, Reservation)
        budgets.settle(ann, 0)
        assert isinstance(await budgets.reserve("ann", "biology", NOON), Reservation)

    async def test_the_dearest_of_the_latest_requests_tells_what_to_expect(
        self, engine: AsyncEngine
    ) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(course_tokens=1_000))
        for used in (400, 300):
            first = await budgets.reserve("ann", "algorithms", NOON)
            assert isinstance(first, Reservation)
            budgets.settle(first, used)
        got = [await budgets.reserve(f"user-{n}", "algorithms", NOON) for n in range(5)]
        assert [isinstance(one, Reservation) for one in got] == [True, True, True, False, False]
        assert isinstance(await budgets.reserve("ann", "biology", NOON), Reservation)

    async def test_of_requests_at_the_same_moment_only_those_that_fit_get_room(
        self, engine: AsyncEngine
    ) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(total_tokens=100))
        wanted = (budgets.reserve(f"user-{n}", "algorithms", NOON) for n in range(32))
        got = await asyncio.gather(*wanted)
        assert sum(isinstance(one, Reservation) for one in got) == 1
        assert got.count(Scope.TOTAL) == 31

    async def test_who_cannot_be_told_holds_nothing(self) -> None:
        nowhere = create_engine("sqlite:////nowhere/bot.db")
        budgets = TokenBudgets(nowhere, limits=TokenLimits(total_tokens=1))
        with pytest.raises(StoreError):
            await budgets.reserve("ann", "algorithms")
        assert budgets._reservations.held() == 0
        await nowhere.dispose()


class TestConcurrency:
    async def test_no_token_is_lost_when_all_count_at_once(self, database_url: str) -> None:
        """Three engines share nothing, as processes do; users and courses are mixed."""
        engines = [create_engine(database_url) for _ in range(3)]
        writers = [TokenBudgets(engine, limits=TokenLimits()) for engine in engines]
        await asyncio.gather(
            *(
                counted(writers[n % 3], n, 1, user_id=f"u{n % 4}", course_id=f"c{n % 2}")
                for n in range(30)
            )
        )
        assert await writers[0].used(DAY) == [
            Usage(DAY, "c0", sum(range(0, 30, 2)), 15, calls=15),
            Usage(DAY, "c1", sum(range(1, 30, 2)), 15, calls=15),
            Usage(DAY, None, sum(range(30)), 30, calls=30),
        ]
        for engine in engines:
            await engine.dispose()


class TestPrivacy:
    async def test_a_user_is_forgotten_and_all_else_stays(
        self, budgets: TokenBudgets, engine: AsyncEngine
    ) -> None:
        for moment in (NOON, NOON + ONE_DAY):
            for user_id in ("ann", "ben"):
                await counted(budgets, user_id=user_id, moment=moment)
        await counted(budgets, course_id="ann")  # nobody's course is deleted by its name
        reported = await budgets.used(DAY, DAY + ONE_DAY)
        for _ in range(2):
            await budgets.forget_user("ann", NOON + 2 * ONE_DAY)
        assert await rows_of_users(engine) == {("2026-03-01", "ben"), ("2026-03-02", "ben")}
        assert await budgets.used(DAY, DAY + ONE_DAY) == reported

    async def test_forgetting_is_no_way_round_the_budget_of_the_day(
        self, engine: AsyncEngine
    ) -> None:
        budgets = TokenBudgets(engine, limits=TokenLimits(user_tokens=100))
        await counted(budgets, moment=NOON - ONE_DAY)
        await counted(budgets)
        await budgets.forget_user("ann", NOON)
        assert await rows_of_users(engine) == {("2026-03-01", "ann")}
        assert await budgets.exhausted("ann", "algorithms", NOON) is Scope.USER
        assert await budgets.exhausted("ann", "algorithms", NOON + ONE_DAY) is None
        assert await calls_of_users(engine) == [0]

    @pytest.mark.parametrize("counted_before", [True, False])
    async def test_what_is_counted_after_a_user_was_forgotten_leaves_them_forgotten(
        self, engine: AsyncEngine, counted_before: bool
    ) -> None:
        """An answer was under way, here or in another process."""
        budgets, other = (
            TokenBudgets(engine, limits=TokenLimits(user_tokens=100)) for _ in range(2)
        )
        await counted(budgets, user_id="ann" if counted_before else "ben")
        await budgets.forget_user("ann", NOON)
        await counted(other)
        await counted(budgets, 10, 0)
        assert sorted(await calls_of_users(engine)) == [0, 1][: 2 - counted_before]
        assert await budgets.exhausted("ann", "algorithms", NOON) is Scope.USER
        assert [usage.calls for usage in await budgets.used(DAY)] == [3, 3]


async def test_a_database_that_cannot_be_reached_is_a_store_error(dialect: str) -> None:
    url = "sqlite:////nowhere/bot.db"
    if dialect == "postgresql":
        url = "postgresql://bot:secret@127.0.0.1:1/none"
    unreachable = create_engine(url)
    budgets = TokenBudgets(unreachable, limits=TokenLimits(total_tokens=1))
    for work in (counted(budgets), budgets.exhausted("ann", "algorithms"), budgets.used(DAY)):
        with pytest.raises(StoreError) as failure:
            await work
        assert "secret" not in str(failure.value)
    await unreachable.dispose()
