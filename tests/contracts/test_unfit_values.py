"""What a database does not take is told apart from a database that fails, and not quoted."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import StoreDataError, StoreError
from core.storage.database import create_engine, dispose, reading
from tests.wire.certificates import Authority

HALF_A_PAIR = "secretword \ud83d"
NO_NUMBER = "secretword, no number"


async def tell(engine: AsyncEngine, statement: str, value: str) -> StoreDataError:
    """Return how the database fails with a value."""
    with pytest.raises(StoreDataError) as failure:
        async with reading(engine) as db:
            await db.execute(text(statement), {"value": value})
    return failure.value


def check(error: StoreDataError) -> None:
    """Fail where the error, or what it comes with, quotes the value."""
    assert "secretword" not in f"{error} {error.user_message}"
    assert error.__cause__ is None
    assert error.__suppress_context__


async def test_a_text_that_utf_8_cannot_hold_is_not_quoted(engine: AsyncEngine) -> None:
    check(await tell(engine, "SELECT CAST(:value AS TEXT)", HALF_A_PAIR))


@pytest.mark.parametrize("dialect", [pytest.param("postgresql", marks=pytest.mark.postgres)])
@pytest.mark.parametrize("value", ["secretword \0", NO_NUMBER])
async def test_a_value_that_the_server_refuses_is_not_quoted(
    engine: AsyncEngine, value: str
) -> None:
    check(await tell(engine, "SELECT CAST(CAST(:value AS TEXT) AS INTEGER)", value))


async def test_a_connection_that_was_closed_meanwhile_is_no_such_value(engine: AsyncEngine) -> None:
    async def close_and_go_on() -> None:
        async with reading(engine) as db:
            raw = await (await db.connection()).get_raw_connection()
            assert raw.driver_connection is not None
            await raw.driver_connection.close()
            await db.execute(text("SELECT 1"))

    with pytest.raises(StoreError) as failure:
        await close_and_go_on()
    assert type(failure.value) is StoreError


async def test_a_server_whose_certificate_nobody_vouches_for_is_no_such_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Authority(tmp_path, "theirs").server()
    monkeypatch.setenv("PGSSLROOTCERT", str(Authority(tmp_path, "ours").file))

    async def greet(asked: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        await asked.read(8)
        answer.write(b"S")
        with suppress(OSError):
            await answer.start_tls(shown)
        answer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        engine = create_engine(f"postgresql://bot@127.0.0.1:{port}/book?sslmode=verify-full")
        with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED") as failure:
            async with reading(engine) as db:
                await db.execute(text("SELECT 1"))
        await dispose(engine)
    assert type(failure.value) is StoreError
