"""What may answer before the book is searched, and what it may ask of the answer."""

from dataclasses import dataclass, field

from core.answering.context import AnswerContext
from core.domain import AgentResponse, Outcome
from tests.books import COVERED_FACT
from tests.unit.core.answering.house import House, ScriptedGenerator, asking, first_words

SAID = "The exam is on Friday."


@dataclass
class Answering:
    """Answers at once."""

    seen: list[AnswerContext] = field(default_factory=list)

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        self.seen.append(context)
        return context.completed(Outcome.ABSTAINED, SAID, model_name="staff")


class Hinting:
    """Lets the writer answer, but not say what the wick is for."""

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        context.instructions.append("Give hints alone.")
        context.guards.append(lambda sentence: COVERED_FACT not in sentence)
        context.notices.append("Hints only.")
        return None


async def test_a_stage_that_answers_is_the_last_that_is_asked(house: House) -> None:
    generator, after = ScriptedGenerator(first_words), Answering()
    asked = asking()
    answer = await house.agent(generator, stages=[Answering(), after]).answer(asked)
    assert (answer.response_text, answer.model_name) == (SAID, "staff")
    assert not generator.tasks
    assert not after.seen
    session = await house.sessions.get(answer.conversation_id, history=True)
    assert session
    assert session.conversation_history[0].agent_response == answer


async def test_a_stage_may_say_how_the_answer_is_written(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    house.configuration = house.configuration.model_copy(update={"system_prompt": "Be kind."})
    answer = await house.agent(generator, stages=[Hinting()]).answer(asking())
    task = generator.tasks[0]
    assert task.system_prompt == "Be kind.\n\nGive hints alone."
    assert "Hints only." in answer.notices


async def test_what_a_guard_holds_back_is_shown_by_no_writer(house: House) -> None:
    open_answer = await house.agent().answer(asking())
    assert COVERED_FACT in open_answer.response_text
    for generator in (None, ScriptedGenerator(first_words)):
        answer = await house.agent(generator, stages=[Hinting()]).answer(asking())
        assert COVERED_FACT not in answer.response_text


async def test_a_stage_sees_what_was_said_before(house: House) -> None:
    stage = Answering()
    first = await house.agent().answer(asking())
    await house.agent(stages=[stage]).answer(asking("And why?", session_id=first.conversation_id))
    (context,) = stage.seen
    assert [turn.user_input for turn in context.turns] == [first.query_text]
