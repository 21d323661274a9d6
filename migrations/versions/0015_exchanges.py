"""Table for which people talk to each other in a thread; none of them pauses the bot any more."""

import sqlalchemy as sa
from alembic import op

from core.storage.database import UtcDateTime

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "exchanges",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint(
            "platform", "workspace", "place", "user_id", name=op.f("pk_exchanges")
        ),
    )
    op.create_index(op.f("ix_exchanges_until"), "exchanges", ["until"])
    # From now on this is what staff pause, and nothing else ends it.
    conversations = sa.table("conversations", sa.column("listening", sa.Boolean()))
    op.execute(sa.update(conversations).values(listening=True))


def downgrade() -> None:
    op.drop_index(op.f("ix_exchanges_until"), table_name="exchanges")
    op.drop_table("exchanges")
