"""Shares Discord's rate limits with the other processes of the same bot."""

import asyncio
import re
from types import SimpleNamespace

import aiohttp
import discord
import yarl

from adapters.discord.api.rest import check_again
from adapters.intake.platform_clock import PlatformClock
from core.storage.rate_limit_windows import RateLimitWindows

_GLOBAL = "discord:global"
_LONGEST = 10.0
"""Seconds that a request waits here; its job is tried again when it would have to wait longer."""
_ROUTE = re.compile(r"/(channels/\d+)(/.*)?$")
_OF_AN_INTERACTION = re.compile(r"/(interactions|webhooks)/\d+/")
"""A path with a token in it, for which no limit of the bot as a whole holds."""
_SOCKETS = ("ws", "wss")
_ID = re.compile(r"\d{15,}")
_TOO_MANY = 429


def shared_limits(
    closed: RateLimitWindows, clock: PlatformClock | None = None
) -> aiohttp.TraceConfig:
    """Return what has each request wait that another process learned to be too much.

    What had to wait, here or in discord.py, is sent only if its answer is still ours to show.

    discord.py knows the windows that it used up or was refused in; it tells no one. What it
    sends for one interaction alone is left out: no other process sends that.

    Args:
        clock: Learns from every answer.
    """

    async def wait(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        begun: aiohttp.TraceRequestStartParams,
    ) -> None:
        windows = _windows(begun.method, begun.url)
        while windows and (left := await closed.seconds_left(*windows)):
            if left > _LONGEST:
                raise discord.RateLimited(left)
            await asyncio.sleep(left)

    async def note(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        ended: aiohttp.TraceRequestEndParams,
    ) -> None:
        headers, status = ended.response.headers, ended.response.status
        if clock is not None:
            clock.note(headers.get("Date"))
        if status != _TOO_MANY and headers.get("X-RateLimit-Remaining") != "0":
            return
        is_global = headers.get("X-RateLimit-Global") == "true"
        given = headers.get("X-RateLimit-Reset-After") or headers.get("Retry-After") or "1"
        if is_global or headers.get("X-RateLimit-Scope") == "shared":
            given = headers.get("Retry-After") or given
        for window in _windows(ended.method, ended.url):
            if (window == _GLOBAL) is is_global:
                await closed.close(window, _seconds(given))

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(wait)
    trace.on_request_start.append(check_again)
    trace.on_request_end.append(note)
    return trace


def _windows(method: str, url: yarl.URL) -> tuple[str, ...]:
    """Return the names of the limits that a request counts for and that are shared."""
    if url.scheme in _SOCKETS or _OF_AN_INTERACTION.search(url.path):
        return ()
    found = _ROUTE.search(url.path)
    if found is None:
        return (_GLOBAL,)
    return f"discord:{method} {found[1]}{_ID.sub('…', found[2] or '')}", _GLOBAL


def _seconds(given: str) -> float:
    return float(given) if given.replace(".", "", 1).isdigit() else 1.0
