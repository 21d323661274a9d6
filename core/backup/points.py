"""The chunks of an edition with their vectors, as JSON that any engine can be filled from."""

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

import numpy as np

from core.index.base import FORMAT, IndexedPoint, SparseVector, VectorIndex
from core.index.points import check_format, to_payload, to_point

_DOCUMENTS = 50
_BATCH = 256


async def written(
    index: VectorIndex, collection: str, documents: Sequence[UUID], form: int
) -> AsyncIterator[dict[str, Any]]:
    """Yield the points of documents of a collection, in the format that it is stored in.

    Raises:
        VectorIndexError: when the index fails, or no longer holds the collection.
    """
    for start in range(0, len(documents), _DOCUMENTS):
        for point in await index.points(collection, documents[start : start + _DOCUMENTS]):
            yield {
                "format": form,
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
    form, points = _format_of(collection, lines)
    await index.create(collection, dimensions, form)
    count = 0
    for batch in _batches(points):
        await index.upsert(collection, batch)
        count += len(batch)
    await index.seal(collection, count)
    return count


def _format_of(
    collection: str, lines: Iterable[dict[str, Any]]
) -> tuple[int, Iterator[dict[str, Any]]]:
    """Return the format that the points are of, and all of them."""
    rest = iter(lines)
    first = next(rest, None)
    form = FORMAT if first is None else first["format"]
    check_format(collection, form)
    return form, chain([] if first is None else [first], rest)


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
