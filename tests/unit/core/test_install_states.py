"""Secrets for who is about to install the bot: signed, of a short life, and stored nowhere."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.installations import InstallStates

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
LIFE = timedelta(minutes=10)
STATES = InstallStates([b"key"], LIFE)


def test_a_state_is_good_for_its_life_in_every_process_with_the_key() -> None:
    state = STATES.issue(NOON)
    another = InstallStates([b"newer", b"key"], LIFE)
    assert STATES.is_good(state, NOON + LIFE)
    assert another.is_good(state, NOON)
    assert not STATES.is_good(state, NOON + LIFE + timedelta(seconds=1))
    assert not InstallStates([b"other"], LIFE).is_good(state, NOON)


def test_no_two_states_are_alike() -> None:
    assert len({STATES.issue(NOON) for _ in range(50)}) == 50


@pytest.mark.costly
@given(st.text() | st.from_regex(r"[0-9]+\\.[a-z]+\\.[0-9a-f]+", fullmatch=True))
def test_nothing_that_was_not_issued_is_good(state: str) -> None:
    assert not STATES.is_good(state, NOON)


@given(st.integers(min_value=0), st.characters(codec="ascii"))
def test_a_state_with_another_letter_is_good_for_nothing(place: int, letter: str) -> None:
    state = STATES.issue(NOON)
    at = place % len(state)
    changed = state[:at] + letter + state[at + 1 :]
    assert STATES.is_good(changed, NOON) == (changed == state)


@pytest.mark.parametrize("state", ["", ".", "..", "1.2.3"])
def test_what_is_no_state_is_refused(state: str) -> None:
    assert not STATES.is_good(state, NOON)
