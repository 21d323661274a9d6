"""Where conversations live: sessions and their turns in SQL."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from pydantic import ValidationError
from sqlalchemy import JSON, ForeignKey, Index, Select, Text, delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.database import Base, UtcDateTime, insert_into, reading, writing
from core.errors import RequestError, StoreError
from core.models import (
    STORED,
    AgentRequest,
    AgentResponse,
    AgentSession,
    ConversationTurn,
    Outcome,
    ResponseState,
    now,
)

FORGOTTEN_USER = "forgotten"
"""Stands in for a user whose data was deleted."""
FORGOTTEN_TEXT = "[deleted]"
"""Stands in for what such a user asked and was answered."""


class SessionRow(Base):
    """A conversation without its turns."""

    __tablename__ = "sessions"
    __table_args__ = (Index(None, "course_id", "last_activity"),)

    session_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, index=True)
    course_id: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_activity: Mapped[datetime] = mapped_column(UtcDateTime)
    current_turn: Mapped[int] = mapped_column(default=0)
    message_count: Mapped[int] = mapped_column(default=0)
    details: Mapped[dict[str, str]] = mapped_column(JSON)


class TurnRow(Base):
    """A question and its answer; `content` is gone once the user is forgotten."""

    __tablename__ = "turns"

    session_id: Mapped[UUID] = mapped_column(
        ForeignKey("sessions.session_id", ondelete="CASCADE"), primary_key=True
    )
    turn_number: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[UUID] = mapped_column(unique=True)
    user_id: Mapped[str] = mapped_column(Text, index=True)
    outcome: Mapped[str] = mapped_column(Text)
    timestamp: Mapped[datetime] = mapped_column(UtcDateTime)
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    session: Mapped[SessionRow] = relationship(lazy="joined", innerjoin=True)


class SessionStore:
    """Conversations by session id, safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def open_session(
        self,
        session_id: UUID | None,
        *,
        user_id: str,
        course_id: str,
        metadata: Mapping[str, str] | None = None,
        moment: datetime | None = None,
    ) -> AgentSession:
        """Return the session, created when absent, without its history.

        None always begins a new session. Anybody of a course may join its sessions, since
        a thread has many askers; `user_id` stays that of whoever opened it.

        Raises:
            RequestError: when the session belongs to another course.
        """
        row = await self._row(session_id) if session_id else None
        if row is None:
            began = moment or now()
            row = await self._create(
                session_id=session_id or uuid4(),
                user_id=user_id,
                course_id=course_id,
                created_at=began,
                last_activity=began,
                details=dict(metadata or {}),
            )
        _check_course(row, course_id)
        return _session(row)

    async def append_turn(
        self,
        session_id: UUID,
        request: AgentRequest,
        response: AgentResponse,
        *,
        moment: datetime | None = None,
    ) -> ConversationTurn:
        """Add a finished answer to its session and return it as the next turn.

        The same request again stores nothing and returns the turn that is there.

        Raises:
            RequestError: when there is no such session (any more).
        """
        async with writing(self._engine) as db:
            return _turn(await _append(db, session_id, request, response, moment or now()))

    async def remember(
        self,
        request: AgentRequest,
        response: AgentResponse,
        *,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Add a finished answer to its session, begun when there is none, in one transaction.

        The same request again stores nothing.

        Raises:
            RequestError: when the session belongs to another course.
        """
        moment = now()
        session = {
            "session_id": response.conversation_id,
            "user_id": request.user_id,
            "course_id": request.course_id,
            "created_at": moment,
            "last_activity": moment,
            "details": dict(metadata or {}),
        }
        begin = insert_into(self._engine, SessionRow).values(session)
        async with writing(self._engine) as db:
            await db.execute(begin.on_conflict_do_nothing(index_elements=["session_id"]))
            row = await _append(db, response.conversation_id, request, response, moment)
            _check_course(row.session, request.course_id)

    async def turn_of(self, request_id: UUID) -> ConversationTurn | None:
        """Return the turn that answered a request, or None."""
        async with reading(self._engine) as db:
            row = await db.scalar(_of_request(request_id))
            return _turn(row) if row is not None else None

    async def recent_turns(self, session_id: UUID, limit: int) -> list[ConversationTurn]:
        """Return the latest `limit` turns, oldest first, leaving out forgotten ones."""
        query = _turns(session_id).where(TurnRow.content.is_not(None))
        async with reading(self._engine) as db:
            rows = await db.scalars(query.order_by(TurnRow.turn_number.desc()).limit(limit))
            return [_turn(row) for row in rows][::-1]

    async def first_question(self, session_id: UUID) -> str:
        """Return what a session began with; empty where there is no turn."""
        query = _turns(session_id).order_by(TurnRow.turn_number).limit(1)
        async with reading(self._engine) as db:
            row = await db.scalar(query)
            return _turn(row).user_input if row is not None else ""

    async def get(self, session_id: UUID, *, history: bool = False) -> AgentSession | None:
        """Return the session, with all its turns when `history`; None for an unknown id.

        A forgotten turn keeps its number and time; its texts read `[deleted]`.
        """
        async with reading(self._engine) as db:
            row = await db.get(SessionRow, session_id)
            if row is None:
                return None
            if not history:
                return _session(row)
            turns = await db.scalars(_turns(session_id).order_by(TurnRow.turn_number))
            return _session(row, tuple(_turn(turn) for turn in turns))

    async def list_sessions(
        self,
        *,
        course_id: str | None = None,
        user_id: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[AgentSession]:
        """Return sessions without their history, latest activity first.

        Args:
            course_id: Only this course's.
            user_id: Only those that this user opened.
        """
        query = select(SessionRow).order_by(SessionRow.last_activity.desc(), SessionRow.session_id)
        if course_id is not None:
            query = query.where(SessionRow.course_id == course_id)
        if user_id is not None:
            query = query.where(SessionRow.user_id == user_id)
        async with reading(self._engine) as db:
            return [_session(row) for row in await db.scalars(query.limit(limit).offset(offset))]

    async def forget(self, session_id: UUID) -> bool:
        """Delete a session with all its turns; return whether there was one."""
        async with writing(self._engine) as db:
            gone = delete(SessionRow).where(SessionRow.session_id == session_id)
            return await db.scalar(gone.returning(SessionRow.session_id)) is not None

    async def forget_user(self, user_id: str) -> int:
        """Delete all that a user asked, and return how many turns that was.

        Sessions in which nobody else asked vanish. In a session shared with others the
        user's turns lose text, answer and name but keep their number, and the others'
        turns stay as they are.
        """
        async with writing(self._engine) as db:
            own = select(SessionRow.session_id).where(SessionRow.user_id == user_id)
            await db.execute(own.with_for_update())  # no turn may join while we decide
            blanked = await db.scalars(
                update(TurnRow)
                .where(TurnRow.user_id == user_id)
                .values(user_id=FORGOTTEN_USER, content=None)
                .returning(TurnRow.request_id)
            )
            count = len(blanked.all())
            opened = SessionRow.user_id == user_id
            shared = (
                select(TurnRow.session_id)
                .where(TurnRow.session_id == SessionRow.session_id, TurnRow.content.is_not(None))
                .exists()
            )
            await db.execute(delete(SessionRow).where(opened, ~shared))
            await db.execute(update(SessionRow).where(opened).values(user_id=FORGOTTEN_USER))
            return count

    async def _row(self, session_id: UUID) -> SessionRow | None:
        async with reading(self._engine) as db:
            return await db.get(SessionRow, session_id)

    async def _create(self, **values: Any) -> SessionRow:
        """Insert a session unless another process was quicker; return what is stored."""
        insert = insert_into(self._engine, SessionRow).values(values)
        async with writing(self._engine) as db:
            await db.execute(insert.on_conflict_do_nothing(index_elements=["session_id"]))
            return await db.get_one(SessionRow, values["session_id"])


async def _append(
    db: AsyncSession,
    session_id: UUID,
    request: AgentRequest,
    response: AgentResponse,
    moment: datetime,
) -> TurnRow:
    session = await db.get(SessionRow, session_id, with_for_update=True)
    if (known := await db.scalar(_of_request(request.request_id))) is not None:
        return known
    if session is None:
        raise RequestError(
            f"no session {session_id}",
            user_message="This conversation was deleted. Please ask again in a new one.",
        )
    row = TurnRow(
        session=session,
        turn_number=session.current_turn + 1,
        request_id=request.request_id,
        user_id=request.user_id,
        outcome=response.outcome,
        timestamp=moment,
        content=_content(request.query_text, request.selected_text, response),
    )
    db.add(row)
    session.current_turn = row.turn_number
    session.message_count += 2
    session.last_activity = max(session.last_activity, row.timestamp)
    return row


def _check_course(row: SessionRow, course_id: str) -> None:
    if row.course_id != course_id:
        raise RequestError(
            f"session {row.session_id} belongs to course {row.course_id}",
            user_message="This conversation belongs to another course. Please start a new one.",
        )


def _of_request(request_id: UUID) -> Select[TurnRow]:
    return select(TurnRow).where(TurnRow.request_id == request_id)


def _turns(session_id: UUID) -> Select[TurnRow]:
    return select(TurnRow).where(TurnRow.session_id == session_id)


def _session(row: SessionRow, history: tuple[ConversationTurn, ...] = ()) -> AgentSession:
    return AgentSession(
        session_id=row.session_id,
        user_id=row.user_id,
        course_id=row.course_id,
        created_at=row.created_at,
        last_activity=row.last_activity,
        current_turn=row.current_turn,
        message_count=row.message_count,
        conversation_history=history,
        metadata=row.details,
    )


def _content(user_input: str, selected_text: str | None, response: AgentResponse) -> dict[str, Any]:
    """Return what a turn says; chunks, tool calls and context stand in the answer only."""
    return {
        "user_input": user_input,
        "selected_text": selected_text,
        "agent_response": response.model_dump(mode="json"),
    }


def _turn(row: TurnRow) -> ConversationTurn:
    content = row.content or _content(FORGOTTEN_TEXT, None, _forgotten_response(row))
    try:
        response = AgentResponse.model_validate(content["agent_response"], context=STORED)
        turn = {
            "turn_number": row.turn_number,
            "request_id": row.request_id,
            "user_id": row.user_id,
            "outcome": row.outcome,
            "timestamp": row.timestamp,
            **content,
            "agent_response": response,
            "retrieved_chunks": response.retrieved_chunks,
            "tool_calls": response.tool_calls,
            "context_used": response.context_used,
        }
        return ConversationTurn.model_validate(turn, context=STORED)
    except ValidationError as error:
        wrong = "; ".join(f"{e['loc']}: {e['type']}" for e in error.errors(include_input=False))
        # Without the cause, whose text quotes what the student wrote.
        raise StoreError(f"turn {row.request_id} cannot be read: {wrong}") from None


def _forgotten_response(row: TurnRow) -> AgentResponse:
    return AgentResponse(
        id=row.request_id,
        query_id=row.request_id,
        query_text=FORGOTTEN_TEXT,
        response_text=FORGOTTEN_TEXT,
        outcome=Outcome.ABSTAINED,
        state=ResponseState.COMPLETED,
        conversation_id=row.session_id,
        course_id=row.session.course_id,
        model_name=FORGOTTEN_USER,
        requested_at=row.timestamp,
        generated_at=row.timestamp,
    )
