"""Keeps what belongs to the editions that were read last."""

from typing import Generic, TypeVar
from uuid import UUID

T = TypeVar("T")


class Recent(Generic[T]):
    """At most `limit` values by generation; the one that was not asked for longest goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: dict[UUID, T] = {}

    def get(self, generation: UUID) -> T | None:
        """Return the generation's value, or none."""
        value = self._values.pop(generation, None)
        if value is not None:
            self._values[generation] = value
        return value

    def add(self, generation: UUID, value: T) -> T:
        """Keep a value, and return it."""
        self._values[generation] = value
        while len(self._values) > self._limit:
            del self._values[next(iter(self._values))]
        return value
