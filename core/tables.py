"""Brings every table into `Base`: what concerns the whole database imports this."""

# ruff: noqa: F401  (imported for their tables)

import core.access.staff_store
import core.access.store
import core.help_requests.cards
import core.help_requests.store
import core.inbox.limits
import core.inbox.rows
import core.ingestion.changes.checks
import core.ingestion.changes.store
import core.policies.store
import core.radar.store
import core.storage.budgets.store
import core.storage.catalogue_rows
import core.storage.channels.exchanges
import core.storage.channels.panels
import core.storage.channels.store
import core.storage.feedback
import core.storage.ingest_accounts
import core.storage.installations.store
import core.storage.key_ids
import core.storage.leases
import core.storage.rate_limit_windows
import core.storage.sessions.rows
import core.verified_answers.rows
from core.storage.database import Base

METADATA = Base.metadata
