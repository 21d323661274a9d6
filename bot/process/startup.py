"""How a process starts: it says what it does, waits for its database, and warns when not alone."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine

from core.errors import ConfigurationError, StoreError, StoreRefused

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

WRONG_DATABASE = "The database refuses us ({reason}): set GLOSSATOR_DATABASE__URL to another."
_PAUSES = (0.5, 1.0, 2.0, 3.0)
"""Seconds between two tries: few, as everybody waits for us once the database is there."""


_SAID_EVERY = 5.0
"""Seconds: a start that takes longer is told of, so that nobody takes it for a failure."""


class Starting:
    """What a start is doing at the moment; it is told again and again while that takes long."""

    def __init__(
        self,
        announce: Callable[[str], None],
        show: Callable[[str], None] = lambda _: None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare to tell.

        Args:
            announce: Is called with a line about what takes long from the outset.
            show: Is called with what is done, whenever that changes.
            progress: Is called with a line now and then, if there is something new, and with an
                empty one at the end; None: `announce` is.
        """
        self._announce = announce
        self._show = show
        self._progress = progress or (lambda line: announce(line) if line else None)
        self._doing = ""

    def begin(self, doing: str) -> None:
        """Note what is done from now on, such as `reading the handbook, 12 of 25 pages`."""
        self._doing = doing
        self._show(doing)

    def announce(self, work: str) -> None:
        """Tell of work that is known to take seconds."""
        self.begin(work.rstrip(" ."))
        self._announce(work)

    def read(self, stage: str, done: int, total: int) -> None:
        """Note how far the handbook is."""
        doing, unit = _READING.get(stage, (stage, "chunks"))
        self.begin(f"{doing} the handbook, {done} of {total} {unit}")

    @asynccontextmanager
    async def told(self) -> AsyncIterator[None]:
        """Tell every few seconds what is done if that is new, until the block is left."""

        said = ""

        async def tell() -> None:
            nonlocal said
            while True:
                await asyncio.sleep(_SAID_EVERY)
                if said != self._doing:
                    said = self._doing
                    self._progress(f"Starting: {said} ...")

        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()
            if said:
                self._progress("")


_READING = {"reading": ("reading", "pages"), "embedding": ("embedding", "chunks")}


class StoppedWhileStarting(Exception):
    """The bot was asked to stop before it had begun."""


async def once_there(
    engine: AsyncEngine, step: Callable[[], Awaitable[Result]], stop: asyncio.Event
) -> Result:
    """Return what a step of the start gives, as soon as the database's server can be reached.

    Raises:
        StoreError: when the database is a file: no one but the operator can mend that.
        ConfigurationError: when the database does not let us in.
        StoppedWhileStarting: when `stop` is set before.
    """
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        try:
            return await step()
        except StoreRefused as error:
            raise ConfigurationError(WRONG_DATABASE.format(reason=error)) from error
        except StoreError as error:
            if engine.dialect.name == "sqlite":
                raise
            logger.warning("waiting for the database; I try again in %.1f s: %s", pause, error)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await stop.wait()
            raise StoppedWhileStarting
    raise AssertionError("the pauses never end")


@contextmanager
def nobody_runs(engine: AsyncEngine) -> Iterator[None]:
    """Keep 'glossator run' off a SQLite database while the block lasts.

    Raises:
        ConfigurationError: when one answers from it.
    """
    if engine.dialect.name != "sqlite":
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(_run_lock(engine), blocking=False)
    try:
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            "A 'glossator run' answers from this database: stop it, and restore again."
        ) from error
    try:
        yield
    finally:
        lock.release()


def _run_lock(engine: AsyncEngine) -> str:
    return f"{engine.url.database}.run.lock"


@asynccontextmanager
async def is_only_process(engine: AsyncEngine) -> AsyncIterator[None]:
    """Warn when another process is in such a block with the same SQLite database."""
    if engine.dialect.name != "sqlite":
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(_run_lock(engine), blocking=False)
    try:
        lock.acquire()
    except Timeout:
        logger.warning(
            "another 'glossator run' answers from the same SQLite database: stop one of the two, "
            "or set GLOSSATOR_DATABASE__URL to a PostgreSQL database"
        )
    try:
        yield
    finally:
        lock.release()
