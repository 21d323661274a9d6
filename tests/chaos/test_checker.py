"""The checker: quiet about a good history, and it finds each thing that may go wrong."""

from dataclasses import replace
from uuid import uuid4

import pytest

from core.domain.errors import ServiceError
from core.storage.inbox.base import request_id_for
from tests.chaos.book import fact_about, name_of
from tests.chaos.checker import Anomaly, Kind, check
from tests.chaos.history import Asked, History, Post, Spot, Turn
from tests.chaos.settlements import Settlement, ledger

SESSION, OTHER = uuid4(), uuid4()


def asked(number: int, conversation: int = 1) -> Asked:
    said_at = float(number * 10)
    return Asked(
        key=f"slack:{number}",
        name=name_of(number),
        conversation=conversation,
        said_at=said_at,
        seen_at=said_at + 1,
        done_at=said_at + 2,
        acknowledged=True,
    )


def text_about(*numbers: int) -> str:
    return " ".join(f"{fact_about(name_of(number))} [1]" for number in numbers)


def turn(number: int, *known: int, at: int = 1, session: object = SESSION) -> Turn:
    key = f"slack:{number}"
    told = text_about(number, *known)
    return Turn(request_id_for(key), key, session, at, told)  # type: ignore[arg-type]


def post(number: int, *known: int, place: str = "thread-1") -> Post:
    shown = f"**{text_about(number, *known)}**\n-# [1] Stations, page 3"
    return Post(f"slack:{number}", place, 1_000 + number, shown, revisions=("Searching", shown))


def good() -> History:
    """Two questions in one thread and one in another, each answered once."""
    return History(
        asked=[asked(1), asked(2), asked(3, conversation=2)],
        turns=[turn(1), turn(2, 1, at=2), turn(3, session=OTHER)],
        posts=[post(1), post(2, 1), post(3, place="thread-2")],
    )


def replied() -> History:
    """The same, and what staff said to the last question."""
    history, key, said = good(), "slack:staff:1", "The archive lists none."
    reply = replace(asked(4, conversation=2), key=key, name="", replies_to="slack:3")
    history.asked.append(reply)
    history.turns.append(Turn(request_id_for(key), key, OTHER, 2, said, whole=False))
    history.posts.append(Post(key, "thread-2", 2_000, f"@ann The staff answered: {said}"))
    return history


def kinds(history: History) -> set[Kind]:
    return {anomaly.kind for anomaly in check(history)}


def test_a_good_history_has_no_anomaly() -> None:
    assert check(good()) == []


def test_a_question_that_is_stored_but_not_shown_is_lost() -> None:
    history = good()
    del history.posts[2]
    assert check(history) == [Anomaly(Kind.LOST, "slack:3", "not shown, stored")]


def test_a_question_that_was_acknowledged_and_is_nowhere_is_lost() -> None:
    history = good()
    history.asked[2].seen_at = None
    del history.posts[2], history.turns[2]
    assert check(history) == [Anomaly(Kind.LOST, "slack:3", "not shown, not stored")]


def test_a_question_that_still_waits_is_lost() -> None:
    history = good()
    history.waiting = frozenset({"slack:3"})
    assert check(history) == [Anomaly(Kind.LOST, "slack:3", "still waits")]


def test_a_question_that_nobody_took_in_is_told_apart_from_a_lost_one() -> None:
    history = good()
    history.asked[2].acknowledged, history.asked[2].seen_at = False, None
    del history.posts[2], history.turns[2]
    assert kinds(history) == {Kind.UNHEARD}


def test_two_visible_answers_are_one_too_many() -> None:
    history = good()
    history.posts.append(replace(post(3, place="thread-2"), position=9_999))
    assert check(history) == [Anomaly(Kind.DOUBLE, "slack:3", "2 messages")]


def test_a_placeholder_that_stays_is_an_orphan() -> None:
    history = good()
    history.posts.append(Post("slack:3", "thread-2", 9_999, "Searching", unfinished=True))
    assert kinds(history) == {Kind.ORPHAN}


def test_an_answer_that_still_seems_to_grow_is_lost_and_an_orphan() -> None:
    history = good()
    history.posts[2] = replace(history.posts[2], unfinished=True)
    assert kinds(history) == {Kind.ORPHAN, Kind.LOST}


def test_a_message_that_answers_nothing_is_found() -> None:
    history = good()
    history.posts.append(Post(None, "thread-9", 9_999, "Hello."))
    assert kinds(history) == {Kind.STRAY}


def test_a_text_that_is_not_the_stored_one_is_found() -> None:
    history = good()
    history.posts[2] = replace(history.posts[2], text="The lamp burns for ever.")
    assert kinds(history) == {Kind.ALTERED}


def test_half_of_the_stored_text_is_not_the_stored_text() -> None:
    history = good()
    history.posts[1] = post(2)
    assert kinds(history) == {Kind.ALTERED}


def test_turns_stored_in_the_wrong_order_are_found() -> None:
    history = good()
    history.turns[:2] = [turn(1, 2, at=2), turn(2, at=1)]
    history.posts[:2] = [post(1, 2), post(2)]
    assert kinds(history) == {Kind.TORN}


def test_answers_that_stand_in_the_wrong_order_are_found() -> None:
    history = good()
    history.posts[0] = replace(history.posts[0], position=9_999)
    assert kinds(history) == {Kind.TORN}


def test_questions_that_were_on_their_way_at_the_same_time_have_no_order() -> None:
    history = good()
    history.posts[0] = replace(history.posts[0], position=9_999)
    history.asked[0].seen_at = history.asked[1].said_at + 1
    assert check(history) == []


@pytest.mark.parametrize("where", ["shown", "stored"])
def test_text_of_another_session_is_found(where: str) -> None:
    history = good()
    if where == "shown":
        history.posts[2] = post(3, 1, place="thread-2")
    else:
        history.turns[2] = turn(3, 1, session=OTHER)
        history.posts[2] = post(3, 1, place="thread-2")
    assert Kind.FOREIGN in kinds(history)


def test_a_turn_that_did_not_know_the_one_before_is_found() -> None:
    history = good()
    history.turns[1], history.posts[1] = turn(2, at=2), post(2)
    assert kinds(history) == {Kind.FORGETFUL}


def test_what_a_turn_knew_is_not_judged_by_half_of_its_draft() -> None:
    history = good()
    history.turns[1], history.posts[1] = replace(turn(2, at=2), whole=False), post(2)
    assert check(history) == []


def test_a_final_answer_that_gave_way_to_a_placeholder_for_a_while_is_found() -> None:
    history = good()
    text = history.posts[2].text
    history.posts[2] = replace(history.posts[2], revisions=("Searching", text, "Searching", text))
    assert kinds(history) == {Kind.WENT_BACK}


def test_the_same_edit_twice_is_no_step_back() -> None:
    history = good()
    text = history.posts[2].text
    history.posts[2] = replace(history.posts[2], revisions=("Searching", text, text))
    assert check(history) == []


def test_an_apology_settles_a_question() -> None:
    history = good()
    del history.turns[2]
    told = ServiceError.user_message
    history.posts[2] = replace(history.posts[2], text=told, revisions=(told,), reader="U")
    history.asked[2].spot = Spot("U")
    assert check(history) == []
    assert ledger(history)[2].settlement is Settlement.APOLOGISED


def test_what_was_not_done_in_time_is_told() -> None:
    history = good()
    history.late.append("answers are missing")
    assert check(history) == [Anomaly(Kind.LATE, "the part", "answers are missing")]


def test_a_reply_of_the_staff_is_settled_like_a_question() -> None:
    history = replied()
    assert check(history) == []
    history.posts.append(replace(history.posts[-1], position=9_999))
    assert check(history) == [Anomaly(Kind.DOUBLE, "slack:staff:1", "2 messages")]
    del history.posts[-2:]
    assert check(history) == [Anomaly(Kind.LOST, "slack:staff:1", "not shown, stored")]


def test_a_reply_of_the_staff_in_another_thread_is_found() -> None:
    history = replied()
    history.posts[-1] = replace(history.posts[-1], place="thread-1")
    assert check(history) == [
        Anomaly(Kind.MISPLACED, "slack:staff:1", "in thread-1, asked in thread-2")
    ]
