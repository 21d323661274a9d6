"""The server: a World behind REST and gateway on a port of the loopback address."""

from aiohttp import web

from tests.wire.discord.errors import Json
from tests.wire.discord.faults import Faults
from tests.wire.discord.gateway import Gateway
from tests.wire.discord.limits import Limits
from tests.wire.discord.rest import Rest
from tests.wire.discord.schema import Schema
from tests.wire.discord.world import World
from tests.wire.http_shell import HttpShell


class DiscordServer(HttpShell):
    """Serves while it is entered; leaving it fails if a caller did what Discord cannot.

    With a `world` given, that one is served, and `limits` are its own.
    """

    def __init__(
        self, limits: Limits | None = None, *, world: World | None = None, port: int = 0
    ) -> None:
        self.world = world or World(limits)
        super().__init__(mistakes=self.world.mistakes, port=port, megabytes=64)
        self.faults = Faults()
        self.gateway = Gateway(self.world, self.faults)
        self.rest = Rest(self.world, self.faults, self.gateway, Schema(self.world))

    @property
    def api_url(self) -> str:
        """Return the base address of the REST interface."""
        return f"{self.origin}/api/v10"

    @property
    def gateway_url(self) -> str:
        """Return the WebSocket address, which `GET /gateway/bot` tells as well."""
        return self.gateway.url

    async def start(self) -> None:
        """Listen; after `stop` on the same port as before."""
        await super().start()
        self.gateway.url = f"{self.origin.replace('http', 'ws', 1)}/gateway/"
        self.world.cdn = self.origin

    async def stop(self) -> None:
        """Cut all connections and refuse new ones."""
        await self.gateway.drop()
        await super().stop()

    def _register(self, app: web.Application) -> None:
        app.router.add_get("/gateway/", self.gateway.serve)
        app.router.add_get("/attachments/{channel}/{attachment}/{name}", self._attachment)
        self.rest.register(app)

    async def _attachment(self, request: web.Request) -> web.Response:
        attachment = self.world.attachments.get(int(request.match_info["attachment"]))
        if attachment is None:
            missing: Json = {"message": "404: Not Found", "code": 0}
            return web.json_response(missing, status=404)
        headers = {"Content-Type": attachment.content_type}
        return web.Response(body=attachment.content, headers=headers)
