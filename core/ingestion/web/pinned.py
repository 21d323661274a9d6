"""One HTTP request to one checked address: the only way ingestion reaches a network."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Self

import httpx

from core.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.web.addresses import IPAddress, Resolver, is_local, is_public
from core.ingestion.web.compression import gunzip, too_large
from core.ingestion.web.targets import WEB_PORTS, Target

_CONNECT_SECONDS = 10.0


class UnknownHost(SourceUnavailable):
    """No address belongs to the host's name, as far as this machine can find out."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server answered; `body` is unpacked, and empty unless the status is 200."""

    status: int
    headers: httpx.Headers
    body: bytes


class PinnedClient:
    """Sends GET requests to public addresses, and to hosts trusted by name.

    The host is looked up once per request, every address found is checked, and the
    connection goes to one of exactly these: a name server that changes its mind in
    between gains nothing. `Host` and TLS keep using the name.
    """

    def __init__(
        self,
        *,
        allowed_hosts: frozenset[str],
        user_agent: str,
        resolver: Resolver,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._allowed_hosts = frozenset(host.lower() for host in allowed_hosts)
        self._headers = {
            "Accept": "*/*",
            "Accept-Encoding": "gzip",
            # A kept connection could serve another name at the same address unverified.
            "Connection": "close",
            "User-Agent": user_agent,
        }
        self._resolver = resolver
        self._transport = transport

    async def __aenter__(self) -> Self:
        # A transport alone knows no proxies, redirects or cookies that could lead elsewhere.
        self._open_transport = self._transport or httpx.AsyncHTTPTransport(trust_env=False)
        await self._open_transport.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._open_transport.__aexit__(kind, error, traceback)

    async def get(self, target: Target, headers: Mapping[str, str], *, max_bytes: int) -> HttpReply:
        """Return the server's reply, whatever its status, however long it takes.

        Args:
            target: Where to connect to.
            headers: Sent in addition to the usual ones.
            max_bytes: Limit of the body, both as sent and unpacked.

        Raises:
            UnsupportedDocument: The address may not be fetched, or the body is too large.
            UnknownHost: There is no such name, as far as this machine knows.
            SourceUnavailable: The connection fails.
        """
        addresses = await self.checked_addresses(target)
        return await self._get_from_first(addresses, target, headers, max_bytes)

    async def checked_addresses(self, target: Target) -> list[IPAddress]:
        """Return every address of the target's host, looked up now.

        Raises:
            UnsupportedDocument: One of them may not be connected to.
            UnknownHost: There is none.
        """
        trusted = self.trusts(target)
        if not trusted and target.port not in WEB_PORTS.values():
            raise self._unusual_port(target)
        if not trusted and target.has_local_name:
            raise _not_public(target, "a name reserved for local use")
        addresses = await self._look_up(target)
        for address in addresses:
            if not (is_public(address) or (trusted and is_local(address))):
                raise _not_public(target, str(address))
        return addresses

    def trusts(self, target: Target) -> bool:
        """Return whether the target's host is trusted by name."""
        if target.authority in self._allowed_hosts:
            return True
        return target.port in WEB_PORTS.values() and target.bracketed_host in self._allowed_hosts

    def _unusual_port(self, target: Target) -> UnsupportedDocument:
        if target.bracketed_host in self._allowed_hosts:
            allowed = f"“{target.bracketed_host}” is allowed without a port, so on 80 and 443 alone"
        else:
            allowed = "Only the usual web ports (80 and 443) can be fetched from"
        return UnsupportedDocument(user_message=f"{allowed}; {_how_to_allow(target.authority)}.")

    async def _look_up(self, target: Target) -> list[IPAddress]:
        if target.address is not None:
            return [target.address]
        try:
            found = await self._resolver(target.host, target.port)
        except OSError as error:
            raise _unknown_name(target) from error
        if not found:
            raise _unknown_name(target)
        return [ip_address(address) for address in found]

    async def _get_from_first(
        self,
        addresses: list[IPAddress],
        target: Target,
        headers: Mapping[str, str],
        max_bytes: int,
    ) -> HttpReply:
        """Return the reply of the first address that accepts a connection."""
        with _transport_errors(target):
            for address in addresses[:-1]:
                with contextlib.suppress(httpx.ConnectError, httpx.ConnectTimeout):
                    return await self._get_from(address, target, headers, max_bytes)
            return await self._get_from(addresses[-1], target, headers, max_bytes)

    async def _get_from(
        self, address: IPAddress, target: Target, headers: Mapping[str, str], max_bytes: int
    ) -> HttpReply:
        request = httpx.Request(
            "GET",
            target.url.copy_with(host=str(address)),
            headers={**self._headers, "Host": target.url.netloc.decode("ascii"), **headers},
            extensions={
                "sni_hostname": target.host,
                "timeout": {"connect": _CONNECT_SECONDS},
            },
        )
        response = await self._open_transport.handle_async_request(request)
        async with contextlib.aclosing(response):
            wanted = response.status_code == httpx.codes.OK
            body = await _read_body(response, max_bytes) if wanted else b""
            return HttpReply(response.status_code, response.headers, body)


async def _read_body(response: httpx.Response, max_bytes: int) -> bytes:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise UnsupportedDocument(user_message="The server compresses in a way we did not ask for.")
    if int(response.headers.get("Content-Length", 0)) > max_bytes:
        raise too_large(max_bytes)
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > max_bytes:
            raise too_large(max_bytes)
    if encoding in ("gzip", "x-gzip"):
        return await asyncio.to_thread(gunzip, bytes(body), max_bytes)
    return bytes(body)


@contextlib.contextmanager
def _transport_errors(target: Target) -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException as error:
        raise SourceUnavailable(user_message=f"“{target.host}” did not answer in time.") from error
    except httpx.TransportError as error:
        raise SourceUnavailable(
            f"{target.host}: {type(error).__name__}",
            user_message=f"No working connection to “{target.host}” was possible.",
        ) from error


def _not_public(target: Target, reason: str) -> UnsupportedDocument:
    is_usual = target.port in WEB_PORTS.values()
    how = _how_to_allow(target.bracketed_host if is_usual else target.authority)
    return UnsupportedDocument(
        f"{target.host} is not public: {reason}",
        user_message=f"“{target.host}” is not on the public internet, so it is not fetched; {how}.",
    )


def _how_to_allow(authority: str) -> str:
    return f'to trust it, add "{authority}" to the list GLOSSATOR_INGEST__ALLOWED_HOSTS'


def _unknown_name(target: Target) -> UnknownHost:
    return UnknownHost(user_message=f"The name “{target.host}” could not be looked up.")
