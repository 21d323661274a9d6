"""Reads a URL strictly, so that what is checked is what is connected to."""

import re
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx

from core.errors import UnsupportedDocument
from core.ingestion.web.addresses import IPAddress, literal_address
from core.runtime.hosts import is_port

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
