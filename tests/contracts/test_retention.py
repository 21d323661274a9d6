"""What is deleted when it is older than conversations are kept, on every database."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import AgentRequest, now
from core.storage import privacy
from core.storage.access import Tenant
from core.storage.budgets import Scope, TokenBudgets, TokenLimits, TokenUsageRow
from core.storage.channels import (
    ChannelRules,
    ChannelRulesRow,
    ConversationRow,
    Conversations,
    PanelRow,
    Panels,
    Place,
    Rules,
)
from core.storage.database import Base, reading, write
from core.storage.inbox.base import CountRow, Posted
from core.storage.inbox.rows import CursorRow, InboxRow, PostRow
from core.storage.leases import RateLimitWindowRow
from core.storage.sessions import Feedback, SessionRow, SessionStore, TurnRow, Vote, VoteRow
from tests.holders import retention
from tests.inbox import PLATFORMS, event, inbox_of, unheard
from tests.samples import response_to

DAY = timedelta(days=1)
KEPT_FOR = timedelta(days=180)
TODAY = now()
THREAD = Place("test", "w", "t1")
EXPIRING = (SessionRow, TurnRow, VoteRow, ConversationRow, InboxRow, PostRow)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy, "BATCH", 2)


async def fill(engine: AsyncEngine) -> None:
    """Have five questions asked and answered, one of them in direct messages, and one wait."""
    inbox, sessions, feedback = inbox_of(engine), SessionStore(engine), Feedback(engine)
    for n in range(5):
        where: dict[str, Any] = {"channel": f"c{n}"}
        if n == 0:
            where["address"] = {"dm": True, "channel": "c0"}
        arrival = event(n, **where)
        await inbox.accept(arrival)
        job = await inbox.claim(timedelta(minutes=1), PLATFORMS)
        assert job is not None
        assert arrival.request is not None
        await remember(sessions, arrival.request)
        await inbox.keep(job, Posted((f"m{n}",)))
        await inbox.finish(job)
        vote = Vote(arrival.request.request_id, f"reader-{n}", "algorithms", True)
        await feedback.vote(vote, [Tenant("test", "w")])
        await Conversations(engine).listen(Place("test", "w", f"t{n}"))
    await Panels(engine).note(THREAD, "c1")
    await ChannelRules(engine).set(THREAD, Rules(private=True))
    await inbox.accept(event(9, channel="c9"))


async def remember(sessions: SessionStore, asked: AgentRequest) -> None:
    assert asked.session_id is not None
    await sessions.remember(asked, response_to(asked, asked.session_id))


async def counted(engine: AsyncEngine, *tables: type[Base]) -> list[int]:
    async with reading(engine) as db:
        return [await db.scalar(select(func.count()).select_from(t)) or 0 for t in tables]


async def delete_all(engine: AsyncEngine, after: timedelta, kept_for: timedelta | None) -> int:
    """Delete at a moment after now until there is no more, and return how often that was."""
    deleting, times = retention(engine, kept_for=kept_for), 0
    while await deleting.delete_some(now() + after):
        times += 1
    return times


@pytest.mark.costly
async def test_what_is_old_is_deleted_in_small_batches(engine: AsyncEngine) -> None:
    await fill(engine)
    assert await delete_all(engine, KEPT_FOR + DAY, KEPT_FOR) >= 3
    assert await counted(engine, *EXPIRING) == [0, 0, 0, 0, 1, 0]
    waiting = await inbox_of(engine).of_key("test:9")
    assert waiting is not None
    assert waiting.request is not None, "what waits for its answer is never too old"
    assert await counted(engine, ChannelRulesRow) == [1], "what staff set stays"


async def test_where_staff_paused_the_bot_it_stays_paused(engine: AsyncEngine) -> None:
    conversations, place = Conversations(engine), Place("discord", "w", "t1")
    await conversations.listen(place, False)
    await delete_all(engine, 100 * KEPT_FOR, KEPT_FOR)
    paused = await conversations.get(place)
    assert paused is not None
    assert not paused.listening
    await conversations.listen(place, True)
    await delete_all(engine, 100 * KEPT_FOR, KEPT_FOR)
    assert await conversations.get(place) is None


@pytest.mark.costly
async def test_the_cursor_of_direct_messages_goes_with_their_last_event(
    engine: AsyncEngine,
) -> None:
    await fill(engine)
    await delete_all(engine, KEPT_FOR + DAY, KEPT_FOR)
    async with reading(engine) as db:
        channels = {*await db.scalars(select(CursorRow.channel))}
    assert channels == {"c1", "c2", "c3", "c4", "c9"}


@pytest.mark.costly
async def test_what_is_younger_is_kept(engine: AsyncEngine) -> None:
    await fill(engine)
    before = await counted(engine, *EXPIRING)
    await delete_all(engine, KEPT_FOR - DAY, KEPT_FOR)
    assert await counted(engine, *EXPIRING) == before
    assert await counted(engine, CountRow) == [0], "the counters of minutes are not needed"


@pytest.mark.costly
async def test_all_is_kept_where_nothing_is_to_be_deleted(engine: AsyncEngine) -> None:
    await fill(engine)
    before = await counted(engine, *EXPIRING)
    await delete_all(engine, 100 * KEPT_FOR, None)
    assert await counted(engine, *EXPIRING) == before


@pytest.mark.costly
@pytest.mark.parametrize(("kept_for", "days"), [(None, 30), (KEPT_FOR, 30), (timedelta(days=7), 7)])
async def test_what_a_conversation_stands_beside_is_known_for_a_month(
    engine: AsyncEngine, kept_for: timedelta | None, days: int
) -> None:
    for n in range(5):
        await Panels(engine).note(Place("slack", "w", f"D{n}"), "c1")
    hour = timedelta(hours=1)
    await delete_all(engine, days * DAY - hour, kept_for)
    assert await counted(engine, PanelRow) == [5]
    await delete_all(engine, days * DAY + hour, kept_for)
    assert await counted(engine, PanelRow) == [0]


@pytest.mark.parametrize("kept_for", [None, KEPT_FOR])
async def test_what_users_used_is_known_for_90_days_and_the_sums_for_good(
    engine: AsyncEngine, kept_for: timedelta | None
) -> None:
    budgets = TokenBudgets(engine, limits=TokenLimits())
    for n in range(5):
        await used(budgets, f"reader-{n}")
    sums = await budgets.used(TODAY.date())
    deleting = retention(engine, kept_for=kept_for)
    assert await deleting.delete_some(TODAY + 90 * DAY) == 0
    deleted = [await deleting.delete_some(TODAY + 91 * DAY) for _ in range(4)]
    assert (deleted, await users_of_tokens(engine)) == ([2, 2, 1, 0], [])
    assert len(sums) == 2
    assert await budgets.used(TODAY.date()) == sums


async def test_what_is_left_of_a_forgotten_user_goes_when_the_day_is_over(
    engine: AsyncEngine,
) -> None:
    budgets = TokenBudgets(engine, limits=TokenLimits())
    for user in ("ann", "ben", "eve"):
        await used(budgets, user)
    for user in ("ann", "eve", "nobody"):
        await budgets.forget_user(user, TODAY)
    await used(budgets, "eve")
    deleting = retention(engine, kept_for=None)
    assert await deleting.delete_some(TODAY) == 0
    deleted = [await deleting.delete_some(TODAY + DAY) for _ in range(3)]
    assert (deleted, await users_of_tokens(engine)) == ([2, 1, 0], ["ben"])


async def used(budgets: TokenBudgets, user_id: str) -> None:
    """Count what one answer for a user used."""
    await budgets.add(user_id, "algorithms", query_tokens=3, response_tokens=1, moment=TODAY)


async def users_of_tokens(engine: AsyncEngine) -> list[str]:
    async with reading(engine) as db:
        users = select(TokenUsageRow.subject).where(TokenUsageRow.scope == Scope.USER.value)
        return sorted(await db.scalars(users))


@pytest.mark.costly
@pytest.mark.parametrize("kept_for", [None, KEPT_FOR])
async def test_what_stands_for_deleted_messages_goes_after_a_day(
    engine: AsyncEngine, kept_for: timedelta | None
) -> None:
    inbox = inbox_of(engine)
    for n in range(5):
        assert await inbox.tombstone(unheard(n))
    await inbox.accept(event(9))
    await delete_all(engine, DAY - timedelta(minutes=1), kept_for)
    assert await counted(engine, InboxRow) == [6]
    await delete_all(engine, DAY + timedelta(minutes=1), kept_for)
    assert await counted(engine, InboxRow) == [1]


async def test_of_a_conversation_that_goes_on_the_old_turns_are_blanked(
    engine: AsyncEngine,
) -> None:
    sessions = SessionStore(engine)
    old, new = (event(n, thread="same").request for n in (1, 2))
    assert old is not None
    assert new is not None
    for asked in (old, new):
        await remember(sessions, asked)
    long_ago = update(TurnRow).where(TurnRow.request_id == old.request_id)
    await write(
        engine, lambda db: db.execute(long_ago.values(timestamp=now() - 2 * KEPT_FOR)).rowcount
    )
    await delete_all(engine, DAY, KEPT_FOR)
    assert old.session_id is not None
    session = await sessions.get(old.session_id, history=True)
    assert session is not None
    first, second = session.conversation_history
    assert (first.user_input, first.user_id) == ("[deleted]", "forgotten")
    assert second.user_input == new.query_text


async def test_a_rate_limit_that_was_used_up_a_while_ago_is_forgotten(engine: AsyncEngine) -> None:
    moments = {"long ago": -61.0, "just now": -59.0, "still closed": 0.5}
    windows = [
        {"window": name, "until": now() + timedelta(minutes=minutes)}
        for name, minutes in moments.items()
    ]
    await write(engine, lambda db: db.execute(insert(RateLimitWindowRow), windows).rowcount)
    assert await delete_all(engine, timedelta(0), None) == 1
    async with reading(engine) as db:
        left = {*await db.scalars(select(RateLimitWindowRow.window))}
    assert left == {"just now", "still closed"}
