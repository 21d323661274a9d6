"""Keeps the collections that are being read open, and closes them at the right moment."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from core.errors import VectorIndexError
from core.index.embedded.shard import Shard

T = TypeVar("T")


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

    def read(self, collection: str, work: Callable[[Shard], T]) -> T:
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
