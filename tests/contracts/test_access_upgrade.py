"""The upgrade to courses with owners: whatever a tenant could read before, it can read after."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import JSON, DateTime, LargeBinary, Uuid, column, table
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import upgrade
from core.access.reading import Reader, may_read
from core.access.store import AccessStore
from core.access.tenants import Tenant
from core.models import Course
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine
from tests.contracts.revisions import create_at

pytestmark = pytest.mark.costly

DAY = datetime(2026, 11, 1, tzinfo=UTC)
COURSES = table("courses", *(column(c) for c in ("course_id", "title", "base_url", "language")))
SESSIONS = table(
    "sessions",
    column("session_id", Uuid),
    column("details", JSON),
    column("created_at", DateTime(timezone=True)),
    column("last_activity", DateTime(timezone=True)),
    *(column(name) for name in ("user_id", "course_id", "current_turn", "message_count")),
)
RULES = table(
    "channel_rules",
    *(column(name) for name in ("platform", "workspace", "place")),
    column("rules", JSON),
    column("set_at", DateTime(timezone=True)),
)
INSTALLATIONS = table(
    "installations",
    *(column(c) for c in ("platform", "place", "organisation", "bot_user", "bot", "scopes")),
    column("token", LargeBinary),
    column("installed_at", DateTime(timezone=True)),
)
INBOX = table(
    "inbox",
    *(column(name) for name in ("key", "platform", "workspace", "channel", "lane", "position")),
    *(column(name) for name in ("user_id", "kind", "course_id", "state", "round")),
    *(column(name) for name in ("channel_round", "fence", "attempts", "stopped")),
    column("request_id", Uuid),
    column("address", JSON),
    column("accepted_at", DateTime(timezone=True)),
    column("not_before", DateTime(timezone=True)),
)


def talked(platform: str, workspace: str, course_id: str, day: int) -> dict[str, Any]:
    moment = DAY + timedelta(days=day)
    return {
        "session_id": uuid4(),
        "user_id": "ann",
        "course_id": course_id,
        "created_at": moment,
        "last_activity": moment,
        "current_turn": 0,
        "message_count": 0,
        "details": {"platform": platform, "workspace": workspace, "channel": "C1"},
    }


def bound(platform: str, workspace: str, rules: dict[str, Any], day: int) -> dict[str, Any]:
    return {
        "platform": platform,
        "workspace": workspace,
        "place": uuid4().hex,
        "rules": rules,
        "set_at": DAY + timedelta(days=day),
    }


def waiting(platform: str, workspace: str, course_id: str | None, day: int) -> dict[str, Any]:
    moment = DAY + timedelta(days=day)
    numbers = dict.fromkeys(("position", "round", "channel_round", "fence", "attempts"), 0)
    return {
        "key": uuid4().hex,
        "platform": platform,
        "workspace": workspace,
        "channel": "C1",
        "lane": "lane",
        "user_id": "ann",
        "kind": "ask",
        "course_id": course_id,
        "state": "waiting",
        "stopped": False,
        "request_id": uuid4(),
        "address": {"team": workspace, "enterprise": "E1" if workspace == "T3" else None},
        "accepted_at": moment,
        "not_before": moment,
        **numbers,
    }


@pytest.fixture
async def before(empty_database_url: str) -> AsyncIterator[AsyncEngine]:
    """A database of 0007 in which several tenants of both platforms use three courses."""
    engine = create_engine(empty_database_url)
    await create_at(engine, "0007")
    courses = ("algorithms", "biology", "handbook")
    async with engine.begin() as db:
        rows = [{"course_id": c, "title": c, "base_url": None, "language": "en"} for c in courses]
        await db.execute(COURSES.insert(), rows)
        said = [
            talked("slack", "T2", "algorithms", 3),
            talked("slack", "T2", "algorithms", 4),
            talked("discord", "@me", "algorithms", 0),
            talked("discord", "42", "removed", 9),
            talked("discord", "42", "handbook", 9),
            talked("console", "local", "biology", 0),
        ]
        await db.execute(SESSIONS.insert(), said)
        rules = [
            bound("discord", "41", {"course_id": "biology"}, 5),
            bound("discord", "43", {"excluded": True}, 6),
        ]
        await db.execute(RULES.insert(), rules)
        installed = {
            "platform": "slack",
            "place": "E1",
            "organisation": "E1",
            "bot_user": "U",
            "bot": "B",
            "scopes": "",
            "token": b"sealed",
            "installed_at": DAY + timedelta(days=2),
        }
        await db.execute(INSTALLATIONS.insert(), [installed])
        events = [
            waiting("slack", "T3", "biology", 6),
            waiting("discord", "44", None, 7),
            waiting("discord", "", None, 0),
        ]
        await db.execute(INBOX.insert(), events)
    yield engine
    await engine.dispose()


async def test_what_was_bound_or_talked_about_is_granted(before: AsyncEngine) -> None:
    await upgrade(before)
    grants = await AccessStore(before).grants()
    assert {course: [*map(str, tenants)] for course, tenants in grants.items()} == {
        "algorithms": ["slack:T2"],
        "biology": ["discord:41", "slack:T3"],
    }


async def test_every_tenant_of_before_is_known_and_the_earliest_is_home(
    before: AsyncEngine,
) -> None:
    await upgrade(before)
    tenants = await AccessStore(before).tenants()
    assert [(str(one.tenant), one.is_home) for one in tenants] == [
        ("discord:41", True),
        ("discord:43", False),
        ("discord:44", False),
        ("discord:42", False),
        ("slack:E1", True),
        ("slack:T2", False),
        ("slack:T3", False),
    ]
    organisations = {str(one.tenant): str(one.organisation) for one in tenants if one.organisation}
    assert organisations == {"slack:T3": "slack:E1"}
    assert all(one.met_at >= DAY for one in tenants)


async def test_all_courses_stay_the_operators(before: AsyncEngine) -> None:
    await upgrade(before)
    courses = [course for course, _ in await Catalogue(before).courses()]
    assert [course.tenant for course in courses] == [None, None, None]


async def test_no_tenant_that_comes_after_the_upgrade_is_home(before: AsyncEngine) -> None:
    await upgrade(before)
    store, newcomer = AccessStore(before), Tenant("slack", "T9")
    met = await store.meet(newcomer)
    assert met is not None
    assert not met.is_home
    course = Course(course_id="algorithms", title="Algorithms")
    reader = Reader("slack", frozenset({newcomer}))
    assert not may_read(reader, course, await store.permits())


async def test_a_database_that_was_never_used_has_no_tenants(
    empty_database_url: str,
) -> None:
    engine = create_engine(empty_database_url)
    await create_at(engine, "0007")
    await upgrade(engine)
    store = AccessStore(engine)
    assert await store.tenants() == []
    met = await store.meet(Tenant("discord", "1"))
    assert met is not None
    assert met.is_home
    await engine.dispose()
