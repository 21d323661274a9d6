"""The server: a World behind REST and gateway on a port of the loopback address."""

from types import TracebackType
from typing import Self

from aiohttp import web

from tests.wire.discord.errors import Json
from tests.wire.discord.faults import Faults
from tests.wire.discord.gateway import Gateway
from tests.wire.discord.limits import Limits
from tests.wire.discord.rest import Rest
from tests.wire.discord.schema import Schema
from tests.wire.discord.world import World


class DiscordServer:
    """Serves while it is entered; leaving it fails if a caller did what Discord cannot.

    With a `world` given, that one is served, and `limits` are its own.
    """

    def __init__(
        self, limits: Limits | None = None, *, world: World | None = None, port: int = 0
    ) -> None:
        self.world = world or World(limits)
        self.faults = Faults()
        self.gateway = Gateway(self.world, self.faults)
        self.rest = Rest(self.world, self.faults, self.gateway, Schema(self.world))
        self.api_url = ""
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def gateway_url(self) -> str:
        """Return the WebSocket address, which `GET /gateway/bot` tells as well."""
        return self.gateway.url

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        mistakes = self.world.mistakes
        assert kind is not None or not mistakes, "\n".join(mistakes)

    async def start(self) -> None:
        """Listen; after `stop` on the same port as before."""
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_get("/gateway/", self.gateway.serve)
        app.router.add_get("/attachments/{channel}/{attachment}/{name}", self._attachment)
        self.rest.register(app)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True)
        await site.start()
        host, self._port = self._runner.addresses[0][:2]
        self.api_url = f"http://{host}:{self._port}/api/v10"
        self.gateway.url = f"ws://{host}:{self._port}/gateway/"
        self.world.cdn = f"http://{host}:{self._port}"

    async def stop(self) -> None:
        """Cut all connections and refuse new ones."""
        await self.gateway.drop()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _attachment(self, request: web.Request) -> web.Response:
        attachment = self.world.attachments.get(int(request.match_info["attachment"]))
        if attachment is None:
            missing: Json = {"message": "404: Not Found", "code": 0}
            return web.json_response(missing, status=404)
        headers = {"Content-Type": attachment.content_type}
        return web.Response(body=attachment.content, headers=headers)
