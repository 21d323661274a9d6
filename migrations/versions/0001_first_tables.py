"""Tables for courses and their editions, remembered vectors, sessions and turns."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_courses()
    _create_edition_contents()
    _create_sessions()
    op.create_table(
        "cached_vectors",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("model", "key", name=op.f("pk_cached_vectors")),
    )


def downgrade() -> None:
    for table in (
        "cached_vectors",
        "turns",
        "sessions",
        "sections",
        "documents",
        "editions",
        "courses",
    ):
        op.drop_table(table)


def _create_courses() -> None:
    op.create_table(
        "courses",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("course_id", name=op.f("pk_courses")),
    )
    op.create_table(
        "editions",
        sa.Column("generation", sa.Uuid(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_editions_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("generation", name=op.f("pk_editions")),
        sa.UniqueConstraint("collection", name=op.f("uq_editions_collection")),
        sa.UniqueConstraint("course_id", name=op.f("uq_editions_course_id")),
    )


def _create_edition_contents() -> None:
    op.create_table(
        "documents",
        sa.Column("generation", sa.Uuid(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("source_file", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("module", sa.Text(), nullable=True),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        _of_edition("documents"),
        sa.PrimaryKeyConstraint("generation", "document_id", name=op.f("pk_documents")),
    )
    op.create_table(
        "sections",
        sa.Column("generation", sa.Uuid(), nullable=False),
        sa.Column("section_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("path", sa.JSON(), nullable=False),
        sa.Column("module", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("source_file", sa.Text(), nullable=False),
        _of_edition("sections"),
        sa.PrimaryKeyConstraint("generation", "section_id", name=op.f("pk_sections")),
    )


def _of_edition(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["generation"],
        ["editions.generation"],
        name=op.f(f"fk_{table}_generation_editions"),
        ondelete="CASCADE",
    )


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_activity", sa.DateTime(timezone=True), nullable=False),
        sa.Column("current_turn", sa.Integer(), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_sessions")),
    )
    op.create_index(
        op.f("ix_sessions_course_id_last_activity"), "sessions", ["course_id", "last_activity"]
    )
    op.create_index(op.f("ix_sessions_user_id"), "sessions", ["user_id"])
    op.create_table(
        "turns",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.session_id"],
            name=op.f("fk_turns_session_id_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "turn_number", name=op.f("pk_turns")),
        sa.UniqueConstraint("request_id", name=op.f("uq_turns_request_id")),
    )
    op.create_index(op.f("ix_turns_user_id"), "turns", ["user_id"])
