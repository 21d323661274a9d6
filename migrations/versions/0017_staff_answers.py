"""Tables for what students ask the staff, and for what the staff answered and checked."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_IS_WAITING = sa.text("state IN ('open', 'taken')")


def upgrade() -> None:
    _help_requests()
    op.create_table(
        "verified_answers",
        sa.Column("answer_id", sa.Uuid(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("scope_value", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("because", sa.Text(), nullable=True),
        sa.Column("changed", sa.JSON(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        _of_course("verified_answers"),
        sa.PrimaryKeyConstraint("answer_id", name=op.f("pk_verified_answers")),
    )
    op.create_index(
        op.f("ix_verified_answers_course_id_state"), "verified_answers", ["course_id", "state"]
    )
    op.create_table(
        "verified_revisions",
        sa.Column("answer_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=True),
        sa.Column("answer_text", sa.Text(), nullable=False),
        sa.Column("citations", sa.JSON(), nullable=False),
        sa.Column("verified_by", sa.Text(), nullable=False),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.Uuid(), nullable=True),
        _of_answer("verified_revisions"),
        sa.PrimaryKeyConstraint("answer_id", "revision", name=op.f("pk_verified_revisions")),
    )
    for name in ("asked_by", "verified_by"):
        op.create_index(op.f(f"ix_verified_revisions_{name}"), "verified_revisions", [name])
    op.create_table(
        "verified_phrasings",
        sa.Column("phrasing_id", sa.Uuid(), nullable=False),
        sa.Column("answer_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        _of_answer("verified_phrasings"),
        sa.PrimaryKeyConstraint("phrasing_id", name=op.f("pk_verified_phrasings")),
    )
    for name in ("answer_id", "user_id", "added_at"):
        op.create_index(op.f(f"ix_verified_phrasings_{name}"), "verified_phrasings", [name])


def downgrade() -> None:
    for table in ("verified_phrasings", "verified_revisions", "verified_answers", "help_requests"):
        op.drop_table(table)


def _help_requests() -> None:
    op.create_table(
        "help_requests",
        sa.Column("help_id", sa.Uuid(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("question_print", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken_by", sa.Text(), nullable=True),
        sa.Column("taken_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer_id", sa.Uuid(), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        _of_course("help_requests"),
        sa.PrimaryKeyConstraint("help_id", name=op.f("pk_help_requests")),
    )
    for names in (
        ["platform", "workspace", "state", "opened_at"],
        ["course_id", "state"],
        ["asked_by"],
        ["request_id"],
        ["taken_by"],
        ["opened_at"],
        ["key"],
    ):
        op.create_index(op.f(f"ix_help_requests_{'_'.join(names)}"), "help_requests", names)
    op.create_index(
        "uq_help_requests_waiting",
        "help_requests",
        ["course_id", "platform", "workspace", "channel", "thread", "question_print"],
        unique=True,
        sqlite_where=_IS_WAITING,
        postgresql_where=_IS_WAITING,
    )


def _of_course(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["course_id"],
        ["courses.course_id"],
        name=op.f(f"fk_{table}_course_id_courses"),
        ondelete="CASCADE",
    )


def _of_answer(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["answer_id"],
        ["verified_answers.answer_id"],
        name=op.f(f"fk_{table}_answer_id_verified_answers"),
        ondelete="CASCADE",
    )
