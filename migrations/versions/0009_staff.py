"""Table for who is staff: roles, user groups and people that a tenant's admins named."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "staff",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("named_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint(
            "platform", "workspace", "kind", "id", "course_id", name=op.f("pk_staff")
        ),
    )
    op.create_index(op.f("ix_staff_user_id"), "staff", ["user_id"])


def downgrade() -> None:
    op.drop_table("staff")
