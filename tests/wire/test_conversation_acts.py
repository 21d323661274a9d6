"""What people say in a conversation reaches the model word for word, and what it says, them."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from core.domain import AgentResponse, ContextMode, Outcome, i18n
from tests.books import COVERED, LIGHTHOUSE
from tests.wire.answering import House, asking, open_house
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_judging import affirming, claims_in, denying
from tests.wire.gemini_prompts import number_of, read_prompt
from tests.wire.gemini_replies import Answer, Model
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import answer as answer_of
from tests.wire.scripted_models import claim, honest

pytestmark = pytest.mark.costly

WICK = "The keeper trims the wick of the lamp every four hours."
SOOT = "An untrimmed wick smokes"
CODE = "for hour in range(0, 24, 4):\n    trim(wick)"
ACTS = (
    "hey",
    "thanks, that helped!",
    "can you give me an example",
    "why",
    "why tho",
    "eli5",
    "I don't get it",
    "you're wrong",
    "quiz me",
    "summarise chapter 3",
    "is this right: the keeper trims the wick once a night?",
    "shorter please",
    "und auf Deutsch?",
    f"what does this do?\n\n{CODE}",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("acts")


@pytest.fixture
async def house(folder: Path, models: Path) -> AsyncIterator[House]:
    async with GeminiServer() as server:
        server.answer_with(honest)
        async with open_house(folder, models, server, LIGHTHOUSE) as house:
            yield house


def saying(*said: tuple[str, str, str]) -> Model:
    """Return a model that says texts of a kind, each resting on the sentence that has words."""

    def model(call: GeminiCall) -> str:
        prompt = read_prompt(call)
        sentences = {**prompt.sentences, **prompt.given}
        return answer_of(
            *(claim(text, *_numbers(sentences, words), kind=kind) for kind, text, words in said)
        )

    return model


def _numbers(sentences: dict[int, str], words: str) -> Sequence[int]:
    return [number for number, text in sentences.items() if words and words in text][:1]


async def answered(house: House, question: str, **changes: object) -> AgentResponse:
    return await house.agent.answer(asking(question, **changes))


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
async def test_whatever_is_said_reaches_the_model_letter_for_letter(
    house: House, act: str, is_first: bool
) -> None:
    session = uuid4()
    if not is_first:
        await answered(house, COVERED, session_id=session)
    before = len(house.server.requests)
    await answered(house, act, session_id=session)
    assert read_prompt(house.server.requests[before]).question == act


async def test_a_greeting_is_answered_by_the_model_and_asks_nothing(house: House) -> None:
    house.server.answer_with(saying(("talk", "Hello! Ask me about the lighthouse.", "")))
    answer = await answered(house, "hi there")
    assert answer.response_text == "Hello! Ask me about the lighthouse."
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.asks_nothing
    assert (answer.nearest_sections, answer.notices) == ((), ())


@pytest.mark.parametrize(
    "talk",
    [
        "The exam has 3 parts.",
        "See https://evil.example/prize.",
        "Run `rm -rf /` now.",
        "Ask Professor Moriarty instead.",
        "word " * 50,
    ],
)
async def test_talk_is_no_way_to_say_something(house: House, talk: str) -> None:
    house.server.answer_with(saying(("fact", WICK, "trims the wick"), ("talk", talk, "")))
    answer = await answered(house, COVERED)
    assert answer.response_text == f"{WICK} [1]"


async def test_pasted_code_can_be_explained_with_its_origin(house: House) -> None:
    explained = "Your loop calls `trim(wick)` every 4 hours."
    house.server.answer_with(saying(("fact", explained, "trim(wick)")))
    answer = await answered(house, f"What does this do?\n\n{CODE}")
    assert explained in answer.response_text
    assert answer.outcome is Outcome.ANSWERED
    assert [chunk.page_title for chunk in answer.grounding_chunks] == [
        i18n.text("answer-asker-message")
    ]


async def test_a_quote_that_is_not_from_the_book_is_told_apart(house: House) -> None:
    quote = "Goggles protect the eyes of whoever grinds the prisms of a lens."
    house.server.answer_with(saying(("fact", "It says that goggles protect the eyes.", "Goggles")))
    answer = await answered(
        house, "What does it say?", context_mode=ContextMode.SELECTED_TEXT, selected_text=quote
    )
    assert "From the text you gave: It says that goggles protect the eyes." in answer.response_text


async def test_a_quiz_rests_on_the_sentences_that_answer_it(house: House) -> None:
    quiz, session = "How often does the keeper trim the wick?", uuid4()
    await answered(house, COVERED, session_id=session)
    house.server.answer_with(saying(("question", quiz, "trims the wick")))
    answer = await answered(house, "quiz me", session_id=session)
    assert quiz in answer.response_text
    assert answer.citations


async def test_a_lead_falls_only_with_all_that_it_leads(house: House) -> None:
    said = (
        ("lead", "Two things are known of the wick:", ""),
        ("fact", "- It is trimmed every four hours.", "trims the wick"),
        ("fact", "- It is made of silk.", "trims the wick"),
    )
    house.server.answer_with(saying(*said))
    house.server.judge = denying("silk")
    left_out = i18n.text("answer-item-left-out")
    assert (await answered(house, COVERED)).response_text == (
        f"Two things are known of the wick:\n- It is trimmed every four hours. [1]\n- {left_out}"
    )
    house.server.judge = denying("silk", "four hours")
    assert "Two things" not in (await answered(house, COVERED)).response_text


async def test_an_item_is_judged_with_the_line_above_it(house: House) -> None:
    said = (
        ("lead", "It is trimmed:", ""),
        ("fact", "- every four hours", "trims the wick"),
    )
    house.server.answer_with(saying(*said))
    await answered(house, COVERED)
    judged = [one for call in house.server.judged for one in claims_in(call)]
    assert "It is trimmed: every four hours" in judged


async def test_what_fell_is_told_to_the_model_once_and_the_better_answer_is_shown(
    house: House,
) -> None:
    false = "The keeper trims the wick every six hours."

    def model(call: GeminiCall) -> str:
        prompt = read_prompt(call)
        number = number_of(prompt, "trims the wick")
        return answer_of(claim(WICK if false in call.text else false, number))

    house.server.answer_with(model)
    house.server.judge = denying("six hours")
    answer = await answered(house, COVERED)
    assert answer.response_text == f"{WICK} [1]"
    assert answer.outcome is Outcome.ANSWERED
    assert answer.notices == ()
    assert len(house.server.requests) == 2


async def test_an_answer_that_the_judge_affirms_is_sure_of_itself(house: House) -> None:
    house.server.answer_with(saying(("fact", WICK, "trims the wick")))
    answer = await answered(house, COVERED)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.confidence >= 0.9


async def test_a_model_that_writes_reads_a_follow_up_itself_and_nothing_is_asked_back(
    house: House,
) -> None:
    session = uuid4()
    await answered(house, COVERED, session_id=session)
    for follow_up in ("And why is that?", "And the second one?"):
        answer = await answered(house, follow_up, session_id=session)
        assert (answer.understood_as, answer.choices) == (None, ())
    first = await answered(house, "Which one is it?")
    assert first.outcome is not Outcome.ASKED_BACK


async def test_the_model_says_which_message_is_meant_and_its_asker_where_it_does_not(
    house: House,
) -> None:
    messages = (COVERED, "What does the lamp of the lighthouse burn?")
    asked = {"may_mean": messages, "session_id": uuid4()}
    house.server.judge = meaning(COVERED)
    answer = await answered(house, "can you answer that?", **asked)
    assert (answer.query_text, answer.outcome) == (COVERED, Outcome.ANSWERED)
    house.server.judge = meaning()
    answer = await answered(house, "can you answer that?", **{**asked, "session_id": uuid4()})
    assert (answer.outcome, answer.choices) == (Outcome.ASKED_BACK, messages)


def meaning(*meant: str) -> Model:
    """Return a judge that finds which messages are meant, and affirms all claims."""

    def judge(call: GeminiCall) -> Answer:
        listed = re.findall(r"^Message \d+: (.*)$", call.text, re.MULTILINE)
        grades = [10 * (one in meant) for one in listed]
        return json.dumps({"grades": grades}) if listed else affirming(call)

    return judge
