"""The tables of 0.2.0: every later version is upgraded from these."""

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = None


def upgrade() -> None:
    _create_courses()
    _create_texts()
    _create_conversations()
    _create_inbox()
    _create_teaching()
    _create_verified_answers()


def _create_courses() -> None:
    op.create_table(
        "courses",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("course_id", name=op.f("pk_courses")),
    )
    op.create_table(
        "tenants",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("home", sa.Boolean(), nullable=False),
        sa.Column("met_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", name=op.f("pk_tenants")),
    )
    op.create_table(
        "course_grants",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_course_grants_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "course_id", "platform", "workspace", name=op.f("pk_course_grants")
        ),
    )
    op.create_table(
        "course_changes",
        sa.Column("change_id", sa.Uuid(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.Column("headings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_course_changes_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("change_id", name=op.f("pk_course_changes")),
    )
    op.create_index(op.f("ix_course_changes_course_id"), "course_changes", ["course_id"])
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
    op.create_table(
        "ingest_accounts",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_refused", sa.Boolean(), nullable=False),
        sa.Column("read", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("missed", sa.Integer(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_ingest_accounts_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("course_id", "source", name=op.f("pk_ingest_accounts")),
    )
    op.create_table(
        "source_checks",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("seen", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("course_id", "source", name=op.f("pk_source_checks")),
    )


def _create_texts() -> None:
    op.create_table(
        "editions",
        sa.Column("generation", sa.Uuid(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("segments", sa.JSON(), nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("reading", sa.LargeBinary(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.Column("words", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_editions_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("generation", name=op.f("pk_editions")),
        sa.UniqueConstraint("course_id", name=op.f("uq_editions_course_id")),
    )
    op.create_table(
        "segments",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("outline", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_segments_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection", name=op.f("pk_segments")),
    )
    op.create_table(
        "documents",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("source_file", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("module", sa.Text(), nullable=True),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection"],
            ["segments.collection"],
            name=op.f("fk_documents_collection_segments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection", "number", name=op.f("pk_documents")),
        sa.UniqueConstraint(
            "collection", "document_id", name=op.f("uq_documents_collection_document_id")
        ),
    )
    op.create_table(
        "sections",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("section_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("path", sa.JSON(), nullable=False),
        sa.Column("module", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("source_file", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection"],
            ["segments.collection"],
            name=op.f("fk_sections_collection_segments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection", "number", "ordinal", name=op.f("pk_sections")),
    )
    op.create_table(
        "cached_vectors",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("model", "key", name=op.f("pk_cached_vectors")),
    )


def _create_conversations() -> None:
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
        sa.Column("content", sa.JSON(none_as_null=True), nullable=True),
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
    op.create_table(
        "channel_rules",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "place", name=op.f("pk_channel_rules")),
    )
    op.create_table(
        "conversations",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("listening", sa.Boolean(), nullable=False),
        sa.Column("last_activity", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "place", name=op.f("pk_conversations")),
    )
    op.create_index(op.f("ix_conversations_last_activity"), "conversations", ["last_activity"])
    op.create_table(
        "exchanges",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint(
            "platform", "workspace", "place", "user_id", name=op.f("pk_exchanges")
        ),
    )
    op.create_index(op.f("ix_exchanges_until"), "exchanges", ["until"])
    op.create_table(
        "panels",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("beside", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "place", name=op.f("pk_panels")),
    )
    op.create_index(op.f("ix_panels_seen_at"), "panels", ["seen_at"])


def _create_inbox() -> None:
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
        sa.Column("token_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("channel_round", sa.BigInteger(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("stopped", sa.Boolean(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("settlement", sa.Text(), nullable=True),
        sa.Column("told_to_wait", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("heal_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("gist", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_inbox")),
    )
    op.create_index(op.f("ix_inbox_about"), "inbox", ["about"])
    op.create_index(op.f("ix_inbox_accepted_at"), "inbox", ["accepted_at"])
    op.create_index(
        op.f("ix_inbox_channel_round_channel_round"),
        "inbox",
        ["channel", "round", "channel_round"],
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index(
        op.f("ix_inbox_gist"),
        "inbox",
        ["gist"],
        sqlite_where=sa.text("gist IS NOT NULL"),
        postgresql_where=sa.text("gist IS NOT NULL"),
    )
    op.create_index(op.f("ix_inbox_heal_at"), "inbox", ["heal_at"])
    op.create_index(
        op.f("ix_inbox_lane_state_position_accepted_at_key"),
        "inbox",
        ["lane", "state", "position", "accepted_at", "key"],
    )
    op.create_index(op.f("ix_inbox_lease_until"), "inbox", ["lease_until"])
    op.create_index(
        "ix_inbox_queue",
        "inbox",
        [
            "round",
            "channel_round",
            "accepted_at",
            "key",
            "lane",
            "user_id",
            "platform",
            "channel",
            "not_before",
        ],
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index(op.f("ix_inbox_request_id"), "inbox", ["request_id"])
    op.create_index(op.f("ix_inbox_user_id_state_round"), "inbox", ["user_id", "state", "round"])
    op.create_table(
        "inbox_posts",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["key"], ["inbox.key"], name=op.f("fk_inbox_posts_key_inbox"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", "part", name=op.f("pk_inbox_posts")),
    )
    op.create_index(
        op.f("ix_inbox_posts_platform_message_id"), "inbox_posts", ["platform", "message_id"]
    )
    op.create_table(
        "inbox_counts",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "minute", name=op.f("pk_inbox_counts")),
    )
    op.create_table(
        "inbox_cursors",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "channel", name=op.f("pk_inbox_cursors")),
    )
    op.create_table(
        "closed_windows",
        sa.Column("window", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("window", name=op.f("pk_closed_windows")),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "installations",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("bot_user", sa.Text(), nullable=False),
        sa.Column("bot", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("token", sa.LargeBinary(), nullable=False),
        sa.Column("refresh_token", sa.LargeBinary(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("installed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "place", name=op.f("pk_installations")),
    )
    op.create_table(
        "key_ids",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("noted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_key_ids")),
    )


def _create_teaching() -> None:
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
    op.create_index(op.f("ix_hint_steps_taken_at"), "hint_steps", ["taken_at"])
    op.create_index(op.f("ix_hint_steps_user_id"), "hint_steps", ["user_id"])
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
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_help_requests_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("help_id", name=op.f("pk_help_requests")),
    )
    op.create_index(op.f("ix_help_requests_asked_by"), "help_requests", ["asked_by"])
    op.create_index(
        op.f("ix_help_requests_course_id_state"), "help_requests", ["course_id", "state"]
    )
    op.create_index(op.f("ix_help_requests_key"), "help_requests", ["key"])
    op.create_index(op.f("ix_help_requests_opened_at"), "help_requests", ["opened_at"])
    op.create_index(
        op.f("ix_help_requests_platform_workspace_state_opened_at"),
        "help_requests",
        ["platform", "workspace", "state", "opened_at"],
    )
    op.create_index(op.f("ix_help_requests_request_id"), "help_requests", ["request_id"])
    op.create_index(op.f("ix_help_requests_taken_by"), "help_requests", ["taken_by"])
    op.create_index(
        "uq_help_requests_waiting",
        "help_requests",
        ["course_id", "platform", "workspace", "channel", "thread", "question_print"],
        unique=True,
        sqlite_where=sa.text("state IN ('open', 'taken')"),
        postgresql_where=sa.text("state IN ('open', 'taken')"),
    )
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


def _create_verified_answers() -> None:
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
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_verified_answers_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("answer_id", name=op.f("pk_verified_answers")),
    )
    op.create_index(
        op.f("ix_verified_answers_course_id_state"), "verified_answers", ["course_id", "state"]
    )
    op.create_table(
        "verified_phrasings",
        sa.Column("phrasing_id", sa.Uuid(), nullable=False),
        sa.Column("answer_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="proposed", nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"],
            ["verified_answers.answer_id"],
            name=op.f("fk_verified_phrasings_answer_id_verified_answers"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("phrasing_id", name=op.f("pk_verified_phrasings")),
    )
    op.create_index(op.f("ix_verified_phrasings_added_at"), "verified_phrasings", ["added_at"])
    op.create_index(op.f("ix_verified_phrasings_answer_id"), "verified_phrasings", ["answer_id"])
    op.create_index(op.f("ix_verified_phrasings_user_id"), "verified_phrasings", ["user_id"])
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
        sa.ForeignKeyConstraint(
            ["answer_id"],
            ["verified_answers.answer_id"],
            name=op.f("fk_verified_revisions_answer_id_verified_answers"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("answer_id", "revision", name=op.f("pk_verified_revisions")),
    )
    op.create_index(op.f("ix_verified_revisions_asked_by"), "verified_revisions", ["asked_by"])
    op.create_index(
        op.f("ix_verified_revisions_verified_by"), "verified_revisions", ["verified_by"]
    )
