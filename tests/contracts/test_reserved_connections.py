"""A lease is kept and work is begun however many events wait to be accepted."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.database import create_engine, reserved
from tests.inbox import PLATFORMS, event, inbox_of

LEASE = timedelta(seconds=15)


@pytest.mark.parametrize("dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_renewals_and_claims_do_not_wait_behind_slow_accepts(engine: AsyncEngine) -> None:
    async with reserved(engine) as holding:
        inbox = inbox_of(engine, holding=holding)
        await inbox.accept(event(1))
        await inbox.accept(event(2, channel="c2"))
        job = await inbox.claim(LEASE, PLATFORMS)
        assert job is not None
        async with holding.begin() as blocking:
            await blocking.execute(text("SELECT 1 FROM inbox_cursors FOR UPDATE"))
            slow = [asyncio.create_task(inbox.accept(event(n))) for n in range(3, 20)]
            async with asyncio.timeout(10):
                await _all_connections_wait(engine)
                assert await inbox.renew(job, LEASE) is False
                assert await inbox.claim(LEASE, PLATFORMS) is not None
            assert not any(task.done() for task in slow)
        await asyncio.gather(*slow)


async def test_a_file_needs_no_connections_beside(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/none.db")
    async with reserved(engine) as holding:
        assert holding is engine
    await engine.dispose()


async def _all_connections_wait(engine: AsyncEngine) -> None:
    while "Checked out connections: 5" not in engine.pool.status():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
