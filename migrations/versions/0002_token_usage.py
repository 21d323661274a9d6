"""A table for the tokens that language models used, by UTC day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "token_usage",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("query_tokens", sa.BigInteger(), nullable=False),
        sa.Column("response_tokens", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "scope", "subject", name=op.f("pk_token_usage")),
    )


def downgrade() -> None:
    op.drop_table("token_usage")
