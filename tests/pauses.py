"""Lets pauses take no time, so that a test can say how long they were meant to be."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest


class Pause(NamedTuple):
    """One that was asked for."""

    seconds: float
    until: float
    """The time of the event loop at which it would have ended."""


@contextmanager
def passed_over() -> Iterator[list[Pause]]:
    """Collect the pauses of `asyncio.sleep` while the block lasts; those of no length are none."""
    pauses, sleep = list[Pause](), asyncio.sleep

    async def pause(seconds: float) -> None:
        if seconds > 0:
            pauses.append(Pause(seconds, asyncio.get_running_loop().time() + seconds))
        await sleep(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "sleep", pause)
        yield pauses
