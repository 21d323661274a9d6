"""The pages of a running bot's monitoring, as an orchestrator and a Prometheus read them."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from tests.wire.bot_process import PATIENCE, BotProcess

_ADDRESS = re.compile(r"monitoring at (http://\S+)")


class Pages:
    """What a bot tells at its monitoring port, which its log names."""

    def __init__(self, bot: BotProcess) -> None:
        self._bot = bot

    async def status(self, path: str) -> int | None:
        """Return the status of a page; None: nobody answers."""
        found = await self._get(path)
        return found[0] if found else None

    async def text(self, path: str) -> str:
        """Return what a page says."""
        found = await self._get(path)
        assert found is not None
        return found[1]

    async def json(self, path: str) -> Any:
        """Return what a page says, as JSON."""
        found = await self._get(path)
        assert found is not None
        return json.loads(found[1])

    async def becomes(self, path: str, status: int) -> None:
        """Wait until a page has a status."""
        await _until(lambda: self._has(path, status), f"{path} to be {status}")

    async def value(self, name: str, **labels: str) -> float:
        """Return the sum of all samples of that name that have these labels."""
        found = await self._get("/metrics")
        assert found is not None
        assert found[0] == 200
        samples = (s for f in text_string_to_metric_families(found[1]) for s in f.samples)
        return sum(
            s.value
            for s in samples
            if s.name == f"glossator_{name}" and labels.items() <= s.labels.items()
        )

    async def reaches(self, least: float, name: str, **labels: str) -> None:
        """Wait until a value is so high."""

        async def reached() -> bool:
            return await self.value(name, **labels) >= least

        await _until(reached, f"{name} {labels} to reach {least}")

    async def _has(self, path: str, status: int) -> bool:
        return await self.status(path) == status

    async def _get(self, path: str) -> tuple[int, str] | None:
        address = _ADDRESS.findall(self._bot.log)[-1]
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(address + path) as response,
            ):
                return response.status, await response.text()
        except aiohttp.ClientError:
            return None


async def _until(condition: Callable[[], Awaitable[bool]], wanted: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE * 2):
            while not await condition():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"waited in vain for {wanted}") from None
