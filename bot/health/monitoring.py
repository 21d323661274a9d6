"""Serves health, readiness and metrics over HTTP."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from aiohttp import web

from core.errors import BotError, ConfigurationError

logger = logging.getLogger(__name__)

_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE = 3.0
"""Seconds that one check may take: an orchestrator waits no longer either."""

Check = Callable[[], Awaitable[None]]
"""Returns when all is well; else raises a BotError whose words are for operators."""


class Monitoring:
    """Answers `/healthz`, `/readyz` and `/metrics`.

    `/healthz` says that the process works at all: restarting helps when it does not.
    `/readyz` says that what it needs is there: restarting would not help when it is not.
    Neither shows more than names, so that nothing is shown to readers whom it does not concern.
    """

    def __init__(
        self,
        checks: Mapping[str, Check],
        exposition: Callable[[], Awaitable[bytes]],
        alive: Check | None = None,
        asides: Mapping[str, Check] = MappingProxyType({}),
        phase: Callable[[], Mapping[str, str] | None] = lambda: None,
    ) -> None:
        """Prepare to answer.

        Args:
            checks: What is to be ready, by the name of what is looked at.
            asides: What is told with it, and may fail while the bot is ready.
            exposition: Returns the metrics in Prometheus's text format.
            phase: Returns how the bot is while it starts or stops, when there is nothing to check.
            alive: Fails when nothing but a restart helps.
        """
        self._checks = checks
        self._exposition = exposition
        self._alive = alive
        self._asides = asides
        self._phase = phase

    def application(self) -> web.Application:
        """Return the three pages as an application."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _healthz(self, _: web.Request) -> web.Response:
        is_alive = self._alive is None or await _passes("alive", self._alive)
        return _status(is_alive, {})

    async def _readyz(self, _: web.Request) -> web.Response:
        if (phase := self._phase()) is not None:
            return web.json_response(dict(phase), status=503)
        looked_at = {**self._checks, **self._asides}
        results = await asyncio.gather(*(_passes(*one) for one in looked_at.items()))
        passed = dict(zip(looked_at, results, strict=True))
        states = {name: "ok" if ok else "failing" for name, ok in passed.items()}
        return _status(all(passed[name] for name in self._checks), {"checks": states})

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=await self._exposition(), headers={"Content-Type": _TEXT_FORMAT})


async def _passes(name: str, check: Check) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE):
            await check()
    except (BotError, TimeoutError) as error:
        logger.info("a check failed: %s: %s", name, str(error) or "no answer in time")
        return False
    return True


def _status(is_ok: bool, more: Mapping[str, object]) -> web.Response:
    body = {"status": "ok" if is_ok else "failing", **more}
    return web.json_response(body, status=200 if is_ok else 503)


@asynccontextmanager
async def serving(monitoring: Monitoring, host: str, port: int) -> AsyncIterator[int]:
    """Answer at an address while the block lasts, and give the port.

    Args:
        port: 0 for any that is free.

    Raises:
        ConfigurationError: when the address cannot be used.
    """
    runner = web.AppRunner(monitoring.application(), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigurationError(
                f"Nothing can be served at {host}:{port} ({error.strerror}): "
                "set GLOSSATOR_MONITORING__HOST and GLOSSATOR_MONITORING__PORT."
            ) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
