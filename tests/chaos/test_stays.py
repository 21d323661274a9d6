"""What stood for too long in the middle of a run is found, though it is gone at its end."""

from uuid import uuid4

from core.storage.inbox.base import request_id_for
from tests.chaos.checker import Anomaly, Kind, check
from tests.chaos.ground import a_ground
from tests.chaos.history import Asked, History, Life, Look, Post, Turn
from tests.chaos.sightings import Sightings
from tests.chaos.stays import longest, orphans, second_answers
from tests.wire.slack.posting import Draft

KEY = "slack:1"
DONE, END = 10.0, 500.0


def run(*lives: Life, disturbed: tuple[tuple[float, float], ...] = ()) -> History:
    """One question that is answered once at the end, and what was seen before."""
    question = Asked(KEY, "K0001", 1, seen_at=1.0, done_at=DONE, acknowledged=True)
    answer = Post(KEY, "thread", 1, "The answer.")
    turn = Turn(request_id_for(KEY), KEY, uuid4(), 1, answer.text)
    history = History([question], [turn], [answer], lives=[*lives], ended_at=END)
    history.disturbed += disturbed
    return history


def life(*looks: tuple[float, bool | None], key: str | None = KEY) -> Life:
    return Life(key, "thread", tuple(Look(at, unfinished) for at, unfinished in looks))


ANSWER = life((2.0, True), (9.0, False))


def test_an_answer_that_grew_from_its_placeholder_stayed_for_nothing() -> None:
    history = run(ANSWER)
    assert check(history) == []
    assert longest(orphans(history)) == longest(second_answers(history)) == 0.0


def test_a_second_answer_that_was_deleted_in_time_is_a_figure_only() -> None:
    history = run(ANSWER, life((20.0, False), (79.0, None)))
    assert check(history) == []
    assert longest(second_answers(history)) == 59.0


def test_a_second_answer_that_stood_for_minutes_is_found_though_it_was_deleted() -> None:
    history = run(ANSWER, life((20.0, False), (220.0, None)))
    assert check(history) == [Anomaly(Kind.DOUBLE, KEY, "thread: for 200 s, then gone")]


def test_an_answer_in_the_place_of_one_that_was_deleted_is_no_second_one() -> None:
    history = run(life((5.0, False), (100.0, None)), life((100.0, False)))
    assert check(history) == []
    assert longest(second_answers(history)) == 0.0


def test_a_placeholder_that_outlived_its_question_is_found_though_it_was_deleted() -> None:
    history = run(ANSWER, life((3.0, True), (DONE + 61.0, None)))
    assert check(history) == [Anomaly(Kind.ORPHAN, KEY, "thread: for 62 s, then gone")]


def test_a_placeholder_whose_question_another_message_answers_is_found() -> None:
    history = run(life((2.0, False)), life((3.0, True), (70.0, False), (71.0, None)))
    history.asked[0].done_at = None
    assert check(history) == [Anomaly(Kind.ORPHAN, KEY, "thread: for 67 s, then gone")]


def test_a_placeholder_that_nobody_asked_for_counts_from_its_beginning() -> None:
    history = run(ANSWER, life((100.0, True), (170.0, None), key=None))
    assert check(history) == [Anomaly(Kind.ORPHAN, "None", "thread: for 70 s, then gone")]


def test_a_question_that_takes_long_has_no_orphan_before_its_end() -> None:
    history = run(life((2.0, True), (200.0, False)))
    history.asked[0].done_at = 200.5
    assert check(history) == []
    assert longest(orphans(history)) == 0.0


def test_the_seconds_in_which_a_fault_held_are_not_counted_and_each_only_once() -> None:
    second = life((20.0, False), (90.0, None))
    assert check(run(ANSWER, second, disturbed=((15.0, 25.0), (18.0, 30.0)))) == []
    history = run(ANSWER, second, disturbed=((15.0, 25.0), (18.0, 28.0)))
    assert check(history) == [Anomaly(Kind.DOUBLE, KEY, "thread: for 62 s, then gone")]


async def test_messages_of_both_platforms_are_seen_coming_changing_and_going() -> None:
    async with a_ground(None, 1) as ground:
        there, here, sightings = ground.discord.world, ground.slack.world, Sightings(ground)
        one = there.posting.create(there.bot, there.channel, {"content": "An answer"}, {})
        there.posting.edit(one, {"content": "An answer."}, {})
        there.posting.delete(one)
        await there.say(there.owner, there.channel, "Not the bot's")
        channel = here.add_channel(here.workspace, "c", members=(here.owner, here.bot))
        other = here.posting.create(here.bot, channel, Draft(text="An answer"))
        here.posting.delete(other)
        await here.say(here.owner, channel, "Not the bot's")
        lives = list(sightings.lives({}, []))
    assert [[look.unfinished for look in life.looks] for life in lives] == [[False, None]] * 2
