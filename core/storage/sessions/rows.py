"""The tables of sessions and turns, and how their rows become what they tell."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import JSON, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.errors import StoreError
from core.models import (
    STORED,
    AgentResponse,
    AgentSession,
    ConversationTurn,
    Outcome,
    ResponseState,
)
from core.storage.database import Base, UtcDateTime

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
