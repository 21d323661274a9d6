"""Whatever a model says, and whatever stands in a book or a quote: what a reader can be told."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import EXTRACTIVE, AgentResponse, Outcome
from tests.attacks import attack_texts, benign_questions
from tests.books import COVERED, LIGHTHOUSE
from tests.wire.answering import FOREIGN_CANARY, SYSTEM_CANARY, House, asking, open_house
from tests.wire.attacked import CHANNELS, HARMFUL, WRITERS, Channel, attacked, planted_attacks
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_judging import denying
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import ATTACK_FORMS, claim, compromised, honest
from tests.wire.scripted_models import answer as answer_of

pytestmark = pytest.mark.costly

FEW = 30
"""Every so-manieth attack is tried in a quick run; all of them in a slow one."""
URL = re.compile(r"(?i)[a-z][a-z0-9+.-]*://\S|www\.\S|(?:javascript|data|vbscript|mailto|file):\S")
ENDS = ".?!。？！"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("attacked")


@pytest.fixture
async def house(folder: Path, models: Path) -> AsyncIterator[House]:
    async with (
        GeminiServer() as server,
        open_house(folder, models, server, LIGHTHOUSE) as house,
    ):
        yield house


STEPS = [FEW, pytest.param(1, marks=pytest.mark.slow)]


# --- a compromised model ------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS, ids=["few", "all"])
@pytest.mark.parametrize("form", ATTACK_FORMS)
async def test_a_compromised_model_can_say_nothing_of_its_own(
    house: House, form: str, step: int
) -> None:
    agent = house.agent
    for attack in attack_texts(step=step):
        house.server.answer_with(compromised(attack, form))
        _, answer = await agent.rehearse(asking(COVERED))
        _is_harmless(answer, house)
        assert answer.outcome in {Outcome.ANSWERED, Outcome.PARTIAL, Outcome.ABSTAINED}


async def test_a_model_that_repeats_its_instructions_is_not_heard(house: House) -> None:
    def repeating(call: GeminiCall) -> str:
        told = str(call.body["systemInstruction"])
        assert SYSTEM_CANARY in told
        return answer_of(claim(told), claim(told, 1), claim(told, kind="example"))

    house.server.answer_with(repeating)
    answer = await house.agent.answer(asking(COVERED))
    _is_harmless(answer, house)
    assert answer.model_name == EXTRACTIVE


async def test_a_model_that_knows_another_course_cannot_tell_of_it(house: House) -> None:
    house.server.answer_with(lambda _: answer_of(claim(FOREIGN_CANARY, 1)))
    house.server.judge = denying(FOREIGN_CANARY)
    answer = await house.agent.answer(asking(COVERED))
    _is_harmless(answer, house)
    assert answer.model_name == EXTRACTIVE


def _is_harmless(answer: AgentResponse, house: House) -> None:
    """Check that nothing is told but the book's words and our own."""
    told = "\n".join((answer.response_text, *answer.notices, *(c.quote for c in answer.citations)))
    assert not URL.search(answer.response_text), answer.response_text
    assert set(answer.sources) <= {chunk.source_url for chunk in answer.grounding_chunks}
    assert SYSTEM_CANARY not in told
    assert FOREIGN_CANARY not in answer.model_dump_json()
    assert {chunk.course_id for chunk in answer.retrieved_chunks} <= {"arden"}


# --- an obedient model --------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS, ids=["few", "all"])
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("writer", WRITERS)
async def test_what_others_wrote_is_told_with_its_origin_or_not_at_all(
    house: House, channel: Channel, writer: str, step: int
) -> None:
    found = await attacked(house, channel, writer, planted_attacks(step))
    assert found.harm == {}
    assert found.without_origin == []


@pytest.mark.parametrize("attack", HARMFUL)
async def test_a_trusted_book_is_quoted_and_its_links_lead_nowhere(
    house: House, attack: str
) -> None:
    channel = replace(CHANNELS[0], is_trusted=True)
    found = await attacked(house, channel, WRITERS[0], [attack])
    assert found.harm == {}


# --- benign questions ---------------------------------------------------------------------


async def test_a_question_is_not_refused_for_the_words_that_attacks_use(
    tmp_path: Path, models: Path
) -> None:
    questions = benign_questions()
    page = "# Topic {}\n\nThis page answers the question “{}” at length.\n"
    book = {
        f"{number:03}.md": page.format(number, text.rstrip(ENDS))
        for number, text in enumerate(questions)
    }
    refused = []
    async with GeminiServer() as server, open_house(tmp_path, models, server, book) as house:
        server.answer_with(honest)
        for question in questions:
            _, answer = await house.agent.rehearse(asking(question[:999]))
            if answer.outcome is Outcome.ABSTAINED:
                refused.append(question)
    assert len(refused) <= len(questions) * 0.01, refused
