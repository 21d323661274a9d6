"""The vector index inside this process: a folder a collection, no server."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from core.disk.space import is_want_of_room
from core.disk.sync import sync
from core.errors import CollectionMissing, IndexFull, VectorIndexError
from core.index.base import Hits, IndexedPoint, Part, PointId, SearchQuery
from core.index.embedded.edge_query import EngineQuery
from core.index.embedded.marker import has_marker, is_whole
from core.index.embedded.merging import best
from core.index.embedded.open_shards import OpenShards
from core.index.embedded.shard import Shard
from core.index.points import check_collection, check_count, is_collection
from core.models import Chunk

T = TypeVar("T")
_BUILDING = ".building"
_BATCH = 256
_READERS = 4
_FEW = 64
"""Chunks that are read where they are asked for; more are read in a thread."""


class EdgeIndex:
    """A VectorIndex on Qdrant's embedded engine.

    A collection is built in `<root>/<collection>.building` and renamed to
    `<root>/<collection>` when it is sealed, so that it appears at once and complete. Any
    number of processes may read it then, also where nothing can be written. One process
    builds it, from `create` to `seal`; what it leaves when it dies is
    unreadable and vanishes with the next `create` or `drop`.

    Writes run one after another in a thread of their own, and so does, in a few threads, what
    opens a collection or reads much of it. A question's reads of open collections run where
    they are asked for: the engine keeps the interpreter to itself while it reads, so that a
    thread would let no other question on. What has begun runs to its end even when the caller
    is cancelled.
    """

    def __init__(self, root: Path, *, max_open: int = 16) -> None:
        """Use the folder `root`, keeping at most `max_open` idle collections open."""
        self._root = root
        self._building: dict[str, Shard] = {}
        self._open = OpenShards(self._load, max_open)
        self._readers = ThreadPoolExecutor(_READERS, "index-read")
        self._writer = ThreadPoolExecutor(1, "index-write")
        self._closed = False

    async def create(self, collection: str, dimensions: int) -> None:
        """Begin an empty collection; leftovers of an unsealed one by that name vanish."""
        await self._write(self._create, collection, dimensions)

    async def upsert(self, collection: str, points: Sequence[IndexedPoint]) -> None:
        """Store points; one with the id of another replaces it."""
        for start in range(0, len(points), _BATCH):
            await self._write(self._upsert, collection, points[start : start + _BATCH])

    async def seal(self, collection: str, expected: int) -> None:
        """Make the collection durable and readable by every process."""
        await self._write(self._seal, collection, expected)

    async def drop(self, collection: str) -> None:
        """Remove the collection when its running queries have ended."""
        await self._write(self._drop, collection)

    async def collections(self) -> frozenset[str]:
        """Return the names of all collections, unsealed ones included."""
        return await self._run(self._readers, self._names)

    async def count(self, collection: str) -> int:
        """Return the number of points."""
        return await self._read(collection, Shard.count)

    async def is_whole(self, collection: str, expected: int) -> bool:
        """Return whether a sealed collection holds `expected` points, without opening it."""
        name = check_collection(collection)
        return await self._run(self._readers, partial(self._is_whole, name, expected))

    async def search(self, parts: Sequence[Part], query: SearchQuery) -> list[Hits]:
        """Return the union of the best `limit` chunks by each vector, over all parts.

        The first pass only ranks; the second scores all that the first found by both vectors.
        """
        for part in parts:
            check_collection(part.collection)
        names = [part.collection for part in parts]
        return await self._run(self._reader(names), partial(self._search, parts, query))

    async def fetch(self, collection: str, ids: Sequence[PointId]) -> list[Chunk]:
        """Return the chunks with these ids, in the order asked for."""
        return await self._read(collection, lambda shard: shard.fetch(ids), few=len(ids) <= _FEW)

    async def terms(self, collection: str, ids: Sequence[PointId]) -> list[Sequence[int]]:
        """Return the ids of the words of these chunks, in the order asked for."""
        return await self._read(collection, lambda shard: shard.terms(ids), few=True)

    async def scroll(
        self, collection: str, *, document_id: UUID | None = None
    ) -> AsyncIterator[Chunk]:
        """Return every chunk (of one document), each document's in order."""
        ids = await self._read(collection, lambda shard: shard.reading_order(document_id))
        for start in range(0, len(ids), _BATCH):
            for chunk in await self.fetch(collection, ids[start : start + _BATCH]):
                yield chunk

    async def points(self, collection: str, document_ids: Sequence[UUID]) -> list[IndexedPoint]:
        """Return the stored points of some documents, vectors included."""
        return await self._read(collection, lambda shard: shard.points(document_ids))

    async def close(self) -> None:
        """Let running calls end, then release all files."""
        self._closed = True
        await asyncio.to_thread(self._close)

    async def _read(self, collection: str, work: Callable[[Shard], T], *, few: bool = False) -> T:
        name = check_collection(collection)
        reader = self._reader([name]) if few else self._readers
        return await self._run(reader, partial(self._open.read, name, work))

    def _reader(self, collections: Iterable[str]) -> Executor | None:
        """Return what reads a little of these collections; None: the caller itself."""
        return None if self._open.holds(collections) else self._readers

    async def _write(self, work: Callable[..., None], collection: str, *arguments: object) -> None:
        name = check_collection(collection)
        await self._run(self._writer, partial(work, name, *arguments))

    async def _run(self, threads: Executor | None, work: Callable[[], T]) -> T:
        if self._closed:
            raise VectorIndexError("The vector index has been closed.")
        try:
            if threads is None:
                return work()
            return await asyncio.get_running_loop().run_in_executor(threads, work)
        except OSError as error:
            kind = IndexFull if is_want_of_room(error) else VectorIndexError
            raise kind(f"The vector index in {self._root} failed: {error}") from error

    # From here on everything blocks.

    def _search(self, parts: Sequence[Part], query: SearchQuery) -> list[Hits]:
        """Search with all parts held open, so that none is removed between the two passes."""
        asked = EngineQuery(query)

        def search(shards: Sequence[Shard]) -> list[Hits]:
            if len(shards) < len(parts):
                name = parts[len(shards)].collection
                return self._open.read(name, lambda shard: search([*shards, shard]))
            pairs = list(zip(shards, parts, strict=True))
            found = [shard.best(asked, part, query.limit) for shard, part in pairs]
            return [
                one.completed(*shard.scores(asked, one.without_dense, one.without_words))
                for (shard, part), one in zip(pairs, best(found, query.limit), strict=True)
            ]

        return search([])

    def _load(self, collection: str) -> Shard:
        folder = self._root / collection
        if not folder.is_dir():
            raise CollectionMissing(
                f"There is no sealed collection {collection} in {self._root}: ingest the course."
            )
        return Shard.load(folder)

    def _is_whole(self, collection: str, expected: int) -> bool:
        try:
            return is_whole(self._root / collection, expected)
        except VectorIndexError:
            return False

    def _create(self, collection: str, dimensions: int) -> None:
        if (self._root / collection).exists():
            raise VectorIndexError(f"Collection {collection} is sealed; drop it first.")
        self._discard_building(collection)
        self._building[collection] = Shard.create(self._unsealed(collection), dimensions)

    def _upsert(self, collection: str, points: Sequence[IndexedPoint]) -> None:
        self._being_built(collection).upsert(points)

    def _seal(self, collection: str, expected: int) -> None:
        if (self._root / collection).exists():
            check_count(collection, self._open.read(collection, Shard.count), expected)
            return
        self._being_built(collection).finish(expected)
        del self._building[collection]
        _publish(self._unsealed(collection), self._root / collection)

    def _drop(self, collection: str) -> None:
        self._discard_building(collection)
        sealed, unsealed = self._root / collection, self._unsealed(collection)
        with self._open.withheld(collection):
            if sealed.exists():
                sealed.rename(unsealed)  # a death in mid-removal leaves no half collection
                _remove(unsealed)

    def _names(self) -> frozenset[str]:
        folders = list(self._root.iterdir()) if self._root.exists() else []
        unsealed = {f.stem for f in folders if f.suffix == _BUILDING}
        sealed = {f.name for f in folders if has_marker(f)}
        return frozenset(filter(is_collection, unsealed | sealed))

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        for shard in self._building.values():
            shard.close()
        self._open.close()

    def _unsealed(self, collection: str) -> Path:
        return self._root / f"{collection}{_BUILDING}"

    def _being_built(self, collection: str) -> Shard:
        try:
            return self._building[collection]
        except KeyError:
            raise VectorIndexError(f"Collection {collection} is not being built here.") from None

    def _discard_building(self, collection: str) -> None:
        shard = self._building.pop(collection, None)
        if shard is not None:
            shard.close()
        _remove(self._unsealed(collection))


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _publish(unsealed: Path, sealed: Path) -> None:
    """Give the folder its final name, once and for all: a power cut loses nothing."""
    for path in [unsealed, *unsealed.rglob("*")]:
        sync(path)
    unsealed.rename(sealed)
    sync(sealed.parent)
