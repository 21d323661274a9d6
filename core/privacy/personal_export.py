"""Exports everything that is stored about a person, row by row, as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, false, inspect, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncEngine

from core.access.staff_store import StaffRow
from core.help_requests.cards import QueueCardRow
from core.help_requests.store import HelpRequestRow
from core.inbox.limits import CountRow, user_subject
from core.inbox.rows import CursorRow, InboxRow, PostRow
from core.models import now
from core.policies.store import HintStepRow
from core.storage.budgets.store import Scope, TokenUsageRow
from core.storage.channels.exchanges import ExchangeRow
from core.storage.channels.panels import PanelRow
from core.storage.channels.store import ChannelRulesRow, ConversationRow
from core.storage.database import Base, reading
from core.storage.feedback import VoteRow
from core.storage.sessions.rows import SessionRow, TurnRow
from core.verified_answers.rows import VerifiedPhrasingRow, VerifiedRevisionRow

Json = dict[str, Any]

_WITHHELD = frozenset({"token"})
"""Columns with a sealed secret of the bot's: it tells nothing of a person."""


_PEOPLE = ("asked_by", "taken_by", "verified_by")
"""Columns with the pseudonyms of several people."""


class PersonalExport:
    """Everything that the database holds of a person, by the person's pseudonyms."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def of(self, user_ids: Sequence[str]) -> Json:
        """Return all rows of one moment that are about a person, by table, oldest first.

        Tables without such a row are there, too. What others asked is not: of a conversation
        that another user began there are the person's own turns only.

        Raises:
            StoreError: when the database fails.
        """
        tables: dict[str, list[Json]] = {}
        async with reading(self._engine) as db:
            direct = await db.execute(_direct_messages(user_ids))
            places = {tuple(where) for *where, address in direct if address.get("dm")}
            for row, condition in _about(user_ids, places):
                key = inspect(row).primary_key
                found = await db.scalars(select(row).where(condition).order_by(*key))
                tables[row.__tablename__] = [_of(user_ids, _shown(one)) for one in found]
        return {
            "exported_at": now().isoformat(),
            "pseudonyms": list(user_ids),
            "stored": tables,
        }


def _about(
    user_ids: Sequence[str], direct: Iterable[tuple[str, str, str]]
) -> Iterator[tuple[type[Base], ColumnElement[bool]]]:
    """Yield the tables that hold anything of people, each with which rows are a person's."""
    for row in (SessionRow, TurnRow, VoteRow, InboxRow, StaffRow, ExchangeRow, HintStepRow):
        yield row, row.user_id.in_(user_ids)
    help_request, said = HelpRequestRow, VerifiedRevisionRow
    yield (
        help_request,
        or_(help_request.asked_by.in_(user_ids), help_request.taken_by.in_(user_ids)),
    )
    own_requests = select(help_request.help_id).where(help_request.asked_by.in_(user_ids))
    yield QueueCardRow, QueueCardRow.help_id.in_(own_requests)
    yield said, or_(said.asked_by.in_(user_ids), said.verified_by.in_(user_ids))
    yield VerifiedPhrasingRow, VerifiedPhrasingRow.user_id.in_(user_ids)
    own_events = select(InboxRow.key).where(InboxRow.user_id.in_(user_ids))
    yield PostRow, PostRow.key.in_(own_events)
    yield CountRow, CountRow.subject.in_([user_subject(user_id) for user_id in user_ids])
    used = TokenUsageRow
    yield used, (used.scope == Scope.USER.value) & used.subject.in_(user_ids)
    channels = {(platform, channel) for platform, _, channel in direct}
    yield CursorRow, tuple_(CursorRow.platform, CursorRow.channel).in_(sorted(channels))
    for kept in (ConversationRow, PanelRow, ChannelRulesRow):
        yield kept, or_(false(), *(_inside(kept, *place) for place in sorted(direct)))


def _direct_messages(user_ids: Sequence[str]) -> Any:
    row = InboxRow
    query = select(row.platform, row.workspace, row.channel, row.address)
    return query.where(row.user_id.in_(user_ids), row.channel != "")


def _inside(
    row: type[ConversationRow] | type[PanelRow] | type[ChannelRulesRow],
    platform: str,
    workspace: str,
    channel: str,
) -> ColumnElement[bool]:
    """Return the condition that a row is of direct messages, or of a conversation in them."""
    within = or_(row.place == channel, row.place.startswith(f"{channel}:", autoescape=True))
    return (row.platform == platform) & (row.workspace == workspace) & within


def _shown(row: Base) -> Json:
    names = (column.name for column in row.__table__.columns)
    return {name: _plain(getattr(row, name)) for name in names if name not in _WITHHELD}


def _of(user_ids: Sequence[str], shown: Json) -> Json:
    """Return a row without the pseudonyms of others, nor the words that were another's."""
    others = {n for n in _PEOPLE if shown.get(n) is not None and shown[n] not in user_ids}
    hidden = others | ({"question"} if "asked_by" in others else set())
    return {name: value for name, value in shown.items() if name not in hidden}


def _plain(value: Any) -> Any:
    """Return a column's value as JSON has it."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
