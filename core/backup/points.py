"""The chunks of an edition with their vectors, as JSON that any engine can be filled from."""

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from core.index.base import FORMAT, IndexedPoint, SparseVector, VectorIndex
from core.index.points import check_format, to_payload, to_point

_DOCUMENTS = 50
_BATCH = 256


async def written(
    index: VectorIndex, collection: str, documents: Sequence[UUID]
) -> AsyncIterator[dict[str, Any]]:
    """Yield the points of documents of a collection.

    Raises:
        VectorIndexError: when the index fails, or no longer holds the collection.
    """
    for start in range(0, len(documents), _DOCUMENTS):
        for point in await index.points(collection, documents[start : start + _DOCUMENTS]):
            yield {
                "format": FORMAT,
                "number": point.number,
                "payload": to_payload(point),
                "dense": b64encode(point.dense.astype("<f4").tobytes()).decode(),
                "terms": list(point.sparse.indices),
                "weights": list(point.sparse.values),
            }


async def fill(
    index: VectorIndex, collection: str, dimensions: int, lines: Iterable[dict[str, Any]]
) -> int:
    """Make a collection of such points, sealed, and return how many it holds.

    Raises:
        VectorIndexError: when the index fails, also by a format of a newer version.
        NoRoom: when its disk is full.
    """
    points = _checked(collection, lines)
    await index.create(collection, dimensions)
    count = 0
    for batch in _batches(points):
        await index.upsert(collection, batch)
        count += len(batch)
    await index.seal(collection, count)
    return count


def _checked(collection: str, lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in lines:
        check_format(collection, line["format"])
        yield line


def _batches(lines: Iterable[dict[str, Any]]) -> Iterator[list[IndexedPoint]]:
    batch: list[IndexedPoint] = []
    for line in lines:
        batch.append(_point(line))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _point(line: dict[str, Any]) -> IndexedPoint:
    dense = np.frombuffer(b64decode(line["dense"]), "<f4")
    sparse = SparseVector(tuple(line["terms"]), tuple(line["weights"]))
    return to_point(line["payload"], dense.tolist(), sparse, line.get("number", 0))
