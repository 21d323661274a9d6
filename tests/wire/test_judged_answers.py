"""What a judge does for an answer, or cannot: two real SDKs before two scripted models."""

import json
import math
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest

from bot.settings import Settings
from bot.wiring import open_services
from core.domain import EXTRACTIVE, AgentResponse, Outcome, i18n
from tests.books import COVERED, LIGHTHOUSE
from tests.wire.answering import JUDGE, House, asking, open_house, secrets
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_faults import UNAVAILABLE
from tests.wire.gemini_prompts import number_of, read_prompt
from tests.wire.gemini_server import GeminiServer
from tests.wire.openai_calls import OpenAICall
from tests.wire.openai_faults import FAULTS
from tests.wire.openai_server import ChatReply, OpenAIServer
from tests.wire.scripted_models import answer as answer_of
from tests.wire.scripted_models import citing, claim

pytestmark = pytest.mark.costly

SMOKE = ("An untrimmed wick smokes.", "An untrimmed wick smokes, and the soot darkens")
TRIM = ("Every four hours the keeper trims the wick.", "The keeper trims the wick of the lamp")
SOOT = ("The soot darkens the prisms.", "An untrimmed wick smokes, and the soot darkens")
GERMAN = "Der Docht der Lampe wird alle vier Stunden vom W\u00e4rter gek\u00fcrzt."
IN_GERMAN = "Wie oft beschneidet der W\u00e4rter den Docht der Lampe in der Nacht?"
WICK = "The keeper trims the wick of the lamp every four hours."
_CLAIM = re.compile(r"^Claim(?: \d+)? \(\w+\): ", re.MULTILINE)
PATIENT = {"judge_wait": "20", "api_key": "test-key"}


@dataclass
class Judging:
    """Says how likely claims hold, and that an answer answers; other calls are refused."""

    claims: float = 0.95
    answers: float = 0.9
    tells_odds: bool = True
    asked: list[str] = field(default_factory=list)

    def __call__(self, call: OpenAICall) -> ChatReply:
        claims = len(_CLAIM.findall(call.text))
        yes = self.claims if claims else self.answers
        self.asked += ["claim"] * claims or ["answer"]
        if call.form != "text":
            return ChatReply(json.dumps({"grades": [round(10 * yes)] * max(claims, 1)}))
        odds = {"yes": math.log(yes), "no": math.log(1 - yes)}
        word = "yes" if yes >= 0.5 else "no"
        if claims < 2:
            return ChatReply(word, logprobs=(odds,) * self.tells_odds)
        line = "\n".join(f"{n} {word}" for n in range(1, claims + 1))
        several: list[dict[str, float]] = []
        for n in range(1, claims + 1):
            several += [{str(n): -0.01}, odds, {"\n": -0.01}]
        return ChatReply(line, logprobs=tuple(several) * self.tells_odds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judged")


@pytest.fixture
def judging() -> Judging:
    return Judging()


@pytest.fixture
async def judge(judging: Judging) -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        server.answer_with(judging)
        yield server


@dataclass(frozen=True)
class Places:
    """Where houses of this module stand."""

    folder: Path
    models: Path
    judge: OpenAIServer

    @asynccontextmanager
    async def house(
        self, *said: tuple[str, str], budget: Mapping[str, int] | None = None, **judge: str
    ) -> AsyncIterator[House]:
        """Open a house whose writer says this, and whose judge's table has these fields."""
        table = {"kind": "openai", "model": "local-model", "base_url": self.judge.url}
        named = {**table, **PATIENT, **judge}
        async with GeminiServer() as server:
            server.answer_with(citing(*said))
            async with open_house(
                self.folder, self.models, server, LIGHTHOUSE, budget=budget, judge=named
            ) as house:
                yield house


@pytest.fixture
def places(folder: Path, models: Path, judge: OpenAIServer) -> Places:
    return Places(folder, models, judge)


@pytest.mark.costly
async def test_an_answer_that_a_model_judged_says_nothing_of_words(
    places: Places, judging: Judging
) -> None:
    async with places.house(TRIM, SMOKE) as house:
        answer = await house.agent.answer(asking(COVERED))
    assert (answer.outcome, answer.notices) == (Outcome.ANSWERED, ())
    assert judging.asked == ["claim", "claim", "answer"]


async def test_the_judge_is_told_the_question_and_the_answer_without_its_numbers(
    places: Places, judge: OpenAIServer
) -> None:
    async with places.house(TRIM) as house:
        await house.agent.answer(asking(COVERED))
    told = judge.requests[-1].text
    assert f": {COVERED}\n" in told
    assert f"Answer: {TRIM[0]}\n" in told


@pytest.mark.costly
async def test_a_follow_up_is_judged_with_the_question_that_it_leans_on(
    places: Places, judge: OpenAIServer
) -> None:
    session = uuid4()
    async with places.house(TRIM) as house:
        await house.agent.answer(asking(COVERED, session_id=session))
        await house.agent.answer(asking("And why does he do it?", session_id=session))
    told = judge.requests[-1].text
    assert ": And why does he do it?\n" in told
    assert f"Student: {COVERED}\n" in told


@pytest.mark.costly
@pytest.mark.parametrize("tells_odds", [True, False], ids=["log-probabilities", "grade"])
async def test_what_answers_another_question_is_told_as_the_closest(
    places: Places, judging: Judging, tells_odds: bool
) -> None:
    judging.answers, judging.tells_odds = 0.2, tells_odds
    async with places.house(TRIM, SMOKE) as house:
        answer = await house.agent.answer(asking(COVERED))
    assert answer.outcome is Outcome.PARTIAL
    assert answer.notices == (i18n.text("notice-near"),)
    assert answer.confidence <= 0.2 + 1e-6
    assert TRIM[0] in answer.response_text


@pytest.mark.costly
async def test_how_sure_an_answer_is_has_the_judges_word_in_it(
    places: Places, judging: Judging
) -> None:
    found = list[float]()
    for judging.answers in (0.9, 0.55):
        async with places.house(TRIM) as house:
            found.append((await house.agent.answer(asking(COVERED))).confidence)
    assert found[1] < found[0]
    assert found[1] <= 0.55 + 1e-6


@pytest.mark.costly
async def test_the_marks_are_those_of_the_judges_table(places: Places, judging: Judging) -> None:
    judging.claims, judging.answers = 0.8, 0.6
    async with places.house(TRIM) as house:
        assert (await house.agent.answer(asking(COVERED))).outcome is Outcome.ANSWERED
    async with places.house(TRIM, relevance_mark="0.7") as house:
        assert (await house.agent.answer(asking(COVERED))).outcome is Outcome.PARTIAL
    async with places.house(TRIM, judge_mark="0.9") as house:
        assert (await house.agent.answer(asking(COVERED))).model_name == EXTRACTIVE


async def test_passages_are_judged_where_no_model_writes(places: Places, judging: Judging) -> None:
    judging.answers = 0.2
    async with places.house() as house:
        answer = await house.services.agent(EXTRACTIVE).answer(asking(COVERED))
    assert (answer.outcome, answer.model_name) == (Outcome.PARTIAL, EXTRACTIVE)
    assert answer.confidence <= 0.2 + 1e-6
    assert judging.asked == ["answer"]
    assert answer.tokens_used > 0


async def test_passages_instead_of_claims_that_did_not_hold_are_judged(
    places: Places, judging: Judging
) -> None:
    judging.claims = 0.1
    async with places.house(TRIM) as house:
        answer = await house.agent.answer(asking(COVERED))
    assert answer.model_name == EXTRACTIVE
    assert judging.asked == ["claim", "claim", "answer"]  # the writer said it once more


async def test_passages_instead_of_a_model_that_failed_are_shown_unjudged(
    places: Places, judging: Judging
) -> None:
    async with places.house() as house:
        house.server.fail(UNAVAILABLE, math.inf)
        answer = await house.agent.answer(asking(COVERED))
    assert (answer.model_name, judging.asked) == (EXTRACTIVE, [])
    assert i18n.text("notice-model-failed") in answer.notices


async def test_passages_are_not_judged_once_the_budget_is_spent(
    places: Places, judging: Judging
) -> None:
    async with places.house(budget={"user_tokens": 1}) as house:
        agent = house.services.agent(EXTRACTIVE)
        asked = [asking(COVERED, user_id="reader-2") for _ in range(2)]
        first, second = [await agent.answer(one) for one in asked]
    assert judging.asked == ["answer"]
    assert (second.outcome, second.notices) == (first.outcome, ())


@pytest.mark.costly
async def test_what_a_late_judge_does_not_read_is_shown_as_not_sure(
    places: Places, judge: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    judge.fail(FAULTS["stall without headers"], times=99)
    async with places.house(TRIM, SMOKE, SOOT, judge_wait="0.2") as house:
        answer = await house.agent.answer(asking(COVERED))
        assert any("gave no verdict" in record.message for record in caplog.records)
    assert (answer.claims_written, answer.claims_unjudged) == (3, 3)
    assert answer.notices == (i18n.text("notice-unjudged", count=3),)


# --- a judge that is the writer itself ------------------------------------------------------


@dataclass
class Both:
    """One server that writes and judges, and takes one call at a time."""

    judging: Judging
    calls: list[str] = field(default_factory=list)

    def __call__(self, call: OpenAICall) -> ChatReply:
        if call.limit == 1:
            self.calls.append("judges")
            return self.judging(call)
        self.calls.append("writes")
        contents = [{"role": "user", "parts": [{"text": call.messages[-1]["content"]}]}]
        prompt = read_prompt(
            GeminiCall("generateContent", "local-model", "v1", {"contents": contents})
        )
        said = [claim(text, number_of(prompt, words)) for text, words in (TRIM, SMOKE)]
        return ChatReply(answer_of(*said))


async def answer_of_one_model(
    folder: Path, server: OpenAIServer, table: Mapping[str, str]
) -> AgentResponse:
    settings = Settings(
        _env_file=None,
        data_dir=folder / "data",
        config=folder / "glossator.toml",
        generator=JUDGE,
        judge=JUDGE,
        models={JUDGE: secrets({"kind": "openai", "base_url": server.url, **table})},
    )
    async with open_services(settings) as services:
        return await services.agent().answer(asking(COVERED))


@pytest.mark.parametrize("stream", ["true", "false"])
async def test_a_model_that_takes_one_call_at_a_time_judges_once_it_has_written(
    folder: Path, models: Path, judging: Judging, stream: str
) -> None:
    both = Both(judging)
    async with GeminiServer() as gemini, open_house(folder, models, gemini, LIGHTHOUSE):
        pass  # ingested
    async with OpenAIServer() as server:
        server.answer_with(both)
        table = {"model": "local-model", "concurrency": "1", "stream": stream, **PATIENT}
        answer = await answer_of_one_model(folder, server, table)
    assert both.calls == ["writes", "judges", "judges", "judges"]
    assert (answer.outcome, answer.notices) == (Outcome.ANSWERED, ())
    assert (answer.claims_written, answer.claims_dropped) == (2, 0)
