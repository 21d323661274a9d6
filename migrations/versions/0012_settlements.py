"""Columns for how an event was settled, and whether its asker knows that it waits."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("inbox", sa.Column("settlement", sa.Text(), nullable=True))
    told: sa.Column[bool] = sa.Column(
        "told_to_wait", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("inbox", told)


def downgrade() -> None:
    op.drop_column("inbox", "told_to_wait")
    op.drop_column("inbox", "settlement")
