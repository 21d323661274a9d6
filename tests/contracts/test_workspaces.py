"""What is deleted with a workspace, on every database, and what stays of the others."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.delivery.delivery import lost
from core.domain import now, session_id_for
from core.storage.access import Tenant
from core.storage.budgets import TokenBudgets, TokenLimits
from core.storage.channels import ChannelRules, Conversations, Panels, Place, Rules
from core.storage.database import Base, reading
from core.storage.inbox.base import Arrival, LeaseLost
from core.storage.inbox.queries import InboxPlaces
from core.storage.sessions import Feedback, SessionStore, Vote
from core.teaching.policy_store import HintSteps
from core.teaching.radar_store import RadarChannel, RadarStore, WeekTold
from tests.holders import workspaces
from tests.inbox import event, inbox_of
from tests.samples import response_to

LEASE = timedelta(seconds=30)
MONDAY = date(2026, 3, 2)


class Used:
    """The stores, with something of each workspace in every one of them."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.inbox = inbox_of(engine)
        self.sessions = SessionStore(engine)
        self.budgets = TokenBudgets(engine, limits=TokenLimits())

    async def asked(self, n: int, workspace: str, **changes: Any) -> Arrival:
        """Accept a question of somebody in a workspace."""
        channel = changes.pop("channel", f"C-{workspace}")
        lane = f"test:{workspace}:{channel}:t{n}"
        arrival = event(
            n,
            user_id=f"user-{workspace}",
            workspace=workspace,
            channel=channel,
            lane=lane,
            address={"channel": channel, "enterprise": changes.pop("enterprise", None)},
        )
        await self.inbox.accept(arrival)
        return arrival

    async def answered(self, n: int, workspace: str, **changes: Any) -> Arrival:
        """Have a question answered, voted on and counted."""
        arrival = await self.asked(n, workspace, **changes)
        asked = arrival.request
        assert asked is not None
        session_id = session_id_for("test", workspace, arrival.channel, f"t{n}")
        details = {"platform": "test", "workspace": workspace, "channel": arrival.channel}
        await self.sessions.remember(asked, response_to(asked, session_id), metadata=details)
        voter = f"voter-{workspace}"
        vote = Vote(asked.request_id, voter, "cs101", helpful=True)
        await Feedback(self.engine).vote(vote, [Tenant("test", workspace)])
        await self.budgets.add(arrival.user_id, "cs101", query_tokens=1, response_tokens=1, calls=1)
        place = Place("test", workspace, f"t{n}-{workspace}")
        await ChannelRules(self.engine).set(place, Rules(excluded=True))
        await Conversations(self.engine).listen(place)
        await Panels(self.engine).note(place, f"C-{workspace}")
        await HintSteps(self.engine).take(asked.request_id, asked.user_id, "cs101", None)
        radar = RadarStore(self.engine)
        channel = RadarChannel("cs101", "test", workspace, arrival.channel)
        await radar.choose(channel, MONDAY)
        await radar.settle("cs101", f"test:{workspace}", MONDAY, WeekTold(3, ()))
        return arrival

    async def rows(self, *wanted: str) -> list[str]:
        """Return the rows of all tables in which one of these texts stands."""
        found = list[str]()
        async with reading(self.engine) as db:
            for table in Base.metadata.sorted_tables:
                rows = [str(tuple(row)) for row in await db.execute(select(table))]
                found += [f"{table.name}: {row}" for row in rows if any(w in row for w in wanted)]
        return found


@pytest.fixture
def used(engine: AsyncEngine) -> Used:
    return Used(engine)


@pytest.mark.costly
async def test_all_of_a_workspace_goes_and_nothing_of_another(used: Used) -> None:
    await used.answered(1, "leaving")
    await used.asked(2, "leaving")
    await used.answered(3, "staying")
    of_both = {row.partition(":")[0] for row in await used.rows("leaving")}
    assert of_both >= {"inbox", "sessions", "votes", "token_usage", "conversations", "panels"}
    kept = await used.rows("staying")
    assert await workspaces(used.engine).forget("test", "leaving") == 2
    assert await used.rows("leaving") == []
    assert await used.rows("staying") == kept
    assert await workspaces(used.engine).forget("test", "leaving") == 0


async def test_what_another_platform_calls_by_the_same_id_stays(used: Used) -> None:
    await used.answered(1, "same")
    kept = await used.rows("same")
    assert await workspaces(used.engine).forget("another", "same") == 0
    assert await used.rows("same") == kept


async def test_a_channel_that_both_see_keeps_its_cursor(used: Used) -> None:
    await used.asked(1, "leaving", channel="shared")
    await used.asked(2, "staying", channel="shared")
    await used.asked(3, "leaving")
    await workspaces(used.engine).forget("test", "leaving")
    assert set(await used.inbox.cursors("test")) == {"shared"}


async def test_an_answer_under_way_leaves_nothing_behind(used: Used) -> None:
    arrival = await used.asked(1, "leaving")
    job = await used.inbox.claim(LEASE, ["test"])
    assert job is not None
    await workspaces(used.engine).forget("test", "leaving")
    asked = arrival.request
    assert asked is not None
    session_id = UUID(int=1)
    await used.sessions.remember(
        asked, response_to(asked, session_id), metadata={"workspace": "leaving"}
    )
    with pytest.raises(LeaseLost):
        await used.inbox.finish(job)
    await used.budgets.add(job.arrival.user_id, "cs101", query_tokens=1, response_tokens=1)
    await lost(used.inbox, used.sessions, used.budgets, job)
    assert await used.rows("leaving", "heap number") == []


async def test_the_workspaces_of_an_organisation_are_known_by_their_questions(used: Used) -> None:
    await used.asked(1, "one", enterprise="E1")
    await used.asked(2, "two", enterprise="E1")
    await used.asked(3, "three", enterprise="E2")
    found = await used.inbox.of_organisation("test", "E1")
    assert sorted(found) == ["one", "two"]


async def test_the_threads_that_somebody_asked_in_of_late_are_known(used: Used) -> None:
    await used.inbox.accept(event(1, thread="t1", channel="c1"))
    await used.inbox.accept(event(2, thread="t1", channel="c1"))
    places = InboxPlaces(used.engine)
    hour = timedelta(hours=1)
    assert await places.threads("test", "w", now() - hour) == [("c1", "t1")]
    assert await places.threads("test", "w", now() + hour) == []
    assert await places.threads("test", "other", now() - hour) == []
