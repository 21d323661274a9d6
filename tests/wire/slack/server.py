"""The server: a World behind Web API, sockets and the OAuth page on a loopback port."""

from aiohttp import web

from tests.wire.http_shell import HttpShell
from tests.wire.slack.callbacks import Callbacks
from tests.wire.slack.delivery import Deliveries
from tests.wire.slack.entities import App
from tests.wire.slack.errors import SlackError
from tests.wire.slack.faults import Faults
from tests.wire.slack.limits import Limits
from tests.wire.slack.sockets import Sockets
from tests.wire.slack.web_api import WebApi
from tests.wire.slack.world import World


class SlackServer(HttpShell):
    """Serves while it is entered; leaving it fails if a caller did what Slack cannot.

    With a `world` given, that one is served, and `limits` are its own.
    """

    def __init__(
        self, limits: Limits | None = None, *, world: World | None = None, port: int = 0
    ) -> None:
        self.world = world or World(limits)
        super().__init__(mistakes=self.world.mistakes, port=port, megabytes=16)
        self.faults = Faults()
        self.sockets = Sockets(self.world)
        self.callbacks = Callbacks(self.world)
        self.deliveries = Deliveries(self.world, self.faults, self.sockets, self.callbacks)
        self.web_api = WebApi(self.world, self.faults)
        self.world.socket_url = self.sockets.ticket

    @property
    def api_url(self) -> str:
        """Return the Web API's base address, with its last slash."""
        return f"{self.world.base_url}/api/"

    @property
    def authorization_url(self) -> str:
        """Return the address of the OAuth page."""
        return f"{self.world.base_url}/oauth/v2/authorize"

    async def start(self) -> None:
        """Listen; after `stop` on the same port as before."""
        await super().start()
        self.world.base_url = self.origin
        self.sockets.url = f"{self.origin.replace('http', 'ws', 1)}/link"
        await self.callbacks.start()

    async def stop(self) -> None:
        """Cut all connections and refuse new ones; what was to be delivered is lost."""
        await self.deliveries.stop()
        await self.sockets.drop()
        await self.callbacks.stop()
        await super().stop()

    def _register(self, app: web.Application) -> None:
        app.router.add_get("/link", self.sockets.serve)
        app.router.add_get("/oauth/v2/authorize", self._authorize)
        app.router.add_get("/oauth/v2/allow", self._allow)
        self.web_api.register(app)
        app.router.add_route("*", "/{rest:.*}", self._unknown)

    async def subscribe(self, url: str, app: App | None = None) -> None:
        """Give an app an address for its deliveries, as its settings page does.

        Raises:
            AssertionError: The address did not pass url_verification.
            Undelivered: It did not answer at all.
        """
        await self.callbacks.verify(app or self.world.app, url)

    async def _authorize(self, request: web.Request) -> web.Response:
        try:
            page = self.world.oauth.page(dict(request.query))
        except SlackError as error:
            return web.Response(status=400, text=error.error)
        return web.Response(text=page, content_type="text/html")

    async def _allow(self, request: web.Request) -> web.Response:
        workspace = self.world.workspaces[request.query["team"]]
        query = dict(request.query)
        owner = self.world.owner_of(workspace)
        try:
            target = self.world.oauth.approve(query, workspace, owner)
        except SlackError as error:
            return web.Response(status=400, text=error.error)
        return web.Response(status=302, headers={"Location": target})

    async def _unknown(self, request: web.Request) -> web.Response:
        self.world.mistakes.append(f"unknown route: {request.method} {request.path_qs}")
        return web.Response(status=404)
