"""How questions are answered where, how far hints have gone, and what weeks told of sections."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "answer_policies",
        sa.Column("policy_id", sa.Text(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("section", sa.Text(), nullable=True),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("valid_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("sections", sa.JSON(), nullable=False),
        sa.Column("solution", sa.LargeBinary(), nullable=True),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_answer_policies_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("policy_id", name=op.f("pk_answer_policies")),
    )
    op.create_index(op.f("ix_answer_policies_course_id"), "answer_policies", ["course_id"])
    op.create_table(
        "hint_steps",
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("topic", sa.Uuid(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("request_id", name=op.f("pk_hint_steps")),
    )
    op.create_index(op.f("ix_hint_steps_user_id"), "hint_steps", ["user_id"])
    op.create_index(op.f("ix_hint_steps_taken_at"), "hint_steps", ["taken_at"])
    op.create_table(
        "radar_weeks",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("week", sa.Date(), nullable=False),
        sa.Column("least_askers", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("course_id", "tenant", "week", name=op.f("pk_radar_weeks")),
    )
    op.create_index(op.f("ix_radar_weeks_made_at"), "radar_weeks", ["made_at"])
    op.create_table(
        "radar_channels",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("posted", sa.Date(), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("enterprise", sa.Text(), nullable=True),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint(
            "course_id", "platform", "workspace", name=op.f("pk_radar_channels")
        ),
    )
