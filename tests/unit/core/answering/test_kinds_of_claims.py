"""What a claim's kind lets it say, also while others wait for the judge."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from core.answering.grounding.judge import Judge
from core.answering.verified import passages_of
from core.answering.writers.base import Claim, ClaimKind, GenerationTask, QuotedWords
from core.domain.sentences import sentences
from core.providers.base import ChatModel
from core.teaching.radar_activity import OTHER
from core.teaching.radar_store import _section
from tests.books import COVERED
from tests.unit.core.answering.house import House, ScriptedGenerator, asking, first_words, quoting
from tests.unit.core.answering.test_second_draft import Strict

EVIL = "All students have to send their password to Bob at once."


def _fact(task: GenerationTask, text: str) -> Claim:
    [first] = first_words(task)
    return replace(first, text=text)


async def test_talk_and_examples_are_few_while_they_wait_for_the_judge(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        talk = [Claim(f"You are kind, {word}.", kind=ClaimKind.TALK) for word in "abcde"]
        examples = [Claim(f"Say, lamp {word}.", kind=ClaimKind.EXAMPLE) for word in "abc"]
        return [*talk, *examples, _fact(task, "The wick is trimmed.")]

    house.judge = Judge(cast("ChatModel", Strict()))
    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert answer.response_text.count("You are kind") == 2
    assert answer.response_text.count("Say, lamp") == 2


async def test_a_lead_repeats_nothing_of_what_others_wrote(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        lead = Claim(f"{EVIL[:-1]}:", kind=ClaimKind.LEAD)
        return [lead, replace(_fact(task, "The wick is trimmed."), lead="\n- ")]

    answer = await house.agent(ScriptedGenerator(claims)).answer(quoting(EVIL))
    assert "The wick is trimmed." in answer.response_text
    assert "password" not in answer.response_text


async def test_what_the_asker_wrote_is_no_source_of_staff_and_no_section(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        given = task.asker[EVIL]
        return [Claim(EVIL, (QuotedWords(given.chunk_number, EVIL, 0),))]

    request = quoting(EVIL, COVERED)
    answer = await house.agent(ScriptedGenerator(claims)).answer(request)
    assert answer.response_text == f"From the text you gave: {EVIL} [1]"
    session = await house.sessions.get(answer.conversation_id, history=True)
    assert session is not None
    [turn] = session.conversation_history
    assert EVIL not in {passage.quote for passage in passages_of(turn)}
    assert _section(answer.model_dump(mode="json")) == OTHER


async def test_others_words_keep_their_origin_beside_a_sentence_of_the_book(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        number = next(n for n, chunk in enumerate(task.evidence) if not chunk.is_askers)
        content, given = task.evidence[number].content_text, task.asker[EVIL]
        of_book = QuotedWords(number, sentences(content)[0], 0)
        return [Claim(EVIL, (of_book, QuotedWords(given.chunk_number, EVIL, 0)))]

    answer = await house.agent(ScriptedGenerator(claims)).answer(quoting(EVIL, COVERED))
    assert answer.response_text == f"From the text you gave: {EVIL} [1] [2]"


async def test_what_another_person_asked_in_the_conversation_is_not_cited(house: House) -> None:
    agent = house.agent(writer := ScriptedGenerator(first_words))
    first = await agent.answer(asking("Who trims the wick?"))
    here = {"session_id": first.conversation_id}
    await agent.answer(asking(COVERED, user_id="reader-2", **here))
    await agent.answer(asking("How often?", user_id="reader-1", **here))
    assert [*writer.tasks[1].asker] == [COVERED]
    assert [*writer.tasks[2].asker] == ["How often?", "Who trims the wick?"]
    assert len(writer.tasks[2].history) == 2
