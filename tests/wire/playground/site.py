"""The page's web server: loopback only, its own files only, its own page only."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from tests.wire.playground.bot_process import BotProcess
from tests.wire.playground.live import Live
from tests.wire.playground.side import Action, Json, Refused, Side, checked, perform

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
_LARGEST_BODY = 12 * 1024**2
"""Files come in base64: about 8 MB of them."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class SwitchBot(BaseModel):
    """Start or stop the bot."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    do: Literal["start", "stop"]


class Site:
    """Serves the pages, and each platform's events and actions below its name."""

    def __init__(self, sides: Mapping[str, Side], live: Live, bot: BotProcess) -> None:
        self._sides = sides
        self._live = live
        self._bot = bot
        self._own: dict[str, Action] = {"bot": checked(SwitchBot, self._switch)}
        self._runner: web.AppRunner | None = None

    async def start(self, port: int = 0) -> str:
        """Listen on loopback and return the page's address; 0: any free port."""
        app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[_only_our_own_page])
        app.on_response_prepare.append(_guard)
        side = f"/{{side:{'|'.join(self._sides)}}}"
        app.router.add_get(f"{side}/people", self._serve_people)
        app.router.add_get(f"{side}/live", self._serve_events)
        app.router.add_get(f"{side}/attachments/{{id:[0-9A-Z]{{1,20}}}}", self._serve_attachment)
        app.router.add_post(f"{side}/do/{{action}}", self._do)
        app.router.add_get("/{path:.*}", _serve_file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, port).start()
        return f"http://{HOST}:{self._runner.addresses[0][1]}/"

    async def stop(self) -> None:
        """Close all pages."""
        if self._runner is not None:
            await self._runner.cleanup()

    def _side(self, request: web.Request) -> Side:
        return self._sides[request.match_info["side"]]

    async def _serve_people(self, request: web.Request) -> web.Response:
        return web.json_response({"people": self._side(request).people()})

    async def _serve_events(self, request: web.Request) -> web.StreamResponse:
        person = request.query.get("user", "")
        try:
            return await self._live.serve(request, self._side(request), person)
        except Refused as refusal:
            return _error(400, str(refusal))

    async def _serve_attachment(self, request: web.Request) -> web.Response:
        picture = self._side(request).picture(request.match_info["id"])
        if picture is None:
            return _error(404, "There is no such picture.")
        content, kind = picture
        return web.Response(body=content, content_type=kind)

    async def _do(self, request: web.Request) -> web.Response:
        try:
            if request.content_type != "application/json":
                raise Refused("An action is sent as JSON.")
            body = json.loads(await request.text())
            name = request.match_info["action"]
            if name in self._own:
                return web.json_response(await perform(self._own, name, body))
            return web.json_response(await self._side(request).do(name, body))
        except Refused as refusal:
            return _error(400, str(refusal))
        except ValueError:
            return _error(400, "This is not JSON.")
        except web.HTTPRequestEntityTooLarge:
            return _error(413, "That is too large for the playground.")

    async def _switch(self, asked: SwitchBot) -> Json:
        await (self._bot.start() if asked.do == "start" else self._bot.stop())
        return {}


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
    path = request.path
    file = _FILES.get(f"{path}index.html" if path.endswith("/") else path)
    if file is None:
        return _error(404, "There is nothing here.")
    kind = _TYPES[file.suffix]
    return web.Response(body=file.read_bytes(), content_type=kind, charset="utf-8")


def _error(status: int, sentence: str) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
