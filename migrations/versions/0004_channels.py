"""Tables for what staff set for channels, conversations in them, and votes on answers."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "channel_rules",
        *_place(),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "place", name=op.f("pk_channel_rules")),
    )
    op.create_table(
        "conversations",
        *_place(),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("listening", sa.Boolean(), nullable=False),
        sa.Column("last_activity", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "place", name=op.f("pk_conversations")),
    )
    op.create_index(op.f("ix_conversations_last_activity"), "conversations", ["last_activity"])
    op.create_table(
        "votes",
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("voted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("request_id", "user_id", name=op.f("pk_votes")),
    )
    op.create_index(op.f("ix_votes_user_id"), "votes", ["user_id"])


def _place() -> list[sa.Column[str]]:
    names = ("platform", "workspace", "place")
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def downgrade() -> None:
    op.drop_table("votes")
    op.drop_table("conversations")
    op.drop_table("channel_rules")
