"""The judge that asks a model, over a real SDK: log-probabilities, grades, and too late."""

import asyncio
import math
from collections.abc import AsyncIterator

import pytest

from core.grounding.judge.base import CitedClaim, JudgedBy
from core.grounding.judge.model import ModelJudge
from core.providers.base import ChatEnd
from core.providers.guarded import GuardedModel
from core.providers.openai.client import OpenAIClient
from core.providers.openai.wire import OpenAIWire
from tests.wire.chat_stations import NAMES
from tests.wire.openai_calls import OpenAICall
from tests.wire.openai_faults import FAULTS
from tests.wire.openai_server import ChatReply, OpenAIServer

QUESTION = "What does a ceiling do?"
CLAIMS = [
    CitedClaim("A shortage occurs.", ("Then a shortage occurs.",), ("Ceilings",)),
    CitedClaim("Bakers burn villages.", ("Then a shortage occurs.",), ("Ceilings",)),
]
PATIENT = 20.0


def by_odds(call: OpenAICall) -> ChatReply:
    """Say yes to a claim or an answer about a shortage."""
    is_true = "Claim: A shortage" in call.text or "Answer: A shortage" in call.text
    yes = 0.9 if is_true else 0.1
    odds = {"Yes": math.log(yes), " no": math.log(1 - yes)}
    return ChatReply("Yes" if is_true else "no", logprobs=(odds,))


class ByGrades:
    """A server that tells no log-probabilities."""

    def __init__(self, grade: str) -> None:
        self.grade = grade

    def __call__(self, call: OpenAICall) -> ChatReply:
        return ChatReply("yes" if call.form == "text" else self.grade)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as opened:
        opened.answer_with(by_odds)
        yield opened


async def model_at(server: OpenAIServer, name: str = "local-model") -> GuardedModel:
    client = OpenAIClient("test-key", base_url=server.url, names=NAMES)
    model = GuardedModel(OpenAIWire(client, name))
    await model.open()
    return model


async def test_each_claim_is_one_call_of_one_token_with_the_same_beginning(
    server: OpenAIServer,
) -> None:
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    reported: list[ChatEnd] = []
    true, false = [await judge.judge(claim, reported.append) for claim in CLAIMS]
    assert (true.probability, false.probability) == pytest.approx((0.9, 0.1))
    assert (true.holds, false.holds) == (True, False)
    assert true.by is false.by is JudgedBy.MODEL
    one, other = server.requests
    assert one.limit == other.limit == 1
    assert one.body["temperature"] == 0
    beginnings = {call.text.partition("Claim:")[0] for call in (one, other)}
    assert len(beginnings) == 1
    assert len(reported) == 2


async def test_the_mark_is_given(server: OpenAIServer) -> None:
    judge = ModelJudge(await model_at(server), mark=0.95, wait=PATIENT)
    assert not (await judge.judge(CLAIMS[0])).holds


@pytest.mark.parametrize("grade", ['{"grade": 9}', " 9\n"])
async def test_a_service_without_log_probabilities_grades(server: OpenAIServer, grade: str) -> None:
    server.answer_with(ByGrades(grade))
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    found = [await judge.judge(CLAIMS[0]) for _ in range(3)]
    assert {(one.probability, one.by) for one in found} == {(0.9, JudgedBy.MODEL)}
    forms = [call.form for call in server.requests]
    assert forms == ["text", "json_schema"] * 2 + ["json_schema"]  # asked for them twice


@pytest.mark.parametrize(
    "grade",
    [
        '{"grades": [9]}',
        '{"grade": "all"}',
        "I cannot.",
        '{"grade": NaN}',
        '{"grade": 1e999}',
        '{"grade": ' + "9" * 400 + "}",
        '{"grade": ' + "[" * 40_000 + "]" * 40_000 + "}",
    ],
    ids=lambda grade: grade[:30],
)
async def test_a_grade_that_is_none_leaves_it_to_the_words(
    server: OpenAIServer, grade: str
) -> None:
    server.answer_with(ByGrades(grade))
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    true, false = [await judge.judge(claim) for claim in CLAIMS]
    assert true.by is false.by is JudgedBy.WORDS
    assert true.probability > false.probability


@pytest.mark.parametrize("fault", ["500", "404", "malformed JSON"])
async def test_a_model_that_fails_leaves_it_to_the_words(server: OpenAIServer, fault: str) -> None:
    server.fail(FAULTS[fault], times=9)
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    assert {(await judge.judge(claim)).by for claim in CLAIMS} == {JudgedBy.WORDS}


@pytest.mark.costly
@pytest.mark.parametrize("odds", [1000.0, math.inf, math.nan, -math.inf, 10**400])
async def test_odd_log_probabilities_are_no_failure(server: OpenAIServer, odds: float) -> None:
    server.answer_with(lambda call: ChatReply("Yes", logprobs=({"Yes": odds, "no": -3.0},)))
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    for claim in CLAIMS:
        assert 0 <= (await judge.judge(claim)).probability <= 1
    relevance = await judge.answers_question(QUESTION, "A shortage occurs.")
    assert relevance is None or 0 <= relevance.probability <= 1


async def test_a_claim_waits_no_longer_than_it_may(server: OpenAIServer) -> None:
    server.fail(FAULTS["stall without headers"], times=9)
    judge = ModelJudge(await model_at(server), wait=0.2)
    async with asyncio.timeout(PATIENT):
        assert (await judge.judge(CLAIMS[0])).by is JudgedBy.WORDS
        assert await judge.answers_question(QUESTION, "A shortage occurs.") is None


async def test_a_fact_checking_model_is_asked_as_it_was_trained(server: OpenAIServer) -> None:
    judge = ModelJudge(await model_at(server, "bespoke-minicheck:7b"), wait=PATIENT)
    await judge.judge(CLAIMS[0])
    [call] = server.requests
    assert [message["role"] for message in call.messages] == ["user"]
    assert call.text == "Document: Ceilings\nThen a shortage occurs.\nClaim: A shortage occurs."


async def test_an_answer_is_judged_by_whether_it_answers(server: OpenAIServer) -> None:
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    good = await judge.answers_question(QUESTION, "A shortage.")
    bad = await judge.answers_question(QUESTION, "Bakers.")
    assert good
    assert bad
    assert (good.probability, bad.probability) == pytest.approx((0.9, 0.1))
    assert (good.holds, bad.holds) == (True, False)


async def test_a_fact_checking_model_is_not_asked_about_a_whole_answer(
    server: OpenAIServer,
) -> None:
    judge = ModelJudge(await model_at(server, "bespoke-minicheck:7b"), wait=PATIENT)
    assert await judge.answers_question(QUESTION, "A shortage.") is None
    assert not server.requests


async def test_that_an_answer_could_not_be_judged_is_not_guessed(server: OpenAIServer) -> None:
    server.answer_with(ByGrades("{}"))
    judge = ModelJudge(await model_at(server), wait=PATIENT)
    assert await judge.answers_question(QUESTION, "A shortage.") is None
