"""Brings every table into `Base`: what concerns the whole database imports this."""

import core.access.staff_store
import core.access.store
import core.budgets.store
import core.catalogue_rows
import core.channels.beside
import core.channels.exchanges
import core.channels.store
import core.closed_windows
import core.feedback.store
import core.inbox.limits
import core.inbox.rows
import core.installations.store
import core.key_ids
import core.leases
import core.policies.store
import core.radar.store
import core.sessions.rows
import core.storage.gateway_sessions
import core.storage.ingest_accounts  # noqa: F401  (imported for their tables)
from core.database import Base

METADATA = Base.metadata
