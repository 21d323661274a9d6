"""Counts and deletes what is stored about a person, over all stores."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, false, inspect, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import now
from core.storage.access_store import StaffRow
from core.storage.budgets import Scope, TokenBudgets, TokenUsageRow
from core.storage.channels import (
    ChannelRules,
    ChannelRulesRow,
    ConversationRow,
    Conversations,
    ExchangeRow,
    Exchanges,
    PanelRow,
    Panels,
    Place,
    Rules,
)
from core.storage.database import Base, reading
from core.storage.inbox.base import CountRow, user_subject
from core.storage.inbox.queries import Channel, InboxPlaces
from core.storage.inbox.rows import CursorRow, InboxRow, PostRow
from core.storage.inbox.store import Inbox
from core.storage.sessions import Feedback, SessionRow, SessionStore, TurnRow, VoteRow
from core.teaching.help_requests import HelpRequestRow, HelpRequests
from core.teaching.policy_store import HintStepRow, HintSteps
from core.teaching.queue_cards import QueueCardRow
from core.teaching.verified_store import VerifiedAnswers, VerifiedPhrasingRow, VerifiedRevisionRow


@dataclass(frozen=True, slots=True)
class StoredAmounts:
    """How much is stored about a person."""

    questions: int = 0
    """With their answers."""
    waiting: int = 0
    """Questions that wait for their answer, and the addresses of answers given."""
    votes: int = 0
    passed_on: int = 0
    """Questions that went to staff, and wordings that are kept with what staff answered."""

    @property
    def anything(self) -> bool:
        """Whether there is anything to delete."""
        return bool(self.questions or self.waiting or self.votes or self.passed_on)

    def __add__(self, other: "StoredAmounts") -> "StoredAmounts":
        return StoredAmounts(
            self.questions + other.questions,
            self.waiting + other.waiting,
            self.votes + other.votes,
            self.passed_on + other.passed_on,
        )


class PersonalData:
    """All that the stores hold of a person, by the person's pseudonyms.

    A person has a pseudonym a workspace. Methods raise StoreError when the database fails;
    what was deleted by then stays deleted, and calling again deletes the rest.
    """

    def __init__(
        self,
        *,
        sessions: SessionStore,
        inbox: Inbox,
        places: InboxPlaces,
        conversations: Conversations,
        exchanges: Exchanges,
        panels: Panels,
        rules: ChannelRules,
        feedback: Feedback,
        budgets: TokenBudgets,
        requests: HelpRequests,
        answers: VerifiedAnswers,
        hints: HintSteps,
    ) -> None:
        self._sessions = sessions
        self._inbox = inbox
        self._places = places
        self._conversations = conversations
        self._exchanges = exchanges
        self._panels = panels
        self._rules = rules
        self._feedback = feedback
        self._budgets = budgets
        self._requests = requests
        self._answers = answers
        self._hints = hints

    async def workspaces(self, platform: str) -> frozenset[str]:
        """Return the workspaces of a platform that something is kept of, left ones included."""
        return await self._places.workspaces(platform)

    async def stored(self, user_ids: Sequence[str]) -> StoredAmounts:
        """Return how much there is."""
        total = StoredAmounts()
        for user_id in user_ids:
            total += StoredAmounts(
                await self._sessions.turns_of_user(user_id),
                await self._inbox.of_user(user_id),
                await self._feedback.of_user(user_id),
                await self._requests.of_user(user_id) + await self._answers.of_user(user_id),
            )
        return total

    async def forget(self, user_ids: Sequence[str]) -> StoredAmounts:
        """Delete it all, answers under way included, and return how much it was."""
        direct = await self._places.direct_channels(user_ids)
        await self._forget_direct(direct)  # first: a second try would not know them any more
        total = StoredAmounts()
        for user_id in user_ids:
            waiting = await self._inbox.forget_user(user_id)  # first: nothing new is written
            total += StoredAmounts(
                await self._sessions.forget_user(user_id),
                waiting,
                await self._feedback.forget_user(user_id),
                await self._requests.forget_user(user_id)
                + await self._answers.forget_user(user_id),
            )
            await self._budgets.forget_user(user_id)
            await self._exchanges.forget_user(user_id)
            await self._hints.forget_user(user_id)
        await self._forget_direct(direct)  # what came meanwhile
        return total

    async def _forget_direct(self, channels: Iterable[Channel]) -> None:
        for direct in channels:
            place = Place(direct.platform, direct.workspace, direct.channel)
            await self._conversations.forget(place)
            await self._panels.forget_in(place)
            await self._rules.set(place, Rules())
            await self._places.forget_direct(direct)


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
