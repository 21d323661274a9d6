"""Keeps which shards hear what is said, and which may have missed something."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import count
from math import inf

_NOTED_EVERY = 15.0
"""Seconds between two notes of how far a shard has heard."""


class ShardLiveness:
    """What the connections of this process's shards hear."""

    def __init__(self) -> None:
        self._met = set[int]()
        self._away = set[int]()
        self._looks = count()
        self._unfinished = defaultdict[int, set[int]](set)
        self._noted = dict[int, float]()

    def met(self, shard_id: int) -> None:
        """Take note of a new connection that stands."""
        self._met.add(shard_id)
        self._away.discard(shard_id)

    def resumed(self, shard_id: int) -> None:
        """Take note of a connection that goes on where it was."""
        self._away.discard(shard_id)

    def lost(self, shard_id: int) -> None:
        """Take note of a connection that broke."""
        self._away.add(shard_id)

    def released(self, shard_id: int) -> None:
        """Take note of a connection that was ended."""
        self._met.discard(shard_id)
        self._away.discard(shard_id)

    @contextmanager
    def catching_up(self, shard_id: int) -> Iterator[None]:
        """Take note that something said before is still to be taken in; then have that noted.

        A look back that fails leaves a gap, so that nothing is noted until a later one succeeds.
        That one makes up for all before it: each looks from the last moment that was noted, and
        none is noted meanwhile.
        """
        look = next(self._looks)
        self._unfinished[shard_id].add(look)
        yield
        later = {other for other in self._unfinished[shard_id] if other > look}
        self._unfinished[shard_id] = later
        self._noted.pop(shard_id, None)

    def is_whole(self, shards: Collection[int]) -> bool:
        """Return whether all of these shards are connected."""
        return self._met.issuperset(shards) and self._away.isdisjoint(shards)

    def is_to_be_noted(self, shard_id: int) -> bool:
        """Return whether a shard has missed nothing until now, and that has not just been noted."""
        moment = asyncio.get_running_loop().time()
        last = self._noted.get(shard_id, -inf)
        if not self.is_whole([shard_id]) or self._unfinished[shard_id]:
            return False
        if moment - last < _NOTED_EVERY:
            return False
        self._noted[shard_id] = moment
        return True
