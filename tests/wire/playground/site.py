"""The page's web server: loopback only, its own files only, its own page only."""

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from tests.wire.discord.world import World
from tests.wire.playground.actions import Actions, Refused
from tests.wire.playground.live import Live

HOST = "127.0.0.1"
PAGE = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_FILES = {
    f"/{file.relative_to(PAGE).as_posix()}": file for file in PAGE.rglob("*") if file.is_file()
}
_LOCAL = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
_LARGEST_BODY = 64 * 1024
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Site:
    """Serves the page, its events and its actions."""

    def __init__(self, world: World, live: Live, actions: Actions) -> None:
        self._world = world
        self._live = live
        self._actions = actions
        self._runner: web.AppRunner | None = None

    async def start(self, port: int = 0) -> str:
        """Listen on loopback and return the page's address; 0: any free port."""
        app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[_only_our_own_page])
        app.on_response_prepare.append(_guard)
        app.router.add_get("/people", self._serve_people)
        app.router.add_get("/live", self._serve_events)
        app.router.add_get("/attachments/{id:[0-9]{1,20}}", self._serve_attachment)
        app.router.add_post("/do/{action}", self._do)
        app.router.add_get("/{path:.*}", _serve_file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, port).start()
        return f"http://{HOST}:{self._runner.addresses[0][1]}/"

    async def stop(self) -> None:
        """Close all pages."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve_people(self, _: web.Request) -> web.Response:
        return web.json_response({"people": self._live.people()})

    async def _serve_events(self, request: web.Request) -> web.StreamResponse:
        try:
            reader = self._actions.person(request.query.get("user", ""))
        except Refused as refusal:
            return _error(400, str(refusal))
        return await self._live.serve(request, reader)

    async def _serve_attachment(self, request: web.Request) -> web.Response:
        attachment = self._world.attachments.get(int(request.match_info["id"]))
        if attachment is None or not attachment.content_type.startswith("image/png"):
            return _error(404, "There is no such picture.")
        return web.Response(body=attachment.content, content_type="image/png")

    async def _do(self, request: web.Request) -> web.Response:
        try:
            if request.content_type != "application/json":
                raise Refused("An action is sent as JSON.")
            body = json.loads(await request.text())
            return web.json_response(await self._actions.do(request.match_info["action"], body))
        except Refused as refusal:
            return _error(400, str(refusal))
        except ValueError:
            return _error(400, "This is not JSON.")


@web.middleware
async def _only_our_own_page(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse other sites, also those that have their name point at this machine."""
    if not _LOCAL.fullmatch(request.host):
        return _error(403, "This page is served to this machine alone.")
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"http://{request.host}":
        return _error(403, "This page takes no orders from other sites.")
    return await handler(request)


async def _guard(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


async def _serve_file(request: web.Request) -> web.Response:
    file = _FILES.get("/index.html" if request.path == "/" else request.path)
    if file is None:
        return _error(404, "There is nothing here.")
    kind = _TYPES[file.suffix]
    return web.Response(body=file.read_bytes(), content_type=kind, charset="utf-8")


def _error(status: int, sentence: str) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
