"""Brings together what a query found in the several collections of a course."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import repeat
from operator import itemgetter
from typing import Protocol

import numpy as np

from core.index.base import Hits, PointId


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
