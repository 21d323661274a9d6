"""What tests of floods share: odd values in odd places, and what the event loop's steps cost."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.wire.raw_gemini import uncollected

LONGEST_SLICE = 0.05
"""Seconds of processor time that one step of a task may take on the event loop."""


def nested(depth: int) -> Any:
    """Return a value so deep."""
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all values in a JSON value, itself included."""
    yield path
    inner = enumerate(value) if isinstance(value, list) else ()
    for key, one in value.items() if isinstance(value, dict) else inner:
        yield from places(one, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """Return a copy of a JSON value with something odd in a place."""
    if not path:
        return odd
    changed = value.copy()
    changed[path[0]] = replaced(value[path[0]], path[1:], odd)
    return changed


class Slices(list[float]):
    """The seconds of processor time that each step on the event loop took."""

    def longest(self) -> float:
        """Return the longest of all."""
        return max(self)


@contextmanager
def measured_slices() -> Iterator[Slices]:
    """Measure all steps while the block lasts, without the collector of garbage.

    It would come in any step, and take time by all that the tests before have made.
    """
    taken, run = Slices(), asyncio.Handle._run

    def timed(self: asyncio.Handle) -> None:
        began = time.thread_time()
        run(self)
        taken.append(time.thread_time() - began)

    with pytest.MonkeyPatch.context() as patch, uncollected():
        patch.setattr(asyncio.Handle, "_run", timed)
        yield taken
