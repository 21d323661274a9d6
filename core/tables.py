"""Brings every table into `Base`: what concerns the whole database imports this."""

# ruff: noqa: F401  (imported for their tables)

import core.ingestion.changes
import core.storage.access_store
import core.storage.budgets
import core.storage.catalogue
import core.storage.channels
import core.storage.inbox.base
import core.storage.inbox.rows
import core.storage.ingest_accounts
import core.storage.installations
import core.storage.leases
import core.storage.sessions
import core.teaching.help_requests
import core.teaching.policy_store
import core.teaching.queue_cards
import core.teaching.radar_store
import core.teaching.verified_store
from core.storage.database import Base

METADATA = Base.metadata
