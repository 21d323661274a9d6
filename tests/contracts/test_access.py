"""Tenants and grants, on every database."""

import asyncio

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import Course
from core.domain.errors import StoreError
from core.storage.access import Reader, Tenant, may_read
from core.storage.access_store import AccessStore
from core.storage.catalogue import Catalogue
from tests.holders import workspaces

FIRST, SECOND = Tenant("slack", "T1"), Tenant("slack", "T2")
ORGANISATION = Tenant("slack", "E1")
BIOLOGY = Course(course_id="biology", title="Biology")


@pytest.fixture
async def store(engine: AsyncEngine) -> AccessStore:
    await Catalogue(engine).save_course(BIOLOGY)
    return AccessStore(engine, public=frozenset({"handbook"}))


async def may(store: AccessStore, tenant: Tenant, course: Course = BIOLOGY) -> bool:
    reader = Reader(tenant.platform, frozenset({tenant}))
    return may_read(reader, course, await store.permits())


async def test_the_first_tenant_of_each_platform_is_the_operators_own(store: AccessStore) -> None:
    met = [await store.meet(one) for one in (FIRST, SECOND, Tenant("discord", "1"))]
    assert [one.is_home for one in met if one is not None] == [True, False, True]
    assert await may(store, FIRST)
    assert not await may(store, SECOND)


async def test_a_tenant_is_new_once_whoever_meets_it(
    store: AccessStore, engine: AsyncEngine
) -> None:
    assert await store.meet(FIRST) is not None
    assert await store.meet(FIRST) is None
    assert await AccessStore(engine).meet(FIRST) is None


async def test_tenants_that_are_met_at_once_make_one_home(engine: AsyncEngine) -> None:
    stores = [AccessStore(engine) for _ in range(6)]
    await asyncio.gather(
        *(one.meet(Tenant("discord", str(number))) for number, one in enumerate(stores))
    )
    assert [one.is_home for one in await stores[0].tenants()].count(True) == 1


async def test_a_home_stays_home_when_it_has_taken_the_bot_out(
    store: AccessStore, engine: AsyncEngine
) -> None:
    await store.meet(FIRST)
    await store.meet(SECOND)
    await store.grant("biology", SECOND)
    for tenant in (FIRST, SECOND):
        await workspaces(engine).forget("slack", tenant.workspace)
    fresh = AccessStore(engine)
    assert [(one.tenant, one.is_home) for one in await fresh.tenants()] == [(FIRST, True)]
    again = await fresh.meet(SECOND)
    assert again is not None
    assert not again.is_home
    assert not await may(fresh, SECOND)


async def test_a_tenant_that_another_process_forgot_is_met_again(
    store: AccessStore, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.storage.access_store._FRESH", 0.0)
    await store.meet(FIRST)
    await store.meet(SECOND)
    await workspaces(engine).forget("slack", SECOND.workspace)
    await store.permits()
    again = await store.meet(SECOND)
    assert again is not None
    assert [one.tenant for one in await store.tenants()] == [FIRST, SECOND]


async def test_a_course_stays_its_owners_when_that_has_taken_the_bot_out(
    store: AccessStore, engine: AsyncEngine
) -> None:
    await Catalogue(engine).set_owner("biology", str(SECOND))
    await workspaces(engine).forget("slack", SECOND.workspace)
    course = await Catalogue(engine).course("biology")
    assert course is not None
    assert course.tenant == str(SECOND)


async def test_a_grant_is_given_and_taken_back_once(store: AccessStore) -> None:
    await store.meet(FIRST)
    assert await store.grant("biology", SECOND)
    assert not await store.grant("biology", SECOND)
    assert await may(store, SECOND)
    assert await store.grants() == {"biology": [SECOND]}
    assert await store.revoke("biology", SECOND)
    assert not await store.revoke("biology", SECOND)
    assert not await may(store, SECOND)


async def test_a_grant_of_a_course_that_there_is_not_fails(store: AccessStore) -> None:
    with pytest.raises(StoreError):
        await store.grant("history", SECOND)


async def test_the_grants_of_a_course_go_with_it(store: AccessStore, engine: AsyncEngine) -> None:
    await store.grant("biology", SECOND)
    await Catalogue(engine).remove_course("biology")
    assert await store.grants() == {}


async def test_what_an_organisation_may_read_all_of_its_workspaces_may(
    store: AccessStore,
) -> None:
    await store.meet(FIRST)
    await store.meet(SECOND)
    await store.grant("biology", ORGANISATION)
    assert not await may(store, SECOND)
    await store.meet(SECOND, ORGANISATION)
    assert await may(store, SECOND)
    await store.meet(SECOND)
    assert await may(store, SECOND)


async def test_the_workspace_of_the_operators_token_is_home_however_late(
    store: AccessStore,
) -> None:
    await store.meet(FIRST)
    await store.make_home(SECOND)
    assert await may(store, SECOND)
    assert await may(store, FIRST)


async def test_another_process_follows(store: AccessStore, engine: AsyncEngine) -> None:
    other = AccessStore(engine)
    assert not await may(other, SECOND)
    await store.grant("biology", SECOND)
    other._until = 0.0  # as two seconds later
    assert await may(other, SECOND)


async def test_reading_a_book_again_leaves_its_owner(engine: AsyncEngine) -> None:
    catalogue = Catalogue(engine)
    await catalogue.save_course(BIOLOGY)
    assert await catalogue.set_owner("biology", "slack:T2")
    await catalogue.save_course(BIOLOGY.model_copy(update={"title": "Life"}))
    assert await catalogue.course("biology") == Course(
        course_id="biology", title="Life", tenant="slack:T2"
    )
    assert not await catalogue.set_owner("history", None)
