"""The guard in conftest lets tests reach this machine and no other."""

import asyncio
import socket

import pytest


@pytest.mark.parametrize("host", ["example.org", "metadata.google.internal"])
def test_no_test_can_look_up_another_machine(host: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=host):
        socket.getaddrinfo(host, 443)


@pytest.mark.parametrize("host", ["192.0.2.1", "169.254.169.254", "2001:db8::1"])
async def test_no_test_can_connect_to_another_machine(host: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="tried to reach"):
        await asyncio.open_connection(host, 443)


def test_no_test_can_send_a_datagram_to_another_machine() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as datagrams,
        pytest.raises(pytest.fail.Exception, match="tried to reach"),
    ):
        datagrams.sendto(b"ping", ("192.0.2.1", 53))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_server_of_the_test_can_be_reached(host: str) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(host, server.sockets[0].getsockname()[1])
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
