"""What the states of both local platforms share: time, mistakes, and who is told what happens."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tests.wire.clock import Clock

Happening = TypeVar("Happening")
Value = TypeVar("Value")


@dataclass
class LocalPlatform(Generic[Happening]):
    """A platform in which something happens now and then that watchers hear of."""

    clock: Clock = field(default_factory=Clock)
    mistakes: list[str] = field(default_factory=list)
    """Things a test must fail for: unknown routes, bodies against the schema."""
    _watchers: list[Callable[[Happening], None]] = field(default_factory=list)

    def watch(self, watcher: Callable[[Happening], None]) -> Callable[[], None]:
        """Call `watcher` with everything that happens; return what ends that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def tell(self, happening: Happening) -> None:
        """Tell all watchers, in order."""
        for watcher in list(self._watchers):
            watcher(happening)

    async def feed(self) -> AsyncGenerator[Happening, None]:
        """Yield everything from now on, for a second front end."""
        queue: asyncio.Queue[Happening] = asyncio.Queue()
        stop = self.watch(queue.put_nowait)
        try:
            while True:
                yield await queue.get()
        finally:
            stop()

    async def until(
        self,
        condition: Callable[[], Value | None],
        timeout: float = 5.0,  # noqa: ASYNC109
    ) -> Value:
        """Wait until a condition is true and return its value."""
        async with asyncio.timeout(timeout):
            while not (value := condition()):  # noqa: ASYNC110 - not all conditions have an event
                await asyncio.sleep(0.005)
        return value
