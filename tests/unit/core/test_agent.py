"""The agent end to end: a real book in an index on disk, real SQL, and no model but hashing."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from core.agent import Agent
from core.catalogue import Catalogue
from core.composition import TextDelta
from core.database import create_engine
from core.embeddings.base import Vectors
from core.errors import (
    ConfigurationError,
    EmbeddingError,
    GenerationError,
    RequestError,
    UnknownSection,
    VectorIndexError,
)
from core.generation.base import Claim, GenerationTask, Generator
from core.generation.extractive import ExtractiveGenerator
from core.grounding import wording
from core.index.base import Candidate, SearchQuery
from core.index.edge import EdgeIndex
from core.models import (
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    ContextMode,
    Course,
    Outcome,
    QueryType,
    ResponseState,
    UserContext,
)
from core.retrieval.retriever import Retriever
from core.sessions.store import SessionStore
from tests.books import COVERED, COVERED_FACT, FOREIGN, LIGHTHOUSE, VERBATIM
from tests.embedding import HashingEmbedder
from tests.library import open_library

SITE = "https://arden.example.org/book/"
LINKS = (
    "# Visiting\n\nBoats to the rock leave from the pier, see https://evil.example/boats?x=1 for "
    "the hours. Tickets are sold at www.evil.example/tickets and on the pier itself.\n"
)


class FailingIndex(EdgeIndex):
    """An index that can be told to fail, or to return what it should not."""

    failing = False
    smuggled: Sequence[Candidate] = ()

    async def search(self, collection: str, query: SearchQuery) -> list[Candidate]:
        if self.failing:
            raise VectorIndexError("connection to 10.1.2.3 refused, password hunter2")
        return [*self.smuggled, *await super().search(collection, query)]


class FailingEmbedder(HashingEmbedder):
    """A model that can be told to fail."""

    failing = False

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise EmbeddingError("out of memory")
        return await super().embed_queries(texts)


class ScriptedGenerator:
    """Writes the claims that it was given, and may fail behind them."""

    name = "scripted"

    def __init__(self, claims: Callable[[GenerationTask], Sequence[Claim]]) -> None:
        self._claims = claims
        self.error: GenerationError | None = None
        self.tasks: list[GenerationTask] = []

    async def generate(self, task: GenerationTask) -> AsyncGenerator[Claim, None]:
        self.tasks.append(task)
        for claim in self._claims(task):
            yield claim
        if self.error is not None:
            raise self.error


@dataclass
class House:
    """Two courses and all that answers from them."""

    catalogue: Catalogue
    index: FailingIndex
    embedder: FailingEmbedder
    sessions: SessionStore
    configuration: AgentConfiguration = field(default_factory=AgentConfiguration)

    def agent(self, generator: Generator | None = None) -> Agent:
        return Agent(
            retriever=Retriever(self.catalogue, self.index, self.embedder),
            generator=generator or ExtractiveGenerator(embedder=self.embedder),
            sessions=self.sessions,
            configuration=lambda _: self.configuration,
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the catalogue and the index of two courses."""
    folder = tmp_path_factory.mktemp("library")
    asyncio.run(_fill(folder))
    return folder


async def _fill(folder: Path) -> None:
    async with open_library(folder) as library:
        library.write({**LIGHTHOUSE, "visiting.md": LINKS}, "arden")
        library.write({"secret.md": f"# Secret\n\n{FOREIGN} {COVERED}\n"}, "foreign")
        for course_id in ("arden", "foreign"):
            course = Course(course_id=course_id, title=course_id, base_url=SITE)
            await library.ingest(course_id, course=course)


@pytest.fixture
async def house(folder: Path) -> AsyncIterator[House]:
    engine = create_engine(f"sqlite:///{folder / 'catalogue.db'}", synchronous="NORMAL")
    index = FailingIndex(folder / "index")
    yield House(Catalogue(engine), index, FailingEmbedder(), SessionStore(engine))
    await index.close()
    await engine.dispose()


def asking(question: str = COVERED, **changes: Any) -> AgentRequest:
    fields: dict[str, Any] = {
        "course_id": "arden",
        "query_text": question,
        "user_id": "reader-1",
        "score_threshold": 0.0,
        **changes,
    }
    return AgentRequest(**fields)


def quoting(passage: str, question: str = "What does this mean?", **changes: Any) -> AgentRequest:
    return asking(
        question, context_mode=ContextMode.SELECTED_TEXT, selected_text=passage, **changes
    )


def first_words(task: GenerationTask) -> Sequence[Claim]:
    """Claim the first words of the best chunk, word for word."""
    quote = task.evidence[0].content_text[:20].strip()
    return [Claim(f"{quote}.", 0, quote)]


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
        *deltas, answer = [event async for event in events]
    assert isinstance(answer, AgentResponse)
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(texts) == len(deltas) > 0
    assert "".join(texts) == answer.response_text


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


async def test_no_more_turns_than_allowed_are_recalled(house: House) -> None:
    generator, session = ScriptedGenerator(first_words), uuid4()
    agent = house.agent(generator)
    for _ in range(3):
        await agent.answer(asking(session_id=session, max_turns=1))
    assert [len(task.history) for task in generator.tasks] == [0, 1, 1]


# --- not knowing, and doubt ---------------------------------------------------------------


async def test_below_the_threshold_it_abstains_and_names_the_nearest(house: House) -> None:
    generator = ScriptedGenerator(first_words)
    asked = asking("Which enzyme unwinds the helix?", score_threshold=1.0)
    answer = await house.agent(generator).answer(asked)
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.response_text.startswith("The book doesn't cover this. The nearest sections are")
    assert (answer.citations, answer.grounding_chunks, answer.sources) == ((), (), ())
    assert generator.tasks == []
    assert answer.confidence <= 0.1


async def test_a_writer_with_nothing_to_say_makes_it_abstain(house: House) -> None:
    answer = await house.agent(ScriptedGenerator(lambda _: [])).answer(asking())
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.response_text


async def test_a_partial_answer_carries_its_notice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.agent.confidence_of", lambda _: 0.05)
    answer = await house.agent().answer(asking())
    assert (answer.outcome, answer.confidence) == (Outcome.PARTIAL, 0.05)
    assert wording.NOT_SURE in answer.notices


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


async def test_after_an_error_the_same_conversation_goes_on(house: House) -> None:
    session = uuid4()
    house.index.failing = True
    await house.agent().answer(asking(session_id=session))
    house.index.failing = False
    answer = await house.agent().answer(asking(session_id=session))
    assert COVERED_FACT in answer.response_text


async def test_a_failing_embedder_ends_in_an_error(house: House) -> None:
    house.embedder.failing = True
    answer = await house.agent().answer(asking())
    assert (answer.outcome, answer.retrieval_success) == (Outcome.ERROR, False)


async def test_a_writer_that_fails_ends_in_an_error_though_the_search_went_well(
    house: House,
) -> None:
    generator = ScriptedGenerator(first_words)
    generator.error = GenerationError("quota of project 42 exceeded")
    answer = await house.agent(generator).answer(asking())
    assert (answer.outcome, answer.retrieval_success) == (Outcome.ERROR, True)
    assert "quota" not in answer.model_dump_json()


# --- refusals -----------------------------------------------------------------------------


async def refused(house: House, asked: AgentRequest, kind: type[Exception]) -> str:
    """Return why a request was refused, once it is clear that nothing was stored."""
    with pytest.raises(kind) as refusal:
        await house.agent().answer(asked)
    assert await house.sessions.turn_of(asked.request_id) is None
    return str(getattr(refusal.value, "user_message", ""))


async def test_the_session_of_another_course_is_refused(house: House) -> None:
    session = uuid4()
    await house.agent().answer(asking(session_id=session))
    asked = asking(session_id=session, course_id="foreign")
    assert "another course" in await refused(house, asked, RequestError)


async def test_an_unknown_section_is_refused_with_the_nearest_names(house: House) -> None:
    asked = asking(section_filter="The lampp post", query_type=QueryType.SECTION_SPECIFIC)
    assert "The lamp" in await refused(house, asked, UnknownSection)


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
    assert [chunk.content_text for chunk in task.evidence] == [FOREIGN]
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
    secrets = [chunk async for chunk in house.index.scroll(foreign.collection)]
    old = secrets[0].model_copy(update={"course_id": "arden", "generation": UUID(int=9)})
    off_site = await _first_chunk(house)
    off_site = off_site.model_copy(update={"source_url": "https://evil.example/lamp"})
    house.index.smuggled = [Candidate(c, 1.0, 99.0) for c in (*secrets, old, off_site)]
    answer = await house.agent().answer(asking())
    text = answer.model_dump_json()
    assert "mitochondria" not in text
    assert "https://evil.example/lamp" not in text
    assert COVERED_FACT in answer.response_text


async def _first_chunk(house: House) -> Any:
    edition = await house.catalogue.live("arden")
    assert edition
    async for chunk in house.index.scroll(edition.collection):
        return chunk
    raise AssertionError("the course is empty")


async def test_a_quote_that_is_not_in_its_chunk_is_dropped(house: House) -> None:
    def claims(task: GenerationTask) -> Sequence[Claim]:
        honest = first_words(task)
        invented = Claim("The lamp burns whale oil.", 0, "burns whale oil")
        borrowed = replace(honest[0], text="Borrowed.", chunk_number=len(task.evidence) + 3)
        return [invented, *honest, borrowed]

    answer = await house.agent(ScriptedGenerator(claims)).answer(asking())
    assert "whale" not in answer.response_text
    assert "Borrowed" not in answer.response_text
    assert len(answer.citations) == 1


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
