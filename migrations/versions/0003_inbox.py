"""Tables for the events that wait for an answer, and for what was posted for them."""

import sqlalchemy as sa
from alembic import op

from core.storage.database import UtcDateTime

revision = "0003"
down_revision = "0002"

_IS_WAITING = sa.text("state = 'waiting'")


def upgrade() -> None:
    op.create_table(
        "inbox",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("course_id", sa.Text(), nullable=True),
        sa.Column("asked_in", sa.Text(), nullable=True),
        sa.Column("address", sa.JSON(), nullable=False),
        sa.Column("request", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.Column("token", sa.LargeBinary(), nullable=True),
        sa.Column("token_expires_at", UtcDateTime(), nullable=True),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("accepted_at", UtcDateTime(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("channel_round", sa.BigInteger(), nullable=False),
        sa.Column("not_before", UtcDateTime(), nullable=False),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("stopped", sa.Boolean(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("heal_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_inbox")),
    )
    queue = ["round", "channel_round", "accepted_at", "key"]
    queue += ["lane", "user_id", "platform", "channel", "not_before"]  # read without the row
    op.create_index(
        "ix_inbox_queue", "inbox", queue, sqlite_where=_IS_WAITING, postgresql_where=_IS_WAITING
    )
    op.create_index(
        op.f("ix_inbox_lane_state_position_accepted_at_key"),
        "inbox",
        ["lane", "state", "position", "accepted_at", "key"],
    )
    op.create_index(op.f("ix_inbox_user_id_state_round"), "inbox", ["user_id", "state", "round"])
    in_channel = ["channel", "round", "channel_round"]
    op.create_index(
        op.f("ix_inbox_channel_round_channel_round"),
        "inbox",
        in_channel,
        sqlite_where=_IS_WAITING,
        postgresql_where=_IS_WAITING,
    )
    for column in ("about", "request_id", "accepted_at", "lease_until", "heal_at"):
        op.create_index(op.f(f"ix_inbox_{column}"), "inbox", [column])
    op.create_table(
        "inbox_posts",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", "part", name=op.f("pk_inbox_posts")),
        sa.ForeignKeyConstraint(
            ["key"], ["inbox.key"], ondelete="CASCADE", name=op.f("fk_inbox_posts_key_inbox")
        ),
    )
    op.create_index(
        op.f("ix_inbox_posts_platform_message_id"), "inbox_posts", ["platform", "message_id"]
    )
    op.create_table(
        "inbox_cursors",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "channel", name=op.f("pk_inbox_cursors")),
    )
    op.create_table(
        "inbox_counts",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("minute", UtcDateTime(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "minute", name=op.f("pk_inbox_counts")),
    )


def downgrade() -> None:
    op.drop_table("inbox_counts")
    op.drop_table("inbox_cursors")
    op.drop_table("inbox_posts")
    op.drop_table("inbox")
