"""What students pass on to staff, and what staff answer, on every database."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from core.answering.verified import (
    Draft,
    ScopeKind,
    StaleBecause,
    VerifiedCitation,
    VerifiedScope,
    VerifiedState,
)
from core.domain import Course, now
from core.domain.errors import RequestError
from core.index.edge import EdgeIndex
from core.storage.access import Tenant
from core.storage.catalogue import Catalogue
from core.storage.database import write
from core.storage.inbox.base import Arrival, Kind, request_id_for
from core.storage.inbox.store import Inbox
from core.teaching.help_requests import (
    LEASE,
    HelpReason,
    HelpRequest,
    HelpRequests,
    HelpState,
    help_id_for,
)
from core.teaching.staff_answers import CitedPassages, Sent, StaffAnswers, answer_to
from core.teaching.verified_store import VerifiedAnswers, settle
from tests.inbox import PLATFORMS, event, forget, inbox_of
from tests.samples import TEXT, chunk

ANN, BEN, STAFF = "ann-of-arden", "ben-of-bree", "tutor-1"
HERE, ELSEWHERE = Tenant("test", "w"), Tenant("test", "x")
QUESTION = "What is heap number 1?"


@pytest.fixture
async def courses(engine: AsyncEngine) -> None:
    for course_id in ("algorithms", "physics"):
        await Catalogue(engine).save_course(Course(course_id=course_id, title=course_id))


def staff_answers(engine: AsyncEngine, tmp_path: Any, inbox: Inbox | None = None) -> StaffAnswers:
    passages = CitedPassages(Catalogue(engine), EdgeIndex(tmp_path / "index"))
    answers, requests = VerifiedAnswers(engine), HelpRequests(engine)
    return StaffAnswers(engine, inbox or inbox_of(engine), requests, answers, passages)


def asked(n: int = 1, **changes: Any) -> HelpRequest:
    key = f"test:{n}"
    fields: dict[str, Any] = {
        "help_id": help_id_for(request_id_for(key)),
        "course_id": "algorithms",
        "tenant": HERE,
        "key": key,
        "channel": "c1",
        "thread": f"t{n}",
        "asked_by": ANN,
        "request_id": request_id_for(key),
        "reason": HelpReason.NOT_COVERED,
        "opened_at": now(),
    }
    return HelpRequest(**{**fields, **changes})


def drafted(**changes: Any) -> Draft:
    fields: dict[str, Any] = {
        "course_id": "algorithms",
        "question": QUESTION,
        "answer_text": "It is the first one.",
        "citations": (),
        "scope": VerifiedScope(),
        "verified_by": STAFF,
        "tenant": HERE,
        "generation": None,
        "asked_by": ANN,
    }
    return Draft(**{**fields, **changes})


def cited(**changes: Any) -> VerifiedCitation:
    quote = "Its root is the largest key."
    return VerifiedCitation(1, quote, chunk(**changes))


def reply_to(request: HelpRequest, n: int = 1) -> Arrival:
    return event(n, key=f"test:staff:{request.help_id}", kind=Kind.REPLY, user_id=ANN)


async def test_a_request_is_opened_once(engine: AsyncEngine, courses: None) -> None:
    requests = HelpRequests(engine)
    first = await requests.open(asked(), QUESTION)
    again = await requests.open(asked(), QUESTION)
    assert (first.help_id, again.help_id) == (asked().help_id, asked().help_id)
    assert await requests.number_waiting([HERE], ["algorithms"]) == 1


async def test_it_is_known_how_many_wait_before_a_request_also_once_it_is_closed(
    engine: AsyncEngine, courses: None
) -> None:
    requests, opened_at = HelpRequests(engine), now()
    same = sorted((asked(n, opened_at=opened_at) for n in (1, 2)), key=lambda one: one.help_id)
    later = asked(3, opened_at=opened_at + timedelta(seconds=1))
    for n, request in enumerate((*same, later)):
        await requests.open(request, f"{QUESTION} {n}")
    before = [await requests.number_waiting([HERE], ["algorithms"], one) for one in (*same, later)]
    assert before == [0, 1, 2]
    assert await requests.dismiss(same[1].help_id, [HERE], STAFF)
    assert await requests.number_waiting([HERE], ["algorithms"], same[1]) == 1
    assert await requests.number_waiting([HERE], ["algorithms"], later) == 1


async def test_the_same_question_waits_once_in_a_place(engine: AsyncEngine, courses: None) -> None:
    requests = HelpRequests(engine)
    await requests.open(asked(1, thread=None), QUESTION)
    same = await requests.open(asked(2, thread=None, asked_by=BEN), QUESTION)
    assert same.help_id == asked(1).help_id
    other = await requests.open(asked(3, thread="elsewhere", asked_by=BEN), QUESTION)
    assert other.help_id == asked(3).help_id
    await requests.dismiss(asked(1).help_id, [HERE], STAFF)
    later = await requests.open(asked(2, thread=None, asked_by=BEN), QUESTION)
    assert later.help_id == asked(2).help_id


async def test_a_lease_keeps_others_away_for_half_an_hour(
    engine: AsyncEngine, courses: None
) -> None:
    requests, moment = HelpRequests(engine), now()
    name = (await requests.open(asked(), QUESTION)).help_id
    assert await requests.take(name, [HERE], STAFF, moment)
    assert await requests.take(name, [HERE], STAFF, moment)
    assert not await requests.take(name, [HERE], BEN, moment)
    assert not await requests.dismiss(name, [HERE], BEN, moment)
    taken = await requests.get(name)
    assert taken
    assert taken.at(moment) is HelpState.TAKEN
    assert taken.at(moment + LEASE) is HelpState.OPEN
    assert await requests.take(name, [HERE], BEN, moment + LEASE)


async def test_staff_see_what_waits_in_their_tenant_and_owners_see_counts(
    engine: AsyncEngine, courses: None
) -> None:
    requests = HelpRequests(engine)
    await requests.open(asked(1), QUESTION)
    await requests.open(asked(2, tenant=ELSEWHERE, opened_at=now() - timedelta(days=1)), QUESTION)
    await requests.open(asked(3, course_id="physics"), QUESTION)
    shown = await requests.waiting([HERE], ["algorithms"], 10)
    assert [one.request_id for one in shown] == [asked(1).request_id]
    counts = await requests.counts("algorithms", [HERE])
    assert (counts.waiting, counts.oldest is not None) == (1, True)


async def test_an_answer_closes_its_request_and_goes_out_in_one_transaction(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    inbox = inbox_of(engine)
    staff = staff_answers(engine, tmp_path, inbox)
    await inbox.accept(event(1, user_id=ANN))
    request = await staff.requests.open(asked(), QUESTION)
    assert await staff.answer(request, drafted(), reply_to(request)) is Sent.ON_ITS_WAY
    assert await staff.answer(request, drafted(), reply_to(request)) is Sent.CLOSED
    closed = await staff.requests.get(request.help_id)
    assert closed
    assert (closed.state, closed.answer_id) == (HelpState.ANSWERED, answer_to(request))
    kept = await staff.answers.get(answer_to(request))
    assert kept
    assert (kept.answer_text, kept.revision) == ("It is the first one.", 1)
    assert not kept.citations
    jobs = [await inbox.claim(timedelta(minutes=1), PLATFORMS) for _ in range(2)]
    assert [job and job.arrival.kind for job in jobs] == [Kind.ASK, None]


async def test_a_reply_is_not_counted_as_a_question_of_its_asker(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    inbox = inbox_of(engine)
    staff = staff_answers(engine, tmp_path, inbox)
    await inbox.accept(event(1, user_id=ANN))
    before = await inbox.cursors("test")
    request = await staff.requests.open(asked(), QUESTION)
    reply = replace(reply_to(request), position=10**6)
    assert await staff.answer(request, drafted(), reply) is Sent.ON_ITS_WAY
    assert await inbox.cursors("test") == before


@pytest.mark.costly
async def test_an_answer_to_a_deleted_question_is_kept_and_sent_to_nobody(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    inbox = inbox_of(engine)
    staff = staff_answers(engine, tmp_path, inbox)
    await inbox.accept(event(1, user_id=ANN))
    request = await staff.requests.open(asked(), QUESTION)
    await inbox.accept(forget(1, user_id=ANN))
    assert await staff.answer(request, drafted(), reply_to(request)) is Sent.KEPT
    assert await inbox.of_key(reply_to(request).key) is None
    assert await staff.answers.get(answer_to(request)) is not None


async def test_a_request_that_somebody_else_holds_is_not_answered(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    inbox = inbox_of(engine)
    staff = staff_answers(engine, tmp_path, inbox)
    await inbox.accept(event(1, user_id=ANN))
    request = await staff.requests.open(asked(), QUESTION)
    await staff.requests.take(request.help_id, [HERE], BEN)
    assert await staff.answer(request, drafted(), reply_to(request)) is Sent.CLOSED
    assert await staff.answers.get(answer_to(request)) is None


async def test_a_revision_overwrites_none(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    assert (await staff.verify(name, drafted())).revision == 1
    assert (await staff.verify(name, drafted())).revision == 1
    assert (await staff.verify(name, drafted(answer_text="It is the root."))).revision == 2
    said = [text for _, text, _ in await staff.answers.revisions(name)]
    assert said == ["It is the first one.", "It is the root."]
    kept = await staff.answers.get(name)
    assert kept
    assert kept.answer_text == "It is the root."


async def test_a_retired_answer_is_shown_no_more(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    await staff.verify(name, drafted())
    assert await staff.answers.retire(name, [HERE])
    assert not await staff.answers.retire(name, [HERE])
    assert await staff.answers.current("algorithms") == []
    assert not await staff.answers.propose(name, [HERE], "And the first heap?", BEN)


async def test_a_wording_is_kept_once_and_goes_with_its_person(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    await staff.verify(name, drafted(asked_by=None))
    answers = staff.answers
    assert await answers.propose(name, [HERE], "Which heap is number 1?", BEN)
    assert not await answers.propose(name, [HERE], "which heap is number 1 ??", ANN)
    (kept,) = await answers.current("algorithms")
    assert [one.text for one in kept.proposed] == ["Which heap is number 1?"]
    assert kept.wordings == (QUESTION,)
    assert await answers.of_user(BEN) == 1
    assert await answers.forget_user(BEN) == 1
    (kept,) = await answers.current("algorithms")
    assert (kept.wordings, kept.answer_text) == ((QUESTION,), "It is the first one.")


async def test_staff_judge_a_wording_and_are_asked_again_when_their_question_is_another(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    await staff.verify(name, drafted())
    answers, wording = staff.answers, "Which heap is number 1?"
    assert await answers.propose(name, [HERE], wording, BEN)
    (kept,) = await answers.current("algorithms")
    (phrasing,) = kept.proposed
    assert await answers.judge(phrasing.phrasing_id, [HERE], is_same=False)
    assert not await answers.propose(name, [HERE], wording, ANN)
    assert await answers.judge(phrasing.phrasing_id, [HERE], is_same=True)
    assert not await answers.withdraw(name, [HERE], wording, BEN)
    (kept,) = await answers.current("algorithms")
    assert kept.wordings == (QUESTION, wording)
    await staff.verify(name, drafted(answer_text="It is the root."))
    (kept,) = await answers.current("algorithms")
    assert kept.wordings == (QUESTION, wording)
    await staff.verify(name, drafted(question="What is heap number 2?"))
    (kept,) = await answers.current("algorithms")
    assert kept.wordings == ("What is heap number 2?",)
    assert [one.text for one in kept.proposed] == [wording]


async def test_nothing_of_a_tenant_is_written_for_another(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    await staff.verify(name, drafted())
    await staff.answers.propose(name, [HERE], "Which heap is number 1?", BEN)
    request = await staff.requests.open(asked(), QUESTION)
    before = (await staff.answers.get(name), await staff.requests.get(request.help_id))
    answer, _ = before
    assert answer
    (wording,) = answer.proposed
    for others in ([ELSEWHERE], []):
        assert not await staff.answers.retire(name, others)
        assert not await staff.answers.propose(name, others, "And heap 1?", ANN)
        assert not await staff.answers.withdraw(name, others, wording.text, BEN)
        assert not await staff.answers.judge(wording.phrasing_id, others, is_same=True)
        assert not await staff.requests.take(request.help_id, others, STAFF)
        assert not await staff.requests.dismiss(request.help_id, others, STAFF)
    for stolen in (drafted(tenant=ELSEWHERE), drafted(course_id="physics")):
        with pytest.raises(RequestError):
            await staff.verify(name, stolen)
    theirs = drafted(tenant=ELSEWHERE)
    assert await staff.answer(request, theirs, reply_to(request)) is Sent.CLOSED
    assert (await staff.answers.get(name), await staff.requests.get(request.help_id)) == before


async def test_a_question_in_the_words_of_a_person_waits_for_new_ones_when_they_go(
    engine: AsyncEngine, courses: None, tmp_path: Any
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    await staff.verify(name, drafted())
    assert await staff.answers.forget_user(ANN) == 1
    kept = await staff.answers.get(name)
    assert kept
    assert (kept.question, kept.state, kept.because) == (
        "", VerifiedState.STALE, StaleBecause.QUESTION_REMOVED
    )  # fmt: skip
    assert kept.answer_text == "It is the first one."
    await staff.answers.forget_user(STAFF)
    kept = await staff.answers.get(name)
    assert kept
    assert kept.verified_by == "forgotten"


@pytest.mark.parametrize(
    ("now_there", "because"),
    [
        (TEXT, None),
        (f"{TEXT}\n", None),
        (TEXT.replace("largest", "smallest"), StaleBecause.QUOTE_GONE),
        ("", StaleBecause.QUOTE_GONE),
    ],
)
async def test_an_answer_waits_for_staff_when_its_quote_is_gone(
    engine: AsyncEngine,
    courses: None,
    tmp_path: Any,
    now_there: str,
    because: StaleBecause | None,
) -> None:
    staff, name = staff_answers(engine, tmp_path), uuid4()
    await VerifiedAnswers(engine).save(name, drafted(citations=(cited(),)))
    chunks = [chunk(content_text=now_there, char_end=len(now_there))] if now_there else []
    await write(engine, lambda db: settle("algorithms", set(), {"heaps.md": chunks}, db))
    kept = await staff.answers.get(name)
    assert kept
    assert kept.because is because
    assert kept.state is (VerifiedState.STALE if because else VerifiedState.CURRENT)
    if now_there and because:
        assert kept.changed[0].before == TEXT
        assert kept.changed[0].after == now_there


async def test_a_file_that_stays_as_it_is_changes_no_answer(
    engine: AsyncEngine, courses: None
) -> None:
    answers, name = VerifiedAnswers(engine), uuid4()
    await answers.save(name, drafted(citations=(cited(),)))
    await write(engine, lambda db: settle("algorithms", {"heaps.md"}, {}, db))
    assert len(await answers.current("algorithms")) == 1


async def test_a_changed_section_is_looked_at_though_the_quote_stands(
    engine: AsyncEngine, courses: None
) -> None:
    answers, name = VerifiedAnswers(engine), uuid4()
    printed = replace(cited(), section_print="another text")
    await answers.save(name, drafted(citations=(printed,)))
    await write(engine, lambda db: settle("algorithms", set(), {"heaps.md": [chunk()]}, db))
    kept = await answers.get(name)
    assert kept
    assert kept.because is StaleBecause.SECTION_CHANGED


async def test_citations_come_back_as_they_were(engine: AsyncEngine, courses: None) -> None:
    answers, name, passage = VerifiedAnswers(engine), uuid4(), cited()
    scope = VerifiedScope(ScopeKind.SECTION, "heaps")
    await answers.save(name, drafted(citations=(passage,), scope=scope))
    kept = await answers.get(name)
    assert kept
    assert (kept.citations, kept.scope) == ((passage,), scope)
    assert isinstance(kept.answer_id, UUID)
