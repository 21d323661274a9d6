"""Column for what identical questions have in common."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("inbox", sa.Column("gist", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("inbox", "gist")
