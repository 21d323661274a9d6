"""Identical questions that are asked at once in one channel, and the first one of them."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, or_, select, tuple_
from sqlalchemy.orm import aliased

from core.inbox.audience import Settlement
from core.inbox.base import Job, Kind, State, Twin
from core.inbox.rows import FORGOTTEN_USER, InboxRow, PostRow

AT_ONCE = timedelta(minutes=1)
"""How long after a question the same one counts as asked at once."""


def first_of(job: Job) -> Select[Any]:
    """Return the query for the first event of another person that asked what a job asks."""
    row, own, gone = InboxRow, aliased(InboxRow), aliased(InboxRow)
    is_changed = select(gone.key).where(gone.about == row.key).exists()
    return (
        select(row)
        .with_only_columns(
            row.key,
            row.request_id,
            row.state,
            row.settlement,
            row.workspace,
            row.channel,
            row.thread,
            row.address,
        )
        .join(own, own.gist == row.gist)
        .where(
            own.key == job.arrival.key,
            row.key != own.key,
            row.platform == own.platform,
            row.workspace == own.workspace,
            row.channel == own.channel,
            row.kind == Kind.ASK.value,
            row.user_id.not_in([FORGOTTEN_USER, job.arrival.user_id]),
            row.accepted_at >= job.accepted_at - AT_ONCE,
            tuple_(row.accepted_at, row.key) < tuple_(own.accepted_at, own.key),
            or_(row.course_id == own.course_id, row.course_id.is_(None)),
            ~is_changed,
        )
        .order_by(row.accepted_at, row.key)
        .limit(1)
    )


def linked_to(key: str, asked_at: datetime) -> Select[InboxRow]:
    """Return the query for the events whose askers were shown the answer of this one instead."""
    row, first = InboxRow, aliased(InboxRow)
    return (
        select(row)
        .join(first, first.gist == row.gist)
        .where(
            first.key == key,
            row.key != first.key,
            row.platform == first.platform,
            row.workspace == first.workspace,
            row.channel == first.channel,
            row.kind == Kind.ASK.value,
            row.settlement == Settlement.POINTED_BACK.value,
            row.user_id != FORGOTTEN_USER,
            row.accepted_at.between(asked_at, asked_at + AT_ONCE),
        )
        .order_by(row.accepted_at, row.key)
    )


def posts_of(key: str) -> Select[str]:
    """Return the query for the messages that show an event's answer, in order."""
    return select(PostRow.message_id).where(PostRow.key == key).order_by(PostRow.part)


def twin_from(row: Row[Any], messages: tuple[str, ...]) -> Twin:
    """Return what a row of `first_of` says."""
    return Twin(
        key=row.key,
        request_id=row.request_id,
        waits=row.state == State.WAITING.value,
        answered=row.settlement == Settlement.ANSWERED.value,
        workspace=row.workspace,
        channel=row.channel,
        thread=row.thread,
        messages=messages,
        address=row.address,
    )
