"""A message that is courtesy alone gets a friendly sentence, and counts as no question."""

from pathlib import Path

import pytest

from adapters.chat.buttons import buttons_under
from adapters.console import closing_line
from bot.embedders import installed_model
from core.answering.writers.base import Claim, ClaimKind
from core.domain import Outcome, ThreadMessage, UnreadPart
from core.domain.i18n import Message
from core.providers.embeddings.local import LocalEmbedder
from core.teaching.early_stages import CourtesyStage
from tests.books import COVERED
from tests.unit.core.answering.house import House, ScriptedGenerator, asking

FRIENDLY = str(Message("answer-courtesy"))


@pytest.fixture(scope="module")
def stage(models: Path) -> CourtesyStage:
    return CourtesyStage(LocalEmbedder(installed_model(), models, threads=1))


@pytest.mark.parametrize(
    "polite", ["hello", "goodbye", "thanks!", "ok great, thank you", "Vielen Dank!"]
)
async def test_courtesy_gets_a_friendly_sentence(
    house: House, stage: CourtesyStage, polite: str
) -> None:
    answer = await house.agent(stages=[stage]).answer(asking(polite))
    assert (answer.outcome, answer.response_text) == (Outcome.ABSTAINED, FRIENDLY)
    assert answer.asks_nothing
    assert (answer.nearest_sections, answer.notices, answer.retrieved_chunks) == ((), (), ())
    assert not [*buttons_under(answer, quoted=False, private=True, has_evidence=False)]
    assert closing_line(answer).startswith("(no question,")


async def test_a_model_that_writes_reads_courtesy_too(house: House, stage: CourtesyStage) -> None:
    writer = ScriptedGenerator(lambda _: [Claim("Hello to you!", kind=ClaimKind.TALK)])
    answer = await house.agent(writer, stages=[stage]).answer(asking("hello"))
    assert (answer.outcome, answer.response_text) == (Outcome.ABSTAINED, "Hello to you!")
    assert answer.asks_nothing
    assert answer.nearest_sections == ()


@pytest.mark.parametrize("term", ["TRALI", "ferritn", "imatinib", "INR"])
async def test_a_term_alone_is_no_courtesy(house: House, stage: CourtesyStage, term: str) -> None:
    assert not (await house.agent(stages=[stage]).answer(asking(term))).asks_nothing


@pytest.mark.parametrize(
    "changes",
    [
        {"context_mode": "selected_text", "selected_text": "The keeper trims the wick."},
        {"thread_messages": (ThreadMessage(text=COVERED, by_asker=True),)},
        {"unread": (UnreadPart.IMAGE,)},
    ],
    ids=["a quote", "a thread", "an image"],
)
async def test_what_comes_with_a_message_may_be_the_question(
    house: House, stage: CourtesyStage, changes: dict[str, object]
) -> None:
    answer = await house.agent(stages=[stage]).answer(asking("thanks!", **changes))
    assert not answer.asks_nothing


async def test_a_conversation_goes_on_from_before_the_courtesy(
    house: House, stage: CourtesyStage
) -> None:
    agent = house.agent(stages=[stage])
    first = await agent.answer(asking())
    session = first.conversation_id
    await agent.answer(asking("Thanks!", session_id=session))
    again = await agent.answer(asking("And why?", session_id=session))
    assert again.leans
    assert again.grounding_chunks
