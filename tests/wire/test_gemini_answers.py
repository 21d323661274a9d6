"""Questions answered with Gemini over HTTP: what a student gets, whatever Gemini does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from core import i18n
from core.budgets.store import Limits, TokenBudgets
from core.models import AgentResponse, ContextMode, Outcome
from core.progress import TextDelta
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, UNCOVERED
from tests.wire.answering import House, asking, open_house
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_prompts import read_prompt
from tests.wire.gemini_replies import Reply, ToolCall
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import cite, honest

WICK = "The keeper trims the wick of the lamp every four hours."
QUICK = {"first_token_timeout": 0.6, "silence_timeout": 0.3}
MOST_SECONDS = 10.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gemini")


@pytest.fixture
async def house(folder: Path, models: Path) -> AsyncIterator[House]:
    async with GeminiServer() as server:
        server.answer_with(honest)
        async with open_house(folder, models, server, LIGHTHOUSE) as house:
            yield house


async def test_an_honest_answer_is_streamed_cited_and_paid_for(house: House) -> None:
    async with aclosing(house.agent.stream(asking(COVERED))) as events:
        *deltas, answer = [event async for event in events]
    assert isinstance(answer, AgentResponse)
    assert COVERED_FACT in answer.response_text
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == answer.response_text
    assert answer.model_name == "gemini-3.8-flash"
    assert answer.outcome is Outcome.ANSWERED
    assert any(
        source.startswith("https://arden.example.org/book/lamp") for source in answer.sources
    )
    assert answer.query_tokens > 100
    assert answer.tokens_used == answer.query_tokens + answer.response_tokens > 0
    assert answer.notices == ()


async def test_what_the_model_was_told_is_kept_without_the_question(house: House) -> None:
    session = uuid4()
    first = await house.agent.answer(asking(COVERED, session_id=session))
    question = "And what turns the lens?"
    second = await house.agent.answer(asking(question, session_id=session))
    told = str(house.server.requests[-1].body["contents"])
    assert question in told
    assert COVERED in told
    for answer in (first, second):
        assert answer.citations[0].quote in answer.context_used
        assert COVERED not in answer.context_used
        assert question not in answer.context_used


async def test_a_question_that_the_passages_do_not_answer_is_not_answered(house: House) -> None:
    house.server.answer_with(lambda _: "The passages do not say.")
    answer = await house.agent.answer(asking("Who built the Arden lighthouse lamp?"))
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.response_text == "The book doesn't cover this."
    assert answer.nearest_sections


async def test_far_from_the_book_the_model_is_not_even_asked(house: House) -> None:
    answer = await house.agent.answer(asking(UNCOVERED))
    assert answer.outcome is Outcome.ABSTAINED
    assert house.server.requests == []


async def test_a_question_of_two_parts_gets_a_second_look(house: House) -> None:
    question = "How often is the wick of the lamp trimmed and when does the supply boat come?"
    answer = await house.agent.answer(asking(question))
    assert [call.tool_name for call in answer.tool_calls] == ["retrieve"]
    cited = {chunk.source_file for chunk in answer.grounding_chunks}
    assert {"lamp.md", "keepers/supplies.md"} <= cited


async def test_a_changed_number_never_reaches_the_reader(house: House) -> None:
    wrong = cite("The keeper trims the wick of the lamp every six hours.", 1, WICK)
    right = cite("An untrimmed wick smokes.", 1, "An untrimmed wick smokes, and the soot darkens")
    house.server.answer_with(lambda _: f"{wrong} {right}")
    async with aclosing(house.agent.stream(asking(COVERED))) as events:
        seen = [event async for event in events]
    assert not any("six hours" in str(event) for event in seen)
    answer = seen[-1]
    assert isinstance(answer, AgentResponse)
    assert "An untrimmed wick smokes" in answer.response_text
    assert answer.claims_dropped >= 1


async def test_a_follow_up_carries_the_conversation_and_its_evidence(house: House) -> None:
    session = uuid4()
    await house.agent.answer(asking(COVERED, session_id=session))
    await house.agent.answer(asking("Why does it have to be done?", session_id=session))
    contents = house.server.requests[-1].body["contents"]
    assert [content["role"] for content in contents[:2]] == ["user", "model"]
    assert COVERED in str(contents[0])
    assert "[1]" not in str(contents[1])


async def test_a_quoted_passage_is_explained_from_its_place(house: House) -> None:
    quote = "An untrimmed wick smokes, and the soot darkens the prisms"
    asked = asking(
        "Explain this passage.", context_mode=ContextMode.SELECTED_TEXT, selected_text=quote
    )
    answer = await house.agent.answer(asked)
    assert answer.response_text.startswith("This passage stands in “The lamp › Trimming the wick”")
    assert answer.outcome is Outcome.ANSWERED


async def test_a_reader_who_goes_away_ends_the_call(house: House) -> None:
    house.server.answer_with(lambda _: Reply(f"{cite(WICK, 1, WICK)}\n\n" * 3, every=0.2))
    before = await _calls_counted(house)
    async with aclosing(house.agent.stream(asking(COVERED))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    await asyncio.sleep(0.1)
    assert len(house.server.requests) == 1
    assert await _calls_counted(house) == before + 1


async def _calls_counted(house: House) -> int:
    budgets = TokenBudgets(house.services.engine, limits=Limits())
    used = await budgets.used(datetime.now(UTC).date())
    return sum(entry.calls for entry in used if entry.course_id is None)


@pytest.mark.parametrize(
    "refusal", ["Sorry, that's not covered here.", "This is not mentioned.", "N/A"]
)
async def test_a_few_words_without_a_source_are_a_refusal(house: House, refusal: str) -> None:
    house.server.answer_with(lambda _: refusal)
    answer = await house.agent.answer(asking(COVERED))
    assert (answer.outcome, answer.model_name) == (Outcome.ABSTAINED, "gemini-3.8-flash")


async def test_an_answer_that_no_words_of_the_book_carry_does_not_blame_the_book(
    house: House,
) -> None:
    house.server.answer_with(lambda _: cite("Bananas sing loudly at night.", 1, "Bananas sing."))
    answer = await house.agent.answer(asking(COVERED))
    assert answer.outcome is Outcome.ABSTAINED
    assert not answer.response_text.startswith("The book doesn't cover this.")
    assert "Trimming the wick" in answer.nearest_sections


async def test_a_question_in_another_language_is_looked_up_by_the_model(house: House) -> None:
    found = cite("Der Docht der Lampe wird alle vier Stunden vom Wärter gekürzt.", 1, WICK)
    look = ToolCall("retrieve", {"query_text": "How often is the wick of the lamp trimmed?"})

    def german(call: GeminiCall) -> Reply:
        if not call.tool_results:
            return Reply(tool_calls=(look,))
        passages = read_prompt(call).passages
        number = next(n for n, text in passages.items() if WICK in " ".join(text.split()))
        return Reply(found.replace('passage="1"', f'passage="{number}"'))

    house.server.answer_with(german)
    answer = await house.agent.answer(
        asking("Wie oft beschneidet der Wärter den Docht der Lampe in der Nacht?")
    )
    assert "alle vier Stunden" in answer.response_text
    assert answer.outcome is Outcome.PARTIAL
    assert i18n.text("notice-translated") in answer.notices
    assert WICK in " ".join(answer.citations[0].quote.split())


async def test_a_question_that_is_too_dear_says_so(folder: Path, models: Path) -> None:
    async with (
        GeminiServer() as server,
        open_house(folder, models, server, LIGHTHOUSE, budget={"request_tokens": 500}) as house,
    ):
        answer = await house.agent.answer(asking(COVERED))
    assert server.requests == []
    assert answer.notices[0] == i18n.text("notice-too-dear")


async def test_a_refusal_about_a_quoted_passage_is_no_sure_answer(house: House) -> None:
    house.server.answer_with(lambda _: "<not-covered/>")
    quote = "An untrimmed wick smokes, and the soot darkens the prisms"
    for question in ("Explain this passage.", "Who is the king of Norway?"):
        asked = asking(question, context_mode=ContextMode.SELECTED_TEXT, selected_text=quote)
        answer = await house.agent.answer(asked)
        assert answer.outcome is Outcome.PARTIAL
        assert answer.confidence <= 0.3


async def test_a_section_that_was_asked_for_keeps_the_last_turns_evidence_out(
    house: House,
) -> None:
    session = uuid4()
    await house.agent.answer(asking(COVERED, session_id=session))
    await house.agent.answer(
        asking("What does the keeper ring?", session_id=session, section_filter="Fog")
    )
    passages = read_prompt(house.server.requests[-1]).passages
    assert passages
    assert not any("wick" in text for text in passages.values())


async def test_tools_that_do_not_exist_are_answered_to_the_model(house: House) -> None:
    house.server.script(Reply(tool_calls=(ToolCall("delete_everything", {}),)))
    answer = await house.agent.answer(asking(COVERED))
    assert COVERED_FACT in answer.response_text
    assert answer.tool_calls == ()
    assert answer.model_name == "gemini-3.8-flash"
