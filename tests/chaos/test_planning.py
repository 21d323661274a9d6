"""What a run consists of follows from its size and its seed."""

import re
from pathlib import Path

import pytest

from tests.chaos.book import name_of
from tests.chaos.disturbances import LONG_STOPS, planned
from tests.chaos.figures import is_clean, table
from tests.chaos.happenings.crowds import CHANNEL_PER_MINUTE, USER_PER_MINUTE, private_ones
from tests.chaos.history import Way
from tests.chaos.part import Outcome
from tests.chaos.plan import CROWD, talks
from tests.chaos.run import keep_logs, parts
from tests.chaos.templates import BUOYS
from tests.chaos.test_short_run import QUESTIONS, SEED


@pytest.mark.parametrize("questions", [1, 40, 2_000, 20_000])
def test_the_parts_of_a_run_have_all_its_questions(questions: int) -> None:
    found = list(parts(questions, seed=1))
    assert sum(part.questions for part in found) == questions
    assert all(0 < part.questions <= BUOYS for part in found)
    assert len({part.seed for part in found}) == len(found)


@pytest.mark.parametrize("questions", [54, 120, 200, 500, 2_000])
def test_everything_happens_in_every_part_that_has_stand_ins(questions: int) -> None:
    found = [part for part in parts(questions, seed=5) if part.stand_ins]
    assert all({talk.way for talk in talks(p.questions, p.seed)} == set(Way) for p in found)


def test_a_run_has_every_place_and_500_questions_to_real_models() -> None:
    found = list(parts(20_000, seed=1))
    places = {(part.replicas, part.on_postgres) for part in found}
    assert places == {(1, True), (2, True), (3, True), (1, False)}
    assert sum(part.questions for part in found if not part.stand_ins) == 500


@pytest.mark.parametrize("questions", [1, 20, QUESTIONS, 94, 250])
def test_the_talks_of_a_part_have_all_its_questions_each_a_name_of_its_own(questions: int) -> None:
    found = talks(questions, 1)
    names = [name for talk in found for name in talk.names]
    assert names == [name_of(number) for number in range(questions)]
    assert [talk.names[0] for talk in found] == [name_of(talk.conversation) for talk in found]


@pytest.mark.parametrize("questions", [QUESTIONS, 94, 250])
def test_every_way_of_asking_comes_in_a_part(questions: int) -> None:
    found = talks(questions, 1)
    assert {talk.way for talk in found} == set(Way)
    for way in (Way.TALK, Way.COMMAND, Way.AWAY, Way.NEW_CHANNEL, Way.BARE):
        assert len({talk.on_discord for talk in found if talk.way is way}) == 2, way


def test_crowds_of_two_seeds_come_on_both_platforms() -> None:
    crowds = [talk for seed in (1, 2) for talk in talks(94, seed) if talk.way is Way.CROWD]
    assert {talk.on_discord for talk in crowds} == {True, False}
    loudest, others = 10, CROWD - 10
    assert loudest > USER_PER_MINUTE
    assert USER_PER_MINUTE + others > CHANNEL_PER_MINUTE


def test_every_second_command_of_the_loudest_is_private_and_the_last_one_is() -> None:
    in_turn = [number % 4 != 1 for number in range(12)]
    assert [n for n, private in enumerate(private_ones(in_turn)) if private] == [2, 6, 10]
    assert not any(private_ones([False] * CROWD))


def test_a_seed_plans_the_same_again_and_another_something_else() -> None:
    first = planned(250, 1, crashes=True)
    assert first == planned(250, 1, crashes=True)
    assert first != planned(250, 2, crashes=True)


def test_20_000_questions_meet_as_many_disturbances_as_are_promised() -> None:
    names = [
        one.name
        for part in parts(20_000, seed=1)
        for one in planned(part.questions, part.seed, crashes=part.on_postgres)
    ]
    assert names.count("kill") >= 400
    stops, long = names.count("stop"), names.count("long stop")
    assert stops + long >= 60
    assert long == pytest.approx((stops + long) * LONG_STOPS, rel=0.5)
    assert names.count("crash") >= 15
    assert names.count("outage") >= 300


def test_the_short_run_has_no_long_stop() -> None:
    names = [one.name for one in planned(QUESTIONS, SEED, crashes=True)]
    assert "stop" in names
    assert "long stop" not in names


def test_a_file_as_a_database_does_not_crash() -> None:
    assert all(one.name != "crash" for one in planned(250, 1, crashes=False))


@pytest.mark.parametrize(
    ("counts", "anomalies", "clean"),
    [
        ({"calls": 1_000, "calls into a closed window": 1}, [], True),
        ({"calls": 1_000, "calls into a closed window": 2}, [], False),
        ({"questions": 2_000, "apologies": 2, "not found in the book": 2}, [], True),
        ({"questions": 2_000, "apologies": 3}, [], False),
        ({"questions": 2_000, "not found in the book": 3}, [], False),
        ({"questions": 20, "apologies": 2}, [], False),
        ({"calls": 1_000, "exits of its own": 1}, [], False),
        ({"calls": 1_000, "ends without 0": 1}, [], False),
        ({"calls": 1_000}, [{"kind": "visible duplicates"}], False),
    ],
)
def test_a_run_is_clean_when_nothing_happened_that_must_not(
    counts: dict[str, float], anomalies: list[dict[str, str]], clean: bool
) -> None:
    one = Outcome("a part", 1, counts=counts, anomalies=anomalies)
    assert is_clean([one, Outcome("another", 2)]) is clean


SEEN = {"answered": 270, "refused": 9, "noticed": 15, "pointed elsewhere": 6}


@pytest.mark.parametrize(
    ("settled", "clean"),
    [
        (SEEN, True),
        ({"answered": 99}, True),
        ({"answered": 100}, False),
        *(({**SEEN, kind: 0, "failed at once": 10}, False) for kind in SEEN if kind != "answered"),
        ({**SEEN, "sent at most once, and not seen": 6}, True),
        ({**SEEN, "sent at most once, and not seen": 7}, False),
        ({"answered": 20, "sent at most once, and not seen": 4}, False),
    ],
)
def test_a_run_that_shows_nothing_of_a_settlement_is_not_clean(
    settled: dict[str, int], clean: bool
) -> None:
    one = Outcome("a part", 1, settled={"slack": settled})
    assert is_clean([one]) is clean


def test_a_large_run_shows_each_settlement_on_each_platform() -> None:
    both = {"slack": SEEN, "discord": {**SEEN, "refused": 0}}
    assert not is_clean([Outcome("a part", 1, settled=both)])
    both["discord"] = {"answered": 240}
    assert is_clean([Outcome("a part", 1, settled=both)]), "it has too few"


def test_a_run_without_parts_is_not_clean() -> None:
    assert not is_clean([])


def test_the_longest_stay_of_all_parts_is_told_and_not_their_sum() -> None:
    name = "longest stay of a second answer"
    parts = [
        Outcome("a part", seed, {"questions": 1, "seconds": 1, name: stay})
        for seed, stay in ((1, 7.0), (2, 12.5))
    ]
    assert re.search(rf"{name} +12\.5 s", table(parts))


def test_the_logs_of_a_part_are_kept(tmp_path: Path) -> None:
    for number in range(2):
        replica = tmp_path / "part" / f"replica-{number}"
        replica.mkdir(parents=True)
        (replica / "bot.log").write_text(f"said by {number}", encoding="utf-8")
    keep_logs(tmp_path / "part", tmp_path / "kept")
    assert (tmp_path / "kept" / "replica-1.log").read_text("utf-8") == "said by 1"
    assert len([*(tmp_path / "kept").iterdir()]) == 2
