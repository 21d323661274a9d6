"""Who may read which course: the one rule, over any owners, grants, homes and places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Course
from core.storage.access import TERMINAL, Permits, Reader, Tenant, is_home, may_read, readable

TENANTS = [Tenant(platform, f"T{n}") for platform in ("discord", "slack") for n in range(3)]
ORGANISATION = Tenant("slack", "E1")
IDS = ["handbook", "algebra", "biology"]
EVERY_TENANT = [*TENANTS, ORGANISATION]

tenants = st.sampled_from(EVERY_TENANT)
courses = st.builds(
    lambda course_id, tenant: Course(
        course_id=course_id, title=course_id, tenant=str(tenant) if tenant else None
    ),
    st.sampled_from(IDS),
    st.none() | tenants,
)
permits = st.builds(
    Permits,
    homes=st.frozensets(tenants, max_size=3),
    grants=st.frozensets(st.tuples(st.sampled_from(IDS), tenants), max_size=5),
    organisations=st.dictionaries(st.sampled_from(TENANTS[3:]), st.just(ORGANISATION), max_size=2),
    public=st.just(frozenset({"handbook"})),
)
readers = st.builds(
    Reader,
    platform=st.sampled_from(["discord", "slack"]),
    tenants=st.frozensets(st.sampled_from(TENANTS), max_size=2),
    bound=st.frozensets(st.sampled_from(IDS), max_size=1),
)


def reasons(reader: Reader, course: Course, known: Permits) -> list[str]:
    """Return why a course is open to a reader, reason by reason as the handbook lists them."""
    standing = {*reader.tenants}
    standing |= {known.organisations[one] for one in reader.tenants if one in known.organisations}
    found = {
        "it is the handbook": course.course_id == "handbook",
        "the file binds it": course.course_id in reader.bound,
        "it is the tenant's own": course.tenant in {str(one) for one in standing},
        "it is granted": any((course.course_id, one) in known.grants for one in standing),
        "both are the operator's": course.tenant is None and bool(standing & known.homes),
    }
    return [name for name, holds in found.items() if holds]


@pytest.mark.costly
@given(readers, courses, permits)
def test_a_course_is_open_for_one_of_five_reasons_and_for_no_other(
    reader: Reader, course: Course, known: Permits
) -> None:
    assert may_read(reader, course, known) == bool(reasons(reader, course, known))


@pytest.mark.costly
@given(readers, courses, permits, tenants)
def test_a_grant_opens_a_course_to_its_tenant_alone(
    reader: Reader, course: Course, known: Permits, other: Tenant
) -> None:
    wider = Permits(
        known.homes,
        known.grants | {(course.course_id, other)},
        known.organisations,
        known.public,
    )
    before, after = may_read(reader, course, known), may_read(reader, course, wider)
    assert after == (before or other in known.standing_for(reader.tenants))


@pytest.mark.costly
@given(readers, st.lists(courses, max_size=6), permits)
def test_the_list_holds_exactly_what_may_be_read(
    reader: Reader, there: list[Course], known: Permits
) -> None:
    assert [*readable(reader, there, known)] == [c for c in there if may_read(reader, c, known)]


@pytest.mark.costly
@given(courses, permits)
def test_a_place_without_any_tenant_reads_the_handbook_alone(
    course: Course, known: Permits
) -> None:
    assert may_read(Reader("discord"), course, known) == (course.course_id == "handbook")


@pytest.mark.costly
@given(courses, permits)
def test_the_operators_terminal_reads_everything(course: Course, known: Permits) -> None:
    assert may_read(Reader(TERMINAL), course, known)


@pytest.mark.costly
@given(readers, courses, permits)
def test_a_tenants_own_course_is_not_the_other_homes(
    reader: Reader, course: Course, known: Permits
) -> None:
    if course.tenant is not None and is_home(reader, known):
        assert may_read(reader, course, known) == bool(
            [why for why in reasons(reader, course, known) if "operator" not in why]
        )


@pytest.mark.parametrize("name", ["slack:T0123", "discord:42"])
def test_a_tenant_is_written_as_it_is_read(name: str) -> None:
    assert str(Tenant.named(name)) == name


@pytest.mark.parametrize("name", ["", "T0123", "slack:", "slack:T1:C1", "slack: T1", "Slack:T1"])
def test_what_is_no_tenant_is_refused_with_how_to_write_one(name: str) -> None:
    with pytest.raises(ValueError, match="PLATFORM:ID"):
        Tenant.named(name)
