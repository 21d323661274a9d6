"""What holds in a place, by chat and by the operator's file, over any rules of both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import AnswerLength
from core.storage.channels import (
    DEFAULTS,
    STRICT,
    Askers,
    FollowUps,
    OperatorRules,
    Rules,
    in_force,
)

PLACES = ("thread", "channel", "guild")
VALUES: dict[str, st.SearchStrategy[object]] = {
    "course_id": st.sampled_from([None, "algebra", "biology"]),
    "excluded": st.sampled_from([None, True, False]),
    "follow_ups": st.sampled_from([None, *FollowUps]),
    "askers": st.sampled_from([None, *Askers]),
    "answer_length": st.sampled_from([None, *AnswerLength]),
    "private": st.sampled_from([None, True, False]),
    "auto_answer": st.sampled_from([None, True, False]),
    "outsiders": st.sampled_from([None, True, False]),
}
chat_rules = st.builds(Rules, **VALUES)
locks = st.frozensets(st.sampled_from([*Rules.model_fields]), max_size=8)
file_rules = st.builds(OperatorRules, **VALUES, locked=locks)
chats = st.dictionaries(st.sampled_from(PLACES), chat_rules)
files = st.dictionaries(st.sampled_from(PLACES), file_rules)
NO_CHAT: dict[str, Rules] = {}


def test_the_table_of_values_knows_every_rule() -> None:
    assert VALUES.keys() == Rules.model_fields.keys()


@pytest.mark.costly
@given(chats, files)
def test_a_rule_that_is_locked_is_as_without_chat_or_stricter(
    chat: dict[str, Rules], file: dict[str, OperatorRules]
) -> None:
    holds, alone = in_force(PLACES, chat, file), in_force(PLACES, NO_CHAT, file)
    for name in frozenset().union(*(rules.locked for rules in file.values())):
        value = getattr(holds, name)
        assert value == getattr(alone, name) or value == STRICT.get(name, object())


@pytest.mark.costly
@given(chats, files)
def test_chat_lifts_nothing_that_the_file_restricts(
    chat: dict[str, Rules], file: dict[str, OperatorRules]
) -> None:
    holds, alone = in_force(PLACES, chat, file), in_force(PLACES, NO_CHAT, file)
    for name, strict in STRICT.items():
        said = [getattr(file[place], name) for place in PLACES if place in file]
        narrowest = next((value for value in said if value is not None), None)
        if narrowest == strict:
            assert getattr(alone, name) == getattr(holds, name) == strict


@pytest.mark.costly
@given(chats, files, st.sampled_from(PLACES), st.sampled_from([*STRICT]))
def test_chat_may_always_restrict(
    chat: dict[str, Rules], file: dict[str, OperatorRules], place: str, name: str
) -> None:
    stricter = {**chat, PLACES[0]: Rules(**{name: STRICT[name]})}
    assert getattr(in_force(PLACES, stricter, file), name) == STRICT[name]


@pytest.mark.costly
@given(chats, st.dictionaries(st.sampled_from(PLACES), chat_rules))
def test_without_a_restriction_the_narrowest_counts_and_chat_before_the_file(
    chat: dict[str, Rules], said: dict[str, Rules]
) -> None:
    lax = {
        place: OperatorRules(
            **{n: v for n, v in rules.said().items() if v != STRICT.get(n, object())}
        )
        for place, rules in said.items()
    }
    holds = in_force(PLACES, chat, lax)
    for name in Rules.model_fields:
        sources = [source[place] for place in PLACES for source in (chat, lax) if place in source]
        values = [getattr(rules, name) for rules in sources]
        first = next((value for value in values if value is not None), getattr(DEFAULTS, name))
        assert getattr(holds, name) == first


def test_a_narrower_place_of_the_file_may_lift_what_a_wider_one_restricts() -> None:
    file = {"guild": OperatorRules(excluded=True), "channel": OperatorRules(excluded=False)}
    assert in_force(PLACES, NO_CHAT, file).excluded is False
    assert in_force(("other", "guild"), {"other": Rules(excluded=False)}, file).excluded is True


def test_what_chat_set_around_a_locked_place_does_not_reach_into_it() -> None:
    file = {"channel": OperatorRules(locked=frozenset({"course_id"}))}
    chat = {"guild": Rules(course_id="algebra")}
    assert in_force(("guild",), chat, file).course_id == "algebra"
    assert in_force(("channel", "guild"), chat, file).course_id is None


def test_what_a_file_locks_is_no_rule_that_it_says() -> None:
    assert OperatorRules(locked=frozenset({"private"})).said() == {}
