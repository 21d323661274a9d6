"""Where staff have their queue shown, which message shows what, and questions asked before."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "queue_channels",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("enterprise", sa.Text(), nullable=True),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_queue_channels_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "course_id", "platform", "workspace", name=op.f("pk_queue_channels")
        ),
    )
    op.create_table(
        "queue_cards",
        sa.Column("help_id", sa.Uuid(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("enterprise", sa.Text(), nullable=True),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("shown", sa.Text(), nullable=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("help_id", name=op.f("pk_queue_cards")),
    )
    op.create_index(
        op.f("ix_inbox_gist"),
        "inbox",
        ["gist"],
        sqlite_where=sa.text("gist IS NOT NULL"),
        postgresql_where=sa.text("gist IS NOT NULL"),
    )
