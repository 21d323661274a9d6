"""The session store keeps its promises on every database."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import AgentResponse, ConversationTurn, Outcome, session_id_for
from core.domain.errors import RequestError, StoreError
from core.storage.database import create_engine
from core.storage.sessions import FORGOTTEN_TEXT, FORGOTTEN_USER, Recollection, SessionStore
from tests.samples import EARLIER, request, response_to, tool_call

THREAD = session_id_for("slack", "T1", "C1", "1700.1")


@pytest.fixture
def store(engine: AsyncEngine) -> SessionStore:
    return SessionStore(engine)


async def asked(
    store: SessionStore,
    session_id: UUID,
    words: str = "What is a heap?",
    user_id: str = "reader-1",
    *,
    moment: datetime = EARLIER,
) -> ConversationTurn:
    question = request(query_text=words, user_id=user_id)
    answer = response_to(question, session_id)
    return await store.remember(question, answer, moment=moment)


async def asked_biology(
    store: SessionStore, session_id: UUID, user_id: str = "ann", moment: datetime = EARLIER
) -> None:
    """Let another course abstain."""
    question = request(course_id="biology", user_id=user_id)
    nothing: dict[str, Any] = dict.fromkeys(
        ("retrieved_chunks", "grounding_chunks", "citations", "sources"), ()
    )
    answer = response_to(question, session_id, outcome=Outcome.ABSTAINED, **nothing)
    await store.remember(question, answer, moment=moment)


async def recalled(
    store: SessionStore, session_id: UUID, limit: int = 50
) -> Sequence[ConversationTurn]:
    return (await store.recall(request(session_id=session_id), limit)).turns


class TestRemembering:
    async def test_the_first_turn_begins_its_session(self, store: SessionStore) -> None:
        question = request(user_id="ann")
        metadata = {"platform": "slack", "thread": "1700.1"}
        answer = response_to(question, THREAD)
        await store.remember(question, answer, metadata=metadata, moment=EARLIER)
        session = await store.get(THREAD)
        assert session is not None
        assert (session.current_turn, session.message_count) == (1, 2)
        assert session.created_at == session.last_activity == EARLIER
        assert (session.user_id, session.metadata) == ("ann", metadata)

    async def test_who_joins_a_session_does_not_take_it_over(self, store: SessionStore) -> None:
        await asked(store, THREAD, user_id="ann")
        await asked(store, THREAD, user_id="ben")
        session = await store.get(THREAD, history=True)
        assert session is not None
        assert session.user_id == "ann"
        assert [turn.user_id for turn in session.conversation_history] == ["ann", "ben"]

    async def test_replicas_that_begin_a_thread_at_once_share_its_session(
        self, database_url: str
    ) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        stores = [SessionStore(engine) for engine in engines]
        await asyncio.gather(
            *(asked(stores[n % 3], THREAD, user_id=f"reader-{n}") for n in range(12))
        )
        [session] = await stores[0].list_sessions()
        assert session.current_turn == 12
        for engine in engines:
            await engine.dispose()

    async def test_a_turn_comes_back_equal(self, store: SessionStore) -> None:
        question = request(
            query_text="Why is \x00 the “heap” – 堆 – so fast? 🌲",
            context_mode="selected_text",
            selected_text="A heap\n\tis \u2028 a tree.",
            section_filter="§ 4",
        )
        answer = response_to(
            question,
            THREAD,
            confidence=1 / 3,
            response_time_ms=12.000000000000002,
            tool_calls=(tool_call(),),
            notices=("The quote was cut.",),
        )
        turn = await store.remember(question, answer, moment=EARLIER)
        assert turn.turn_number == 1
        assert turn.user_input == question.query_text
        assert turn.selected_text == question.selected_text
        assert turn.section_filter == "§ 4"
        assert turn.agent_response == answer
        assert turn.retrieved_chunks == answer.retrieved_chunks
        assert turn.tool_calls == answer.tool_calls
        assert turn.context_used == answer.context_used
        assert turn.outcome is Outcome.ANSWERED
        assert await recalled(store, THREAD) == [turn]
        assert await store.turn_of(question.request_id) == turn

    async def test_chunks_are_stored_once_and_in_the_answer_only(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        await asked(store, THREAD)
        async with engine.connect() as connection:
            content = await connection.scalar(text("SELECT content FROM turns"))
        stored = str(content)
        assert stored.count("retrieved_chunks") == stored.count("context_used") == 1

    async def test_the_session_counts_turns_and_messages_and_notes_the_time(
        self, store: SessionStore
    ) -> None:
        later = EARLIER + timedelta(minutes=5)
        for moment in (later, EARLIER):
            await asked(store, THREAD, moment=moment)
        session = await store.get(THREAD)
        assert session is not None
        assert (session.current_turn, session.message_count) == (2, 4)
        assert session.last_activity == later
        assert session.conversation_history == ()

    async def test_the_same_request_twice_is_one_turn(self, store: SessionStore) -> None:
        question = request()
        first = await store.remember(question, response_to(question, THREAD))
        again = await store.remember(question, response_to(question, THREAD, confidence=0.1))
        assert again == first
        session = await store.get(THREAD, history=True)
        assert session is not None
        assert session.conversation_history == (first,)
        assert session.message_count == 2

    async def test_turns_of_replicas_that_answer_at_once_have_no_gaps(
        self, database_url: str
    ) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        stores = [SessionStore(engine) for engine in engines]
        turns = await asyncio.gather(*(asked(stores[n % 3], THREAD) for n in range(30)))
        assert sorted(turn.turn_number for turn in turns) == list(range(1, 31))
        session = await stores[0].get(THREAD, history=True)
        assert session is not None
        assert session.current_turn == 30
        for engine in engines:
            await engine.dispose()

    async def test_an_unfinished_answer_is_refused_and_nothing_is_stored(
        self, store: SessionStore
    ) -> None:
        await asked(store, THREAD)
        question = request()
        pending = AgentResponse(
            query_id=question.request_id,
            query_text=question.query_text,
            response_text="…",
            conversation_id=THREAD,
            course_id="algorithms",
            model_name="extractive",
            requested_at=EARLIER,
        )
        with pytest.raises(StoreError):
            await store.remember(question, pending)
        session = await store.get(THREAD, history=True)
        assert session is not None
        assert session.current_turn == 1

    async def test_a_cancelled_turn_leaves_the_store_usable(self, store: SessionStore) -> None:
        for _ in range(5):
            task = asyncio.create_task(asked(store, THREAD))
            await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        turn = await asked(store, THREAD)
        assert [t.turn_number for t in await recalled(store, THREAD)] == list(
            range(1, turn.turn_number + 1)
        )

    async def test_of_two_answers_to_a_request_the_first_is_stored_and_returned_to_both(
        self, store: SessionStore
    ) -> None:
        question = request()
        first = await store.remember(question, response_to(question, uuid4()))
        second = await store.remember(question, response_to(question, uuid4(), confidence=0.1))
        assert second == first
        assert [s.session_id for s in await store.list_sessions()] == [
            first.agent_response.conversation_id
        ]

    async def test_replicas_that_answer_a_request_at_once_are_told_one_answer(
        self, database_url: str
    ) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        stores = [SessionStore(engine) for engine in engines]
        question = request()
        turns = await asyncio.gather(
            *(stores[n % 3].remember(question, response_to(question, uuid4())) for n in range(12))
        )
        assert len({turn.agent_response.id for turn in turns}) == 1
        assert len(await stores[0].list_sessions()) == 1
        for engine in engines:
            await engine.dispose()

    async def test_a_session_of_another_course_takes_no_turn(self, store: SessionStore) -> None:
        await asked_biology(store, THREAD)
        question = request()
        with pytest.raises(RequestError, match="belongs to course") as refusal:
            await store.remember(question, response_to(question, THREAD))
        assert "another course" in refusal.value.user_message
        assert "biology" not in refusal.value.user_message
        session = await store.get(THREAD)
        assert session is not None
        assert session.current_turn == 1

    async def test_what_is_recalled_is_the_answer_or_the_turns_before(
        self, store: SessionStore
    ) -> None:
        question = request(session_id=THREAD)
        assert await store.recall(question, 10) == Recollection()
        turn = await store.remember(question, response_to(question, THREAD))
        assert await store.recall(question, 10) == Recollection(answered=turn)
        assert await store.recall(request(session_id=THREAD), 10) == Recollection(turns=[turn])
        for foreign in ({"session_id": THREAD}, {"request_id": question.request_id}):
            with pytest.raises(RequestError, match="belongs to course"):
                await store.recall(request(course_id="biology", **foreign), 10)


class TestReading:
    async def test_recalled_turns_are_the_latest_and_oldest_first(
        self, store: SessionStore
    ) -> None:
        for number in range(1, 6):
            await asked(store, THREAD, f"Question {number}?")
        turns = await recalled(store, THREAD, 3)
        assert [turn.user_input for turn in turns] == ["Question 3?", "Question 4?", "Question 5?"]

    async def test_an_unknown_session_has_no_turns(self, store: SessionStore) -> None:
        assert await recalled(store, uuid4()) == ()
        assert await store.get(uuid4(), history=True) is None
        assert await store.turn_of(uuid4()) is None

    async def test_sessions_never_see_one_anothers_turns(self, store: SessionStore) -> None:
        mine, theirs = uuid4(), uuid4()
        await asked(store, mine, "My question?")
        turn = await asked(store, theirs, "Their question?")
        assert await recalled(store, theirs) == [turn]

    async def test_sessions_are_listed_latest_first_by_course_and_user(
        self, store: SessionStore
    ) -> None:
        one, two, three = (EARLIER + timedelta(hours=hour) for hour in range(3))
        await asked(store, UUID(int=0), user_id="ann", moment=one)
        await asked_biology(store, UUID(int=1), user_id="ann", moment=two)
        await asked(store, UUID(int=2), user_id="ben", moment=three)
        listed = await store.list_sessions()
        assert [session.session_id.int for session in listed] == [2, 1, 0]
        of_course = await store.list_sessions(course_id="algorithms")
        assert [session.session_id.int for session in of_course] == [2, 0]
        both = await store.list_sessions(course_id="algorithms", user_id="ann")
        assert [session.session_id.int for session in both] == [0]
        page = await store.list_sessions(limit=1, offset=1)
        assert [session.session_id.int for session in page] == [1]

    @pytest.mark.costly
    async def test_a_history_read_while_turns_are_written_is_whole(self, database_url: str) -> None:
        engines = [create_engine(database_url) for _ in range(2)]
        writer, reader = (SessionStore(engine) for engine in engines)
        await asked(writer, THREAD)

        async def write() -> None:
            for _ in range(20):
                await asked(writer, THREAD)

        writing = asyncio.create_task(write())
        while not writing.done():
            session = await reader.get(THREAD, history=True)
            assert session is not None
            assert len(session.conversation_history) == session.current_turn
        await writing
        for engine in engines:
            await engine.dispose()

    async def test_what_was_stored_before_the_clock_was_set_back_can_be_read(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        await asked(store, THREAD)
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        async with engine.begin() as connection:
            moment = tomorrow if engine.dialect.name == "postgresql" else tomorrow.isoformat(" ")
            await connection.execute(text("UPDATE turns SET timestamp = :m"), {"m": moment})
        [turn] = await recalled(store, THREAD)
        assert turn.timestamp > datetime.now(UTC)

    async def test_a_turn_that_cannot_be_read_is_a_store_error_without_its_text(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        await asked(store, THREAD, "A private question?")
        async with engine.begin() as connection:
            await connection.execute(
                text("UPDATE turns SET content = :content"),
                {"content": '{"user_input": "A private question?", "agent_response": {}}'},
            )
        with pytest.raises(StoreError) as failure:
            await recalled(store, THREAD)
        assert "private" not in str(failure.value)
        assert failure.value.__cause__ is None


class TestForgetting:
    async def test_a_session_goes_with_its_turns(self, store: SessionStore) -> None:
        turn = await asked(store, THREAD)
        assert await store.forget(THREAD)
        assert not await store.forget(THREAD)
        assert await store.get(THREAD) is None
        assert await store.turn_of(turn.request_id) is None

    async def test_a_turn_alone_can_be_forgotten(self, store: SessionStore) -> None:
        first, second = [await asked(store, THREAD) for _ in range(2)]
        assert await store.forget_turn(first.request_id)
        assert await recalled(store, THREAD) == [second]
        blank = await store.turn_of(first.request_id)
        assert blank is not None
        assert (blank.turn_number, blank.user_input) == (1, FORGOTTEN_TEXT)
        assert not await store.forget_turn(UUID(int=0))

    async def test_a_user_leaves_no_trace_and_others_keep_theirs(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        alone, shared, foreign = uuid4(), uuid4(), uuid4()
        await asked(store, alone, "Canary one?", "ann")
        await asked(store, shared, "Canary two?", "ann")
        await asked(store, shared, "What of ben?", "ben")
        kept = await asked(store, foreign, "What of ben?", "ben")
        await asked(store, foreign, "Canary three?", "ann")
        assert await store.forget_user("ann") == 3
        assert await store.forget_user("ann") == 0
        assert await store.get(alone) is None
        assert [turn.user_id for turn in await recalled(store, shared)] == ["ben"]
        assert await recalled(store, foreign) == [kept]
        async with engine.connect() as connection:
            for table in ("sessions", "turns"):
                rows = (await connection.execute(text(f"SELECT * FROM {table}"))).all()
                assert "Canary" not in str(rows)
                assert "ann" not in str(rows)

    async def test_a_forgotten_turn_keeps_its_number_in_the_history(
        self, store: SessionStore
    ) -> None:
        first = await asked(store, THREAD, "Canary?", "ann")
        second = await asked(store, THREAD, "What of ben?", "ben")
        await store.forget_user("ann")
        session = await store.get(THREAD, history=True)
        assert session is not None
        assert session.user_id == FORGOTTEN_USER
        gone, kept = session.conversation_history
        assert kept == second
        assert (gone.turn_number, gone.timestamp) == (1, first.timestamp)
        assert gone.user_input == gone.agent_response.response_text == FORGOTTEN_TEXT
        assert gone.user_id == FORGOTTEN_USER
        assert (await asked(store, THREAD)).turn_number == 3


async def test_a_database_that_cannot_be_reached_is_a_store_error(engine: AsyncEngine) -> None:
    url = "sqlite:////nowhere/bot.db"
    if engine.dialect.name == "postgresql":
        url = "postgresql://bot:secret@127.0.0.1:1/none"
    unreachable = create_engine(url)
    with pytest.raises(StoreError) as failure:
        await SessionStore(unreachable).get(uuid4())
    assert "secret" not in str(failure.value)
    await unreachable.dispose()
