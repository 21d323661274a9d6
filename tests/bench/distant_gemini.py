"""The local Gemini in a process of its own: as a distant one, it does not wait for its asker."""

import asyncio
import multiprocessing
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_server import GeminiServer

FIRST_AFTER, EVERY, PIECE = 0.4, 0.02, 16
"""Seconds before the first piece and between two, and characters of a piece: 800 a second."""
_START = 30.0


@dataclass(frozen=True)
class Served:
    """One call that was answered."""

    model: str
    contents: Any
    seconds: float
    """From the call's arrival until its last piece was sent: what the model itself took."""


class DistantGemini:
    """Where the server listens, and what it has answered since it was asked last."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.server = GeminiServer()
        """Address and key alone: it is the other process that listens."""
        assert connection.poll(_START), "the server did not start"
        self.server.origin = connection.recv()

    def served(self) -> Served:
        """Return the next call that was answered."""
        assert self._connection.poll(_START), "no call was answered"
        served = self._connection.recv()
        assert isinstance(served, Served)
        return served

    def further(self) -> int:
        """Return how many more calls were answered since."""
        count = 0
        while self._connection.poll(0):
            self._connection.recv()
            count += 1
        return count


@contextmanager
def distant_gemini(
    write: Callable[[GeminiCall], str], first_after: float = FIRST_AFTER
) -> Iterator[DistantGemini]:
    """Run the server; `write`, a function of a module, gives its answers.

    Its first words take `first_after` seconds.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs, write, first_after), daemon=True)
    process.start()
    try:
        yield DistantGemini(ours)
    finally:
        process.terminate()
        process.join()


def _run(connection: Connection, write: Callable[[GeminiCall], str], first_after: float) -> None:
    asyncio.run(_serve(connection, write, first_after))


async def _serve(
    connection: Connection, write: Callable[[GeminiCall], str], first_after: float
) -> None:
    async with GeminiServer() as server:
        server.answer_with(lambda call: _paced(connection, call, write(call), first_after))
        connection.send(server.url)
        await asyncio.Event().wait()


async def _paced(
    connection: Connection, call: GeminiCall, text: str, first_after: float
) -> AsyncGenerator[str, None]:
    """Yield the text at the pace of a model, whatever each piece takes to send."""
    began = time.monotonic()
    for number, start in enumerate(range(0, len(text), PIECE)):
        await asyncio.sleep(began + first_after + number * EVERY - time.monotonic())
        yield text[start : start + PIECE]
    connection.send(Served(call.model, call.body["contents"], time.monotonic() - began))
