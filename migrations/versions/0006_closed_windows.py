"""Table for the rate limits' windows that a platform has closed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "closed_windows",
        sa.Column("window", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("window", name=op.f("pk_closed_windows")),
    )


def downgrade() -> None:
    op.drop_table("closed_windows")
