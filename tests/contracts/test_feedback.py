"""Votes on answers, on every database."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.access import Tenant
from core.storage.sessions import LONGEST_REASON, Feedback, Tally, Vote
from tests.inbox import answered_in

ANSWER, HERE, ELSEWHERE = uuid4(), [Tenant("test", "w")], [Tenant("test", "x")]


@pytest.fixture
async def feedback(engine: AsyncEngine) -> Feedback:
    await answered_in(engine, ANSWER, *HERE)
    return Feedback(engine)


def vote(user: str = "ann", *, helpful: bool = True, reason: str | None = None) -> Vote:
    return Vote(ANSWER, user, "biology", helpful, reason)


async def test_a_click_again_is_the_same_vote(feedback: Feedback) -> None:
    for _ in range(3):
        await feedback.vote(vote(), HERE)
    assert await feedback.tally("biology") == Tally(helpful=1, not_helpful=0)


async def test_an_answer_that_was_given_in_another_tenant_takes_no_vote(
    feedback: Feedback,
) -> None:
    await feedback.vote(vote(), ELSEWHERE)
    assert await feedback.of(ANSWER, "ann") is None


async def test_a_vote_can_be_changed(feedback: Feedback) -> None:
    await feedback.vote(vote(helpful=False, reason="too short"), HERE)
    await feedback.vote(vote(helpful=True), HERE)
    assert await feedback.of(ANSWER, "ann") == vote(helpful=True)


async def test_a_click_that_is_delivered_again_later_changes_nothing(feedback: Feedback) -> None:
    first = datetime(2026, 3, 1, 12, tzinfo=UTC)
    second = first + timedelta(seconds=5)
    await feedback.vote(vote(helpful=True), HERE, first)
    await feedback.vote(vote(helpful=False), HERE, second)
    await feedback.vote(vote(helpful=True), HERE, first)
    assert await feedback.of(ANSWER, "ann") == vote(helpful=False)


async def test_a_click_again_keeps_the_reason(feedback: Feedback) -> None:
    await feedback.vote(vote(helpful=False, reason="too short"), HERE)
    await feedback.vote(vote(helpful=False), HERE)
    assert await feedback.of(ANSWER, "ann") == vote(helpful=False, reason="too short")


async def test_a_new_reason_replaces_the_old_one(feedback: Feedback) -> None:
    await feedback.vote(vote(helpful=False, reason="too short"), HERE)
    await feedback.vote(vote(helpful=False, reason="wrong chapter"), HERE)
    assert await feedback.of(ANSWER, "ann") == vote(helpful=False, reason="wrong chapter")


async def test_a_long_reason_is_cut(feedback: Feedback) -> None:
    await feedback.vote(vote(helpful=False, reason="x" * 5_000), HERE)
    kept = await feedback.of(ANSWER, "ann")
    assert kept is not None
    assert len(kept.reason or "") == LONGEST_REASON


async def test_a_reason_may_hold_what_no_database_does(feedback: Feedback) -> None:
    await feedback.vote(vote(helpful=False, reason="a cut \ud83d emoji, a \x00"), HERE)
    kept = await feedback.of(ANSWER, "ann")
    assert kept is not None
    assert kept.reason == "a cut \ufffd emoji, a \ufffd"


async def test_each_person_has_a_vote(feedback: Feedback) -> None:
    await feedback.vote(vote("ann"), HERE)
    await feedback.vote(vote("ben", helpful=False), HERE)
    assert await feedback.tally("biology") == Tally(helpful=1, not_helpful=1)
    assert await feedback.tally("algebra") == Tally(helpful=0, not_helpful=0)


async def test_forgetting_a_person_deletes_that_persons_votes_alone(feedback: Feedback) -> None:
    await feedback.vote(vote("ann"), HERE)
    await feedback.vote(vote("ben"), HERE)
    assert await feedback.of_user("ann") == 1
    assert await feedback.forget_user("ann") == 1
    assert await feedback.of(ANSWER, "ann") is None
    assert await feedback.of(ANSWER, "ben") == vote("ben")
