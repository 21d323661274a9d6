"""Which network addresses a course's document may be fetched from."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
