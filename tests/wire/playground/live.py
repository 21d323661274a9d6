"""Everything that happens, sent to the open pages as server-sent events."""

import asyncio
import json
from contextlib import suppress

from aiohttp import web

from tests.wire.playground.bot_process import Status
from tests.wire.playground.side import Side, View

_STILL_THERE = 15.0
"""Seconds between signs of life, so that a page notices a dead server."""


class Live:
    """Keeps every open page up to date."""

    def __init__(self) -> None:
        self._pages: set[asyncio.Queue[View]] = set()
        self._status = Status.stopped("It was not started.")

    def tell_status(self, status: Status) -> None:
        """Show on every page how the bot is."""
        self._status = status
        for page in self._pages:
            page.put_nowait(("bot", status.payload()))

    async def serve(self, request: web.Request, side: Side, person_id: str) -> web.StreamResponse:
        """Send a person's page all there is, then all that changes, until it is closed.

        Raises:
            Refused: There is no such person.
        """
        page: asyncio.Queue[View] = asyncio.Queue()
        everything = side.snapshot(person_id) | {"bot": self._status.payload()}
        page.put_nowait(("all", everything))
        unfollow = side.follow(person_id, page.put_nowait)
        self._pages.add(page)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            with suppress(ConnectionResetError):
                await _send(response, page)
        finally:
            self._pages.discard(page)
            unfollow()
        return response


async def _send(response: web.StreamResponse, page: asyncio.Queue[View]) -> None:
    while True:
        try:
            name, data = await asyncio.wait_for(page.get(), _STILL_THERE)
            text = f"event: {name}\ndata: {json.dumps(data)}\n\n"
        except TimeoutError:
            text = ": still there\n\n"
        await response.write(text.encode())
