"""The stored form of a point and of a collection's name, the same in every engine."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
from pydantic import ValidationError

from core.errors import VectorIndexError
from core.index.base import FORMAT, IndexedPoint, PointId, SparseVector
from core.models import Chunk

DENSE, SPARSE = "dense", "sparse"
DOCUMENT, SECTIONS, POSITION = "document_id", "section_ids", "chunk_index"
_BLOCKS, _SENTENCES, _SENTENCE_VECTORS = "blocks", "sentences", "sentence_vectors"
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")


def is_collection(name: str) -> bool:
    """Return whether a collection can have this name."""
    return _COLLECTION.fullmatch(name) is not None


def check_collection(name: str) -> str:
    """Return the name; anything that cannot be a collection's raises ValueError."""
    if not is_collection(name):
        raise ValueError(f"{name!r} cannot be the name of a collection")
    return name


def collection_of(course_id: str, generation: UUID) -> str:
    """Return the name of the collection that holds an edition of a course."""
    return f"{course_id}-{generation.hex}"


def course_of(collection: str) -> str:
    """Return the course that a collection belongs to."""
    return collection.rpartition("-")[0]


@lru_cache(256)
def generation_of(collection: str) -> UUID | None:
    """Return the edition that a collection was written for; None: its name tells of none."""
    try:
        return UUID(collection.rpartition("-")[2])
    except ValueError:
        return None


def check_format(collection: str, found: object) -> None:
    """Raise VectorIndexError when a collection was written in another format."""
    if found != FORMAT:
        raise VectorIndexError(
            f"Collection {collection} is stored in format {found}, and this version reads "
            f"format {FORMAT}: ingest the course again, or run the version that wrote it."
        )


def check_dimensions(collection: str, stored: int, asked: int) -> None:
    """Raise VectorIndexError when a question's vector does not fit the collection's."""
    if stored != asked:
        raise VectorIndexError(
            f"Collection {collection} holds vectors of {stored} dimensions, and the question's "
            f"has {asked}: the embedding model has changed, ingest the course again."
        )


def check_count(collection: str, found: int, expected: int) -> None:
    """Raise VectorIndexError when a collection does not hold what it should."""
    if found != expected:
        raise VectorIndexError(f"Collection {collection} holds {found} points, not {expected}.")


def to_payload(point: IndexedPoint) -> dict[str, Any]:
    """Return the point's payload: the chunk's fields and its sections."""
    chunk = point.chunk
    return {
        **chunk.model_dump(mode="json"),
        SECTIONS: list(point.section_ids),
        _BLOCKS: [list(block) for block in chunk.blocks],
        _SENTENCES: [list(span) for span in chunk.sentences],
        _SENTENCE_VECTORS: b64encode(chunk.sentence_vectors).decode(),
    }


def to_chunk(payload: Mapping[str, Any] | None, terms: Sequence[int]) -> Chunk:
    """Return the chunk of a stored payload, with the ids of its words."""
    fields = dict(payload or {})
    fields.pop(SECTIONS, None)
    fields["terms"] = terms
    fields[_SENTENCE_VECTORS] = b64decode(fields.get(_SENTENCE_VECTORS, ""))
    try:
        return Chunk.model_validate(fields)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors())
        # Without the cause, whose text quotes the book.
        raise VectorIndexError(f"A stored chunk is unreadable: {wrong}.") from None


def to_point(
    payload: Mapping[str, Any] | None,
    dense: Sequence[float],
    sparse: SparseVector,
    stored_as: PointId,
) -> IndexedPoint:
    """Return the point of a stored payload and its vectors."""
    return IndexedPoint(
        chunk=to_chunk(payload, sparse.indices),
        section_ids=tuple((payload or {}).get(SECTIONS, ())),
        dense=np.asarray(dense, dtype=np.float32),
        sparse=sparse,
        number=stored_as if isinstance(stored_as, int) else 0,
    )


def in_reading_order(
    places: Iterable[tuple[PointId, Mapping[str, Any] | None]],
) -> list[PointId]:
    """Return point ids sorted by document and place, given each one's partial payload."""

    def place(entry: tuple[PointId, Mapping[str, Any] | None]) -> tuple[str, int]:
        payload = entry[1] or {}
        return payload[DOCUMENT], payload[POSITION]

    return [stored_as for stored_as, _ in sorted(places, key=place)]
