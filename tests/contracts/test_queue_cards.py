"""Where what waits for the staff is shown, and which message shows it, on every database."""

import asyncio
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import now
from core.teaching.help_requests import LEASE, CardDue, HelpRequests, HelpState, QueueChannel
from core.teaching.queue_cards import QueueCards
from tests.contracts.test_staff_answers import ANN, BEN, HERE, QUESTION, STAFF, asked, courses
from tests.holders import workspaces

__all__ = ["courses"]

BOARD = QueueChannel("algorithms", "test", "w", "staff-room", locale="de")
ON = ["test"]


async def chosen(engine: AsyncEngine) -> QueueCards:
    cards = QueueCards(engine)
    await cards.choose([BOARD])
    return cards


async def posted(cards: QueueCards, message: str = "m1") -> CardDue:
    due = await cards.claim(ON)
    assert due is not None
    assert due.request is not None
    await cards.shown(due, message, due.request.at(now()))
    return due


async def test_what_waits_is_posted_once_into_the_channel_of_its_course(
    engine: AsyncEngine, courses: None
) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(1), QUESTION)
    await requests.open(asked(2, course_id="physics"), "Another question?")
    due = await cards.claim(ON)
    assert due is not None
    assert (due.channel, due.message, due.posted_since) == (BOARD, None, None)
    assert due.request is not None
    assert due.request == asked(1, opened_at=due.request.opened_at)
    assert await cards.claim(ON) is None
    await cards.shown(due, "m1", HelpState.OPEN)
    assert await cards.claim(ON) is None


async def test_what_waited_before_a_channel_was_chosen_is_posted_too(
    engine: AsyncEngine, courses: None
) -> None:
    await HelpRequests(engine).open(asked(), QUESTION)
    cards = QueueCards(engine)
    assert await cards.claim(ON) is None
    await cards.choose([BOARD])
    assert await cards.claim(["another platform"]) is None
    assert (await posted(cards)).help_id == asked().help_id


async def test_many_processes_post_each_card_once(engine: AsyncEngine, courses: None) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    for n in range(1, 6):
        await requests.open(asked(n), f"{QUESTION} {n}")
    claims = await asyncio.gather(*(cards.claim(ON) for _ in range(4)))
    claimed = [due.help_id for due in claims if due is not None]
    while (due := await cards.claim(ON)) is not None:
        claimed.append(due.help_id)
    assert sorted(claimed) == sorted(asked(n).help_id for n in range(1, 6))


async def test_a_card_that_a_dead_process_may_have_posted_is_looked_for(
    engine: AsyncEngine, courses: None
) -> None:
    cards = await chosen(engine)
    await HelpRequests(engine).open(asked(), QUESTION)
    begun = now()
    assert await cards.claim(ON, begun) is not None
    assert await cards.claim(ON, begun + timedelta(minutes=1)) is None
    for minutes in (3, 6):
        due = await cards.claim(ON, begun + timedelta(minutes=minutes))
        assert due is not None
        assert due.posted_since == begun


async def test_a_card_changes_with_its_request(engine: AsyncEngine, courses: None) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(), QUESTION)
    await posted(cards)
    assert await requests.take(asked().help_id, [HERE], STAFF)
    due = await posted(cards)
    assert (due.message, due.posted_since) == ("m1", None)
    assert await cards.claim(ON) is None
    over = await cards.claim(ON, now() + LEASE + timedelta(minutes=1))
    assert over is not None
    await cards.shown(over, "m1", HelpState.OPEN)
    assert await requests.dismiss(asked().help_id, [HERE], STAFF)
    assert (await posted(cards)).message == "m1"
    assert await cards.claim(ON) is None


async def test_the_card_of_a_forgotten_question_is_to_be_deleted(
    engine: AsyncEngine, courses: None
) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(1), QUESTION)
    await requests.open(asked(2, asked_by=BEN), "Another question?")
    for message in ("m1", "m2"):
        await posted(cards, message)
    await requests.dismiss(asked(1).help_id, [HERE], STAFF)
    await posted(cards)
    await requests.forget_user(ANN)
    due = await cards.claim(ON)
    assert due is not None
    assert (due.help_id, due.request, due.message) == (asked(1).help_id, None, "m1")
    await cards.drop(due)
    assert await cards.claim(ON) is None


async def test_a_card_whose_message_is_gone_is_left_alone(
    engine: AsyncEngine, courses: None
) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(), QUESTION)
    await posted(cards)
    await requests.take(asked().help_id, [HERE], STAFF)
    due = await cards.claim(ON)
    assert due is not None
    await cards.lose(due)
    assert await cards.claim(ON) is None


async def test_who_changes_a_request_keeps_others_from_its_card_until_it_shows_that(
    engine: AsyncEngine, courses: None
) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(), QUESTION)
    assert await cards.claim_of(asked().help_id, [HERE]) is None  # nothing is posted yet
    await posted(cards)
    due = await cards.claim_of(asked().help_id, [HERE])
    assert due is not None
    assert (due.channel, due.message) == (BOARD, "m1")
    assert await cards.claim_of(asked().help_id, [HERE]) is None
    await requests.take(asked().help_id, [HERE], STAFF)
    assert await cards.claim(ON) is None
    await cards.shown(due, "m1", HelpState.TAKEN)
    assert await cards.claim(ON) is None


async def test_a_card_that_could_not_be_changed_at_once_is_due(
    engine: AsyncEngine, courses: None
) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(), QUESTION)
    await posted(cards)
    due = await cards.claim_of(asked().help_id, [HERE])
    assert due is not None
    await cards.release(due, as_shown=True)
    assert await cards.claim(ON) is None
    due = await cards.claim_of(asked().help_id, [HERE])
    assert due is not None
    await cards.release(due, as_shown=False)
    assert (await posted(cards)).message == "m1"


async def test_a_channel_is_given_up_and_a_workspace_takes_all_with_it(
    engine: AsyncEngine, courses: None
) -> None:
    requests, cards = HelpRequests(engine), await chosen(engine)
    await requests.open(asked(1), QUESTION)
    await posted(cards)
    assert await cards.stop(["algorithms", "physics"], "test", "w") == 1
    assert await cards.stop(["algorithms"], "test", "w") == 0
    await requests.open(asked(2), "Another question?")
    assert await cards.claim(ON) is None
    await cards.choose([BOARD])
    await workspaces(engine).forget("test", "w")
    assert await cards.claim(ON) is None
