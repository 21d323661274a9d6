"""Keeps every test off the network."""

import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """Fail whatever connects to, sends to or looks up another machine.

    `pytest.fail` raises a BaseException, so that product code cannot mistake it for an outage.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        patch.setattr(socket.socket, "sendto", _guarded(socket.socket.sendto))
        patch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo))
        yield


def _guarded(method: Any) -> Any:
    def guarded(connection: socket.socket, *arguments: Any) -> Any:
        if connection.family in {socket.AF_INET, socket.AF_INET6}:
            host = arguments[-1][0]
            if not _is_loopback(host):
                pytest.fail(f"a test tried to reach {host}")
        return method(connection, *arguments)

    return guarded


def _guarded_lookup(lookup: Any) -> Any:
    def guarded(host: Any, *arguments: Any, **options: Any) -> Any:
        if not (host is None or _is_loopback(host) or _is_address(host)):
            pytest.fail(f"a test tried to look up {host}")
        return lookup(host, *arguments, **options)

    return guarded


def _is_loopback(host: Any) -> bool:
    name = _text(host)
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


def _is_address(host: Any) -> bool:
    try:
        ipaddress.ip_address(_text(host))
    except ValueError:
        return False
    return True


def _text(host: Any) -> str:
    return host.decode() if isinstance(host, bytes) else str(host)
