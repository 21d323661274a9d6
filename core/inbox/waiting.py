"""Finds those who wait for long, and notes that they are notified, before they are."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, bindparam, literal, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import aliased

from core.inbox.base import Kind
from core.inbox.limits import WAITS, WINDOW, CountRow, count_one_more, minute_of, waits_subject
from core.inbox.rows import FORGOTTEN_USER, InboxRow, is_waiting

LONG = timedelta(seconds=10)
"""How long a question may wait before its asker is notified."""
_PLATFORMS: Any = bindparam("platforms", expanding=True)


class Waiting:
    """Finds who is to be notified that they wait; its statements are built once."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._candidate = _candidate()
        self._one_more = count_one_more(engine)

    def candidate(
        self, platforms: Sequence[str], moment: datetime
    ) -> tuple[Select[str], dict[str, Any]]:
        """Return the query for the key of a question whose asker is to be notified."""
        recently = minute_of(moment) - WINDOW
        given = {"since": moment - LONG, "recently": recently, "platforms": [*platforms]}
        return self._candidate, given

    def take(
        self, db: Connection, platforms: Sequence[str], moment: datetime
    ) -> Row[InboxRow] | None:
        """Note that an asker is notified, and return their question; None: no one is to be.

        It is none as well when the question was begun meanwhile, or another process notifies.
        """
        query, given = self.candidate(platforms, moment)
        key = db.scalar(query, given)
        row = None if key is None else db.execute(_note(key)).one_or_none()
        if row is not None:
            subject = waits_subject(row.user_id, row.platform, row.channel)
            told = {"subject": subject, "minute": minute_of(moment), "questions": 1}
            db.execute(self._one_more, told)
        return row


def _candidate() -> Select[str]:
    """Return the query for the key of a question that no one has begun since `since`.

    A user who waits with several questions in one channel is notified of the first alone. One who
    was notified in it in the minute of `recently` or later is not again, whatever became of that
    question.
    """
    row, other, count = InboxRow, aliased(InboxRow), CountRow
    beside = (
        select(other.key)
        .where(
            is_waiting(other),
            other.told_to_wait,
            other.user_id == row.user_id,
            other.platform == row.platform,
            other.channel == row.channel,
        )
        .exists()
    )
    subject = literal(WAITS) + row.user_id + ":" + row.platform + ":" + row.channel
    told = select(count.subject).where(
        count.subject == subject, count.minute >= bindparam("recently")
    )
    query = select(row.key).where(
        _is_unanswered(),
        row.kind == Kind.ASK.value,
        row.refusal.is_(None),
        row.user_id != FORGOTTEN_USER,
        row.accepted_at <= bindparam("since"),
        row.platform.in_(_PLATFORMS),
        ~beside,
        ~told.exists(),
    )
    return query.order_by(row.accepted_at, row.key).limit(1)


def _note(key: str) -> Any:
    """Return the statement that notes that an asker is notified, and returns their question."""
    note = update(InboxRow).where(InboxRow.key == key, _is_unanswered())
    return note.values(told_to_wait=True).returning(InboxRow)


def _is_unanswered() -> Any:
    row = InboxRow
    return and_(is_waiting(), row.fence == 0, ~row.told_to_wait)
