"""Deletes what is stored about a workspace, over all stores, when it removes the bot."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, select, union
from sqlalchemy.ext.asyncio import AsyncEngine

from core.access.staff_store import StaffRow
from core.access.store import CourseGrantRow, TenantRow
from core.help_requests.cards import QueueCardRow, QueueChannelRow
from core.help_requests.store import HelpRequestRow
from core.inbox.limits import CountRow, channel_subject, user_subject
from core.inbox.rows import FORGOTTEN_USER, CursorRow, InboxRow
from core.policies.store import HintStepRow, PolicyRow
from core.radar.store import RadarChannelRow, RadarWeekRow
from core.storage.budgets.store import Scope, TokenUsageRow
from core.storage.channels.exchanges import ExchangeRow
from core.storage.channels.panels import PanelRow
from core.storage.channels.store import ChannelRulesRow, ConversationRow
from core.storage.database import reading, write
from core.storage.feedback import VoteRow
from core.storage.sessions.rows import SessionRow, TurnRow
from core.verified_answers.rows import VerifiedAnswerRow

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
    for users in _parts([*(people - {FORGOTTEN_USER})]):
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
