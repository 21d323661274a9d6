"""A press that a limit stops is not lost: pressed again later, it is done; on every database."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.actions.answers import AnswerActions
from adapters.actions.staff import StaffDesk
from adapters.actions.use import Clicker
from adapters.chat.front_desk import Received
from adapters.chat.incoming_message import IncomingMessage
from core.answering.verified import Draft, VerifiedScope
from core.domain import AgentRequest, Course, OfferedAnswer, i18n, now
from core.domain.errors import RateLimited
from core.index.edge import EdgeIndex
from core.storage.access import Tenant
from core.storage.catalogue import Catalogue
from core.storage.database import insert_into, write
from core.storage.inbox.base import Acceptance, CountRow, IntakeLimits, minute_of, user_subject
from core.storage.sessions import Feedback
from core.teaching.help_requests import HelpRequests
from core.teaching.staff_answers import CitedPassages, StaffAnswers
from core.teaching.verified_store import VerifiedAnswers
from tests.contracts.test_front_desk import GUILD, Reception, incoming
from tests.contracts.test_reading_courses import directly
from tests.inbox import NO_WAIT, event, inbox_of
from tests.samples import response_to

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MORE_THAN_ALL = 1_000
Press = Callable[[], Awaitable[Received | str]]


class Stage:
    """A desk with its buttons, and Ann, who presses them."""

    def __init__(self, engine: AsyncEngine, reception: Reception) -> None:
        self.engine = engine
        self.reception = reception
        self.ann = Clicker(incoming().location, reception.desk.user_id(incoming()))
        self.presses = 0
        self.actions = AnswerActions(
            desk=reception.desk,
            inbox=reception.inbox,
            sessions=reception.sessions,
            feedback=Feedback(engine),
            directory=reception.directory,
            rules=reception.rules,
            wake=lambda: None,
            stop=_never,
        )

    async def answered(self, said: IncomingMessage, **changes: Any) -> AgentRequest:
        """Have a question answered, and return the request."""
        received = await self.reception.desk.receive(said)
        assert received is not None
        request = received.arrival.request
        assert request is not None
        assert request.session_id is not None
        answer = response_to(request, request.session_id, **changes)
        await self.reception.sessions.remember(request, answer)
        return request

    def pressed(self, question: str, *_: object) -> IncomingMessage:
        """Return what a press says: each is an interaction of its own."""
        self.presses += 1
        return incoming(100 + self.presses, question, message=None)

    async def ask_too_much(self) -> None:
        """Let Ann have asked all that she may, in this minute and in the next one."""
        this, subject = minute_of(now()), user_subject(self.ann.user_id)
        counted = [
            {"subject": subject, "minute": this + timedelta(minutes=n), "questions": MORE_THAN_ALL}
            for n in range(2)
        ]
        insert = insert_into(self.engine, CountRow)
        insert = insert.on_conflict_do_update(
            index_elements=["subject", "minute"], set_={"questions": MORE_THAN_ALL}
        )
        await write(self.engine, lambda db: db.execute(insert, counted))

    async def let_minutes_pass(self) -> None:
        await write(self.engine, lambda db: db.execute(delete(CountRow)))


async def _never(_: str, __: Sequence[Tenant]) -> bool:
    return False


@pytest.fixture
async def stage(engine: AsyncEngine) -> Stage:
    for course_id in ("algorithms", "biology"):
        await Catalogue(engine).save_course(Course(course_id=course_id, title=course_id.title()))
    reception = Reception(engine, "algorithms", "biology", "handbook")
    await reception.access.meet(GUILD)
    for course_id in ("algorithms", "biology"):
        await reception.access.grant(course_id, GUILD)
    return Stage(engine, reception)


async def is_stopped_and_done_later(stage: Stage, press: Press) -> Received | str:
    """Press beyond the limit, twice, and return what the press comes to some minutes later."""
    await stage.ask_too_much()
    for _ in range(2):
        with pytest.raises(RateLimited) as stopped:
            await press()
        assert stopped.value.retry_after <= 60
        assert "very fast" in stopped.value.user_message
    await stage.let_minutes_pass()
    return await press()


def is_new(done: Received | str) -> bool:
    return isinstance(done, Received) and done.accepted.acceptance is Acceptance.NEW


async def test_a_press_beyond_the_limit_leaves_nothing(engine: AsyncEngine) -> None:
    inbox = inbox_of(engine, IntakeLimits(user_per_minute=1, user_wait=NO_WAIT))
    press = event(2, pressed=True)
    await inbox.accept(event(1), NOON)
    for _ in range(2):
        with pytest.raises(RateLimited) as stopped:
            await inbox.accept(press, NOON)
        assert stopped.value.retry_after == 60
    assert await inbox.of_key(press.key) is None
    assert (await inbox.accept(event(3), NOON)).acceptance is Acceptance.LIMITED
    later = NOON + timedelta(minutes=1)
    assert (await inbox.accept(press, later)).acceptance is Acceptance.NEW
    assert (await inbox.accept(press, later)).acceptance is Acceptance.KNOWN


async def test_a_section_is_asked_within_when_the_limit_is_over(stage: Stage) -> None:
    at = replace(incoming(), course="algorithms")
    refused = await stage.answered(at, nearest_sections=("2.1 Cells",))

    async def press() -> Received | str:
        return await stage.actions.ask_within(refused.request_id, 0, stage.ann, stage.pressed)

    assert is_new(await is_stopped_and_done_later(stage, press))
    assert await press() == i18n.text("card-section-asked")


async def test_a_question_waits_for_its_course_until_the_limit_is_over(stage: Stage) -> None:
    asked = directly()
    stage.ann = Clicker(asked.location, stage.reception.desk.user_id(asked))
    received = await stage.reception.desk.receive(asked)
    assert received is not None
    pending = received.arrival.pending
    assert pending is not None

    async def press() -> Received | str:
        return await stage.actions.choose(
            pending.request_id,
            "biology",
            stage.ann,
            lambda request: directly(7, text=request.query_text),
        )

    done = await is_stopped_and_done_later(stage, press)
    assert is_new(done)
    assert isinstance(done, Received)
    assert done.arrival.request is not None
    assert done.arrival.request.query_text == asked.text
    assert await press() == i18n.text("course-chosen", title="Biology")


@pytest.mark.costly
async def test_an_answer_is_shared_when_the_limit_is_over(stage: Stage) -> None:
    request = await stage.answered(replace(incoming(), course="algorithms", private=True))

    async def press() -> Received | str:
        return await stage.actions.share(request.request_id, stage.ann, 5, {"channel": 1})

    assert await is_stopped_and_done_later(stage, press) == i18n.text("answer-shared")
    assert await press() == i18n.text("answer-shared-already")


async def test_an_answer_is_asked_for_without_its_quote_when_the_limit_is_over(
    stage: Stage,
) -> None:
    request = await stage.answered(replace(incoming(), course="algorithms", quote="Cells divide."))

    async def press() -> Received | str:
        return await stage.actions.ask_without_quote(request.request_id, stage.ann, stage.pressed)

    assert is_new(await is_stopped_and_done_later(stage, press))


@pytest.mark.costly
async def test_an_offered_answer_is_shown_when_the_limit_is_over(
    stage: Stage, tmp_path: Any
) -> None:
    engine, reception = stage.engine, stage.reception
    answers = VerifiedAnswers(engine)
    draft = Draft(
        course_id="algorithms",
        question="What are cells?",
        answer_text="The units of life.",
        citations=(),
        scope=VerifiedScope(),
        verified_by="tutor",
        tenant=GUILD,
        generation=None,
    )
    answer_id = uuid4()
    await answers.save(answer_id, draft)
    passages = CitedPassages(Catalogue(engine), EdgeIndex(tmp_path / "index"))
    staff = StaffDesk(
        desk=reception.desk,
        actions=stage.actions,
        standing=reception.standing,
        directory=reception.directory,
        inbox=reception.inbox,
        sessions=reception.sessions,
        feedback=Feedback(engine),
        staff=StaffAnswers(engine, reception.inbox, HelpRequests(engine), answers, passages),
        wake=lambda: None,
    )
    offered = OfferedAnswer(answer_id=answer_id, question=draft.question)
    request = await stage.answered(replace(incoming(), course="algorithms"), offered=(offered,))

    async def press() -> Received | str:
        return await staff.read_offered(request.request_id, stage.ann, stage.pressed)

    assert is_new(await is_stopped_and_done_later(stage, press))
    assert await press() == i18n.text("verified-shown-already")
