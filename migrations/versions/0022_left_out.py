"""What was not read of each document: text boxes, equations, hidden text ..."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("documents", sa.Column("left_out", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("documents", "left_out")
