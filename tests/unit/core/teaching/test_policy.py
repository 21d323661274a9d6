"""Which of several policies holds."""

from datetime import timedelta
from itertools import permutations

import pytest

from core.domain import PolicyMode
from core.teaching.policy import AnswerPolicy, AskedAt, Assignment, in_force, valid_at
from tests.samples import EARLIER

PLACES = ("thread", "channel", "category", "server")
HERE = AskedAt(PLACES, EARLIER, frozenset({"discord:1"}))
TASK = Assignment("Sheet 1", "Compute it.")


def policy(key: str, mode: str, **fields: object) -> AnswerPolicy:
    return AnswerPolicy(key, "arden", PolicyMode(mode), **fields)  # type: ignore[arg-type]


def holding(*policies: AnswerPolicy, about: tuple[str, ...] = (), at: AskedAt = HERE) -> str | None:
    """Return the key of the policy that holds; whatever order they come in."""
    found = set()
    for order in permutations(policies):
        valid = valid_at(order, at)
        named = [one for one in valid if one.key in about]
        winner = in_force(valid, at, named)
        found.add(winner.key if winner else None)
    (key,) = found
    return key


def test_without_a_policy_the_answer_is_whole() -> None:
    assert holding() is None


def test_the_narrowest_place_wins() -> None:
    wide = policy("wide", "closed", place="server")
    narrow = policy("narrow", "sections", place="channel")
    assert holding(wide, narrow, policy("all", "closed")) == "narrow"


def test_a_full_answer_in_a_narrow_place_lifts_a_wider_policy() -> None:
    assert holding(policy("a", "closed"), policy("b", "full", place="channel")) is None


def test_in_one_place_the_strictest_wins() -> None:
    modes = [policy(mode, mode, place="channel") for mode in ("full", "hints", "sections")]
    assert holding(*modes) == "sections"
    assert holding(*modes, policy("closed", "closed", place="channel")) == "closed"


def test_a_policy_of_another_place_does_not_hold() -> None:
    assert holding(policy("a", "closed", place="elsewhere")) is None


@pytest.mark.parametrize(("hours", "holds"), [(-2, False), (-1, True), (0, True), (1, False)])
def test_before_its_beginning_and_from_its_end_on_the_next_wider_holds(
    hours: int, holds: bool
) -> None:
    hour = timedelta(hours=1)
    timed = policy(
        "timed", "closed", place="channel", valid_from=EARLIER - hour, valid_until=EARLIER + hour
    )
    wide = policy("wide", "hints", place="server")
    at = AskedAt(PLACES, EARLIER + hours * hour, HERE.tenants)
    assert holding(timed, wide, at=at) == ("timed" if holds else "wide")


def test_an_assignment_holds_in_every_place_for_what_belongs_to_it() -> None:
    assigned = policy("assigned", "hints", assignment=TASK)
    open_here = policy("open", "full", place="thread")
    assert holding(assigned, open_here, about=("assigned",)) == "assigned"
    assert holding(assigned, open_here) is None


def test_a_stricter_place_wins_over_an_assignment() -> None:
    assigned = policy("assigned", "hints", assignment=TASK)
    closed = policy("closed", "closed", place="channel")
    assert holding(assigned, closed, about=("assigned",)) == "closed"


def test_a_section_is_narrower_than_its_place() -> None:
    section = policy("section", "hints", section="Heaps")
    everywhere = policy("all", "closed")
    assert holding(section, everywhere, about=("section",)) == "section"
    assert holding(section, everywhere) == "all"


def test_what_a_tenant_set_holds_there_and_in_its_peoples_direct_messages() -> None:
    own = policy("own", "closed", tenant="discord:1")
    other = policy("other", "closed", tenant="discord:2")
    assert holding(own) == "own"
    assert holding(other) is None
    in_both = AskedAt(("dm",), EARLIER, frozenset({"discord:1", "discord:2"}))
    assert holding(other, at=in_both) == "other"
    in_one = AskedAt(("dm",), EARLIER, frozenset({"discord:1"}))
    assert holding(own, other, at=in_one) == "own"
    assert holding(other, at=in_one) is None
