"""Who is staff, over every way to be named and every way not to be."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.access import Member, NamedStaff, StaffKind, is_staff, role_of

HERE, ELSEWHERE = "biology", "algebra"
IDS = st.sampled_from(["ann", "ben", "tutors", "graders"])
COURSES = st.sampled_from([None, HERE, ELSEWHERE])
NAMED = st.lists(st.builds(NamedStaff, st.sampled_from(StaffKind), IDS, COURSES), max_size=6)
MEMBERS = st.builds(Member, IDS, st.booleans(), st.frozensets(IDS))


@pytest.mark.costly
@given(named=NAMED, course=COURSES)
def test_who_is_no_member_is_never_staff(named: list[NamedStaff], course: str | None) -> None:
    assert not is_staff(None, named, course)


@pytest.mark.costly
@given(member=MEMBERS, named=NAMED, course=COURSES)
def test_an_admin_is_always_staff_and_others_by_what_names_them_alone(
    member: Member, named: list[NamedStaff], course: str | None
) -> None:
    by = [one for one in named if one.course_id in (None, course)]
    people = {one.id for one in by if one.kind is StaffKind.PERSON}
    held = {one.id for one in by if one.kind is not StaffKind.PERSON}
    meant = member.is_admin or member.id in people or not held.isdisjoint(member.holds)
    assert is_staff(member, named, course) is meant


@pytest.mark.costly
@given(member=MEMBERS, named=NAMED, more=NAMED, course=COURSES)
def test_naming_more_takes_nobody_out(
    member: Member, named: list[NamedStaff], more: list[NamedStaff], course: str | None
) -> None:
    assert is_staff(member, [*named, *more], course) >= is_staff(member, named, course)


@pytest.mark.parametrize(
    ("kind", "limit", "answers"), list(product(StaffKind, [None, HERE, ELSEWHERE], [None, HERE]))
)
def test_who_is_limited_to_a_course_counts_only_where_it_answers(
    kind: StaffKind, limit: str | None, answers: str | None
) -> None:
    held = frozenset() if kind is StaffKind.PERSON else frozenset({"x"})
    member = Member("x" if kind is StaffKind.PERSON else "ann", holds=held)
    meant = limit is None or (answers is not None and limit == answers)
    assert is_staff(member, [NamedStaff(kind, "x", limit)], answers) is meant


def test_an_id_names_what_it_is_the_id_of_and_nothing_else() -> None:
    role = NamedStaff(StaffKind.ROLE, "ann")
    assert not is_staff(Member("ann"), [role], None)
    person = NamedStaff(StaffKind.PERSON, "tutors")
    assert not is_staff(Member("ann", holds=frozenset({"tutors"})), [person], None)


def test_a_role_is_told_only_where_it_is_known() -> None:
    assert [role_of(known) for known in (True, False, None)] == ["staff", "student", None]
