"""Where conversations live: sessions and their turns in SQL."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    Select,
    Text,
    Uuid,
    and_,
    case,
    column,
    delete,
    exists,
    func,
    select,
    table,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship
from sqlalchemy.sql.selectable import TypedReturnsRows

from core.domain import (
    STORED,
    AgentRequest,
    AgentResponse,
    AgentSession,
    ConversationTurn,
    Outcome,
    ResponseState,
    now,
    well_formed,
)
from core.domain.errors import RequestError, StoreError
from core.domain.i18n import Message
from core.storage.database import (
    Base,
    OfTenant,
    UtcDateTime,
    insert_into,
    of_tenants,
    reading,
    write,
)
from core.storage.privacy import (
    ForgottenWorkspace,
    Holder,
    Work,
    batch_of,
    deleting,
    executing,
    parts,
)

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


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


def session_of(row: SessionRow, history: tuple[ConversationTurn, ...] = ()) -> AgentSession:
    """Return the session with the turns that are given."""
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


def content_of(
    user_input: str,
    response: AgentResponse,
    *,
    selected_text: str | None = None,
    section_filter: str | None = None,
) -> dict[str, Any]:
    """Return what a turn says; chunks, tool calls and context stand in the answer only."""
    return {
        "user_input": user_input,
        "selected_text": selected_text,
        "section_filter": section_filter,
        "agent_response": response.model_dump(mode="json"),
    }


def turn_from(row: TurnRow) -> ConversationTurn:
    """Return the turn that a row tells; a forgotten one reads `[deleted]`.

    Raises:
        StoreError: when it cannot be read; the text is without the student's.
    """
    content = row.content or content_of(FORGOTTEN_TEXT, _forgotten_response(row))
    try:
        response = AgentResponse.model_validate(content["agent_response"], context=STORED)
        return turn_with(
            response,
            turn_number=row.turn_number,
            request_id=row.request_id,
            user_id=row.user_id,
            outcome=row.outcome,
            timestamp=row.timestamp,
            user_input=content["user_input"],
            selected_text=content["selected_text"],
            section_filter=content["section_filter"],
        )
    except ValidationError as error:
        wrong = "; ".join(f"{e['loc']}: {e['type']}" for e in error.errors(include_input=False))
        # Without the cause, whose text quotes what the student wrote.
        raise StoreError(f"turn {row.request_id} cannot be read: {wrong}") from None


def turn_with(response: AgentResponse, **fields: Any) -> ConversationTurn:
    """Return the turn of an answer; `fields` are those that the answer does not tell."""
    told = {
        "agent_response": response,
        "retrieved_chunks": response.retrieved_chunks,
        "tool_calls": response.tool_calls,
        "context_used": response.context_used,
    }
    return ConversationTurn.model_validate({**fields, **told}, context=STORED)


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


__all__ = ["FORGOTTEN_TEXT", "FORGOTTEN_USER", "Recollection", "SessionStore"]

_MESSAGES_A_TURN = 2


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is known of a conversation before a request is answered."""

    answered: ConversationTurn | None = None
    """The turn of this very request."""
    turns: Sequence[ConversationTurn] = ()
    """The latest turns of its session, oldest first; none next to `answered`."""


class SessionStore(Holder):
    """Conversations by session id, safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    TABLES = (SessionRow, TurnRow)
    COUNTED_AS = "questions"

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # Built once: it takes as long as one of them is executed.
        self._begin_or_count = _begin_or_count(insert_into(engine, SessionRow))
        once = insert_into(engine, TurnRow).on_conflict_do_nothing(index_elements=["request_id"])
        self._insert_once = once.returning(TurnRow.turn_number)

    async def remember(
        self,
        request: AgentRequest,
        response: AgentResponse,
        *,
        metadata: Mapping[str, str] | None = None,
        moment: datetime | None = None,
    ) -> ConversationTurn:
        """Add a finished answer to its session, begun when there is none, in one transaction.

        The same request again stores nothing and returns the turn that is there, which may
        hold another answer. Anybody of a course may join its sessions, since a thread has many
        askers; a session's `user_id` stays that of the user who began it.

        Raises:
            RequestError: when the session belongs to another course.
        """
        moment, session_id = moment or now(), response.conversation_id
        session = {
            "session_id": session_id,
            "user_id": request.user_id,
            "course_id": request.course_id,
            "created_at": moment,
            "last_activity": moment,
            "current_turn": 1,
            "message_count": _MESSAGES_A_TURN,
            "details": dict(metadata or {}),
        }
        fields = {
            "request_id": request.request_id,
            "user_id": request.user_id,
            "outcome": response.outcome,
            "timestamp": moment,
        }
        told = {"selected_text": request.selected_text, "section_filter": request.section_filter}
        content = content_of(request.query_text, response, **told)
        row = {"session_id": session_id, "content": content, **fields}
        stored = await write(self._engine, lambda db: self._add(db, request, session, row))
        if isinstance(stored, ConversationTurn):
            return stored
        return turn_with(
            response,
            turn_number=stored,
            user_input=request.query_text,
            **told,
            **fields,
        )

    def _add(
        self,
        db: Connection,
        request: AgentRequest,
        session: Mapping[str, Any],
        turn: Mapping[str, Any],
    ) -> int | ConversationTurn:
        """Add a turn to its session, and return its number, or the turn that is there already."""
        counting = db.begin_nested()
        counted = db.execute(self._begin_or_count, session).one()
        _check_course(session["session_id"], counted.course_id, request.course_id)
        row = {**turn, "turn_number": counted.current_turn}
        number: int | None = db.scalar(self._insert_once, row)
        if number is not None:
            return number
        known = _known(db, request)
        counting.rollback()  # it was counted in vain
        return known

    async def turn_of(self, request_id: UUID) -> ConversationTurn | None:
        """Return the turn that answered a request, or None."""
        async with reading(self._engine) as db:
            row = await db.scalar(_of_request(request_id))
            return turn_from(row) if row is not None else None

    async def recall(self, request: AgentRequest, limit: int) -> Recollection:
        """Return what is known before a request is answered, all of one moment.

        Args:
            limit: Turns of the session at most; the latest count, and forgotten ones do not.

        Raises:
            RequestError: when the session, or the request's own turn, is of another course.
        """
        async with reading(self._engine) as db:
            known = await db.scalar(_of_request(request.request_id))
            if known is not None:
                _check_course(known.session_id, known.session.course_id, request.course_id)
                return Recollection(turn_from(known))
            if request.session_id is None:
                return Recollection()
            session = await db.get(SessionRow, request.session_id)
            if session is None:
                return Recollection()
            _check_course(session.session_id, session.course_id, request.course_id)
            return Recollection(turns=await _latest(db, session.session_id, limit))

    async def latest(self, session_id: UUID) -> ConversationTurn | None:
        """Return the latest turn of a session that is not forgotten; None: there is none."""
        async with reading(self._engine) as db:
            turns = await _latest(db, session_id, 1)
        return turns[0] if turns else None

    async def first_question(self, session_id: UUID) -> str:
        """Return what a session began with; empty where there is no turn."""
        query = _turns(session_id).order_by(TurnRow.turn_number).limit(1)
        async with reading(self._engine) as db:
            row = await db.scalar(query)
            return turn_from(row).user_input if row is not None else ""

    async def get(self, session_id: UUID, *, history: bool = False) -> AgentSession | None:
        """Return the session, with all its turns when `history`; None for an unknown id.

        A forgotten turn keeps its number and time; its texts read `[deleted]`.
        """
        async with reading(self._engine) as db:
            row = await db.get(SessionRow, session_id)
            if row is None:
                return None
            if not history:
                return session_of(row)
            turns = await db.scalars(_turns(session_id).order_by(TurnRow.turn_number))
            return session_of(row, tuple(turn_from(turn) for turn in turns))

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
            return [session_of(row) for row in await db.scalars(query.limit(limit).offset(offset))]

    async def forget(self, session_id: UUID) -> bool:
        """Delete a session with all its turns; return whether there was one."""
        gone = delete(SessionRow).where(SessionRow.session_id == session_id)
        deleted = gone.returning(SessionRow.session_id)
        return await write(self._engine, lambda db: db.scalar(deleted)) is not None

    async def forget_turn(self, request_id: UUID) -> bool:
        """Blank the turn that answered a request; return whether there was one.

        It keeps its number, and its session goes on without it.
        """
        turn = update(TurnRow).where(TurnRow.request_id == request_id)
        blank = turn.values(user_id=FORGOTTEN_USER, content=None).returning(TurnRow.request_id)
        return await write(self._engine, lambda db: db.scalar(blank)) is not None

    async def of_user(self, user_id: str) -> int:
        """Return how many questions of a user are stored."""
        count = select(func.count()).select_from(TurnRow).where(TurnRow.user_id == user_id)
        async with reading(self._engine) as db:
            return await db.scalar(count) or 0

    async def forget_user(self, user_id: str) -> int:
        """Delete all that a user asked, and return how many turns that was.

        Sessions in which no one else asked vanish. In a session shared with others the
        user's turns lose text, answer and name but keep their number, and the others'
        turns stay as they are.
        """
        return await write(self._engine, lambda db: _forget_user(db, user_id))

    async def forget_place(self, request_id: UUID) -> None:
        """Forget whose, and where, the session of a forgotten turn was, when all of it is.

        The turn itself stays blank, so that no one who is late stores it again.
        """
        row = SessionRow
        its_session = select(TurnRow.session_id).where(TurnRow.request_id == request_id)
        said = (TurnRow.session_id == row.session_id, TurnRow.content.is_not(None))
        alone = ~select(TurnRow.request_id).where(*said).exists()
        blank = update(row).where(row.session_id.in_(its_session), alone)
        blank = blank.values(user_id=FORGOTTEN_USER, details={})
        await write(self._engine, lambda db: db.execute(blank).rowcount)

    def known_of(self, db: Connection, workspace: ForgottenWorkspace) -> ForgottenWorkspace:
        """Return a workspace with who opened conversations there, and who asked in them."""
        sessions = db.execute(
            select(SessionRow.session_id, SessionRow.user_id).where(_talked_in(workspace))
        ).all()
        people, requests = {user_id for _, user_id in sessions}, set[UUID]()
        for part in parts(session_id for session_id, _ in sessions):
            turns = select(TurnRow.request_id, TurnRow.user_id).where(TurnRow.session_id.in_(part))
            for request_id, user_id in db.execute(turns):
                requests.add(request_id)
                people.add(user_id)
        return workspace.knowing(people - {FORGOTTEN_USER}, requests)

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete a workspace's conversations, with their turns."""
        db.execute(delete(SessionRow).where(_talked_in(workspace)))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete conversations in which nothing was said since, and blank the old turns of others.

        Blank turns keep their numbers.
        """
        if kept_for is None:
            return
        yield deleting(SessionRow, SessionRow.last_activity < moment - kept_for)
        old = batch_of(TurnRow, TurnRow.timestamp < moment - kept_for, TurnRow.content.is_not(None))
        blank = update(TurnRow).where(old).values(user_id=FORGOTTEN_USER, content=None)
        yield executing(blank)


def _talked_in(workspace: ForgottenWorkspace) -> ColumnElement[bool]:
    """Return the condition that a conversation stands in a workspace."""
    details = SessionRow.details
    return and_(
        details["platform"].as_string() == workspace.platform,
        details["workspace"].as_string() == workspace.workspace,
    )


def _begin_or_count(insert: "sqlite.Insert | postgresql.Insert") -> TypedReturnsRows[str, int]:
    """Return the statement that begins a session with its first turn, or counts one more."""
    row, moment = SessionRow, insert.excluded.last_activity
    upsert = insert.on_conflict_do_update(
        index_elements=["session_id"],
        set_={
            "current_turn": row.current_turn + 1,
            "message_count": row.message_count + _MESSAGES_A_TURN,
            # The clocks of replicas differ a little.
            "last_activity": case((row.last_activity < moment, moment), else_=row.last_activity),
        },
    )
    return upsert.returning(SessionRow.course_id, SessionRow.current_turn)


def _forget_user(db: Connection, user_id: str) -> int:
    own = select(SessionRow.session_id).where(SessionRow.user_id == user_id)
    db.execute(own.with_for_update())  # no turn may join while we decide
    blanked = db.scalars(
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
    db.execute(delete(SessionRow).where(opened, ~shared))
    db.execute(update(SessionRow).where(opened).values(user_id=FORGOTTEN_USER))
    return count


def _known(db: Connection, request: AgentRequest) -> ConversationTurn:
    """Return the turn that a request has already.

    Raises:
        RequestError: when it was deleted just now, or is of another course.
    """
    with Session(db) as session:
        row = session.scalar(_of_request(request.request_id))
        if row is None:
            raise RequestError(
                f"the turn of request {request.request_id} is gone",
                user_message=Message("error-conversation-deleted"),
            )
        _check_course(row.session_id, row.session.course_id, request.course_id)
        return turn_from(row)


def _check_course(session_id: UUID, course_id: str, asked: str) -> None:
    if course_id != asked:
        raise RequestError(
            f"session {session_id} belongs to course {course_id}",
            user_message=Message("error-conversation-of-other-course"),
        )


async def _latest(db: AsyncSession, session_id: UUID, limit: int) -> list[ConversationTurn]:
    query = _turns(session_id).where(TurnRow.content.is_not(None))
    rows = await db.scalars(query.order_by(TurnRow.turn_number.desc()).limit(limit))
    return [turn_from(row) for row in rows][::-1]


def _of_request(request_id: UUID) -> Select[TurnRow]:
    return select(TurnRow).where(TurnRow.request_id == request_id)


def _turns(session_id: UUID) -> Select[TurnRow]:
    return select(TurnRow).where(TurnRow.session_id == session_id)


_EVENTS = table(
    "inbox", column("request_id", Uuid()), column("platform", Text), column("workspace", Text)
)
"""Whose each answer is, as the inbox keeps it."""
LONGEST_REASON = 1_000
"""Characters of a reason that are kept."""


class VoteRow(Base):
    """What one person thinks of one answer."""

    __tablename__ = "votes"

    request_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    course_id: Mapped[str] = mapped_column(Text)
    helpful: Mapped[bool]
    reason: Mapped[str | None] = mapped_column(Text)
    voted_at: Mapped[datetime] = mapped_column(UtcDateTime)


@dataclass(frozen=True, slots=True)
class Vote:
    """What one person thinks of one answer."""

    request_id: UUID
    user_id: str
    course_id: str
    helpful: bool
    reason: str | None = None
    """Why not, in the voter's words."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many found a course's answers helpful, and how many did not."""

    helpful: int
    not_helpful: int


class Feedback(Holder):
    """Votes on answers; every method raises StoreError when the database fails."""

    TABLES = (VoteRow,)
    COUNTED_AS = "votes"

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def vote(
        self, vote: Vote, tenants: Sequence[OfTenant], cast_at: datetime | None = None
    ) -> None:
        """Keep a vote in place of the voter's earlier one on the same answer.

        A vote of the same kind without a reason keeps the reason that is there. One on an answer
        that was given in another tenant is not kept.

        Args:
            tenants: Those of the voter's place.
            cast_at: When it was cast; one that was cast later is not replaced, so that a click
                which is delivered again changes nothing. None: now.
        """
        row, moment = VoteRow, cast_at or now()
        given = {
            "course_id": vote.course_id,
            "helpful": vote.helpful,
            "reason": well_formed(vote.reason[:LONGEST_REASON]) if vote.reason else None,
            "voted_at": moment,
        }
        insert = insert_into(self._engine, row).values(
            request_id=vote.request_id, user_id=vote.user_id, **given
        )
        same = (row.request_id == vote.request_id, row.user_id == vote.user_id)
        earlier = select(row.helpful, row.voted_at).where(*same).with_for_update()

        theirs = (_EVENTS.c.request_id == vote.request_id, of_tenants(_EVENTS.c, tenants))
        is_theirs = select(exists().where(*theirs))

        def replace(db: Connection) -> None:
            if not db.scalar(is_theirs):
                return
            before = db.execute(earlier).one_or_none()
            if before is not None and before.voted_at > moment:
                return
            if before is not None and before.helpful == vote.helpful and not vote.reason:
                return
            key = ["request_id", "user_id"]
            db.execute(insert.on_conflict_do_update(index_elements=key, set_=given))

        await write(self._engine, replace, urgent=True)

    async def of(self, request_id: UUID, user_id: str) -> Vote | None:
        """Return what a person said of an answer, or None."""
        async with reading(self._engine) as db:
            row = await db.get(VoteRow, (request_id, user_id))
        if row is None:
            return None
        return Vote(row.request_id, row.user_id, row.course_id, row.helpful, row.reason)

    async def tally(self, course_id: str) -> Tally:
        """Return how many votes of each kind a course's answers have."""
        count = select(VoteRow.helpful, func.count()).where(VoteRow.course_id == course_id)
        async with reading(self._engine) as db:
            votes = dict((await db.execute(count.group_by(VoteRow.helpful))).all())
        return Tally(votes.get(True, 0), votes.get(False, 0))

    async def of_user(self, user_id: str) -> int:
        """Return how many votes a person has given."""
        async with reading(self._engine) as db:
            own = select(func.count()).where(VoteRow.user_id == user_id)
            return await db.scalar(own.select_from(VoteRow)) or 0

    async def forget_user(self, user_id: str) -> int:
        """Delete a person's votes, and return how many there were."""
        gone = delete(VoteRow).where(VoteRow.user_id == user_id).returning(VoteRow.request_id)
        return await write(self._engine, lambda db: len(db.scalars(gone).all()))

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete what was said of a workspace's answers, by any user."""
        for part in parts(workspace.requests):
            db.execute(delete(VoteRow).where(VoteRow.request_id.in_(part)))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete old votes."""
        if kept_for is not None:
            yield deleting(VoteRow, VoteRow.voted_at < moment - kept_for)
