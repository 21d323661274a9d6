"""Estimates the room that an edition takes, and gives it back when there is too little."""

import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.errors import NoRoom, StoreUnwritable, VectorIndexError
from core.index.base import VectorIndex
from core.models import Chunk

logger = logging.getLogger(__name__)

_FLOAT = 4
_STORED_TEXT = 1_500
"""Bytes that a chunk's text is taken for where it is not at hand."""
_POINT = 2_500
"""Bytes of a stored chunk but its vector and text: its fields, its terms, its place in indexes."""
_ROW = 250
"""Bytes of a remembered vector but itself."""
_DATABASE = 2_000_000
"""Bytes that a database's log of writes grows to, and what the edition's sections take."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """The bytes that an edition takes."""

    chunks: int
    index: int
    database: int


CheckRoom = Callable[[str, Footprint], None]
"""Raises NoRoom when there is no room for an edition of the course."""


def footprint(fresh: Collection[Chunk], kept: int, dimensions: int) -> Footprint:
    """Return what an edition of `fresh` chunks and `kept` older ones takes."""
    vector = dimensions * _FLOAT
    text = sum(len(chunk.content_text.encode()) for chunk in fresh) + kept * _STORED_TEXT
    count = len(fresh) + kept
    return Footprint(
        chunks=count,
        index=text + count * (vector + _POINT),
        database=_DATABASE + len(fresh) * (vector + _ROW),
    )


@asynccontextmanager
async def given_back(index: VectorIndex, collection: str) -> AsyncIterator[None]:
    """Drop a collection again when the room gives out in the block: it is not published then."""
    try:
        yield
    except (NoRoom, StoreUnwritable):
        await dropped(index, collection)
        raise


async def dropped(index: VectorIndex, collection: str) -> None:
    """Drop a collection; one that is held open elsewhere is left to the next run."""
    try:
        await index.drop(collection)
    except VectorIndexError:
        logger.warning("the collection %s could not be dropped", collection)
