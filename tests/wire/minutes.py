"""Keeps what is counted by the minute within one."""

import asyncio
from datetime import UTC, datetime


async def early_in_a_minute(latest: int = 40) -> None:
    """Return when at most so many seconds of a minute have gone by."""
    second = datetime.now(UTC).second
    if second > latest:
        await asyncio.sleep(60.5 - second)
