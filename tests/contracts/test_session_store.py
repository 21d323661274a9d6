"""The session store keeps its promises on every database."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import create_engine
from core.errors import RequestError, StoreError
from core.models import AgentResponse, AgentSession, ConversationTurn, Outcome, session_id_for
from core.sessions.store import FORGOTTEN_TEXT, FORGOTTEN_USER, Recollection, SessionStore
from tests.samples import EARLIER, request, response_to, tool_call

THREAD = session_id_for("slack", "T1", "C1", "1700.1")


@pytest.fixture
def store(engine: AsyncEngine) -> SessionStore:
    return SessionStore(engine)


async def opened(
    store: SessionStore, session_id: UUID | None = None, user_id: str = "reader-1"
) -> AgentSession:
    return await store.open_session(
        session_id, user_id=user_id, course_id="algorithms", moment=EARLIER
    )


async def asked(
    store: SessionStore, session_id: UUID, words: str = "What is a heap?", user_id: str = "reader-1"
) -> ConversationTurn:
    question = request(query_text=words, user_id=user_id)
    return await store.append_turn(
        session_id, question, response_to(question, session_id), moment=EARLIER
    )


class TestOpening:
    async def test_a_session_without_an_id_is_a_new_one(self, store: SessionStore) -> None:
        first, second = await opened(store), await opened(store)
        assert first.session_id != second.session_id
        assert (first.current_turn, first.message_count) == (0, 0)
        assert first.created_at == first.last_activity == EARLIER

    async def test_an_id_is_opened_once_and_found_again(self, store: SessionStore) -> None:
        first = await store.open_session(
            THREAD,
            user_id="reader-1",
            course_id="algorithms",
            metadata={"platform": "slack", "thread": "1700.1"},
        )
        again = await store.open_session(THREAD, user_id="reader-2", course_id="algorithms")
        assert again == first
        assert again.user_id == "reader-1"
        assert again.metadata == {"platform": "slack", "thread": "1700.1"}

    async def test_a_session_of_another_course_is_refused_in_safe_words(
        self, store: SessionStore
    ) -> None:
        await opened(store, THREAD)
        with pytest.raises(RequestError) as refusal:
            await store.open_session(THREAD, user_id="reader-1", course_id="biology")
        assert "another course" in refusal.value.user_message
        assert "algorithms" not in refusal.value.user_message

    async def test_replicas_that_open_a_thread_at_once_get_the_same_session(
        self, database_url: str
    ) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        stores = [SessionStore(engine) for engine in engines]
        sessions = await asyncio.gather(
            *(opened(stores[n % 3], THREAD, f"reader-{n}") for n in range(12))
        )
        assert len({session.user_id for session in sessions}) == 1
        assert len(await stores[0].list_sessions()) == 1
        for engine in engines:
            await engine.dispose()


class TestAppending:
    async def test_a_turn_comes_back_equal(self, store: SessionStore) -> None:
        session = await opened(store)
        question = request(
            query_text="Why is \x00 the “heap” – 堆 – so fast? 🌲",
            context_mode="selected_text",
            selected_text="A heap\n\tis \u2028 a tree.",
        )
        answer = response_to(
            question,
            session.session_id,
            confidence=1 / 3,
            response_time_ms=12.000000000000002,
            tool_calls=(tool_call(),),
            notices=("The quote was cut.",),
        )
        turn = await store.append_turn(session.session_id, question, answer, moment=EARLIER)
        assert turn.turn_number == 1
        assert turn.user_input == question.query_text
        assert turn.selected_text == question.selected_text
        assert turn.agent_response == answer
        assert turn.retrieved_chunks == answer.retrieved_chunks
        assert turn.tool_calls == answer.tool_calls
        assert turn.context_used == answer.context_used
        assert turn.outcome is Outcome.ANSWERED
        assert await store.recent_turns(session.session_id, 10) == [turn]
        assert await store.turn_of(question.request_id) == turn

    async def test_chunks_are_stored_once_and_in_the_answer_only(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        session = await opened(store)
        await asked(store, session.session_id)
        async with engine.connect() as connection:
            content = await connection.scalar(text("SELECT content FROM turns"))
        stored = str(content)
        assert stored.count("retrieved_chunks") == stored.count("context_used") == 1

    async def test_the_session_counts_turns_and_messages_and_notes_the_time(
        self, store: SessionStore
    ) -> None:
        session_id = (await opened(store)).session_id
        later = EARLIER + timedelta(minutes=5)
        for moment in (later, EARLIER):
            question = request()
            answer = response_to(question, session_id)
            await store.append_turn(session_id, question, answer, moment=moment)
        session = await store.get(session_id)
        assert session is not None
        assert (session.current_turn, session.message_count) == (2, 4)
        assert session.last_activity == later
        assert session.conversation_history == ()

    async def test_the_same_request_twice_is_one_turn(self, store: SessionStore) -> None:
        session_id = (await opened(store)).session_id
        question = request()
        first = await store.append_turn(session_id, question, response_to(question, session_id))
        again = await store.append_turn(
            session_id, question, response_to(question, session_id, confidence=0.1)
        )
        assert again == first
        session = await store.get(session_id, history=True)
        assert session is not None
        assert session.conversation_history == (first,)
        assert session.message_count == 2

    async def test_turns_appended_at_once_by_replicas_have_no_gaps(self, database_url: str) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        stores = [SessionStore(engine) for engine in engines]
        await opened(stores[0], THREAD)
        turns = await asyncio.gather(*(asked(stores[n % 3], THREAD) for n in range(30)))
        assert sorted(turn.turn_number for turn in turns) == list(range(1, 31))
        session = await stores[0].get(THREAD, history=True)
        assert session is not None
        assert session.current_turn == 30
        for engine in engines:
            await engine.dispose()

    async def test_one_request_stored_by_many_replicas_at_once_is_one_turn(
        self, database_url: str
    ) -> None:
        engines = [create_engine(database_url) for _ in range(3)]
        stores = [SessionStore(engine) for engine in engines]
        await opened(stores[0], THREAD)
        question = request()
        turns = await asyncio.gather(
            *(
                stores[n % 3].append_turn(THREAD, question, response_to(question, THREAD))
                for n in range(12)
            )
        )
        assert len({turn.agent_response.id for turn in turns}) == 1
        assert len(await stores[0].recent_turns(THREAD, 50)) == 1
        for engine in engines:
            await engine.dispose()

    async def test_a_session_that_is_gone_takes_no_turn(self, store: SessionStore) -> None:
        session_id = (await opened(store)).session_id
        assert await store.forget(session_id)
        with pytest.raises(RequestError, match="no session"):
            await asked(store, session_id)
        assert await store.get(session_id) is None

    async def test_an_unfinished_answer_is_refused_and_nothing_is_stored(
        self, store: SessionStore
    ) -> None:
        session_id = (await opened(store)).session_id
        question = request()
        pending = AgentResponse(
            query_id=question.request_id,
            query_text=question.query_text,
            response_text="…",
            conversation_id=session_id,
            course_id="algorithms",
            model_name="extractive",
            requested_at=EARLIER,
        )
        with pytest.raises(StoreError):
            await store.append_turn(session_id, question, pending)
        session = await store.get(session_id, history=True)
        assert session is not None
        assert session.current_turn == 0

    async def test_a_cancelled_append_leaves_the_store_usable(self, store: SessionStore) -> None:
        session_id = (await opened(store)).session_id
        for _ in range(5):
            task = asyncio.create_task(asked(store, session_id))
            await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        turn = await asked(store, session_id)
        assert [t.turn_number for t in await store.recent_turns(session_id, 50)] == list(
            range(1, turn.turn_number + 1)
        )


class TestRemembering:
    async def test_what_is_stored_is_returned(self, store: SessionStore) -> None:
        question = request()
        turn = await store.remember(question, response_to(question, THREAD))
        assert turn == await store.turn_of(question.request_id)
        session = await store.get(THREAD)
        assert session is not None
        assert (session.current_turn, session.message_count) == (1, 2)

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
        await store.open_session(THREAD, user_id="reader-1", course_id="biology")
        question = request()
        with pytest.raises(RequestError, match="belongs to course"):
            await store.remember(question, response_to(question, THREAD))
        session = await store.get(THREAD)
        assert session is not None
        assert session.current_turn == 0

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
    async def test_recent_turns_are_the_latest_and_oldest_first(self, store: SessionStore) -> None:
        session_id = (await opened(store)).session_id
        for number in range(1, 6):
            await asked(store, session_id, f"Question {number}?")
        turns = await store.recent_turns(session_id, 3)
        assert [turn.user_input for turn in turns] == ["Question 3?", "Question 4?", "Question 5?"]

    async def test_an_unknown_session_has_no_turns(self, store: SessionStore) -> None:
        assert await store.recent_turns(uuid4(), 10) == []
        assert await store.get(uuid4(), history=True) is None
        assert await store.turn_of(uuid4()) is None

    async def test_sessions_never_see_one_anothers_turns(self, store: SessionStore) -> None:
        mine, theirs = await opened(store), await opened(store)
        await asked(store, mine.session_id, "My question?")
        assert await store.recent_turns(theirs.session_id, 10) == []

    async def test_sessions_are_listed_latest_first_by_course_and_user(
        self, store: SessionStore
    ) -> None:
        for number, (course, user) in enumerate(
            [("algorithms", "ann"), ("biology", "ann"), ("algorithms", "ben")]
        ):
            await store.open_session(
                UUID(int=number),
                user_id=user,
                course_id=course,
                moment=EARLIER + timedelta(hours=number),
            )
        listed = await store.list_sessions()
        assert [session.session_id.int for session in listed] == [2, 1, 0]
        of_course = await store.list_sessions(course_id="algorithms")
        assert [session.session_id.int for session in of_course] == [2, 0]
        both = await store.list_sessions(course_id="algorithms", user_id="ann")
        assert [session.session_id.int for session in both] == [0]
        page = await store.list_sessions(limit=1, offset=1)
        assert [session.session_id.int for session in page] == [1]

    async def test_a_history_read_while_turns_are_written_is_whole(self, database_url: str) -> None:
        engines = [create_engine(database_url) for _ in range(2)]
        writer, reader = (SessionStore(engine) for engine in engines)
        await opened(writer, THREAD)

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
        session_id = (await opened(store)).session_id
        await asked(store, session_id)
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        async with engine.begin() as connection:
            moment = tomorrow if engine.dialect.name == "postgresql" else tomorrow.isoformat(" ")
            await connection.execute(text("UPDATE turns SET timestamp = :m"), {"m": moment})
        (turn,) = await store.recent_turns(session_id, 1)
        assert turn.timestamp > datetime.now(UTC)

    async def test_a_turn_that_cannot_be_read_is_a_store_error_without_its_text(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        session_id = (await opened(store)).session_id
        await asked(store, session_id, "A private question?")
        async with engine.begin() as connection:
            await connection.execute(
                text("UPDATE turns SET content = :content"),
                {"content": '{"user_input": "A private question?", "agent_response": {}}'},
            )
        with pytest.raises(StoreError) as failure:
            await store.recent_turns(session_id, 1)
        assert "private" not in str(failure.value)
        assert failure.value.__cause__ is None


class TestForgetting:
    async def test_a_session_goes_with_its_turns(self, store: SessionStore) -> None:
        session_id = (await opened(store)).session_id
        turn = await asked(store, session_id)
        assert await store.forget(session_id)
        assert not await store.forget(session_id)
        assert await store.turn_of(turn.request_id) is None

    async def test_a_user_leaves_no_trace_and_others_keep_theirs(
        self, store: SessionStore, engine: AsyncEngine
    ) -> None:
        alone, shared, foreign = [await opened(store, user_id="ann") for _ in range(2)] + [
            await opened(store, user_id="ben")
        ]
        await asked(store, alone.session_id, "Canary one?", "ann")
        await asked(store, shared.session_id, "Canary two?", "ann")
        await asked(store, shared.session_id, "What of ben?", "ben")
        await asked(store, foreign.session_id, "What of ben?", "ben")
        await asked(store, foreign.session_id, "Canary three?", "ann")
        kept = await store.recent_turns(foreign.session_id, 1)
        assert await store.forget_user("ann") == 3
        assert await store.forget_user("ann") == 0
        assert await store.get(alone.session_id) is None
        assert [t.user_id for t in await store.recent_turns(shared.session_id, 9)] == ["ben"]
        assert await store.recent_turns(foreign.session_id, 9) != kept
        async with engine.connect() as connection:
            for table in ("sessions", "turns"):
                rows = (await connection.execute(text(f"SELECT * FROM {table}"))).all()
                assert "Canary" not in str(rows)
                assert "ann" not in str(rows)

    async def test_a_forgotten_turn_keeps_its_number_in_the_history(
        self, store: SessionStore
    ) -> None:
        session_id = (await opened(store, user_id="ann")).session_id
        first = await asked(store, session_id, "Canary?", "ann")
        second = await asked(store, session_id, "What of ben?", "ben")
        await store.forget_user("ann")
        session = await store.get(session_id, history=True)
        assert session is not None
        assert session.user_id == FORGOTTEN_USER
        gone, kept = session.conversation_history
        assert kept == second
        assert (gone.turn_number, gone.timestamp) == (1, first.timestamp)
        assert gone.user_input == gone.agent_response.response_text == FORGOTTEN_TEXT
        assert gone.user_id == FORGOTTEN_USER
        assert (await asked(store, session_id)).turn_number == 3


async def test_a_database_that_cannot_be_reached_is_a_store_error(engine: AsyncEngine) -> None:
    url = "sqlite:////nowhere/bot.db"
    if engine.dialect.name == "postgresql":
        url = "postgresql://bot:secret@127.0.0.1:1/none"
    unreachable = create_engine(url)
    with pytest.raises(StoreError) as failure:
        await SessionStore(unreachable).get(uuid4())
    assert "secret" not in str(failure.value)
    await unreachable.dispose()
