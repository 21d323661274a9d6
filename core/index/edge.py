"""The vector index inside this process: a folder a collection, no server."""

import asyncio
import shutil
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from heapq import nlargest
from itertools import repeat
from operator import itemgetter
from pathlib import Path
from typing import Protocol, TypeVar
from uuid import UUID

import numpy as np

from core.domain import Chunk
from core.domain.disk import is_want_of_room, sync
from core.domain.errors import CollectionMissing, IndexFull, VectorIndexError
from core.index.base import (
    EngineQuery,
    Hits,
    IndexedPoint,
    Part,
    PointId,
    SearchQuery,
    check_collection,
    check_count,
    has_marker,
    is_collection,
    is_whole,
)
from core.index.shard import Shard


class Hit(Protocol):
    """A point that one vector found, as both clients of the engine give it."""

    @property
    def id(self) -> PointId:
        """What it is stored under."""
        ...

    @property
    def score(self) -> float:
        """How near it is."""
        ...


@dataclass(frozen=True, slots=True)
class Scores:
    """What of a collection is among the best of all by one vector or the other."""

    dense: dict[PointId, float]
    words: dict[PointId, float]

    @property
    def without_dense(self) -> set[PointId]:
        """What was found by its words alone."""
        return self.words.keys() - self.dense.keys()

    @property
    def without_words(self) -> set[PointId]:
        """What was found by the dense vector alone."""
        return self.dense.keys() - self.words.keys()

    def completed(self, by_dense: Sequence[Hit], by_words: Sequence[Hit]) -> Hits:
        """Return the hits with both scores; what has none of the words has weight 0."""
        dense = self.dense | {hit.id: hit.score for hit in by_dense}
        words = self.words | {hit.id: hit.score for hit in by_words}
        return Hits(
            ids=list(dense),
            cosines=np.fromiter(dense.values(), np.float64, len(dense)),
            bm25=np.fromiter(map(words.get, dense, repeat(0.0)), np.float64, len(dense)),
        )


def best(found: Sequence[tuple[Sequence[Hit], Sequence[Hit]]], limit: int) -> list[Scores]:
    """Return for each collection what is among the best `limit` of all by each vector.

    Args:
        found: For each collection the hits by the dense vector and by the words, best first.
        limit: How many are taken by each vector.
    """
    by_dense = _best([dense for dense, _ in found], limit)
    by_words = _best([words for _, words in found], limit)
    return [Scores(*pair) for pair in zip(by_dense, by_words, strict=True)]


def _best(found: Sequence[Sequence[Hit]], limit: int) -> list[dict[PointId, float]]:
    if len(found) == 1:
        return [{hit.id: hit.score for hit in found[0]}]
    entries = [(hit.score, place, hit.id) for place, hits in enumerate(found) for hit in hits]
    taken: list[dict[PointId, float]] = [{} for _ in found]
    for score, place, stored_as in nlargest(limit, entries, key=itemgetter(0)):
        taken[place][stored_as] = score
    return taken


R = TypeVar("R")


@dataclass(eq=False, slots=True)
class _Slot:
    """One collection: its shard once loaded, and how many calls are using it."""

    loading: threading.Lock = field(default_factory=threading.Lock)
    shard: Shard | None = None
    users: int = 0

    def close(self) -> None:
        if self.shard is not None:
            self.shard.close()


class OpenShards:
    """The least recently used are closed when more than `capacity` are open.

    Every method blocks and may be called from any thread. A shard is closed only when its
    last running call has ended, so a call that is not awaited any more is safe too.
    """

    def __init__(self, load: Callable[[str], Shard], capacity: int) -> None:
        self._load = load
        self._capacity = capacity
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._withheld: set[str] = set()
        self._changed = threading.Condition()

    def read(self, collection: str, work: Callable[[Shard], R]) -> R:
        """Return what `work` makes of the collection's shard, loading it when needed."""
        slot = self._take(collection)
        try:
            with slot.loading:
                if slot.shard is None:
                    slot.shard = self._load(collection)
            return work(slot.shard)
        finally:
            self._give_back(slot)

    def holds(self, collections: Iterable[str]) -> bool:
        """Return whether all of these are open now, so that reading them waits for no loading."""
        with self._changed:
            slots = [self._slots.get(collection) for collection in collections]
            return all(slot is not None and slot.shard is not None for slot in slots)

    @contextmanager
    def withheld(self, collection: str) -> Iterator[None]:
        """Enter once no one reads the collection; inside, no one can begin to."""
        with self._changed:
            self._withheld.add(collection)
            slot = self._slots.pop(collection, _Slot())
        try:
            with self._changed:
                self._changed.wait_for(lambda: slot.users == 0)
            slot.close()
            yield
        finally:
            with self._changed:
                self._withheld.discard(collection)

    def close(self) -> None:
        """Close all; no call may be running."""
        while self._slots:
            self._slots.popitem()[1].close()

    def __len__(self) -> int:
        """Return how many collections are open."""
        return len(self._slots)

    def _take(self, collection: str) -> _Slot:
        with self._changed:
            if collection in self._withheld:
                raise VectorIndexError(f"Collection {collection} is being removed.")
            slot = self._slots.setdefault(collection, _Slot())
            self._slots.move_to_end(collection)
            slot.users += 1
        return slot

    def _give_back(self, slot: _Slot) -> None:
        with self._changed:
            slot.users -= 1
            self._changed.notify_all()
            for collection in self._surplus():
                self._slots.pop(collection).close()

    def _surplus(self) -> list[str]:
        """Return idle collections: those that would not load, and the oldest too many."""
        idle = [name for name, slot in self._slots.items() if slot.users == 0]
        empty = [name for name in idle if self._slots[name].shard is None]
        oldest = [name for name in idle if name not in empty]
        too_many = len(self._slots) - len(empty) - self._capacity
        return empty + oldest[: max(0, too_many)]


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
