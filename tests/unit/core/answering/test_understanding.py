"""Without a model a follow-up is answered as the question that it stands for, or asked back."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from bot.services import Services
from core.domain import AgentRequest, AgentResponse, Outcome
from core.domain.i18n import use_locale
from tests.bench.books import opened
from tests.bench.corpora import Corpus, ingest
from tests.books import LIGHTHOUSE, write_files

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("understanding"),
]

TURNS, UNCLEAR = "What turns the lens?", "And the second one?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    folder: Path = tmp_path_factory.mktemp("understanding")
    write_files(folder / "book", LIGHTHOUSE)
    async with opened(folder / "data") as services:
        await ingest(services, Corpus("arden", folder / "book", ()))
        yield services


async def answered(
    services: Services, *questions: str, session: UUID | None = None, **changes: object
) -> AgentResponse:
    """Ask one after another in one conversation, and return the last answer."""
    session = session or uuid4()
    for question in questions:
        asked = {"course_id": "arden", "query_text": question, "user_id": "reader"}
        request = AgentRequest.model_validate({**asked, "session_id": session, **changes})
        answer = await services.agent("extractive").answer(request)
    return answer


async def test_a_follow_up_is_answered_as_the_question_that_it_stands_for(
    services: Services,
) -> None:
    answer = await answered(services, "How heavy is the fog bell of Arden?", "Who cast it?")
    assert answer.understood_as == "Who cast the fog bell of Arden?"
    assert answer.leans
    assert "frigate" in answer.response_text


async def test_a_third_question_goes_on_from_what_was_understood(services: Services) -> None:
    first, then = "How heavy is the fog bell of Arden?", "From what was it cast?"
    answer = await answered(services, first, then, "and how often is it rung?")
    assert answer.understood_as is not None
    assert "fog bell of Arden" in answer.understood_as


async def test_a_question_that_stands_alone_is_taken_as_it_is(services: Services) -> None:
    answer = await answered(services, TURNS, "What brings oil and letters to the rock?")
    assert answer.understood_as is None
    assert "supply boat" in answer.response_text


async def test_what_the_asker_worded_to_stand_alone_is_not_looked_into(services: Services) -> None:
    answer = await answered(services, TURNS, "Who winds it up?", stands_alone=True)
    assert (answer.understood_as, answer.choices) == (None, ())


async def test_it_is_asked_back_once_in_a_conversation(services: Services) -> None:
    session = uuid4()
    asked = await answered(services, TURNS, UNCLEAR, session=session)
    assert asked.outcome is Outcome.ASKED_BACK
    assert asked.choices == tuple(f"{UNCLEAR} ({one})" for one in ("The clockwork", "The lamp"))
    assert all(choice in asked.response_text for choice in asked.choices)
    again = await answered(services, UNCLEAR, session=session)
    assert again.outcome is not Outcome.ASKED_BACK


async def test_a_reply_in_words_chooses(services: Services) -> None:
    answer = await answered(services, TURNS, UNCLEAR, "the clockwork")
    assert answer.understood_as == f"{UNCLEAR} (The clockwork)"


async def test_a_first_question_without_its_subject_asks_for_the_name(services: Services) -> None:
    answer = await answered(services, "What does it do?")
    assert answer.asks_nothing
    assert answer.response_text.startswith("I do not know yet what this is about.")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("hi", "Happy to help!"),
        ("good morning", "Happy to help!"),
        ("eli5", "I show what this course’s book says, word for word"),
        ("quiz me", "I show what this course’s book says, word for word"),
        ("you're wrong", "I show passages of this course’s book"),
        ("who made you", "I am Glossator"),
        ("why tho", "I do not know yet what this is about."),
    ],
)
async def test_what_no_book_answers_gets_a_sentence_in_the_askers_language(
    services: Services, said: str, sentence: str
) -> None:
    answer = await answered(services, said)
    assert answer.response_text.startswith(sentence)
    assert (answer.asks_nothing, answer.choices) == (True, ())
    with use_locale("de"):
        german = await answered(services, said)
    assert german.response_text != answer.response_text


@pytest.mark.parametrize("said", ["quiz me", "you're wrong", "who made you"])
async def test_so_it_is_after_an_answer_and_the_conversation_goes_on(
    services: Services, said: str
) -> None:
    session = uuid4()
    acted = await answered(services, "How heavy is the fog bell of Arden?", said, session=session)
    assert acted.asks_nothing
    then = await answered(services, "Who cast it?", session=session)
    assert then.understood_as == "Who cast the fog bell of Arden?"
