"""A small web for the tests: servers on loopback, and a public internet made of them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
from aiohttp import web

PUBLIC = "93.184.215.14"
OTHER_PUBLIC = "93.184.215.15"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Site:
    """A server on loopback; what it does not know is a 404."""

    routes: dict[str, web.Response | Answer] = field(default_factory=dict)
    requests: list[web.BaseRequest] = field(default_factory=list)
    port: int = 0

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    @property
    def paths(self) -> list[str]:
        return [request.path_qs for request in self.requests]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        known = self.routes.get(request.path_qs)
        if known is None:
            return web.Response(status=404)
        return copy(known) if isinstance(known, web.Response) else await known(request)


def copy(answer: web.Response) -> web.Response:
    """aiohttp sends a response object once only."""
    return web.Response(status=answer.status, body=answer.body, headers=answer.headers)


def page(text: str = "tides", status: int = 200, **headers: str) -> web.Response:
    """An answer; `content_type="a/b"` becomes the header `content-type`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=status, body=text.encode(), headers=named)


def redirect(location: str, status: int = 302) -> web.Response:
    return web.Response(status=status, headers={"Location": location})


@asynccontextmanager
async def serving(
    routes: Mapping[str, web.Response | Answer] | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Site]:
    site = Site(dict(routes or {}))
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


@dataclass
class Sentinel:
    """A server that nothing may connect to."""

    port: int = 0
    connections: int = 0


@asynccontextmanager
async def watching() -> AsyncIterator[Sentinel]:
    sentinel = Sentinel()

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sentinel.connections += 1
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        sentinel.port = server.sockets[0].getsockname()[1]
        yield sentinel


@asynccontextmanager
async def speaking(*pieces: bytes, pause: float = 0.0) -> AsyncIterator[str]:
    """A server that says the same bytes to everybody but asks nothing of robots."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if b"/robots.txt" in await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                return
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@dataclass
class Names:
    """A resolver with a script: each look-up of a name takes its next answer, the last stays."""

    answers: dict[str, list[list[str]]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.answers:
            raise AssertionError(f"nobody told the resolver about {host!r}")
        script = self.answers[host]
        return script.pop(0) if len(script) > 1 else script[0]


class Internet(httpx.AsyncBaseTransport):
    """Public addresses led to sites on loopback; every other address leads to the sentinel."""

    def __init__(self, sites: Mapping[str, Site], sentinel: Sentinel) -> None:
        self.requests: list[httpx.Request] = []
        self._ports = {address: site.port for address, site in sites.items()}
        self._sentinel = sentinel
        self._loopback = httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        port = self._ports.get(request.url.host, self._sentinel.port)
        url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
        return await self._loopback.handle_async_request(
            httpx.Request(request.method, url, headers=request.headers, stream=request.stream)
        )

    async def aclose(self) -> None:
        await self._loopback.aclose()
