"""No number of a report, and no sum or difference of numbers, is about fewer than k people."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.teaching.radar_activity import (
    LEAST,
    OTHER,
    Ending,
    Event,
    SectionActivity,
    activity_of,
    summed,
)

SECTIONS = (OTHER, ("Tides",), ("Lamps",), ("Boats", "Ropes"))
PEOPLE = "abcdef"

events = st.builds(
    Event,
    st.sampled_from(SECTIONS),
    st.sampled_from(list(Ending)),
    st.sampled_from(PEOPLE),
    st.frozensets(st.sampled_from(PEOPLE), max_size=3),
)
weeks = st.lists(events, max_size=40)
Cell = tuple[int, tuple[str, ...], Ending]


def cells_of(week: int, asked: Sequence[Event]) -> dict[Cell, list[str]]:
    found = defaultdict[Cell, list[str]](list)
    for event in asked:
        found[week, event.section, event.ending].append(event.asker)
    return found


def numbers_of(
    week: int, told: Sequence[SectionActivity], cells: dict[Cell, list[str]], k: int
) -> list[tuple[int, set[Cell]]]:
    """Return each number of questions with the cells that it counts, found out independently."""
    found = []
    small = {
        cell
        for cell, people in cells.items()
        if cell[0] == week and (cell[1] == OTHER or len(set(people)) < k)
    }
    for one in told:
        for ending, count in one.endings.items():
            if one.section == OTHER:
                found.append((count, {cell for cell in small if cell[2] is ending}))
            else:
                found.append((count, {(week, one.section, ending)}))
    return found


@pytest.mark.costly
@given(weeks, weeks, st.integers(LEAST, 4))
def test_no_combination_of_two_weeks_numbers_is_about_few(
    first: list[Event], second: list[Event], k: int
) -> None:
    cells = {**cells_of(1, first), **cells_of(2, second)}
    numbers = [
        *numbers_of(1, activity_of(first, k), cells, k),
        *numbers_of(2, activity_of(second, k), cells, k),
    ]
    order = list(cells)
    for count, counted in numbers:
        people = {person for cell in counted for person in cells[cell]}
        assert count == sum(len(cells[cell]) for cell in counted)
        assert len(people) >= k
    if not numbers:
        return
    matrix = np.array([[float(cell in counted) for cell in order] for _, counted in numbers])
    rank = np.linalg.matrix_rank(matrix)
    for size in (1, 2):
        for chosen in combinations(order, size):
            people = {person for cell in chosen for person in cells[cell]}
            if len(people) < k:
                row = np.array([[float(cell in chosen) for cell in order]])
                assert np.linalg.matrix_rank(np.vstack([matrix, row])) > rank


@pytest.mark.costly
@given(weeks, st.integers(LEAST, 4))
def test_votes_and_askers_are_told_of_k_people_alone(asked: list[Event], k: int) -> None:
    for one in activity_of(asked, k):
        assert one.askers % k == 0
        voters = [
            voter
            for event in asked
            for voter in event.down_voters
            if one.section in (OTHER, event.section)
        ]
        if one.voted_down:
            assert one.voted_down <= len(voters)
            assert len(set(voters)) >= k


@pytest.mark.costly
@given(weeks, st.sampled_from(PEOPLE), st.integers(LEAST, 4))
def test_a_section_is_named_for_k_people_alone(asked: list[Event], person: str, k: int) -> None:
    """A section that one person less would hide is there because k people asked or voted."""
    for one in activity_of(asked, k):
        if one.section == OTHER:
            continue
        askers = {event.asker for event in asked if event.section == one.section}
        voters = {v for event in asked if event.section == one.section for v in event.down_voters}
        assert max(len(askers), len(voters)) >= k
        assert one.questions or one.voted_down


def test_small_sections_are_summed() -> None:
    asked = [
        Event((name,), Ending.ANSWERED, person)
        for name, people in (("Tides", "abc"), ("Lamps", "ab"), ("Boats", "c"))
        for person in people
    ]
    tides, other = activity_of(asked, 3)
    assert (tides.section, tides.questions, tides.askers) == (("Tides",), 3, 3)
    assert (other.section, other.questions) == (OTHER, 3)


def test_what_is_too_small_even_together_is_in_no_number() -> None:
    asked = [Event(("Tides",), Ending.ANSWERED, person) for person in "abc"]
    asked += [Event(("Tides",), Ending.NOT_COVERED, "a"), Event(("Lamps",), Ending.ANSWERED, "b")]
    (tides,) = activity_of(asked, 3)
    assert tides.questions == 3
    assert tides.endings == {Ending.ANSWERED: 3}


def test_k_is_two_at_least() -> None:
    assert activity_of([Event(("Tides",), Ending.ANSWERED, "a")], 1) == []


def test_reports_of_several_places_add_up() -> None:
    asked = [Event(("Tides",), Ending.ANSWERED, person) for person in "abc"]
    (one,) = summed([activity_of(asked), activity_of(asked)])
    assert (one.questions, one.askers) == (6, 6)
