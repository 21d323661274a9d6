"""The ledger: each question has one settlement, and what has none or several is told."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from core.domain import i18n
from core.domain.errors import RateLimited, ServiceError
from core.storage.inbox.base import request_id_for
from tests.chaos.book import fact_about
from tests.chaos.checker import Kind, check
from tests.chaos.figures import is_clean, table
from tests.chaos.history import Asked, History, Post, Sent, Spot, Turn
from tests.chaos.part import Outcome
from tests.chaos.settlements import Settlement, ledger
from tests.chaos.whispers import keys_of_whispers
from tests.wire import slack
from tests.wire.slack.posting import Draft

MINUTE = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
NOTICE = RateLimited(17.0).user_message
KEY = "slack:T:C:1"


def asked(number: int = 1, **more: Any) -> Asked:
    key, spot = f"slack:T:C:{number}", Spot("U", "C", str(number))
    given = {"seen_at": 1.0, "done_at": 2.0, "accepted_in": MINUTE, "spot": spot, **more}
    return Asked(key, f"K{number:04}", number, **given)


def post(text: str, number: int = 1, **more: Any) -> Post:
    """Return a message, seen as it has to be: an answer by all, a sentence by its asker alone."""
    given = {"place": f"C:{number}", "reader": "" if text == "It burns." else "U", **more}
    return Post(f"slack:T:C:{number}", position=10 + number, text=text, **given)


def turn(**more: Any) -> Turn:
    return Turn(request_id_for(KEY), KEY, uuid4(), 1, "It burns.", **more)


def settled(history: History) -> list[Settlement | None]:
    return [entry.settlement for entry in ledger(history)]


@pytest.mark.parametrize(
    ("text", "settlement"),
    [
        (i18n.text("asking-not-here"), Settlement.REFUSED),
        (NOTICE, Settlement.NOTICED),
        (f"*{NOTICE}*".replace("17", "3"), Settlement.NOTICED),
        (ServiceError.user_message, Settlement.APOLOGISED),
        ("Good morning.", None),
    ],
)
def test_a_sentence_settles_a_question(text: str, settlement: Settlement | None) -> None:
    assert settled(History(asked=[asked()], posts=[post(text)])) == [settlement]


def test_a_stored_turn_answers_a_question_or_apologises() -> None:
    shown = [post("It burns.")]
    assert settled(History([asked()], [turn()], shown)) == [Settlement.ANSWERED]
    assert settled(History([asked()], [turn(failed=True)], shown)) == [Settlement.APOLOGISED]


def test_a_sentence_that_is_not_known_settles_nothing() -> None:
    history = History(asked=[asked()], posts=[post("Good morning.")])
    (found,) = check(history)
    assert found.kind is Kind.LOST
    assert "no known way" in found.detail


def test_a_placeholder_settles_nothing() -> None:
    history = History(asked=[asked()], posts=[post("Searching", unfinished=True)])
    assert settled(history) == [None]


def test_that_it_takes_long_settles_only_what_was_never_accepted() -> None:
    slow = [post(i18n.text("asking-slow"))]
    unheard = asked(seen_at=None, done_at=None)
    assert settled(History(asked=[unheard], posts=slow)) == [Settlement.APOLOGISED]
    assert settled(History(asked=[asked()], posts=slow)) == [None]
    answered = History([asked()], [turn()], [*slow, post("It burns.")])
    assert [(one.settlement, one.times) for one in ledger(answered)] == [(Settlement.ANSWERED, 1)]


def test_a_link_to_the_answer_settles_nothing_and_is_no_second_answer() -> None:
    link = post(f"{i18n.text('slack-answered-in-thread')}\n<https://x/|Go>")
    assert settled(History([asked()], [turn()], [link])) == [None]
    assert check(History([asked()], [turn()], [link, post("It burns.")])) == []


def test_who_is_pointed_to_another_answer_is_settled_where_there_is_one() -> None:
    first, echo = asked(), replace(asked(2, inbox_says="pointed back"), name="K0001")
    back = post(i18n.text("speaking-crowd"), 2)
    history = History([first, echo], [turn()], [post("It burns."), back])
    assert settled(history) == [Settlement.ANSWERED, Settlement.BACK]
    assert check(history) == []
    history = History([first, replace(echo, name="K0002")], [turn()], [post("It burns."), back])
    assert settled(history) == [Settlement.ANSWERED, None]


def test_an_answer_and_a_notice_are_two_settlements() -> None:
    history = History([asked()], [turn()], [post("It burns."), post(NOTICE)])
    assert [one.times for one in ledger(history)] == [2]
    assert Kind.DOUBLE in {anomaly.kind for anomaly in check(history)}


def test_a_notice_covers_what_its_reader_asked_too_much_in_the_same_minute() -> None:
    four = [asked(number) for number in range(1, 5)]
    four[2].inbox_says, four[3].inbox_says = "noticed", "passed over"
    history = History(asked=four, posts=[post(NOTICE, 3)], user_per_minute=2)
    answers = [replace(turn(), key=one.key) for one in four[:2]]
    history.turns, history.posts = answers, [*history.posts, *map(_answer, (1, 2))]
    assert settled(history) == [Settlement.ANSWERED] * 2 + [Settlement.NOTICED] * 2
    assert check(history) == []
    history.user_per_minute = 4
    assert settled(history)[3] is None, "they had not asked too much"
    history.user_per_minute = 2
    four[3].accepted_in = MINUTE.replace(minute=1)
    assert settled(history)[3] is None, "it was another minute"
    four[3].accepted_in, four[3].spot = MINUTE, Spot("V", "C", "4")
    assert settled(history)[3] is None, "it was somebody else"


def test_a_second_notice_in_the_same_minute_is_found() -> None:
    two = [asked(number, inbox_says="noticed") for number in (1, 2)]
    history = History(asked=two, posts=[post(NOTICE, 1), post(NOTICE, 2)], user_per_minute=0)
    assert [(one.kind, one.key) for one in check(history)] == [(Kind.NAGGED, two[1].key)]
    two[1].accepted_in = MINUTE.replace(minute=1)
    assert check(history) == [], "another minute"
    two[1].accepted_in, two[1].spot = MINUTE, Spot("V", "C", "2")
    history.posts[1] = post(NOTICE, 2, reader="V")
    assert check(history) == [], "another person"


def _answer(number: int) -> Post:
    return post("It burns.", number)


def test_a_command_that_the_platform_failed_is_not_lost_unless_it_was_accepted() -> None:
    unheard = asked(seen_at=None, done_at=None, failed=True)
    assert settled(History(asked=[unheard])) == [Settlement.FAILED]
    assert settled(History(asked=[asked(failed=True)])) == [None]


def test_a_sentence_for_its_asker_alone_is_sent_at_most_once() -> None:
    def unseen(one: Asked) -> list[Settlement | None]:
        return settled(History(asked=[one], halts=[(1.9, 1.9)]))

    assert unseen(asked(inbox_says="refused")) == [Settlement.ONCE]
    answered = asked(inbox_says="answered")
    assert unseen(answered) == [None]
    assert unseen(replace(answered, is_private=True)) == [Settlement.ONCE]
    there = replace(asked(inbox_says="refused"), key="discord:1:2")
    assert unseen(there) == [None], "a reply is found again"
    assert unseen(replace(there, deed="a command")) == [Settlement.ONCE]


def test_a_sentence_that_no_fault_kept_from_its_asker_is_lost() -> None:
    history = History(asked=[asked(inbox_says="refused", waited_at=1.6)])
    assert [anomaly.kind for anomaly in check(history)] == [Kind.LOST]
    history.disturbed = [(1.0, 3.0)]
    assert settled(history) == [None], "no call is unclear for a hidden server"


@pytest.mark.parametrize(
    ("begun", "ended", "settlement"),
    [
        (1.0, 1.5, None),
        (1.0, 1.7, Settlement.ONCE),
        (2.5, 2.5, Settlement.ONCE),
        (3.5, 9.0, None),
    ],
)
def test_only_a_fault_while_it_is_settled_excuses_what_was_not_seen(
    begun: float, ended: float, settlement: Settlement | None
) -> None:
    one = asked(inbox_says="refused", waited_at=1.6)
    assert settled(History(asked=[one], halts=[(begun, ended)])) == [settlement]
    assert settled(History(asked=[one], spoiled={"slack": [(begun, ended)]})) == [settlement]
    assert settled(History(asked=[one], spoiled={"discord": [(begun, ended)]})) == [None]
    struck = Sent(frozenset({KEY}), begun, ended, in_doubt=True)
    assert settled(History(asked=[one], calls=[struck])) == [settlement]
    assert settled(History(asked=[one], calls=[replace(struck, in_doubt=False)])) == [None]
    other = replace(struck, keys=frozenset({"slack:T:C:2"}))
    assert settled(History(asked=[one], calls=[other])) == [None], "a call about another question"


def test_the_inbox_and_what_is_shown_have_to_say_the_same() -> None:
    history = History(
        asked=[asked(inbox_says="answered")], posts=[post(i18n.text("asking-not-here"))]
    )
    assert [anomaly.kind for anomaly in check(history)] == [Kind.CONTRADICTED]
    history.asked[0].inbox_says = "refused"
    assert check(history) == []


def astray(one: Asked, shown: Post) -> list[str]:
    turns = [replace(turn(), key=one.key)] if shown.text == "It burns." else []
    found = check(History([one], turns, [replace(shown, key=one.key)]))
    assert {anomaly.kind for anomaly in found} <= {Kind.ASTRAY}
    return [anomaly.detail for anomaly in found]


def test_a_refusal_that_all_see_is_astray() -> None:
    assert astray(asked(), post(i18n.text("asking-not-here"), reader="")) == [
        "refused, for the asker, is seen by all who read the place"
    ]
    assert astray(asked(), post(i18n.text("asking-not-here"))) == []
    assert astray(asked(), post(i18n.text("asking-not-here"), reader="", is_direct=True)) == []
    assert astray(asked(), post(i18n.text("asking-not-here"), reader="V")) == [
        "refused, for the asker, is seen by somebody else alone"
    ]


def test_on_discord_a_message_gets_a_reply_that_all_see_where_it_was_asked() -> None:
    there = replace(asked(), key="discord:1:2")
    reply = post(i18n.text("asking-not-here"), reader="")
    assert astray(there, replace(reply, place="C")) == []
    assert len(astray(there, replace(reply, place="a thread"))) == 1
    assert len(astray(replace(there, deed="a command"), replace(reply, place="C"))) == 1


def test_on_discord_an_apology_may_stand_in_the_thread_that_was_opened_for_the_answer() -> None:
    there = replace(asked(), key="discord:1:2")
    apology = post(ServiceError.user_message, reader="", place=there.spot.message)
    assert astray(there, apology) == []
    assert len(astray(there, replace(apology, place="a thread"))) == 1
    refusal = post(i18n.text("asking-not-here"), reader="", place=there.spot.message)
    assert len(astray(there, refusal)) == 1


def test_an_answer_is_for_the_place_and_a_private_one_for_its_asker() -> None:
    assert astray(asked(), post("It burns.", reader="")) == []
    assert len(astray(asked(), post("It burns.", reader="U"))) == 1
    private = asked(is_private=True)
    assert astray(private, post("It burns.", reader="U")) == []
    assert len(astray(private, post("It burns.", reader=""))) == 1
    there = replace(private, key="discord:1:2", deed="a command")
    assert len(astray(there, post("It burns.", reader="", place="C"))) == 1


def test_a_limiter_sends_no_more_calls_than_it_stops() -> None:
    notice = Sent(frozenset({KEY}), 1.0, 1.0, is_message=True, name="chat.postEphemeral")
    answer = replace(notice, keys=frozenset({"slack:T:C:2"}))
    deferral = replace(notice, is_message=False)
    two = [asked(1), asked(2, inbox_says="answered")]
    history = History(two, [replace(turn(), key=two[1].key)], [post(NOTICE), _answer(2)])
    history.calls = [notice, deferral, *[answer] * 3]
    assert check(history) == []
    history.calls = [*[notice] * 3, deferral, *[answer] * 3]
    (found,) = check(history)
    assert (found.kind, found.key) == (Kind.CALLED, "slack")
    each = f"{KEY} chat.postEphemeral at 1.00"
    assert found.detail == f"2 calls, of {each}; {each}; {each}"


def test_what_a_limit_stops_is_not_promised_an_answer() -> None:
    promise = post(i18n.text("slack-private-working"))
    beyond = [asked(n, inbox_says="passed over", is_private=True) for n in (1, 2)]
    history = History(beyond, [], [promise, post(NOTICE, 2)], user_per_minute=1)
    (found,) = check(history)
    assert (found.kind, found.key) == (Kind.PROMISED, KEY)
    answered = replace(history, asked=[asked(is_private=True)], posts=[promise, post("It burns.")])
    answered.turns = [turn()]
    answered.posts[1] = post("It burns.", reader="U")
    assert check(answered) == []


async def test_an_ephemeral_message_is_of_the_latest_question_of_its_reader() -> None:
    world = slack.World()
    ann, bob = (world.add_user(name, world.workspace, world.channel) for name in ("ann", "bob"))
    questions = [await world.say(user, world.channel, "?") for user in (ann, bob, ann)]
    all_asked = [
        asked(number, spot=Spot(message.author.id, world.channel.id, message.ts))
        for number, message in enumerate(questions, 1)
    ]
    whispered = [
        world.posting.create(world.bot, world.channel, Draft(NOTICE), visible_to=user)
        for user in (ann, ann, bob, ann)
    ]
    found = keys_of_whispers(all_asked, whispered)
    numbers = [found[message].rpartition(":")[2] for message in whispered]
    assert numbers == ["3", "1", "2", "3"], "one too many doubles the latest"


def test_the_table_counts_what_is_lost_by_platform_and_a_run_fails_for_it() -> None:
    anomalies = [
        {"kind": Kind.LOST, "key": "slack:1", "detail": "still waits"},
        {"kind": Kind.UNHEARD, "key": "slack:2", "detail": "K0002"},
        {"kind": Kind.CALLED, "key": "slack", "detail": "3 calls"},
    ]
    counts = {"questions": 4.0, "seconds": 1.0}
    one = Outcome("a part", 1, counts, anomalies=anomalies, settled={"slack": {"answered": 2}})
    rows = [line for line in table([one]).splitlines() if len(line[42:].split()) == 3]
    lines = {row[:42].strip(): row[42:].split() for row in rows}
    assert lines["lost"] == ["0", "2", "2"]
    assert lines["doubled"] == ["0", "0", "0"]
    assert lines["answered"] == ["0", "2", "2"]
    assert lines["calls of a limiter beyond what it stopped"] == ["0", "3", "3"]
    assert not is_clean([one])
    assert is_clean([replace(one, anomalies=[])])


async def test_of_two_questions_of_one_asker_each_has_the_message_that_settles_it_so() -> None:
    world = slack.World()
    ann = world.add_user("ann", world.workspace, world.channel)
    questions = [await world.say(ann, world.channel, "?") for _ in range(2)]
    all_asked = [
        asked(number, spot=Spot(ann.id, world.channel.id, message.ts), inbox_says=says)
        for number, (message, says) in enumerate(
            zip(questions, ("noticed", "pointed back"), strict=True), 1
        )
    ]
    whispered = [
        world.posting.create(world.bot, world.channel, Draft(text), visible_to=ann)
        for text in (NOTICE, i18n.text("speaking-crowd"))
    ]
    found = keys_of_whispers(all_asked, whispered)
    numbers = [found[message].rpartition(":")[2] for message in whispered]
    assert numbers == ["1", "2"]


async def test_an_answer_is_of_the_question_that_it_answers_though_a_later_one_has_none() -> None:
    world = slack.World()
    ann = world.add_user("ann", world.workspace, world.channel)
    questions = [await world.say(ann, world.channel, "?") for _ in range(2)]
    all_asked = [
        asked(
            number,
            spot=Spot(ann.id, world.channel.id, message.ts),
            inbox_says="answered",
            is_private=True,
        )
        for number, message in enumerate(questions, 1)
    ]
    text = Draft(fact_about(all_asked[0].name))
    answer = world.posting.create(world.bot, world.channel, text, visible_to=ann)
    assert keys_of_whispers(all_asked, [answer]) == {answer: all_asked[0].key}


async def test_a_notice_is_of_the_question_that_the_inbox_says_was_noticed() -> None:
    world = slack.World()
    ann = world.add_user("ann", world.workspace, world.channel)
    questions = [await world.say(ann, world.channel, "?") for _ in range(3)]
    all_asked = [
        asked(number, spot=Spot(ann.id, world.channel.id, message.ts), inbox_says=says)
        for number, (message, says) in enumerate(
            zip(questions, ("answered", "noticed", "passed over"), strict=True), 1
        )
    ]
    whispered = [
        world.posting.create(world.bot, world.channel, Draft(text), visible_to=ann)
        for text in (i18n.text("asking-slow"), NOTICE)
    ]
    found = keys_of_whispers(all_asked, whispered)
    assert [found[message].rpartition(":")[2] for message in whispered] == ["3", "2"]


async def test_a_word_that_others_come_first_is_of_the_question_that_waited() -> None:
    world = slack.World()
    ann = world.add_user("ann", world.workspace, world.channel)
    waited, stopped = [await world.say(ann, world.channel, "?") for _ in range(2)]
    spots = [Spot(ann.id, world.channel.id, message.ts) for message in (waited, stopped)]
    all_asked = [
        asked(1, spot=spots[0], inbox_says="answered", told_to_wait=True),
        asked(2, spot=spots[1], inbox_says="noticed"),
    ]
    whispered = [
        world.posting.create(world.bot, world.channel, Draft(text), visible_to=ann)
        for text in (NOTICE, i18n.text("asking-still-waiting"))
    ]
    found = keys_of_whispers(all_asked, whispered)
    assert [found[message].rpartition(":")[2] for message in whispered] == ["2", "1"]
