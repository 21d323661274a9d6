"""What is told in place of an answer, because there is one already, on every database."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.attention import META
from adapters.chat.earlier_answers import unlinked
from adapters.chat.speaking import Intent
from core.domain import AgentRequest, Outcome, ResponseState
from core.domain.i18n import text
from core.storage.inbox.base import Arrival, Job
from tests.contracts.test_worker import House, until
from tests.inbox import event, forget
from tests.platform import Platform
from tests.samples import chunk, response


@pytest.fixture
async def house(engine: AsyncEngine) -> AsyncIterator[House]:
    async with House(engine, Platform()).open() as opened:
        yield opened


def same(number: int, **changes: Any) -> Arrival:
    """Return a question that several people ask in the same words."""
    person = f"reader-{number}"
    return event(number, text="What does this mean?", gist="same", user_id=person, **changes)


def about_last(intent: Intent = Intent.WHERE) -> Arrival:
    """Return what is asked about the last answer of the first thread."""
    address = {"channel": "c1", "question": "q2", META: intent.value}
    return event(2, thread="t1", address=address)


async def test_the_same_question_gets_a_link_to_its_answer(house: House) -> None:
    await house.accept(same(1))
    await house.done()
    await house.accept(same(2))
    await house.done()
    assert "https://chat.example/" in house.answer(2)[0]
    assert len(house.agent.asked) == 1


@pytest.mark.costly
async def test_who_is_linked_to_an_answer_that_goes_meanwhile_is_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = house.adapter.tell

    async def tell_while_the_first_is_deleted(job: Job, *said: Any) -> None:
        await tell(job, *said)
        if job.arrival.key == "test:2":
            await house.accept(forget(1))
            await until(lambda: not house.answer(1))

    monkeypatch.setattr(house.adapter, "tell", tell_while_the_first_is_deleted)
    await house.accept(same(1))
    await house.done()
    await house.accept(same(2))
    await house.done()
    assert "https://chat.example/" in house.answer(2)[0]
    await house.janitor.heal_one()
    house.worker.wake()
    gone = [text("speaking-crowd-gone")]
    await until(lambda: house.answer(2) == gone)
    await house.done()
    assert (house.answer(1), house.answer(2)) == ([], gone)


@pytest.mark.costly
async def test_who_read_that_the_book_does_not_say_it_is_told_of_no_deletion(house: House) -> None:
    asked = event(1, text="What does this mean?").request
    assert asked is not None
    nothing = {"grounding_chunks": (), "citations": (), "sources": (), "response_text": "No."}
    answer = response(
        query_id=asked.request_id,
        query_text=asked.query_text,
        conversation_id=asked.session_id,
        **{**nothing, "outcome": Outcome.ABSTAINED},
    )
    await house.sessions.remember(asked, answer)
    await house.accept(same(1))
    await house.done()
    await house.accept(same(2))
    await house.done()
    assert house.answer(2) == ["No."]
    await house.accept(forget(1))
    await house.done()
    assert not await house.janitor.heal_one()
    assert (house.answer(1), house.answer(2)) == ([], ["No."])


def test_what_tells_of_a_link_that_leads_nowhere_asks_nothing() -> None:
    asked = same(2)
    assert asked.request is not None
    told = unlinked(asked, 7)
    assert (told.request, told.pending, told.about) == (None, None, asked.key)
    assert (told.refusal, told.position) == (text("speaking-crowd-gone"), 7)


async def test_the_same_words_about_something_else_are_answered(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def complete(job: Job, request: AgentRequest) -> AgentRequest:
        return request.model_copy(update={"query_text": f"What is {job.arrival.key}?"})

    monkeypatch.setattr(house.adapter, "complete", complete)
    await house.accept(same(1), same(2))
    await house.done()
    asked = {one.query_text for one in house.agent.asked}
    assert asked == {"What is test:1?", "What is test:2?"}


def answer_of(course_id: str, outcome: Outcome) -> dict[str, Any]:
    """Return the fields of an answer from a course."""
    cited = chunk(course_id=course_id)
    chunks = {"cited": cited, "retrieved_chunks": (cited,), "course_id": course_id}
    if outcome is Outcome.ANSWERED:
        return {**chunks, "outcome": outcome}
    nothing = {"grounding_chunks": (), "citations": (), "sources": ()}
    failed = {"outcome": outcome, "state": ResponseState.ERROR, "error_message": "down"}
    return {**chunks, **nothing, **failed}


@pytest.mark.parametrize(
    ("course_id", "outcome", "is_told"),
    [
        ("algorithms", Outcome.ANSWERED, True),
        ("chemistry", Outcome.ANSWERED, False),
        ("algorithms", Outcome.ERROR, False),
    ],
)
async def test_only_an_answer_of_the_course_that_is_asked_is_pointed_at(
    house: House, course_id: str, outcome: Outcome, is_told: bool
) -> None:
    asked = event(1).request
    assert asked is not None
    answer = response(
        query_id=asked.request_id,
        query_text=asked.query_text,
        conversation_id=asked.session_id,
        **answer_of(course_id, outcome),
    )
    await house.sessions.remember(asked.model_copy(update={"course_id": course_id}), answer)
    await house.accept(about_last())
    await house.done()
    assert any("My last answer" in one for one in house.answer(2)) is is_told
    assert bool(house.agent.asked) is not is_told
