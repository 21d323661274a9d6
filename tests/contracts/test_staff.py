"""Who was named as staff, on every database, and who is staff by it and by the file."""

import asyncio

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import RequestError
from core.domain.i18n import text
from core.storage.access import Member, MemberLookup, NamedStaff, StaffKind, Tenant
from core.storage.access_store import MOST_NAMED, Roster, StaffStore
from tests.holders import export, workspaces

GUILD, OTHER = Tenant("discord", "1"), Tenant("discord", "2")
TEAM, ORGANISATION = Tenant("slack", "T1"), Tenant("slack", "E1")
TUTORS = NamedStaff(StaffKind.ROLE, "7")
ANN = NamedStaff(StaffKind.PERSON, "ann")
ANN_OF_BIOLOGY = NamedStaff(StaffKind.PERSON, "ann", "biology")


@pytest.fixture
def store(engine: AsyncEngine) -> StaffStore:
    return StaffStore(engine)


def known(member: Member | None) -> MemberLookup:
    async def who(_: frozenset[str]) -> Member | None:
        return member

    return who


async def test_who_is_named_is_found_in_that_tenant_alone(store: StaffStore) -> None:
    assert await store.add(GUILD, TUTORS)
    assert await store.add(GUILD, ANN_OF_BIOLOGY, "pseudonym")
    assert await store.of(GUILD) == (TUTORS, ANN_OF_BIOLOGY)
    assert await store.of(OTHER) == ()
    assert await store.of(Tenant("slack", GUILD.workspace)) == ()
    assert await store.all() == {GUILD: [TUTORS, ANN_OF_BIOLOGY]}


async def test_naming_twice_names_once_also_at_the_same_time(store: StaffStore) -> None:
    done = await asyncio.gather(*(store.add(GUILD, TUTORS) for _ in range(5)))
    assert sorted(done) == [False, False, False, False, True]
    assert await store.of(GUILD) == (TUTORS,)


async def test_without_a_course_somebody_is_taken_out_however_they_were_named(
    store: StaffStore,
) -> None:
    for named in (ANN, ANN_OF_BIOLOGY, TUTORS):
        await store.add(GUILD, named)
    await store.add(OTHER, ANN)
    assert await store.remove(GUILD, "ann", "biology")
    assert not await store.remove(GUILD, "ann", "biology")
    assert await store.of(GUILD) == (ANN, TUTORS)
    await store.add(GUILD, ANN_OF_BIOLOGY)
    assert await store.remove(GUILD, "ann")
    assert await store.of(GUILD) == (TUTORS,)
    assert await store.of(OTHER) == (ANN,)


@pytest.mark.costly
async def test_no_more_are_named_than_may_be_and_what_was_named_stays(store: StaffStore) -> None:
    for number in range(MOST_NAMED):
        await store.add(GUILD, NamedStaff(StaffKind.PERSON, str(number)))
    with pytest.raises(RequestError) as refused:
        await store.add(GUILD, TUTORS)
    assert refused.value.user_message == text("staff-too-many", most=MOST_NAMED)
    assert len(await store.of(GUILD)) == MOST_NAMED
    assert not await store.add(GUILD, NamedStaff(StaffKind.PERSON, "1"))
    assert await store.add(OTHER, TUTORS)


async def test_what_is_changed_by_one_process_holds_in_another_soon(engine: AsyncEngine) -> None:
    one, other = StaffStore(engine), StaffStore(engine)
    assert await one.of(GUILD) == ()
    await other.add(GUILD, ANN)
    await one.remove(GUILD, "nobody")  # a change of one's own is seen at once, with all others
    assert await one.of(GUILD) == (ANN,)


async def test_the_file_and_the_admins_name_together(store: StaffStore) -> None:
    roster = Roster(store, {GUILD: [TUTORS]})
    await store.add(GUILD, ANN_OF_BIOLOGY)
    tutor, ann = known(Member("ben", holds=frozenset({"7"}))), known(Member("ann"))
    assert await roster.includes([GUILD], tutor, None)
    assert await roster.includes([GUILD], ann, "biology")
    assert not await roster.includes([GUILD], ann, "algebra")
    assert not await roster.includes([GUILD], ann, None)


async def test_the_same_person_is_nobody_in_another_tenant(store: StaffStore) -> None:
    roster = Roster(store, {GUILD: [TUTORS]})
    await store.add(GUILD, ANN)
    everything = known(Member("ann", holds=frozenset({"7"})))
    assert not await roster.includes([OTHER], everything, "biology")
    assert not await roster.includes([GUILD], known(None), "biology")
    assert not await roster.includes([], known(Member("ann", is_admin=True)), "biology")


async def test_staff_of_an_organisation_is_staff_in_its_workspaces(store: StaffStore) -> None:
    roster, ann = Roster(store, {ORGANISATION: [ANN]}), known(Member("ann"))
    assert await roster.includes([TEAM, ORGANISATION], ann, None)
    assert not await roster.includes([TEAM], ann, None)
    assert not await roster.includes([TEAM, Tenant("slack", "E2")], ann, None)


async def test_only_the_groups_that_count_here_are_asked_about(store: StaffStore) -> None:
    asked = list[frozenset[str]]()

    async def who(groups: frozenset[str]) -> Member:
        asked.append(groups)
        return Member("ann", holds=groups)

    group = StaffKind.GROUP
    named = [NamedStaff(group, "S1"), NamedStaff(group, "S2", "biology"), ANN]
    roster = Roster(store, {TEAM: [*named, NamedStaff(group, "S3", "algebra")]})
    assert await roster.includes([TEAM], who, "biology")
    assert asked == [{"S1", "S2"}]


async def test_a_workspace_that_leaves_takes_its_staff_along(
    store: StaffStore, engine: AsyncEngine
) -> None:
    await store.add(TEAM, ANN, "pseudonym-of-ann")
    await store.add(Tenant("slack", "T2"), ANN)
    await workspaces(engine).forget("slack", "T1")
    assert await StaffStore(engine).all() == {Tenant("slack", "T2"): [ANN]}


async def test_people_are_shown_that_they_are_staff(store: StaffStore, engine: AsyncEngine) -> None:
    await store.add(GUILD, ANN, "pseudonym-of-ann")
    await store.add(GUILD, TUTORS)
    (row,) = (await export(engine).of(["pseudonym-of-ann"]))["stored"]["staff"]
    assert (row["workspace"], row["kind"], row["id"]) == ("1", "person", "ann")
