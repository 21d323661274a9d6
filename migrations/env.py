"""What Alembic runs; the connection is lent by whoever migrates."""

from alembic import context

import core.budgets.store
import core.catalogue
import core.channels.beside
import core.channels.store
import core.closed_windows
import core.feedback.store
import core.inbox.limits
import core.inbox.rows
import core.installations.store
import core.leases
import core.sessions.rows  # noqa: F401  (these imports bring their tables into Base)
from core.database import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
