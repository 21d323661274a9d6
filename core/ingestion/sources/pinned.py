"""One HTTP request to one checked address: the only way ingestion reaches a network."""

import asyncio
import contextlib
import re
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import httpx

from core.domain.errors import SourceUnavailable, UnsupportedDocument
from core.domain.telemetry import is_port
from core.ingestion.sources.sitemap import gunzip, too_large

IPAddress = IPv4Address | IPv6Address

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host name and a port to all its addresses; raises OSError when there are none."""

_NAT64 = ip_network("64:ff9b::/96")
_GLOBAL_IPV6 = ip_network("2000::/3")

_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "168.63.129.16/32",  # Azure's host agent, on an otherwise public address
            "192.0.0.0/24",  # protocol assignments, Oracle's metadata among them
            "192.88.99.0/24",  # 6to4 relays
            "2001::/23",  # protocol assignments, Teredo among them
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which carries any IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)
"""What `is_global` of some supported Python releases would let through."""

_LOCAL = tuple(
    map(
        ip_network,
        (
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "::1/128",
            "fc00::/7",
        ),
    )
)

_CLOUD_METADATA = frozenset(map(ip_address, ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254")))
"""Services inside the local networks that hand out a machine's credentials."""


def is_public(address: IPAddress) -> bool:
    """Return whether `address` is an ordinary address of the public internet.

    An IPv6 address that stands for an IPv4 one (mapped, NAT64) is judged by that one;
    forms that only tunnels use (6to4, Teredo, ISATAP) are never public.

    Source: RFC 6890 and the two IANA special-purpose address registries.
    """
    address = _really_reached(address)
    if any(address in network for network in _NOT_PUBLIC):
        return False
    if isinstance(address, IPv6Address) and (address not in _GLOBAL_IPV6 or _is_isatap(address)):
        return False
    return address.is_global and not address.is_multicast


def is_local(address: IPAddress) -> bool:
    """Return whether `address` is this machine or a private network, for trusted hosts.

    Link-local addresses and the metadata services of clouds are not: no course is there.
    """
    address = _really_reached(address)
    return address not in _CLOUD_METADATA and any(address in network for network in _LOCAL)


def literal_address(host: str) -> IPAddress | None:
    """Return the address that `host` spells, in any form the C library reads, else none.

    `127.1`, `0x7f000001`, `017700000001` and `2130706433` are all 127.0.0.1.
    """
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


async def resolve_with_system(host: str, port: int) -> Sequence[str]:
    """Return every address the operating system knows for `host`, preferred ones first."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(socket_address[0]) for *_, socket_address in found))


def _really_reached(address: IPAddress) -> IPAddress:
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_isatap(address: IPv6Address) -> bool:
    """Whether the interface part is `0:5efe` or `200:5efe` before an IPv4 address."""
    return (int(address) >> 32) & 0xFDFF_FFFF == 0x0000_5EFE


WEB_PORTS = {"http": 80, "https": 443}

_ABSOLUTE = re.compile(r"https?://(?P<authority>[^/?#]+)", re.IGNORECASE)
_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\\]")
_HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*")
_ENDS_IN_NUMBER = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)$")
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa")


@dataclass(frozen=True, slots=True)
class Target:
    """A web address in its one normal form, not yet looked up."""

    url: httpx.URL
    """Without credentials or fragment, its host equal to `host`."""
    host: str
    """A lower-case ASCII name without final dot, or an address in its usual spelling."""
    port: int
    address: IPAddress | None
    """The address when the host is one, none when it is a name."""

    @property
    def authority(self) -> str:
        """Host and port, `[::1]:8080` for an IPv6 address."""
        return f"{self.bracketed_host}:{self.port}"

    @property
    def bracketed_host(self) -> str:
        """The host as it is written in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def origin(self) -> str:
        """Scheme, host and port: what one robots.txt covers."""
        return f"{self.url.scheme}://{self.authority}"

    @property
    def path(self) -> str:
        """Path and query, percent-encoded."""
        return self.url.raw_path.decode("ascii")

    @property
    def has_local_name(self) -> bool:
        """Whether the name is reserved for this machine or network (RFC 6761, 6762, 8375)."""
        return any(f".{self.host}".endswith(f".{name}") for name in _LOCAL_NAMES)

    def join(self, location: str) -> "Target":
        """Return where a redirect to `location`, absolute or relative, leads.

        Raises:
            UnsupportedDocument: It is no acceptable URL, or goes from https back to http.
        """
        _refuse_forbidden_characters(location)
        try:
            joined = urljoin(str(self.url), location)
        except ValueError as error:
            raise _malformed() from error
        target = parse_target(joined)
        if self.url.scheme == "https" and target.url.scheme == "http":
            raise UnsupportedDocument(
                user_message=f"“{self.host}” redirects to an address that is not encrypted (http)."
            )
        return target


def parse_target(url: str) -> Target:
    """Return `url` taken apart.

    Raises:
        UnsupportedDocument: It is no http(s) URL, carries credentials, or its host is
            written in a way that different programs read differently.
    """
    _refuse_forbidden_characters(url)
    absolute = _ABSOLUTE.match(url)
    if absolute is None:
        raise UnsupportedDocument(
            user_message="Only complete http:// and https:// addresses can be fetched."
        )
    if "@" in absolute["authority"]:
        raise UnsupportedDocument(
            user_message="An address with a user name or password in it is not fetched."
        )
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise _malformed() from error
    return _normalised(parsed)


def _normalised(parsed: httpx.URL) -> Target:
    written = parsed.raw_host.decode("ascii").lower().removesuffix(".")
    address = None if "%" in written else literal_address(written)
    host = written if address is None else str(address)
    if address is None and not _is_host_name(host):
        raise _malformed()
    port = WEB_PORTS[parsed.scheme] if parsed.port is None else parsed.port
    if not is_port(port):
        raise _malformed()
    url = parsed.copy_with(host=host, raw_path=parsed.raw_path, fragment=None)
    return Target(url, host, port, address)


def _is_host_name(host: str) -> bool:
    return _HOST_NAME.fullmatch(host) is not None and _ENDS_IN_NUMBER.search(host) is None


def _refuse_forbidden_characters(url: str) -> None:
    if _FORBIDDEN_CHARACTERS.search(url):
        raise UnsupportedDocument(
            user_message="The address contains spaces, control characters or backslashes."
        )


def _malformed() -> UnsupportedDocument:
    return UnsupportedDocument(user_message="The address is not a well-formed web address.")


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
