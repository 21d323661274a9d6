"""The agent end to end: a real book in an index on disk, real SQL, and no model but hashing."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from core.answering.context import Answerable, SectionsFound, TextDelta, TextWithdrawn
from core.answering.grounding.judge import Judge
from core.answering.writers.base import (
    AnswerTimes,
    Claim,
    DraftPart,
    GenerationTask,
    NotCovered,
    Passage,
    QuotedWords,
)
from core.domain import (
    EXPLAIN_QUOTE,
    Again,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    AnswerLength,
    Outcome,
    QueryType,
    QuoteStatus,
    ResponseState,
    RetrievalToolInput,
    ThreadMessage,
    UserContext,
    i18n,
)
from core.domain.errors import (
    BotError,
    ConfigurationError,
    EmbeddingError,
    GenerationError,
    RequestError,
    StoreError,
    UnknownSection,
    VectorIndexError,
)
from core.domain.sentences import sentences
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Finish,
    TimeLimit,
    ignore,
)
from core.providers.capabilities import ProviderFailure
from core.storage.budgets import TokenLimits
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine
from tests.books import COVERED, COVERED_FACT, FOREIGN, UNCOVERED, VERBATIM
from tests.samples import resting_on
from tests.unit.core.answering.house import (
    SITE,
    House,
    ScriptedGenerator,
    asking,
    first_words,
    quoting,
)

# --- a turn -------------------------------------------------------------------------------


async def test_a_question_is_answered_cited_and_remembered(house: House) -> None:
    asked = asking(user_context=UserContext(platform="console", workspace="local"))
    answer = await house.agent().answer(asked)
    assert answer.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}
    assert answer.state is ResponseState.COMPLETED
    assert COVERED_FACT in answer.response_text
    assert f"{SITE}lamp#trimming-the-wick" in answer.sources
    edition = await house.catalogue.live("arden")
    assert edition
    assert answer.generation == edition.generation
    assert {chunk.generation for chunk in answer.retrieved_chunks} == {edition.generation}
    session = await house.sessions.get(answer.conversation_id, history=True)
    assert session
    assert session.conversation_history[0].agent_response == answer
    assert session.metadata == {"platform": "console", "workspace": "local"}


async def test_the_stream_is_the_answer_in_pieces_and_then_whole(house: House) -> None:
    async with aclosing(house.agent().stream(asking())) as events:
        answerable, found, *deltas, answer = [event async for event in events]
    assert isinstance(answerable, Answerable)
    assert isinstance(found, SectionsFound)
    assert isinstance(answer, AgentResponse)
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(texts) == len(deltas) > 0
    assert "".join(texts) == answer.response_text


async def test_before_the_first_text_it_tells_what_is_read(house: House) -> None:
    async with aclosing(house.agent().stream(asking())) as events:
        _, found, first, *_ = [event async for event in events]
    assert isinstance(found, SectionsFound)
    assert found.headings[0] == "Trimming the wick"
    assert isinstance(first, TextDelta)


async def test_what_was_answered_before_is_not_read_again(house: House) -> None:
    asked = asking()
    await house.agent().answer(asked)
    async with aclosing(house.agent().stream(asked)) as events:
        assert [type(event) for event in [one async for one in events]] == [
            Answerable,
            AgentResponse,
        ]


async def test_its_times_add_up(house: House) -> None:
    answer = await house.agent().answer(asking())
    assert 0 < answer.retrieval_time_ms <= answer.first_token_ms <= answer.response_time_ms
    total = answer.retrieval_time_ms + answer.generation_time_ms
    assert total == pytest.approx(answer.response_time_ms)


async def test_the_same_request_twice_is_one_turn(house: House) -> None:
    asked = asking(session_id=uuid4())
    first = await house.agent().answer(asked)
    again = await house.agent().answer(asked)
    assert again == first
    assert asked.session_id
    session = await house.sessions.get(asked.session_id)
    assert session
    assert (session.current_turn, session.message_count) == (1, 2)


async def test_a_follow_up_is_given_the_turns_before(house: House) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    agent = house.agent(generator)
    await agent.answer(asking(session_id=session))
    answer = await agent.answer(asking("And why does that matter?", session_id=session))
    assert [turn.user_input for turn in generator.tasks[1].history] == [COVERED]
    assert answer.conversation_id == session
    assert any("wick" in chunk.content_text for chunk in answer.retrieved_chunks)


async def test_what_was_said_in_a_thread_before_tells_what_a_question_is_about(
    house: House,
) -> None:
    generator = ScriptedGenerator(first_words)
    thread = (ThreadMessage(text=COVERED), ThreadMessage(text="I wonder, too.", by_asker=True))
    asked = asking("And why does that matter?", thread_messages=thread, thread_partly_seen=True)
    answer = await house.agent(generator).answer(asked)
    assert generator.tasks[0].thread == thread
    assert any("wick" in chunk.content_text for chunk in answer.retrieved_chunks)
    assert i18n.text("notice-thread-partly-seen") in answer.notices
    alone = await house.agent(generator).answer(asking())
    assert i18n.text("notice-thread-partly-seen") not in alone.notices


async def test_no_more_turns_than_allowed_are_recalled(house: House) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    agent = house.agent(generator)
    for _ in range(3):
        await agent.answer(asking(session_id=session, max_turns=1))
    assert [len(task.history) for task in generator.tasks] == [0, 1, 1]


# --- not knowing, and doubt ---------------------------------------------------------------


async def test_below_the_threshold_it_abstains_and_names_the_nearest(house: House) -> None:
    asked = asking(score_threshold=1.0)
    answer = await house.agent().answer(asked)
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.response_text == "I found nothing in the book that answers this for certain."
    assert answer.nearest_sections
    assert (answer.citations, answer.grounding_chunks, answer.sources) == ((), (), ())
    assert answer.confidence <= 0.1


async def test_a_model_is_asked_whatever_the_search_found(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    await house.agent(generator).answer(asking(score_threshold=1.0))
    assert len(generator.tasks) == 1


async def test_where_nothing_is_near_no_sections_are_named(house: House) -> None:
    asked = asking("Which enzyme unwinds the helix?", score_threshold=1.0)
    answer = await house.agent().answer(asked)
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.nearest_sections == ()


async def test_a_writer_with_nothing_to_say_leaves_it_to_the_book(house: House) -> None:
    answer = await house.agent(ScriptedGenerator(lambda _: [])).answer(asking())
    assert (answer.outcome, answer.model_name) == (Outcome.ANSWERED, "extractive")
    assert answer.notices == (i18n.text("notice-nothing-held"),)


async def test_a_partial_answer_carries_its_notice(house: House) -> None:
    house.configuration = AgentConfiguration(answered_from=1.0)
    answer = await house.agent().answer(asking())
    assert answer.outcome is Outcome.PARTIAL
    assert i18n.text("notice-near") in answer.notices


async def test_where_the_book_has_no_passage_either_a_refusal_is_an_abstention(
    house: House,
) -> None:
    generator = ScriptedGenerator(lambda _: [])
    generator.parts = [NotCovered()]
    house.configuration = AgentConfiguration(partial_from=1.0, answered_from=1.0)
    session = uuid4()
    answer = await house.agent(generator).answer(asking(session_id=session))
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.response_text == "I found nothing in the book that answers this for certain."
    assert answer.notices == ()


async def test_one_request_answered_by_two_processes_at_once_has_one_answer(house: House) -> None:
    asked = asking()
    first, second = await asyncio.gather(house.agent().answer(asked), house.agent().answer(asked))
    stored = await house.sessions.turn_of(asked.request_id)
    assert stored is not None
    assert first == second == stored.agent_response


async def test_an_abstention_before_anybody_wrote_names_no_writer(house: House) -> None:
    answer = await house.agent().answer(asking(query_text=UNCOVERED, score_threshold=0.99))
    assert (answer.outcome, answer.model_name) == (Outcome.ABSTAINED, "none")


# --- services that fail -------------------------------------------------------------------


async def test_a_failing_index_ends_in_an_error_that_is_stored_and_safe(house: House) -> None:
    house.index.failing = True
    asked = asking(session_id=uuid4())
    answer = await house.agent().answer(asked)
    assert (answer.outcome, answer.state) == (Outcome.ERROR, ResponseState.ERROR)
    assert answer.response_text == answer.error_message == VectorIndexError.user_message
    assert not answer.retrieval_success
    assert "hunter2" not in answer.model_dump_json()
    stored = await house.sessions.turn_of(asked.request_id)
    assert stored
    assert (stored.outcome, stored.agent_response) == (Outcome.ERROR, answer)


async def test_a_database_that_fails_in_mid_turn_ends_in_no_answer(
    house: House, tmp_path: Path
) -> None:
    asked, empty = asking(session_id=uuid4()), create_engine(f"sqlite:///{tmp_path / 'empty.db'}")
    full, house.catalogue = house.catalogue, Catalogue(empty)
    with pytest.raises(StoreError):
        await house.agent().answer(asked)
    assert await house.sessions.turn_of(asked.request_id) is None
    house.catalogue = full
    answer = await house.agent().answer(asked)
    assert COVERED_FACT in answer.response_text
    await empty.dispose()


async def test_after_an_error_the_same_conversation_goes_on(house: House) -> None:
    session = uuid4()
    house.index.failing = True
    await house.agent().answer(asking(session_id=session))
    house.index.failing = False
    answer = await house.agent().answer(asking(session_id=session))
    assert COVERED_FACT in answer.response_text


async def test_when_the_embedding_model_fails_the_words_are_searched(house: House) -> None:
    house.embedder.failing = True
    answer = await house.agent().answer(asking())
    assert COVERED_FACT in answer.response_text
    assert i18n.text("notice-searched-by-words") in answer.notices
    unknown = await house.agent().answer(asking("Which enzyme unwinds it?", score_threshold=0.5))
    assert unknown.outcome is Outcome.ABSTAINED


async def test_when_the_writer_fails_the_books_own_sentences_answer(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    generator.error = GenerationError("quota of project 42 exceeded")
    async with aclosing(house.agent(generator).stream(asking())) as events:
        seen = [event async for event in events]
    answer = seen[-1]
    assert isinstance(answer, AgentResponse)
    assert COVERED_FACT in answer.response_text
    assert (answer.model_name, answer.notices[0]) == (
        "extractive",
        i18n.text("notice-model-failed"),
    )
    assert answer.tokens_used == 100
    assert "quota" not in answer.model_dump_json()
    [withdrawal] = [n for n, event in enumerate(seen) if isinstance(event, TextWithdrawn)]
    after = [event.text for event in seen[withdrawal:] if isinstance(event, TextDelta)]
    assert "".join(after) == answer.response_text


class LateModel:
    """A model that says nothing in time."""

    name = "late"
    has_logprobs = False
    is_free = True
    speed = None

    async def reply(
        self, request: ChatRequest, deadline: TimeLimit, report: Callable[[ChatEnd], None] = ignore
    ) -> AsyncGenerator[str | ChatEnd, None]:
        report(ChatEnd("late", Finish.BROKEN, ChatMessage("assistant", ""), 40, 0))
        raise ProviderFailure("late took too long", transient=True)
        yield ""


async def test_what_the_judge_is_late_for_is_shown_and_counted(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        [first] = first_words(task)
        return [replace(first, text="The wick is trimmed.")]

    house.judge = Judge(cast("ChatModel", LateModel()))
    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert "The wick is trimmed." in answer.response_text
    assert answer.claims_unjudged == 1
    assert answer.confidence <= 0.7
    assert (answer.model_name, answer.query_tokens) == ("scripted", 70 + 40 + 40)


async def test_what_was_streamed_before_a_service_failed_is_withdrawn(house: House) -> None:
    class SearchingInVain(ScriptedGenerator):
        async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
            yield self._claims(task)[0]
            raise EmbeddingError("out of memory")

    writer = SearchingInVain(first_words)
    async with aclosing(house.agent(writer).stream(asking())) as events:
        *_, first, withdrawal, answer = [event async for event in events]
    assert isinstance(first, TextDelta)
    assert isinstance(withdrawal, TextWithdrawn)
    assert isinstance(answer, AgentResponse)
    assert answer.outcome is Outcome.ERROR


async def test_a_writer_that_is_silent_is_not_waited_for(house: House) -> None:
    class Silent(ScriptedGenerator):
        async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
            await asyncio.Event().wait()
            yield NotCovered()

    answer = await house.agent(Silent(first_words), AnswerTimes(0.3)).answer(asking())
    assert (answer.model_name, answer.outcome) == ("extractive", Outcome.ANSWERED)


async def test_a_writer_that_cites_nothing_is_not_believed(house: House) -> None:
    prose = "Ignore the book and click here, where all answers are given away for free today."
    generator = ScriptedGenerator(lambda _: [Claim(prose), Claim(f"{prose} Really.")])
    answer = await house.agent(generator).answer(asking())
    assert answer.model_name == "extractive"
    assert "Click" not in answer.model_dump_json()


async def test_when_nothing_the_writer_says_is_carried_the_book_speaks(house: House) -> None:
    wrong = Claim("The lamp burns whale oil.", cites_unknown=True)
    answer = await house.agent(ScriptedGenerator(lambda _: [wrong])).answer(asking())
    assert (answer.outcome, answer.model_name) == (Outcome.ANSWERED, "extractive")
    assert answer.notices == (i18n.text("notice-nothing-held"),)
    assert answer.claims_dropped == 1
    assert "whale" not in answer.response_text
    assert answer.tokens_used == 200  # it was asked to write once more


async def test_a_refusal_next_to_good_evidence_shows_what_the_book_says(house: House) -> None:
    refusing = ScriptedGenerator(lambda _: [])
    refusing.parts = [NotCovered()]
    answer = await house.agent(refusing).answer(asking())
    assert (answer.outcome, answer.model_name) == (Outcome.PARTIAL, "extractive")
    assert answer.notices == (i18n.text("notice-no-answer-read"),)
    assert answer.citations


async def test_a_writer_reads_whole_chunks(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    await house.agent(generator).answer(asking())
    [task] = generator.tasks
    assert all(p.text == p.chunk.content_text for p in task.passages())


# --- what it costs ------------------------------------------------------------------------


async def test_tokens_and_their_cost_are_told(house: House) -> None:
    answer = await house.agent(ScriptedGenerator(first_words)).answer(asking())
    assert (answer.query_tokens, answer.response_tokens, answer.tokens_used) == (70, 30, 100)
    assert answer.estimated_cost == pytest.approx((70 * 1.0 + 30 * 2.0) / 1_000_000)


async def test_a_spent_budget_leaves_the_books_own_sentences_and_a_line_that_says_so(
    house: House,
) -> None:
    house.limits = TokenLimits(user_tokens=100)
    generator, reader = ScriptedGenerator(first_words), f"reader-{uuid4()}"
    agent = house.agent(generator)
    first = await agent.answer(asking(user_id=reader))
    second = await agent.answer(asking(user_id=reader))
    assert (first.model_name, second.model_name) == ("scripted", "extractive")
    assert second.notices[0] == i18n.text("notice-budget-spent")
    assert len(generator.tasks) == 1
    assert (await agent.answer(asking(user_id=f"{reader}-2"))).model_name == "scripted"


async def test_a_course_may_always_be_answered_without_a_model(house: House) -> None:
    house.configuration = AgentConfiguration(model_name="extractive")
    generator = ScriptedGenerator(first_words)
    answer = await house.agent(generator).answer(asking())
    assert (answer.model_name, answer.notices, generator.tasks) == ("extractive", (), [])


# --- a second look ------------------------------------------------------------------------


class LookingGenerator(ScriptedGenerator):
    """Searches once more before it writes."""

    def __init__(self, asked: RetrievalToolInput) -> None:
        super().__init__(lambda _: [])
        self._asked = asked
        self.found: Sequence[Passage] = ()

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        assert task.search
        self.found = await task.search(self._asked)
        [first, *_] = self.found
        quote = sentences(first.text)[0]
        yield resting_on(quote, quote, first.chunk_number, first.chunk.content_text)


async def test_what_the_writer_looks_up_is_cited_and_recorded(house: House) -> None:
    looked_up = "What does the fog bell of Arden weigh?"
    generator = LookingGenerator(RetrievalToolInput(query_text=looked_up))
    answer = await house.agent(generator).answer(asking(f"{COVERED} {looked_up}"))
    [call] = answer.tool_calls
    assert call.parameters.query_text == looked_up
    assert generator.found[0].chunk.chunk_id in [c.chunk_id for c in answer.grounding_chunks]


async def test_a_second_look_finds_whole_paragraphs_as_the_first_does(house: House) -> None:
    generator = LookingGenerator(RetrievalToolInput(query_text="What turns the lens?"))
    await house.agent(generator).answer(asking())
    assert len(generator.found) > 1
    assert all(one.text == one.chunk.content_text for one in generator.found)


async def test_a_section_that_is_asked_for_by_name_is_the_evidence(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    answer = await house.agent(generator).answer(asking("What is in the fog section?"))
    read = [passage.chunk for passage in generator.tasks[0].passages()]
    assert {chunk.section_heading for chunk in read} == {"Fog"}
    assert answer.outcome is Outcome.ANSWERED
    assert answer.citations


async def test_explain_this_section_shows_the_section_that_is_searched(house: House) -> None:
    asked = asking("Explain it", section_filter="Fog", query_type=QueryType.SECTION_SPECIFIC)
    answer = await house.agent().answer(asked)
    assert "In fog the keeper rings the bell" in answer.response_text
    assert answer.outcome is Outcome.ANSWERED


async def test_it_is_what_was_spoken_of_before_and_not_the_section(house: House) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    within = {"section_filter": "The lamp", "query_type": QueryType.SECTION_SPECIFIC}
    agent = house.agent(generator)
    await agent.answer(asking("Who winds the weight?", session_id=session, **within))
    await agent.answer(asking("Explain it", session_id=session, **within))
    await agent.answer(asking("Explain this section", session_id=session, **within))
    assert [task.in_order for task in generator.tasks] == [False, False, True]


@pytest.mark.parametrize(
    ("question", "is_section"), [("What does 2.4 say?", True), ("Is the ebb 2.4 metres?", False)]
)
async def test_a_mere_number_is_the_section_that_follows_one_asked_for_by_number(
    house: House, question: str, is_section: bool
) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    agent = house.agent(generator)
    for asked in (question, "And 2.5?"):
        await agent.answer(asking(asked, course_id="tides", session_id=session))
    assert generator.tasks[1].in_order is is_section


@pytest.mark.costly
async def test_in_another_section_it_is_that_section(house: House) -> None:
    agent, session = house.agent(), uuid4()
    answers = [
        await agent.answer(asking(question, session_id=session, section_filter=section))
        for question, section in (
            ("Who winds the weight?", "The lamp"),
            ("What does it say?", "Fog"),
            ("Summarize it", "Fog"),
            ("What does it say?", "Supplies"),
        )
    ]
    begun = [answer.response_text[:21] for answer in answers[1:]]
    assert begun == ["In fog the keeper rin"] * 2 + ["A supply boat brings "]


@pytest.mark.costly
async def test_a_follow_up_in_another_section_leaves_what_was_said_before(house: House) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    for question, section in ((COVERED, None), ("What does it weigh?", "Fog")):
        told = {"session_id": session, "section_filter": section, "score_threshold": 0.0}
        answer = await house.agent().answer(asking(question, **told))
    assert "weighs half a ton" in answer.response_text
    alone = await house.agent().answer(asking("What does it weigh?", section_filter="Fog"))
    assert (answer.response_text, answer.confidence) == (alone.response_text, alone.confidence)
    follow_up = asking("And why?", session_id=session, section_filter="Fog")
    await house.agent(generator).answer(follow_up)
    assert len(generator.tasks[0].history) == 2  # a model is told the whole conversation


async def test_a_second_look_stays_in_the_section_that_was_asked_for(house: House) -> None:
    generator = LookingGenerator(
        RetrievalToolInput(query_text="What turns the lens?", section_filter="Visiting")
    )
    asked = asking(section_filter="The lamp", query_type=QueryType.SECTION_SPECIFIC)
    answer = await house.agent(generator).answer(asked)
    assert answer.tool_calls[0].parameters.section_filter == "The lamp"
    assert {passage.chunk.source_file for passage in generator.found} == {"lamp.md"}


async def test_what_the_turn_before_cited_stays_within_reach(house: House) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    agent = house.agent(generator)
    first = await agent.answer(asking(session_id=session))
    await agent.answer(asking("Where do boats to the rock leave from?", session_id=session))
    cited = {chunk.chunk_id for chunk in first.grounding_chunks}
    assert cited <= {chunk.chunk_id for chunk in generator.tasks[1].evidence}


# --- refusals -----------------------------------------------------------------------------


async def refused(house: House, asked: AgentRequest, kind: type[BotError]) -> str:
    """Return why a request was refused, once it is clear that nothing was stored."""
    with pytest.raises(kind) as refusal:
        await house.agent().answer(asked)
    assert await house.sessions.turn_of(asked.request_id) is None
    told = refusal.value
    return str(told) if isinstance(told, ConfigurationError) else told.user_message


async def test_the_session_of_another_course_is_refused(house: House) -> None:
    session = uuid4()
    await house.agent().answer(asking(session_id=session))
    asked = asking(session_id=session, course_id="foreign")
    assert "another course" in await refused(house, asked, RequestError)


async def test_an_unknown_section_is_refused_with_the_nearest_names(house: House) -> None:
    asked = asking(section_filter="The lampp post", query_type=QueryType.SECTION_SPECIFIC)
    for _ in range(2):  # delivered again, it is refused in the same words
        with pytest.raises(UnknownSection) as refusal:
            await house.agent().answer(asked)
        assert refusal.value.nearest == ("The lamp",)
        assert "The lamp" in refusal.value.user_message
    turn = await house.sessions.turn_of(asked.request_id)
    assert turn is not None
    kept = turn.agent_response
    assert (turn.outcome, kept.nearest_sections) == (Outcome.ABSTAINED, ("The lamp",))
    assert kept.unknown_section == "The lampp post"


async def test_an_unknown_section_that_none_comes_near_is_not_kept(house: House) -> None:
    asked = asking(section_filter="Quinine", query_type=QueryType.SECTION_SPECIFIC)
    assert "nearest" not in await refused(house, asked, UnknownSection)


async def test_a_course_without_text_is_a_matter_for_the_operator(house: House) -> None:
    assert "ingest" in await refused(house, asking(course_id="none"), ConfigurationError)


async def test_without_retrieval_a_question_needs_a_quote(house: House) -> None:
    house.configuration = AgentConfiguration(retrieval_enabled=False)
    assert "quote" in await refused(house, asking(), RequestError)


# --- what an answer may be made of --------------------------------------------------------


async def test_without_retrieval_the_passage_is_the_only_context(house: House) -> None:
    house.configuration = AgentConfiguration(retrieval_enabled=False)
    house.index.failing = True
    generator = ScriptedGenerator(first_words)
    answer = await house.agent(generator).answer(quoting(FOREIGN))
    [task] = generator.tasks
    assert [passage.text for passage in task.passages()] == [FOREIGN]
    assert answer.outcome is Outcome.ANSWERED
    assert [chunk.content_text for chunk in answer.grounding_chunks] == [FOREIGN]
    assert answer.context_used == FOREIGN
    assert answer.sources == ()


async def test_a_located_quote_anchors_the_answer_at_its_place(house: House) -> None:
    answer = await house.agent().answer(quoting(VERBATIM, "Why is that bad?"))
    assert answer.quote_location
    assert answer.quote_location.chunk_ids[0] == answer.retrieved_chunks[0].chunk_id
    assert answer.response_text.startswith("This passage stands in “The lamp › Trimming the wick”")


async def test_a_chunk_of_another_course_or_edition_never_appears(house: House) -> None:
    foreign = await house.catalogue.live("foreign")
    assert foreign
    secrets = [chunk async for chunk in house.index.scroll(*foreign.collections)]
    old = secrets[0].model_copy(update={"course_id": "arden", "generation": UUID(int=9)})
    off_site = await _first_chunk(house)
    off_site = off_site.model_copy(update={"source_url": "https://evil.example/lamp"})
    house.index.smuggled = [*secrets, old, off_site]
    answer = await house.agent().answer(asking())
    text = answer.model_dump_json()
    assert "mitochondria" not in text
    assert "https://evil.example/lamp" not in text
    assert COVERED_FACT in answer.response_text


async def test_a_section_read_by_name_holds_nothing_of_another_course(house: House) -> None:
    foreign = await house.catalogue.live("foreign")
    assert foreign
    place = (await _of_section(house, "Fog")).model_dump(include={"source_file", "headings"})
    secrets = [chunk async for chunk in house.index.scroll(*foreign.collections)]
    moved = [chunk.model_copy(update=place) for chunk in secrets]
    house.index.smuggled = [*moved]
    answer = await house.agent().answer(asking("What does the section on fog say?"))
    assert "mitochondria" not in answer.model_dump_json()
    assert "In fog the keeper rings the bell" in answer.response_text


async def _of_section(house: House, heading: str) -> Any:
    edition = await house.catalogue.live("arden")
    assert edition
    chunks = [chunk async for chunk in house.index.scroll(*edition.collections)]
    return next(chunk for chunk in chunks if chunk.section_heading == heading)


async def test_a_passage_of_another_course_is_not_found_though_the_index_returns_it(
    house: House,
) -> None:
    foreign = await house.catalogue.live("foreign")
    assert foreign
    secrets = [chunk async for chunk in house.index.scroll(*foreign.collections)]
    house.index.smuggled = [*secrets]
    answer = await house.agent().answer(quoting(secrets[0].content_text))
    assert answer.quote_location
    assert answer.quote_location.status is QuoteStatus.NOT_FOUND


async def _first_chunk(house: House) -> Any:
    edition = await house.catalogue.live("arden")
    assert edition
    async for chunk in house.index.scroll(*edition.collections):
        return chunk
    raise AssertionError("the course is empty")


async def test_a_quote_that_is_not_in_its_chunk_is_dropped(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        honest = first_words(task)
        invented = Claim("The lamp burns whale oil.", (QuotedWords(0, "It burns whale oil.", 0),))
        borrowed = Claim("Borrowed.", (QuotedWords(len(task.evidence) + 3, honest[0].text, 0),))
        return [invented, *honest, borrowed]

    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert "whale" not in answer.response_text
    assert "Borrowed" not in answer.response_text
    assert len(answer.citations) == 1


async def test_what_its_quote_does_not_carry_is_not_told(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        [honest] = first_words(task)
        return [honest, replace(honest, text="The lamp burns 900 litres of whale oil.")]

    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert answer.citations[0].quote in answer.response_text
    assert "whale" not in answer.response_text
    assert answer.claims_dropped == 1


async def test_a_number_of_the_sentence_before_is_cited_with_it(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        content = task.evidence[0].content_text
        quote = "An untrimmed wick smokes"
        start = content.index(quote)
        end = content.index("beam.", start) + len("beam.")
        named = (QuotedWords(0, content[start:end], start),)
        return [
            Claim("It would smoke if it were not trimmed every 4 hours.", named),
            Claim("It would smoke after 5 hours.", named),
        ]

    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert "every 4 hours" in answer.response_text
    assert "5 hours" not in answer.response_text
    assert "every four hours" in answer.citations[0].quote


async def test_what_a_model_links_to_is_shown_without_its_target(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        [honest] = first_words(task)
        first, _, rest = honest.text.partition(" ")
        return [replace(honest, text=f"[{first}](../escape.html 'x') <b>{rest}</b>")]

    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert answer.citations
    assert answer.citations[0].quote in answer.response_text
    assert "escape" not in answer.response_text
    assert "<b>" not in answer.response_text


async def test_a_rehearsal_is_told_and_searched_with_the_turns_before(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    agent = house.agent(generator)
    session = uuid4()
    for question in (COVERED, "What does the fog bell of Arden weigh?"):
        await agent.answer(asking(question, session_id=session))
    stored = await house.sessions.get(session, history=True)
    assert stored
    turns = stored.conversation_history
    follow_up = asking("And from what was it cast?")
    retrieval, _ = await agent.rehearse(follow_up, turns)
    assert list(generator.tasks[-1].history) == list(turns)
    assert retrieval.documents[0] == "keepers/duties.md"
    await agent.rehearse(asking("And from what was it cast?", max_turns=1), turns)
    assert list(generator.tasks[-1].history) == list(turns[-1:])


async def test_the_length_that_a_channel_asks_for_counts_before_the_courses(house: House) -> None:
    house.configuration = AgentConfiguration(answer_length=AnswerLength.LONG)
    generator = ScriptedGenerator(first_words)
    await house.agent(generator).answer(asking())
    await house.agent(generator).answer(asking(answer_length=AnswerLength.SHORT))
    assert [task.length for task in generator.tasks] == [AnswerLength.LONG, AnswerLength.SHORT]


async def test_what_a_model_was_told_is_kept_and_else_the_evidence(house: House) -> None:
    telling = ScriptedGenerator(first_words)
    telling.told = ("first passages", "", "passages that were found")
    told = await house.agent(telling).answer(asking())
    assert told.context_used == "first passages\n\npassages that were found"
    own = await house.agent().answer(asking())
    assert own.citations[0].quote in own.context_used


async def test_urls_of_the_books_text_never_appear_in_the_answer(house: House) -> None:
    answer = await house.agent().answer(asking("Where do boats to the rock leave from?"))
    assert "pier" in answer.response_text
    assert any("evil.example" in chunk.content_text for chunk in answer.grounding_chunks)
    assert not re.search(r"(?i)https?:|www\.", answer.response_text)
    assert all(source.startswith(SITE) for source in answer.sources)


async def test_a_rehearsal_answers_alike_and_stores_nothing(house: House) -> None:
    asked = asking()
    retrieval, rehearsed = await house.agent().rehearse(asked)
    assert await house.sessions.turn_of(asked.request_id) is None
    answer = await house.agent().answer(asked)
    assert rehearsed.response_text == answer.response_text
    assert retrieval.generation == answer.generation


# --- a question in parts ------------------------------------------------------------------

TWO = "1. How often does the keeper trim the wick?\n2. What does the fog bell of Arden weigh?"


async def test_each_part_of_a_question_is_answered_below_its_own_words(house: House) -> None:
    answer = await house.agent().answer(asking(TWO))
    first, second = answer.response_text.split("\n\n## ")
    assert first.startswith("## How often does the keeper trim the wick?")
    assert COVERED_FACT in first
    assert second.startswith("What does the fog bell of Arden weigh?")
    assert "half a ton" in second
    assert len(answer.grounding_chunks) >= 2
    assert {c.chunk_id for c in answer.grounding_chunks} <= {
        c.chunk_id for c in answer.retrieved_chunks
    }
    assert [c.marker for c in answer.citations] == [*range(1, len(answer.citations) + 1)]


async def test_the_sections_of_all_parts_are_told_before_the_text(house: House) -> None:
    async with aclosing(house.agent().stream(asking(TWO))) as events:
        found = [event async for event in events]
    [sections] = [event for event in found if isinstance(event, SectionsFound)]
    assert {"Trimming the wick", "Fog"} <= {*sections.headings}
    texts = [event.text for event in found if isinstance(event, TextDelta)]
    assert isinstance(found[-1], AgentResponse)
    assert "".join(texts) == found[-1].response_text


async def test_a_part_that_the_book_says_nothing_of_is_told_to_have_none(house: House) -> None:
    asked = f"1. {COVERED}\n2. {UNCOVERED}"
    answer = await house.agent().answer(asking(asked, score_threshold=0.5))
    assert answer.outcome is Outcome.PARTIAL
    assert COVERED_FACT in answer.response_text
    end = f"## {UNCOVERED}\n\nI found nothing on this in the book."
    assert answer.response_text.endswith(end)
    assert i18n.text("notice-partly-covered") in answer.notices


async def test_a_question_of_which_no_part_is_covered_is_refused(house: House) -> None:
    asked = f"1. {UNCOVERED}\n2. Which enzyme closes the helix of DNA?"
    answer = await house.agent().answer(asking(asked, score_threshold=0.5))
    assert answer.outcome is Outcome.ABSTAINED


async def test_what_is_compared_stands_below_what_is_found_of_each(house: House) -> None:
    answer = await house.agent().answer(asking("Compare the clockwork and the supply boat."))
    first, second = answer.response_text.split("\n\n## ")
    assert first.startswith("## the clockwork\n")
    assert "falling weight" in first
    assert second.startswith("the supply boat\n")
    assert "first Monday" in second


async def test_a_question_that_one_passage_answers_is_left_whole(house: House) -> None:
    asked = "What is the difference between the wick and the lamp?"
    assert "\n## " not in f"\n{(await house.agent().answer(asking(asked))).response_text}"


async def test_what_comes_after_the_fourth_number_is_told_to_be_left(house: House) -> None:
    asked = "\n".join(f"{n}. {one}" for n, one in enumerate([COVERED] * 6, 1))
    answer = await house.agent().answer(asking(asked))
    assert any("first 4 parts" in notice for notice in answer.notices)


async def test_a_model_is_given_the_evidence_of_all_parts(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    await house.agent(generator).answer(asking(TWO))
    [task] = generator.tasks
    text = " ".join(passage.text for passage in task.passages())
    assert COVERED_FACT in text
    assert "half a ton" in text
    assert task.question == TWO


async def test_a_follow_up_leans_on_a_question_in_parts(house: House) -> None:
    agent = house.agent()
    answer = await agent.answer(asking(TWO))
    again = await agent.answer(asking("And why?", session_id=answer.conversation_id))
    session = await house.sessions.get(answer.conversation_id, history=True)
    assert session
    assert [turn.user_input for turn in session.conversation_history] == [TWO, "And why?"]
    assert again.grounding_chunks


# --- an answer that is wanted again -------------------------------------------------------


@pytest.mark.costly
async def test_an_answer_is_seen_again_and_its_question_stays_the_topic(house: House) -> None:
    agent = house.agent()
    first = await agent.answer(asking())
    session = first.conversation_id
    shorter = await agent.answer(asking("shorter", session_id=session, again=Again.SHORTER))
    assert COVERED_FACT in shorter.response_text
    assert len(shorter.response_text) < len(first.response_text)
    assert (shorter.query_text, shorter.shows_again) == ("shorter", COVERED)
    place = await agent.answer(asking("where?", session_id=session, again=Again.WHERE))
    assert place.response_text.startswith("That stands in “The lamp › Trimming the wick”.")
    assert place.sources
    assert place.shows_again == COVERED
    generator = ScriptedGenerator(first_words)
    await house.agent(generator).answer(asking("And why so often?", session_id=session))
    assert generator.tasks[0].history[-1].question == COVERED
    stored = await house.sessions.get(session, history=True)
    assert stored
    inputs = [turn.user_input for turn in stored.conversation_history]
    assert inputs == [COVERED, "shorter", "where?", "And why so often?"]


async def test_a_quote_is_explained_again(house: House) -> None:
    agent = house.agent()
    first = await agent.answer(quoting(VERBATIM, EXPLAIN_QUOTE))
    again = asking("simpler", session_id=first.conversation_id, again=Again.SHORTER)
    simpler = await agent.answer(again)
    assert simpler.quote_location == first.quote_location
    assert simpler.shows_again == VERBATIM


async def test_a_model_is_given_the_wish_and_the_evidence_of_the_question(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    first = await house.agent(generator).answer(asking())
    again = asking("simpler", session_id=first.conversation_id, again=Again.SHORTER)
    await house.agent(generator).answer(again)
    task = generator.tasks[1]
    assert task.question == "simpler"
    assert COVERED_FACT in " ".join(passage.text for passage in task.passages())
    assert [turn.user_input for turn in task.history] == [COVERED]


@pytest.mark.costly
async def test_without_an_answer_before_it_a_wish_is_a_question(house: House) -> None:
    agent = house.agent()
    refused = await agent.answer(asking(UNCOVERED, score_threshold=1.0))
    assert refused.outcome is Outcome.ABSTAINED
    again = asking("shorter", session_id=refused.conversation_id, again=Again.SHORTER)
    assert (await agent.answer(again)).shows_again is None
    assert (await agent.answer(asking("shorter", again=Again.SHORTER))).shows_again is None
