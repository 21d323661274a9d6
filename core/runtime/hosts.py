"""What a host and a port can be: said before anybody connects to them.

The network's own functions fail on anything else in words that name no setting.
"""

import ipaddress
import re
from urllib.parse import urlsplit

_LAST_PORT = 65_535
_NO_AUTHORITY = re.compile(r"[\s/?#@\\]")
_NO_PORT = f"the port must be a number from 0 to {_LAST_PORT:,}"


def check_host(host: str) -> str:
    """Return the host.

    Raises:
        ValueError: when no host can be called so; the text quotes nothing.
    """
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError("a part of the host's name is empty or too long") from None
    return host


def is_port(port: int) -> bool:
    """Return whether there is such a port."""
    return 0 <= port <= _LAST_PORT


def check_port(port: int) -> None:
    """Raise ValueError when there is no such port; the text quotes nothing."""
    if not is_port(port):
        raise ValueError(_NO_PORT)


def check_authority(authority: str) -> str:
    """Return `host` or `host:port`, as it stands in a URL.

    Raises:
        ValueError: when one of the two cannot be; the text quotes nothing.
    """
    if not authority or _NO_AUTHORITY.search(authority):
        raise ValueError(
            "a host is written without http:// and without a path, as host or host:port"
        )
    check_url(f"//{authority}")
    return authority


_OWN_ENDINGS = (".local", ".localhost", ".lan", ".internal", ".home.arpa")


def is_nearby(url: str | None) -> bool:
    """Return whether a URL is one of this machine or its own network, as far as its host says."""
    host = (urlsplit(url or "").hostname or "").rstrip(".")
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_OWN_ENDINGS)


def check_url(url: str) -> str:
    """Return the URL.

    Raises:
        ValueError: when its host or port cannot be; the text quotes nothing.
    """
    parts = urlsplit(url)
    check_host(parts.hostname or "")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError(_NO_PORT) from None
    return url
