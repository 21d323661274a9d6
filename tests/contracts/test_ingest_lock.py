"""One ingestion a course at a time, on every database, and after a kill -9."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import IngestionBusy
from core.ingestion.plan import ingest_lock

HOLDER = """
import asyncio, sys
from pathlib import Path
from core.storage.database import create_engine
from core.ingestion.plan import ingest_lock

async def hold(url, folder):
    async with ingest_lock(create_engine(url), Path(folder), "algorithms"):
        print("held", flush=True)
        await asyncio.sleep(60)

asyncio.run(hold(*sys.argv[1:]))
"""

ROOT = Path(__file__).parents[2]
Lock = Callable[[str], AbstractAsyncContextManager[None]]


@pytest.fixture
def lock(engine: AsyncEngine, tmp_path: Path) -> Lock:
    return lambda course_id: ingest_lock(engine, tmp_path / "data", course_id)


async def test_a_second_ingestion_of_the_course_is_told_to_wait(lock: Lock) -> None:
    async with lock("algorithms"):
        with pytest.raises(IngestionBusy) as refusal:
            async with lock("algorithms"):
                pytest.fail("the lock was held twice")
    assert "algorithms" in refusal.value.user_message


async def test_other_courses_may_be_ingested_meanwhile(lock: Lock) -> None:
    async with lock("algorithms"), lock("biology"):
        assert await _is_held(lock, "algorithms")
        assert await _is_held(lock, "biology")


async def test_it_is_free_again_after_the_block_even_when_that_failed(lock: Lock) -> None:
    with pytest.raises(FileNotFoundError):
        async with lock("algorithms"):
            raise FileNotFoundError
    assert not await _is_held(lock, "algorithms")


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
@pytest.mark.postgres
async def test_a_lost_connection_gives_the_lock_up_without_an_error(
    lock: Lock, engine: AsyncEngine
) -> None:
    async with lock("algorithms"), engine.begin() as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        mine = "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        assert await connection.scalar(text(others + mine)), "the lock's connection was ended"
    assert not await _is_held(lock, "algorithms")


@pytest.mark.costly
async def test_a_killed_ingestion_lets_go_of_the_lock(
    lock: Lock, database_url: str, tmp_path: Path
) -> None:
    holder = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLDER,
        database_url,
        tmp_path / "data",
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert holder.stdout
    assert await holder.stdout.readline() == b"held\n"
    assert await _is_held(lock, "algorithms")
    holder.kill()
    await holder.wait()
    async with asyncio.timeout(10):
        while await _is_held(lock, "algorithms"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def _is_held(lock: Lock, course_id: str) -> bool:
    """Return whether an ingestion of the course would be told to wait."""
    try:
        async with lock(course_id):
            return False
    except IngestionBusy:
        return True
