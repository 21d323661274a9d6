"""What a database does not take is told apart from a database that fails, and not quoted."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import reading
from core.errors import StoreDataError

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
