"""Everything that happens, sent to the open pages as server-sent events."""

import asyncio
import json
from contextlib import suppress

from aiohttp import web

from tests.wire.discord.entities import User
from tests.wire.discord.errors import Json
from tests.wire.discord.state import Event
from tests.wire.playground.bot_process import Status
from tests.wire.playground.stage import Stage
from tests.wire.playground.views import View, Views

_STILL_THERE = 15.0
"""Seconds between signs of life, so that a page notices a dead server."""


class Live:
    """Keeps every open page up to date."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._views = Views(stage)
        self._pages: dict[asyncio.Queue[View], User] = {}
        self._status = Status.stopped("It was not started.")
        stage.world.listen(self._spread)

    def people(self) -> list[Json]:
        """Return whom the page can act as."""
        return [self._views.person(person) for person in self._stage.people]

    def tell_status(self, status: Status) -> None:
        """Show on every page how the bot is."""
        self._status = status
        for page in self._pages:
            page.put_nowait(("bot", status.payload()))

    async def serve(self, request: web.Request, reader: User) -> web.StreamResponse:
        """Send a person's page all there is, then all that changes, until it is closed."""
        headers = {"Content-Type": "text/event-stream"}
        response = web.StreamResponse(headers=headers)
        page: asyncio.Queue[View] = asyncio.Queue()
        page.put_nowait(("all", self._all(reader)))
        self._pages[page] = reader
        try:
            await response.prepare(request)
            with suppress(ConnectionResetError):
                await _send(response, page)
        finally:
            del self._pages[page]
        return response

    def _all(self, reader: User) -> Json:
        return self._views.snapshot(reader) | {"bot": self._status.payload()}

    def _spread(self, event: Event) -> None:
        for page, reader in self._pages.items():
            if view := self._views.event(event, reader):
                page.put_nowait(view)


async def _send(response: web.StreamResponse, page: asyncio.Queue[View]) -> None:
    while True:
        try:
            name, data = await asyncio.wait_for(page.get(), _STILL_THERE)
            text = f"event: {name}\ndata: {json.dumps(data)}\n\n"
        except TimeoutError:
            text = ": still there\n\n"
        await response.write(text.encode())
