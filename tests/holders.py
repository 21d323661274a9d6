"""The stores of the program as they are asked what they hold of people and workspaces."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.keys import Sealer
from bot.services import holders
from core.storage.channels import ChannelRules
from core.storage.inbox.queries import InboxHoldings
from core.storage.privacy import Holder, PersonalData, PersonalExport, Retention, WorkspaceData
from core.storage.sessions import SessionStore
from core.teaching.policy_store import PolicyStore


def holders_of(engine: AsyncEngine) -> Sequence[Holder]:
    """Return all stores, as the program puts them together."""
    policies = PolicyStore(engine, Sealer([b"key"]))
    return holders(engine, SessionStore(engine), ChannelRules(engine), policies)


def personal(engine: AsyncEngine) -> PersonalData:
    """Return what is stored about people."""
    return PersonalData(holders_of(engine), InboxHoldings(engine))


def export(engine: AsyncEngine) -> PersonalExport:
    """Return what shows it."""
    return PersonalExport(engine, holders_of(engine), InboxHoldings(engine))


def workspaces(engine: AsyncEngine) -> WorkspaceData:
    """Return what is stored about workspaces."""
    return WorkspaceData(engine, holders_of(engine))


def retention(engine: AsyncEngine, *, kept_for: timedelta | None) -> Retention:
    """Return what deletes what is kept no longer."""
    return Retention(engine, holders_of(engine), kept_for=kept_for)
