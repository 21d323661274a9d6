"""One ingestion a course at a time, whichever process begins it."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import blake2b
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from core.errors import IngestionBusy, StoreError
from core.storage.database import store_errors


def ingest_lock(
    engine: AsyncEngine, data_dir: Path, course_id: str
) -> AbstractAsyncContextManager[None]:
    """Hold the right to ingest a course until the block ends or the process dies.

    With SQLite it is a lock on a file in `data_dir`, with PostgreSQL one in the server,
    on a connection of its own (with a pooler: in session mode only).

    Raises:
        IngestionBusy: at once, when another ingestion of the course holds it.
        StoreError: when the database or the file cannot be reached.
    """
    if engine.dialect.name == "sqlite":
        return _file_lock(data_dir / "locks" / f"{course_id}.lock", course_id)
    return _server_lock(engine, course_id)


@asynccontextmanager
async def _file_lock(path: Path, course_id: str) -> AsyncIterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path, blocking=False)
    with store_errors():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise _busy(course_id) from error
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def _server_lock(engine: AsyncEngine, course_id: str) -> AsyncIterator[None]:
    key = int.from_bytes(
        blake2b(f"ingest {course_id}".encode(), digest_size=8).digest(), signed=True
    )
    with store_errors():
        connection = await engine.connect()
    try:
        with store_errors():
            # Without a transaction: an open one would keep the server from cleaning up.
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            if not await connection.scalar(select(func.pg_try_advisory_lock(key))):
                raise _busy(course_id)
        try:
            yield
        finally:
            await _unlock(connection, key)
    finally:
        await connection.close()


async def _unlock(connection: AsyncConnection, key: int) -> None:
    try:
        with store_errors():
            await connection.scalar(select(func.pg_advisory_unlock(key)))
    except StoreError:
        await connection.invalidate()  # the server lets go of what a lost connection held


def _busy(course_id: str) -> IngestionBusy:
    return IngestionBusy(
        user_message=f"The course {course_id} is being ingested at the moment. "
        "Please wait until that has finished."
    )
