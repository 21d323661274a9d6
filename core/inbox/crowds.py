"""Identical questions that are asked at once in one channel, and the first one of them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, or_, select, tuple_
from sqlalchemy.orm import aliased

from core.inbox.audience import Settlement
from core.inbox.base import Job, Kind, State, Twin
from core.inbox.rows import FORGOTTEN_USER, InboxRow, PostRow

AT_ONCE = timedelta(minutes=1)
"""How long after a question the same one counts as asked at once."""
TERM = timedelta(weeks=26)
"""How long after a question the same one is shown where it was asked before."""
LINKED_TO = "linked_to"
"""In the address of an event that ended with a link: the key of the question it leads to."""
DOUBTFUL = "doubtful"
"""In the same address: that a post may have been applied unseen."""


def first_of(job: Job) -> Select[Any]:
    """Return the query for the first event of another person that asked what a job asks."""
    row = InboxRow
    of_others = row.user_id != job.arrival.user_id
    at_once = row.accepted_at >= job.accepted_at - AT_ONCE
    return _same(job).where(of_others, at_once).order_by(row.accepted_at, row.key).limit(1)


def latest_before(job: Job) -> Select[Any]:
    """Return the query for the latest event that asked what a job asks, and was answered.

    What is asked at once is left to `first_of`.
    """
    row = InboxRow
    in_term = row.accepted_at.between(job.accepted_at - TERM, job.accepted_at - AT_ONCE)
    answered = row.settlement == Settlement.ANSWERED.value
    latest = (row.accepted_at.desc(), row.key.desc())
    return _same(job).where(in_term, answered).order_by(*latest).limit(1)


def _same(job: Job) -> Select[Any]:
    """Return the query for the events before a job's that asked the same in its channel.

    Of people who are forgotten there are none, nor of questions that were edited or deleted.
    """
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
            row.accepted_at,
        )
        .join(own, own.gist == row.gist)
        .where(
            own.key == job.arrival.key,
            row.key != own.key,
            row.platform == own.platform,
            row.workspace == own.workspace,
            row.channel == own.channel,
            row.kind == Kind.ASK.value,
            row.user_id != FORGOTTEN_USER,
            tuple_(row.accepted_at, row.key) < tuple_(own.accepted_at, own.key),
            or_(row.course_id == own.course_id, row.course_id.is_(None)),
            ~is_changed,
        )
    )


def linked_to(key: str, asked_at: datetime) -> Select[InboxRow]:
    """Return the query for the events whose askers were shown a link to this one's answer."""
    row = InboxRow
    is_linked = row.address[LINKED_TO].as_string() == key
    in_time = row.accepted_at.between(asked_at, asked_at + AT_ONCE)
    return select(row).where(in_time, is_linked).order_by(row.accepted_at, row.key)


def with_link(address: Mapping[str, Any], key: str, *, doubtful: bool) -> dict[str, Any]:
    """Return the address of an event whose asker is shown a link to another one's answer."""
    return {**address, LINKED_TO: key, **({DOUBTFUL: True} if doubtful else {})}


def without_link(address: Mapping[str, Any]) -> dict[str, Any]:
    """Return the address of an event as it was before its asker was shown a link."""
    return {name: value for name, value in address.items() if name not in (LINKED_TO, DOUBTFUL)}


def posts_of(key: str) -> Select[str]:
    """Return the query for the messages that show an event's answer, in order."""
    return select(PostRow.message_id).where(PostRow.key == key).order_by(PostRow.part)


def twin_from(row: Row[Any], messages: tuple[str, ...]) -> Twin:
    """Return what a row of `first_of` or `latest_before` says."""
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
        asked_at=row.accepted_at,
    )
