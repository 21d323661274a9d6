"""Shares Discord's rate limits with the other processes of the same bot."""

import asyncio
import re
from types import SimpleNamespace

import aiohttp
import discord

from adapters.discord.rest import check_again
from core.closed_windows import ClosedWindows

_GLOBAL = "discord:global"
_LONGEST = 10.0
"""Seconds that a request waits here; its job is tried again when it would have to wait longer."""
_ROUTE = re.compile(r"/(channels/\d+)(/.*)?$")
_ID = re.compile(r"\d{15,}")
_TOO_MANY = 429


def shared_limits(closed: ClosedWindows) -> aiohttp.TraceConfig:
    """Return what has each request wait that another process learned to be too much.

    What had to wait, here or in discord.py, is sent only if its answer is still ours to show.

    discord.py knows the windows that it used up or was refused in; it tells nobody. What it
    sends for one interaction alone is left out: no other process sends that.
    """

    async def wait(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        begun: aiohttp.TraceRequestStartParams,
    ) -> None:
        window = _window(begun.method, begun.url.path)
        if window is None:
            return
        while left := await closed.seconds_left(window, _GLOBAL):
            if left > _LONGEST:
                raise discord.RateLimited(left)
            await asyncio.sleep(left)

    async def note(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        ended: aiohttp.TraceRequestEndParams,
    ) -> None:
        window, response = _window(ended.method, ended.url.path), ended.response
        if window is None:
            return
        headers = response.headers
        is_global = headers.get("X-RateLimit-Global") == "true"
        if response.status == _TOO_MANY or headers.get("X-RateLimit-Remaining") == "0":
            given = headers.get("X-RateLimit-Reset-After") or headers.get("Retry-After") or "1"
            if is_global or headers.get("X-RateLimit-Scope") == "shared":
                given = headers.get("Retry-After") or given
            await closed.close(_GLOBAL if is_global else window, _seconds(given))

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(wait)
    trace.on_request_start.append(check_again)
    trace.on_request_end.append(note)
    return trace


def _window(method: str, path: str) -> str | None:
    """Return the name of the limit that a request counts for; None: of one that is not shared."""
    found = _ROUTE.search(path)
    if found is None:
        return None
    return f"discord:{method} {found[1]}{_ID.sub('…', found[2] or '')}"


def _seconds(given: str) -> float:
    return float(given) if given.replace(".", "", 1).isdigit() else 1.0
