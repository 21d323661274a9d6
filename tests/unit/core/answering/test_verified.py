"""The answer of the staff in place of a written one: shown, offered, or neither."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from adapters.chat.markdown.footnotes import footnotes
from core.answering.verified import (
    Draft,
    ScopeKind,
    StaleBecause,
    VerifiedScope,
    instruction,
    passages_of,
)
from core.answering.writers.base import Claim, GenerationTask, QuotedWords
from core.answering.writers.windows import place_of
from core.domain import STAFF, Outcome, UserContext, now
from core.domain.i18n import use_locale
from core.providers.base import ChatEnd, ignore
from core.retrieval.retriever import Retriever
from core.storage.access import Tenant
from core.storage.access_store import AccessStore
from core.storage.database import write
from core.teaching.early_stages import VerifiedAnswerJudge, VerifiedStage
from core.teaching.matching import Matcher
from core.teaching.verified_store import VerifiedAnswers, mark_stale
from tests.books import COVERED, VERBATIM
from tests.unit.core.answering.house import House, ScriptedGenerator, asking, quoting

HOME, GUEST = Tenant("discord", "1"), Tenant("discord", "2")
LIKE = "How often does the keeper have to trim the wick of the lamp?"
SAID = "Every four hours, by the watch."


@dataclass
class Judge:
    """Says the same of every pair of questions."""

    says: float | None
    asked: int = 0

    async def serves_both(
        self, asked: str, question: str, answer: str, report: Callable[[ChatEnd], None] = ignore
    ) -> float | None:
        self.asked += 1
        return self.says


def stage_of(house: House, judge: VerifiedAnswerJudge | None = None) -> VerifiedStage:
    return VerifiedStage(
        answers=VerifiedAnswers(house.engine),
        matcher=Matcher(house.local),
        retriever=Retriever(house.catalogue, house.index, lambda *_: house.embedder),
        access=AccessStore(house.engine),
        judge_of=lambda _: judge,
    )


@pytest.fixture
async def home(house: House) -> Any:
    await AccessStore(house.engine).make_home(HOME)
    answers, name = VerifiedAnswers(house.engine), uuid4()
    yield answers, name
    for answer in await answers.all("arden"):
        await answers.retire(answer.answer_id, [answer.tenant])


async def verified(home: Any, **changes: Any) -> None:
    answers, name = home
    fields: dict[str, Any] = {
        "course_id": "arden",
        "question": COVERED,
        "answer_text": SAID,
        "citations": (),
        "scope": VerifiedScope(),
        "verified_by": "tutor",
        "tenant": HOME,
        "generation": None,
    }
    await answers.save(name, Draft(**{**fields, **changes}))


async def test_the_same_question_gets_the_answer_of_the_staff(house: House, home: Any) -> None:
    await verified(home)
    answer = await house.agent(stages=[stage_of(house)]).answer(asking(f"  {COVERED.upper()}? "))
    assert (answer.response_text, answer.model_name, answer.outcome) == (
        SAID, STAFF, Outcome.ANSWERED
    )  # fmt: skip
    assert answer.checked
    assert answer.checked.question == COVERED
    stored = await house.sessions.turn_of(answer.query_id)
    assert stored
    assert stored.agent_response == answer


async def test_another_wording_is_offered_it_and_never_shown_it(house: House, home: Any) -> None:
    await verified(home)
    answer = await house.agent(stages=[stage_of(house)]).answer(asking(LIKE))
    assert answer.checked is None
    assert [one.question for one in answer.offered] == [COVERED]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("says", "shown", "offered"),
    [(0.97, True, False), (0.5, False, True), (None, False, True), (0.02, False, False)],
)
async def test_a_judging_model_decides_between_shown_and_offered(
    house: House, home: Any, says: float | None, shown: bool, offered: bool
) -> None:
    await verified(home)
    judge = Judge(says)
    answer = await house.agent(stages=[stage_of(house, judge)]).answer(asking(LIKE))
    assert judge.asked == 1
    assert (answer.checked is not None, bool(answer.offered)) == (shown, offered)


@pytest.mark.costly
async def test_what_a_question_has_nothing_to_do_with_is_not_offered(
    house: House, home: Any
) -> None:
    await verified(home)
    judge = Judge(1.0)
    asked = asking("Which boat brings flour and letters to the rock?")
    answer = await house.agent(stages=[stage_of(house, judge)]).answer(asked)
    assert (answer.checked, answer.offered, judge.asked) == (None, (), 0)


async def test_a_wording_counts_as_the_question_once_staff_confirm_it(
    house: House, home: Any
) -> None:
    await verified(home)
    answers, name = home
    assert await answers.propose(name, [HOME], LIKE, "reader-2")
    agent = house.agent(stages=[stage_of(house)])
    assert (await agent.answer(asking(LIKE))).checked is None
    (kept,) = await answers.current("arden")
    (wording,) = kept.proposed
    await answers.judge(wording.phrasing_id, [HOME], is_same=True)
    answer = await agent.answer(asking(LIKE))
    assert answer.checked is not None
    assert answer.checked.question == COVERED
    await answers.judge(wording.phrasing_id, [HOME], is_same=False)
    assert (await agent.answer(asking(LIKE))).checked is None


async def test_the_staff_of_a_tenant_that_does_not_own_the_course_speak_to_their_own(
    house: House, home: Any
) -> None:
    await verified(home, tenant=GUEST)
    agent = house.agent(stages=[stage_of(house)])
    here = UserContext(tenants=(str(HOME),))
    there = UserContext(tenants=(str(GUEST),))
    assert (await agent.answer(asking(user_context=here))).checked is None
    assert (await agent.answer(asking(user_context=there))).checked is not None


async def test_no_other_course_is_answered_by_it(house: House, home: Any) -> None:
    await verified(home)
    answer = await house.agent(stages=[stage_of(house)]).answer(asking(course_id="foreign"))
    assert (answer.checked, answer.offered) == (None, ())


@pytest.mark.costly
async def test_a_question_about_a_section_or_a_quote_is_not_the_one_about_the_book(
    house: House, home: Any
) -> None:
    await verified(home)
    agent = house.agent(stages=[stage_of(house)])
    for asked in (asking(section_filter="Trimming the wick"), quoting(VERBATIM, COVERED)):
        answer = await agent.answer(asked)
        assert (answer.checked, answer.offered) == (None, ())
    await verified(home, scope=VerifiedScope(ScopeKind.SECTION, "trimming the wick"))


async def test_an_answer_about_a_section_is_found_there_alone(house: House, home: Any) -> None:
    await verified(home, scope=VerifiedScope(ScopeKind.SECTION, "trimming the wick"))
    agent = house.agent(stages=[stage_of(house)])
    assert (await agent.answer(asking(section_filter="Trimming the wick"))).checked is not None
    assert (await agent.answer(asking())).checked is None


async def test_an_answer_that_code_has_chosen_is_shown_whatever_was_asked(
    house: House, home: Any
) -> None:
    await verified(home)
    _, name = home
    asked = asking("Something else?", verified_answer=name)
    answer = await house.agent(stages=[stage_of(house)]).answer(asked)
    assert answer.response_text == SAID


async def test_what_it_cites_of_the_book_stands_below_it(house: House, home: Any) -> None:
    agent = house.agent(stages=[stage_of(house)])
    first = await agent.answer(asking())
    turn = await house.sessions.turn_of(first.query_id)
    assert turn
    passage = passages_of(turn)[0]
    text = f"Four hours [{passage.marker}]."
    await verified(home, answer_text=text, citations=(passage,), question="How long does it burn?")
    answer = await agent.answer(asking("How long does it burn?"))
    assert answer.checked
    assert [one.quote for one in answer.citations] == [passage.quote]
    assert answer.sources == tuple(filter(None, [passage.chunk.source_url]))


def test_the_weights_are_in_the_package() -> None:
    assert (Path(__file__).parents[4] / "core/teaching/likeness.json").is_file()


def quoting_the_staff(task: GenerationTask) -> list[Claim]:
    """Return a claim for each passage of the staff's, in its words."""
    return [
        Claim(passage.text, (QuotedWords(passage.chunk_number, passage.text, 0),))
        for passage in task.passages()
        if passage.chunk.verified_on is not None
    ]


@pytest.mark.costly
async def test_a_model_may_cite_what_the_staff_said_with_its_day(house: House, home: Any) -> None:
    await verified(home, answer_text="The keeper trims the wick every four hours [1].")
    writer = ScriptedGenerator(quoting_the_staff)
    answer = await house.agent(writer, stages=[stage_of(house)]).answer(asking(LIKE))
    [task] = writer.tasks
    assert instruction() in (task.system_prompt or "")
    assert answer.response_text.startswith("The keeper trims the wick every four hours")
    [cited] = answer.grounding_chunks
    assert cited.verified_on == answer.generated_at.date()
    [note] = footnotes(answer)
    assert note.title.startswith("Course staff, ")
    assert note.url is None
    assert [one.question for one in answer.offered] == [COVERED]
    stored = await house.sessions.turn_of(answer.query_id)
    assert stored
    assert all(one.chunk.verified_on is None for one in passages_of(stored))


@pytest.mark.costly
@pytest.mark.parametrize("how", ["retired", "stale", "denied by the judge", "of other staff"])
async def test_a_model_is_not_given_what_does_not_hold(house: House, home: Any, how: str) -> None:
    await verified(home, tenant=GUEST if how == "of other staff" else HOME)
    answers, name = home
    if how == "retired":
        await answers.retire(name, [HOME])
    if how == "stale":
        because = StaleBecause.SECTION_CHANGED
        await write(house.engine, lambda db: mark_stale(db, name, because, (), now()))
    judge = Judge(0.0) if how == "denied by the judge" else None
    writer = ScriptedGenerator(quoting_the_staff)
    stages = [stage_of(house, judge)]
    await house.agent(writer, stages=stages).answer(asking(LIKE))
    [task] = writer.tasks
    assert instruction() not in (task.system_prompt or "")
    assert not quoting_the_staff(task)


@pytest.mark.costly
@pytest.mark.parametrize(("locale", "place"), [("en", "Course staff"), ("de-AT", "Kursteam")])
async def test_what_staff_said_stands_below_their_name_in_the_askers_language(
    house: House, home: Any, locale: str, place: str
) -> None:
    await verified(home)
    writer = ScriptedGenerator(quoting_the_staff)
    with use_locale(locale):
        await house.agent(writer, stages=[stage_of(house)]).answer(asking(LIKE))
    [task] = writer.tasks
    assert f"A passage below “{place}” is" in (task.system_prompt or "")
    assert f"{place} › {COVERED}" in [place_of(passage.chunk) for passage in task.passages()]


@pytest.mark.costly
async def test_what_staff_said_is_not_carried_into_the_next_answer(house: House, home: Any) -> None:
    await verified(home, answer_text="The keeper trims the wick every four hours.")
    agent = house.agent(ScriptedGenerator(quoting_the_staff), stages=[stage_of(house)])
    session = uuid4()
    first = await agent.answer(asking(LIKE, session_id=session))
    assert first.grounding_chunks[0].verified_on is not None
    answers, name = home
    await answers.retire(name, [HOME])
    writer = ScriptedGenerator(quoting_the_staff)
    await house.agent(writer, stages=[stage_of(house)]).answer(
        asking("And why does the keeper do that?", session_id=session)
    )
    assert not [one for task in writer.tasks for one in quoting_the_staff(task)]
