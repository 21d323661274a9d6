"""The tables of the inbox, and what their rows say."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    LargeBinary,
    Row,
    Select,
    Text,
    Update,
    and_,
    false,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import STORED, AgentRequest, session_id_for
from core.domain.errors import BotError
from core.storage.database import Base, UtcDateTime
from core.storage.inbox.base import (
    Answered,
    Arrival,
    Job,
    Kind,
    Settlement,
    State,
    lane_for,
    request_id_for,
)

logger = logging.getLogger(__name__)


FORGOTTEN_USER = "forgotten"
"""Stands in for a user whose data was deleted."""
_IS_WAITING = text("state = 'waiting'")
_HAS_GIST = text("gist IS NOT NULL")

CLOSED: dict[str, Any] = {
    "state": State.DONE.value,
    "request": None,
    "refusal": None,
    "token": None,
    "lease_until": None,
}
"""The columns of an event that needs no answer any more: what was asked is gone."""


class InboxRow(Base):
    """An event and how far it has come; what was asked is gone once it is answered."""

    __tablename__ = "inbox"
    __table_args__ = (
        Index(
            "ix_inbox_queue",
            *("round", "channel_round", "accepted_at", "key"),
            *("lane", "user_id", "platform", "channel", "not_before"),
            sqlite_where=_IS_WAITING,
            postgresql_where=_IS_WAITING,
        ),
        Index(None, "lane", "state", "position", "accepted_at", "key"),
        Index(None, "user_id", "state", "round"),
        Index(None, "gist", sqlite_where=_HAS_GIST, postgresql_where=_HAS_GIST),
        Index(
            None,
            *("channel", "round", "channel_round"),
            sqlite_where=_IS_WAITING,
            postgresql_where=_IS_WAITING,
        ),
    )

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    platform: Mapped[str] = mapped_column(Text)
    workspace: Mapped[str] = mapped_column(Text)
    channel: Mapped[str] = mapped_column(Text)
    lane: Mapped[str] = mapped_column(Text)
    position: Mapped[int] = mapped_column(BigInteger)
    user_id: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    about: Mapped[str | None] = mapped_column(Text, index=True)
    request_id: Mapped[UUID] = mapped_column(index=True)
    session_id: Mapped[UUID | None]
    course_id: Mapped[str | None] = mapped_column(Text)
    asked_in: Mapped[str | None] = mapped_column(Text)
    address: Mapped[dict[str, Any]] = mapped_column(JSON)
    request: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    refusal: Mapped[str | None] = mapped_column(Text)
    token: Mapped[bytes | None] = mapped_column(LargeBinary)
    token_expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    accepted_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    state: Mapped[str] = mapped_column(Text)
    round: Mapped[int] = mapped_column(BigInteger)
    channel_round: Mapped[int] = mapped_column(BigInteger)
    not_before: Mapped[datetime] = mapped_column(UtcDateTime)
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    fence: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    stopped: Mapped[bool] = mapped_column(default=False)
    thread: Mapped[str | None] = mapped_column(Text)
    settlement: Mapped[str | None] = mapped_column(Text)
    """Of an event that waits with a refusal: what it is to be settled as."""
    told_to_wait: Mapped[bool] = mapped_column(default=False, server_default=false())
    heal_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    gist: Mapped[str | None] = mapped_column(Text)


class PostRow(Base):
    """A message that shows a part of an answer."""

    __tablename__ = "inbox_posts"
    __table_args__ = (Index(None, "platform", "message_id"),)

    key: Mapped[str] = mapped_column(
        Text, ForeignKey("inbox.key", ondelete="CASCADE"), primary_key=True
    )
    part: Mapped[int] = mapped_column(primary_key=True)
    platform: Mapped[str] = mapped_column(Text)
    message_id: Mapped[str] = mapped_column(Text)


class CursorRow(Base):
    """The latest event that was accepted from a channel."""

    __tablename__ = "inbox_cursors"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    channel: Mapped[str] = mapped_column(Text, primary_key=True)
    position: Mapped[int] = mapped_column(BigInteger)


def is_waiting(row: Any = InboxRow) -> ColumnElement[bool]:
    """Return the condition that an event is not answered yet.

    Its value stands in the statement itself: a database that gets it later would not see
    that it may use an index of waiting events.
    """
    waiting: ColumnElement[bool] = row.state == literal(State.WAITING.value, literal_execute=True)
    return waiting


def is_buried() -> ColumnElement[bool]:
    """Return the condition that an event stands for a message that was deleted unheard."""
    row = InboxRow
    return and_(row.user_id == FORGOTTEN_USER, row.kind == Kind.FORGET.value, row.about.is_(None))


def values_of(arrival: Arrival) -> dict[str, Any]:
    """Return the columns that an arrival fills, but its token."""
    request, kept = arrival.request, arrival.request or arrival.pending
    return {
        "key": arrival.key,
        "platform": arrival.platform,
        "workspace": arrival.workspace,
        "channel": arrival.channel,
        "lane": arrival.lane,
        "position": arrival.position,
        "user_id": arrival.user_id,
        "kind": arrival.kind.value,
        "about": arrival.about,
        "request_id": request.request_id if request else request_id_for(arrival.key),
        "session_id": request.session_id if request else None,
        "course_id": request.course_id if request else None,
        "asked_in": request.user_context.thread if request else None,
        "address": dict(arrival.address),
        "request": kept.model_dump(mode="json") if kept else None,
        "refusal": arrival.refusal,
        "settlement": arrival.settles.value if arrival.refusal is not None else None,
        "token_expires_at": arrival.token_expires_at,
        "sent_at": arrival.sent_at,
        "gist": arrival.gist,
    }


def arrival_from(row: InboxRow | Row[Any], token: str | None = None) -> Arrival:
    """Return the arrival that a row holds; what cannot be read any more is refused."""
    kind, kept, refusal = _kind(row), _request(row), row.refusal
    if kind is None or (kept is None and row.request is not None):
        kind, kept, refusal = kind or Kind.ASK, None, BotError.user_message
    return Arrival(
        key=row.key,
        platform=row.platform,
        workspace=row.workspace,
        channel=row.channel,
        lane=row.lane,
        position=row.position,
        user_id=row.user_id,
        address=row.address,
        kind=kind,
        about=row.about,
        request=kept if refusal is None else None,
        refusal=refusal,
        settles=_settles(row) if refusal == row.refusal else Settlement.APOLOGISED,
        pending=kept if refusal is not None else None,
        token=token,
        token_expires_at=row.token_expires_at,
        sent_at=row.sent_at,
        told_to_wait=row.told_to_wait,
        gist=row.gist,
    )


def answered_from(row: InboxRow) -> Answered:
    """Return what leads from a message of the bot's to its question."""
    return Answered(
        key=row.key,
        platform=row.platform,
        workspace=row.workspace,
        request_id=row.request_id,
        user_id=row.user_id,
        thread=row.thread or row.asked_in,
        session_id=row.session_id,
        course_id=row.course_id,
        address=row.address,
    )


def moved_to(arrival: Arrival, thread: str | None) -> dict[str, Any]:
    """Return the columns of an event whose conversation goes on in a thread."""
    if thread is None:
        return {"thread": None}
    place = (arrival.platform, arrival.workspace, arrival.channel, thread)
    return {"thread": thread, "lane": lane_for(*place), "session_id": session_id_for(*place)}


def root_of(row: InboxRow | Row[Any]) -> str:
    """Return the key of the event that asked the question."""
    root: str = row.about or row.key
    return root


def posts_of(key: str, platform: str, messages: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of an answer's messages."""
    return [
        {"key": key, "part": part, "platform": platform, "message_id": message}
        for part, message in enumerate(messages)
    ]


def _kind(row: InboxRow | Row[Any]) -> Kind | None:
    try:
        return Kind(row.kind)
    except ValueError:
        logger.error("%s is of a kind that a later version knows: it is refused", row.key)
        return None


def _settles(row: InboxRow | Row[Any]) -> Settlement:
    """Return what the refusal of an event settles it as."""
    known = {one.value: one for one in Settlement}
    return known.get(row.settlement or "", Settlement.REFUSED)


def _request(row: InboxRow | Row[Any]) -> AgentRequest | None:
    if row.request is None:
        return None
    try:
        return AgentRequest.model_validate(row.request, context=STORED)
    except (ValidationError, BotError) as error:
        # Without the cause, whose text quotes what the student wrote.
        logger.error("the request of %s cannot be read: %s", row.key, type(error).__name__)
        return None


LASTS = timedelta(minutes=10)
"""How long an offer stands."""


def standing(key: str, moment: datetime) -> Select[Any]:
    """Return the query for the row of an offer that stands, held until the transaction's end."""
    return select(InboxRow.__table__).where(_stands(key, moment)).with_for_update()


def take_up(key: str, moment: datetime, **changed: Any) -> Update:
    """Return the statement that makes an offer a question to be answered, and returns its key.

    The worker that holds the offer to show it, or to remove it, has lost it.

    Args:
        changed: Columns that get another value than those of any question.
    """
    row = InboxRow
    question = {
        "kind": Kind.ASK.value,
        "state": State.WAITING.value,
        "settlement": None,
        "accepted_at": moment,
        "not_before": moment,
        "lease_until": None,
        "heal_at": None,
        "fence": row.fence + 1,
        "attempts": 0,
    }
    taken = update(row).where(_stands(key, moment)).values({**question, **changed})
    return taken.returning(row.key)


def withdraw(key: str, moment: datetime) -> Update:
    """Return the statement by which the janitor removes the reaction at once."""
    return update(InboxRow).where(_is_offer(key)).values(heal_at=moment, request=None)


def vanish(job: Job) -> Update:
    """Return the statement that drops the question of an offer whose reaction is removed."""
    row = InboxRow
    return (
        update(row).where(_is_offer(job.arrival.key), row.fence == job.fence).values(request=None)
    )


def _stands(key: str, moment: datetime) -> ColumnElement[bool]:
    row = InboxRow
    return and_(_is_offer(key), or_(row.heal_at.is_(None), row.heal_at > moment))


def _is_offer(key: str) -> ColumnElement[bool]:
    row = InboxRow
    return and_(row.key == key, row.kind == Kind.OFFER.value, row.request.is_not(None))
