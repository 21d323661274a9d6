"""Editions of several collections, whose documents and sections stay from one to the next."""

from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_OLD_FORMAT = 1


def _of_segment(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["collection"],
        ["segments.collection"],
        name=op.f(f"fk_{table}_collection_segments"),
        ondelete="CASCADE",
    )


def upgrade() -> None:
    connection = op.get_bind()
    editions = _rows(connection, "editions", "created_at")
    documents = _rows(connection, "documents", "generation, ordinal")
    sections = _rows(connection, "sections", "generation, ordinal, section_id")
    for table in ("sections", "documents", "editions"):
        op.drop_table(table)
    _create()
    _fill(connection, editions, documents, sections)


def _rows(connection: sa.Connection, table: str, order: str) -> list[dict[str, Any]]:
    columns = sa.inspect(connection).get_columns(table)
    query = sa.text(f"SELECT * FROM {table} ORDER BY {order}")
    typed = query.columns(*(sa.column(c["name"], c["type"]) for c in columns))
    return [dict(row) for row in connection.execute(typed).mappings()]


def _create() -> None:
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
        _of_segment("documents"),
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
        _of_segment("sections"),
        sa.PrimaryKeyConstraint("collection", "number", "ordinal", name=op.f("pk_sections")),
    )


def _fill(
    connection: sa.Connection,
    editions: list[dict[str, Any]],
    documents: list[dict[str, Any]],
    sections: list[dict[str, Any]],
) -> None:
    tables = sa.MetaData()
    tables.reflect(connection, only=["editions", "segments", "documents", "sections"])

    def insert(table: str, rows: list[dict[str, Any]]) -> None:
        if rows:
            connection.execute(sa.insert(tables.tables[table]), rows)

    names = {row["generation"]: row["collection"] for row in editions}
    numbers: dict[tuple[Any, str], int] = {}
    for generation, own in groupby(documents, key=lambda row: row["generation"]):
        for number, row in enumerate(own):
            row |= {"collection": names[generation], "number": number}
            numbers[generation, row["source_file"]] = number
    counts: dict[tuple[Any, int], int] = {}
    for row in sections:
        number = numbers.get((row["generation"], row["source_file"]), 0)
        place = (row["generation"], number)
        counts[place] = counts.get(place, -1) + 1
        row |= {"collection": names[row["generation"]], "number": number, "ordinal": counts[place]}
    segments = []
    for row in editions:
        collection = row.pop("collection")
        segments.append({"collection": collection, "course_id": row["course_id"], "outline": b""})
        stored = {
            "collection": collection, "format": _OLD_FORMAT, "chunks": row["chunks"], "hidden": []
        }  # fmt: skip
        own_numbers = [d["number"] for d in documents if d["generation"] == row["generation"]]
        reading = b"".join(
            part.to_bytes(4, "little") for number in own_numbers for part in (0, number)
        )
        row |= {"segments": [stored], "reading": reading, "words": b""}
    for row in (*documents, *sections):
        del row["generation"]
    for row in documents:
        del row["ordinal"]
    insert("segments", segments)
    insert("editions", editions)
    insert("documents", documents)
    insert("sections", sections)
