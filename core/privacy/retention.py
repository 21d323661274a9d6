"""Deletes what is older than conversations are kept, over all stores."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, delete, select, tuple_, union, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import now
from core.storage import channels as panels
from core.storage.access_store import CourseGrantRow, StaffRow, TenantRow
from core.storage.budgets import Scope, TokenUsageRow, has_expired
from core.storage.channels import ChannelRulesRow, ConversationRow, ExchangeRow, PanelRow
from core.storage.database import reading, write
from core.storage.inbox.base import CountRow, channel_subject, user_subject
from core.storage.inbox.rows import FORGOTTEN_USER as WORKSPACE_DATA_FORGOTTEN_USER
from core.storage.inbox.rows import CursorRow, InboxRow, is_buried, is_waiting
from core.storage.leases import RateLimitWindowRow
from core.storage.sessions import FORGOTTEN_USER, SessionRow, TurnRow, VoteRow
from core.teaching.help_requests import HelpRequestRow
from core.teaching.policy_store import HintStepRow, PolicyRow
from core.teaching.queue_cards import QueueCardRow, QueueChannelRow
from core.teaching.radar_store import RadarChannelRow, RadarWeekRow
from core.teaching.verified_store import VerifiedAnswerRow, VerifiedPhrasingRow, VerifiedRevisionRow

logger = logging.getLogger(__name__)


_BATCH = 200
"""Rows of a table that are deleted in one go, so that no one waits long for the database."""
_BURIED_FOR = timedelta(days=1)
"""How long it is known that a message was deleted whose event may still come."""
_PENDING_FOR = timedelta(days=1)
"""How long a question waits until its asker says to which course it is."""
_LIMITS_KEPT = timedelta(hours=1)
"""How long it is known what was counted or closed in a minute; clocks may differ by some."""


class Retention:
    """Deletes conversations, votes and events that no one needs any more."""

    def __init__(self, engine: AsyncEngine, *, kept_for: timedelta | None) -> None:
        """Prepare to delete.

        Args:
            kept_for: How old what is kept may become; None: of any age.
        """
        self._engine = engine
        self._kept_for = kept_for

    async def delete_some(self, moment: datetime | None = None) -> int:
        """Delete a batch of each table, and return how many rows that were; 0: there is no more.

        Raises:
            StoreError: when the database fails; what was deleted by then stays deleted.
        """
        moment = moment or now()
        steps = [(_counts, moment - _LIMITS_KEPT), (_windows, moment - _LIMITS_KEPT)]
        steps += [(_exchanges, moment - _LIMITS_KEPT)]
        steps += [(_buried, moment - _BURIED_FOR), (_tokens, moment)]
        steps.append((_pending, moment - _PENDING_FOR))
        steps.append((_panels, moment - min(panels.KEPT, self._kept_for or panels.KEPT)))
        if self._kept_for is not None:
            expired = [_sessions, _turns, _votes, _conversations, _events]
            expired += [_help_requests, _phrasings, _askers, _hints, _weeks]
            steps += [(step, moment - self._kept_for) for step in expired]
        deleted = 0
        for step, before in steps:
            deleted += await write(self._engine, partial(step, before=before))
        return deleted


def _sessions(db: Connection, before: datetime) -> int:
    """Delete conversations in which nothing was said since, with their turns."""
    old = select(SessionRow.session_id).where(SessionRow.last_activity < before).limit(_BATCH)
    return _count(db, delete(SessionRow).where(SessionRow.session_id.in_(old)))


def _turns(db: Connection, before: datetime) -> int:
    """Blank the old turns of conversations that go on; they keep their numbers."""
    row = TurnRow
    old = select(row.request_id).where(row.timestamp < before, row.content.is_not(None))
    blank = update(row).where(row.request_id.in_(old.limit(_BATCH)))
    return _count(db, blank.values(user_id=FORGOTTEN_USER, content=None))


def _votes(db: Connection, before: datetime) -> int:
    row = VoteRow
    key = tuple_(row.request_id, row.user_id)
    old = select(row.request_id, row.user_id).where(row.voted_at < before).limit(_BATCH)
    return _count(db, delete(row).where(key.in_(old)))


def _hints(db: Connection, before: datetime) -> int:
    row = HintStepRow
    old = select(row.request_id).where(row.taken_at < before).limit(_BATCH)
    return _count(db, delete(row).where(row.request_id.in_(old)))


def _weeks(db: Connection, before: datetime) -> int:
    """Delete all reports of weeks at once: there is one row a course, tenant and week."""
    return _count(db, delete(RadarWeekRow).where(RadarWeekRow.made_at < before))


def _help_requests(db: Connection, before: datetime) -> int:
    row = HelpRequestRow
    old = select(row.help_id).where(row.opened_at < before).limit(_BATCH)
    return _count(db, delete(row).where(row.help_id.in_(old)))


def _phrasings(db: Connection, before: datetime) -> int:
    """Delete how people asked what staff answered; the question that staff keep stays."""
    row = VerifiedPhrasingRow
    old = select(row.phrasing_id).where(row.added_at < before).limit(_BATCH)
    return _count(db, delete(row).where(row.phrasing_id.in_(old)))


def _askers(db: Connection, before: datetime) -> int:
    """Blank who first asked what staff answered: the question has long been the staff's."""
    row = VerifiedRevisionRow
    key = tuple_(row.answer_id, row.revision)
    old = select(row.answer_id, row.revision)
    old = old.where(row.verified_at < before, row.asked_by.is_not(None)).limit(_BATCH)
    return _count(db, update(row).where(key.in_(old)).values(asked_by=None))


def _conversations(db: Connection, before: datetime) -> int:
    """Delete which conversations are current; where staff paused the bot, it stays paused."""
    row = ConversationRow
    key = tuple_(row.platform, row.workspace, row.place)
    old = select(row.platform, row.workspace, row.place)
    old = old.where(row.last_activity < before, row.listening)
    return _count(db, delete(row).where(key.in_(old.limit(_BATCH))))


def _panels(db: Connection, before: datetime) -> int:
    row = PanelRow
    key = tuple_(row.platform, row.workspace, row.place)
    old = select(row.platform, row.workspace, row.place).where(row.seen_at < before)
    return _count(db, delete(row).where(key.in_(old.limit(_BATCH))))


def _events(db: Connection, before: datetime) -> int:
    """Delete events that have ended, and the cursors of direct messages that had no other."""
    row = InboxRow
    old = select(row.key).where(row.accepted_at < before, ~is_waiting()).limit(_BATCH)
    gone = delete(row).where(row.key.in_(old)).returning(row.platform, row.channel, row.address)
    deleted = db.execute(gone).all()
    for platform, channel, address in deleted:
        if address.get("dm"):
            others = select(row.key).where(row.platform == platform, row.channel == channel)
            cursor = (CursorRow.platform == platform, CursorRow.channel == channel)
            db.execute(delete(CursorRow).where(*cursor, ~others.exists()))
    return len(deleted)


def _buried(db: Connection, before: datetime) -> int:
    """Delete what stands for messages that were deleted before they were heard."""
    row = InboxRow
    old = select(row.key).where(is_buried(), row.accepted_at < before).limit(_BATCH)
    return _count(db, delete(row).where(row.key.in_(old)))


def _pending(db: Connection, before: datetime) -> int:
    """Blank questions whose course was never chosen."""
    row = InboxRow
    waits = (~is_waiting(), row.request.is_not(None), row.accepted_at < before)
    old = select(row.key).where(*waits).limit(_BATCH)
    return _count(db, update(row).where(row.key.in_(old)).values(request=None))


def _tokens(db: Connection, before: datetime) -> int:
    """Delete what users used, when it is old or they are forgotten; the sums name no one."""
    row = TokenUsageRow
    key = tuple_(row.day, row.scope, row.subject)
    old = select(row.day, row.scope, row.subject).where(has_expired(before)).limit(_BATCH)
    return _count(db, delete(row).where(key.in_(old)))


def _counts(db: Connection, before: datetime) -> int:
    row = CountRow
    key = tuple_(row.subject, row.minute)
    old = select(row.subject, row.minute).where(row.minute < before).limit(_BATCH)
    return _count(db, delete(row).where(key.in_(old)))


def _exchanges(db: Connection, before: datetime) -> int:
    """Delete which people talked to each other, all at once: they are few."""
    return _count(db, delete(ExchangeRow).where(ExchangeRow.until < before))


def _windows(db: Connection, before: datetime) -> int:
    """Delete all at once: they are few, and one that closes again meanwhile is spared."""
    return _count(db, delete(RateLimitWindowRow).where(RateLimitWindowRow.until < before))


def _count(db: Connection, statement: Any) -> int:
    return db.execute(statement).rowcount


_AT_ONCE = 500
"""Values in one statement; databases take some thousand at most."""


class WorkspaceData:
    """All that the stores hold of a workspace; its tokens are the platform's to delete.

    Methods raise StoreError when the database fails: then nothing was deleted.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def forget(self, platform: str, workspace: str) -> int:
        """Delete it all, answers under way included; return how many questions there were.

        Its grants go as well; a course that it owns stays its own, and is closed to others.
        A worker that holds one has lost it. Nothing of another workspace is touched: not the
        rules of a channel that both see, nor what a user did who is in both.
        """
        return await write(self._engine, lambda db: _forget(db, platform, workspace))

    async def of_organisation(self, platform: str, organisation: str) -> list[str]:
        """Return the ids of the workspaces of an organisation in which a user asked."""
        of_it = InboxRow.address["enterprise"].as_string() == organisation
        query = select(InboxRow.workspace).where(InboxRow.platform == platform, of_it).distinct()
        async with reading(self._engine) as db:
            return [*await db.scalars(query)]


def _forget(db: Connection, platform: str, workspace: str) -> int:
    asked = (InboxRow.platform == platform, InboxRow.workspace == workspace)
    details = SessionRow.details
    talked = select(SessionRow.session_id).where(
        details["platform"].as_string() == platform, details["workspace"].as_string() == workspace
    )
    sessions = list(db.scalars(talked))
    _forget_votes(db, asked, sessions)
    _forget_people(db, asked, sessions)
    _forget_channels(db, platform, workspace, asked)
    for part in _parts(sessions):
        db.execute(delete(TurnRow).where(TurnRow.session_id.in_(part)))
        db.execute(delete(SessionRow).where(SessionRow.session_id.in_(part)))
    of_places = (ChannelRulesRow, ConversationRow, ExchangeRow, PanelRow)
    of_staff = (StaffRow, HelpRequestRow, VerifiedAnswerRow, PolicyRow, RadarChannelRow)
    db.execute(delete(RadarWeekRow).where(RadarWeekRow.tenant == f"{platform}:{workspace}"))
    of_queue = (QueueChannelRow, QueueCardRow)
    for row in (*of_places, CourseGrantRow, *of_staff, *of_queue):
        db.execute(delete(row).where(row.platform == platform, row.workspace == workspace))
    # The operator's own stays known: no workspace that comes later may take its place.
    met = (TenantRow.platform == platform, TenantRow.workspace == workspace, ~TenantRow.home)
    db.execute(delete(TenantRow).where(*met))
    return len(list(db.scalars(delete(InboxRow).where(*asked).returning(InboxRow.key))))


def _forget_votes(db: Connection, asked: Any, sessions: Sequence[Any]) -> None:
    """Delete what was said of the workspace's answers, by any user."""
    requests = set(db.scalars(select(InboxRow.request_id).where(*asked)))
    for part in _parts(sessions):
        requests |= {*db.scalars(select(TurnRow.request_id).where(TurnRow.session_id.in_(part)))}
    for part in _parts([*requests]):
        db.execute(delete(VoteRow).where(VoteRow.request_id.in_(part)))


def _forget_people(db: Connection, asked: Any, sessions: Sequence[Any]) -> None:
    """Delete how much its people asked and used: a pseudonym belongs to one workspace."""
    people = set(db.scalars(select(InboxRow.user_id).where(*asked).distinct()))
    for part in _parts(sessions):
        people |= {*db.scalars(_people_in(part))}
    for users in _parts([*(people - {WORKSPACE_DATA_FORGOTTEN_USER})]):
        db.execute(delete(CountRow).where(CountRow.subject.in_([user_subject(u) for u in users])))
        db.execute(delete(HintStepRow).where(HintStepRow.user_id.in_(users)))
        used = (TokenUsageRow.scope == Scope.USER.value, TokenUsageRow.subject.in_(users))
        db.execute(delete(TokenUsageRow).where(*used))


def _people_in(sessions: Sequence[Any]) -> Select[Any]:
    asked = select(TurnRow.user_id).where(TurnRow.session_id.in_(sessions))
    opened = select(SessionRow.user_id).where(SessionRow.session_id.in_(sessions))
    return select(union(asked, opened).subquery().c[0])


def _forget_channels(db: Connection, platform: str, workspace: str, asked: Any) -> None:
    """Delete how far its channels were read, save for those that others share."""
    channels = set(db.scalars(select(InboxRow.channel).where(*asked).distinct()))
    others = (InboxRow.platform == platform, InboxRow.workspace != workspace)
    for part in _parts([*channels]):
        shared = set(
            db.scalars(select(InboxRow.channel).where(*others, InboxRow.channel.in_(part)))
        )
        own = [channel for channel in part if channel not in shared]
        here = (CursorRow.platform == platform, CursorRow.channel.in_(own))
        db.execute(delete(CursorRow).where(*here))
        subjects = [channel_subject(platform, workspace, channel) for channel in part]
        db.execute(delete(CountRow).where(CountRow.subject.in_(subjects)))


def _parts(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE)]
