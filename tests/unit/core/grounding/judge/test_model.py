"""The judge that asks a model: log-probabilities, grades, and too late."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.errors import GenerationError
from core.grounding.judge.base import CitedClaim, JudgedBy
from core.grounding.judge.model import ModelJudge, ShortReply, yes_over_no

QUESTION = "What does a ceiling do?"
CLAIMS = [
    CitedClaim("A shortage occurs.", ("Then a shortage occurs.",), ("Ceilings",)),
    CitedClaim("Bakers burn villages.", ("Then a shortage occurs.",), ("Ceilings",)),
]


@dataclass
class Scripted:
    """A model that says yes to what mentions a shortage as its claim."""

    model: str = "local"
    tells_odds: bool = True
    grades: str = '{"grades": [9, 1]}'
    delay: float = 0.0
    error: GenerationError | None = None
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)

    async def complete(
        self, system: str, user: str, *, tokens: int, schema: Mapping[str, Any] | None = None
    ) -> ShortReply:
        self.asked.append((system, user, tokens))
        self.schemas.append(schema)
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        if schema is not None:
            return ShortReply(f"Here: {self.grades}", {})
        yes = 0.9 if "Claim: A shortage" in user or "Answer: Short" in user else 0.1
        odds = {"Yes": math.log(yes), " no": math.log(1 - yes)}
        return ShortReply("Yes", odds if self.tells_odds else {})


async def test_each_claim_is_one_call_of_one_word_with_the_same_beginning() -> None:
    model = Scripted()
    true, false = await ModelJudge(model).judge(QUESTION, CLAIMS)
    assert (true.probability, false.probability) == pytest.approx((0.9, 0.1))
    assert (true.holds, false.holds) == (True, False)
    assert true.by is false.by is JudgedBy.MODEL
    (system, user, tokens), (same_system, other, _) = model.asked
    assert (system, tokens) == (same_system, 1)
    assert user.split("Claim:")[0] == other.split("Claim:")[0]


async def test_the_mark_is_given() -> None:
    true, _ = await ModelJudge(Scripted(), mark=0.95).judge(QUESTION, CLAIMS)
    assert not true.holds


async def test_a_server_without_log_probabilities_grades_all_in_one_call() -> None:
    model = Scripted(tells_odds=False)
    judge = ModelJudge(model)
    true, false = await judge.judge(QUESTION, CLAIMS)
    assert (true.probability, false.probability) == (0.9, 0.1)
    assert [schema is not None for schema in model.schemas] == [False, False, True]
    await judge.judge(QUESTION, CLAIMS)
    assert len(model.asked) == 4  # it is not asked for log-probabilities again


@pytest.mark.parametrize(
    "model",
    [
        Scripted(delay=5.0),
        Scripted(error=GenerationError("it is down")),
        Scripted(tells_odds=False, grades='{"grades": [9]}'),
        Scripted(tells_odds=False, grades="I cannot."),
    ],
    ids=["late", "down", "too few grades", "no JSON"],
)
async def test_what_the_model_does_not_judge_the_words_do(model: Scripted) -> None:
    true, false = await ModelJudge(model, wait=0.05).judge(QUESTION, CLAIMS)
    assert true.by is false.by is JudgedBy.WORDS
    assert true.probability > false.probability


async def test_a_fact_checking_model_is_asked_as_it_was_trained() -> None:
    model = Scripted(model="bespoke-minicheck:7b")
    await ModelJudge(model).judge(QUESTION, CLAIMS[:1])
    system, user, _ = model.asked[0]
    assert system == ""
    assert user == "Document: Ceilings\nThen a shortage occurs.\nClaim: A shortage occurs."


async def test_an_answer_is_judged_by_whether_it_answers() -> None:
    judge = ModelJudge(Scripted())
    assert await judge.answers_question(QUESTION, "Short supply.") == pytest.approx(0.9)
    assert await judge.answers_question(QUESTION, "Bakers.") == pytest.approx(0.1)


async def test_that_an_answer_could_not_be_judged_is_not_guessed() -> None:
    late = ModelJudge(Scripted(delay=5.0), wait=0.05)
    assert await late.answers_question(QUESTION, "Short supply.") is None
    assert await ModelJudge(Scripted(tells_odds=False)).answers_question(QUESTION, "x") is None


def test_forms_of_one_word_add_up_and_others_do_not_count() -> None:
    first = {"Yes": math.log(0.3), " yes": math.log(0.3), "No": math.log(0.2), "The": -1.0}
    assert yes_over_no(first) == pytest.approx(0.75)
    assert yes_over_no({"Perhaps": -0.1}) == 0.5
