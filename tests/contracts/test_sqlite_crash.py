"""What SQLite acknowledged survives the death of the process that wrote it."""

import asyncio
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.contracts.test_session_store import THREAD, asked

pytestmark = pytest.mark.costly

WRITER = """
import asyncio, sys
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.contracts.test_session_store import THREAD, asked

async def write(store):
    while True:
        turn = await asked(store, THREAD)
        print(turn.request_id, flush=True)

async def main(url):
    store = SessionStore(create_engine(url))
    await asyncio.gather(*(write(store) for _ in range(8)))

asyncio.run(main(sys.argv[1]))
"""
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_no_acknowledged_turn_is_lost_when_the_writer_is_killed(database_url: str) -> None:
    engine = create_engine(database_url)
    store = SessionStore(engine)
    await asked(store, THREAD)
    acknowledged: set[str] = set()
    for stop_after in (3, 17, 40):
        acknowledged |= await _killed_writer(database_url, stop_after)
    session = await store.get(THREAD, history=True)
    assert session is not None
    turns = session.conversation_history
    assert acknowledged <= {str(turn.request_id) for turn in turns}
    assert [turn.turn_number for turn in turns] == list(range(1, session.current_turn + 1))
    assert session.message_count == 2 * len(turns)
    async with engine.connect() as connection:
        assert await connection.scalar(text("PRAGMA integrity_check")) == "ok"
    await engine.dispose()


async def _killed_writer(url: str, stop_after: int) -> set[str]:
    """Let a process append turns, kill it, and return what it saw as stored."""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, url, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout
    lines = [await writer.stdout.readline() for _ in range(stop_after)]
    writer.kill()
    lines += (await writer.stdout.read()).splitlines(keepends=True)
    await writer.wait()
    return {line.decode().strip() for line in lines if line.endswith(b"\n")}
