"""The proxy itself: each toxic does what its name says, and nothing once it is healed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.chaos.proxy import Proxy, Streams
from tests.chaos.toxics import Bandwidth, Latency, Limit, Reset, Slicer, SlowClose, Timeout
from tests.pauses import passed_over

HELLO = b"hello\n"


@pytest.fixture
async def echo() -> AsyncIterator[int]:
    """The port of a server that sends back what it gets."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.fixture
async def proxy(echo: int) -> AsyncIterator[Proxy]:
    async with Proxy(echo) as proxy:
        yield proxy


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


async def sent(streams: Streams, data: bytes = HELLO) -> bytes:
    """Send something, and return as much of its echo, or what came before the end."""
    streams[1].write(data)
    try:
        return await asyncio.wait_for(streams[0].readexactly(len(data)), 20)
    except asyncio.IncompleteReadError as cut:
        return cut.partial


async def test_what_is_sent_passes_both_ways(proxy: Proxy) -> None:
    async with connected(proxy) as streams:
        assert await sent(streams) == HELLO
    assert proxy.connections == 1


async def test_latency_delays_each_way(proxy: Proxy) -> None:
    proxy.poison(Latency(0.1, jitter=0))
    async with connected(proxy) as streams:
        with passed_over() as pauses:
            assert await sent(streams) == HELLO
    assert [pause.seconds for pause in pauses] == [0.1, 0.1]


async def test_bandwidth_stretches_what_is_sent(proxy: Proxy) -> None:
    proxy.poison(Bandwidth(10_000))
    async with connected(proxy) as streams:
        with passed_over() as pauses:
            assert await sent(streams, bytes(2_000)) == bytes(2_000)
    assert sum(pause.seconds for pause in pauses) == pytest.approx(0.4)


async def test_sliced_data_arrives_whole(proxy: Proxy) -> None:
    proxy.poison(Slicer(size=7, pause=0))
    data = bytes(range(256)) * 10
    async with connected(proxy) as streams:
        assert await sent(streams, data) == data


async def test_a_limit_ends_the_connection_behind_so_many_bytes(proxy: Proxy) -> None:
    proxy.poison(Limit(100))
    async with connected(proxy) as streams:
        streams[1].write(bytes(60))
        streams[1].write(bytes(60))
        assert len(await asyncio.wait_for(streams[0].read(), 20)) < 120


async def test_a_timeout_lets_nothing_pass_and_then_ends(proxy: Proxy) -> None:
    async with connected(proxy) as streams:
        assert await sent(streams) == HELLO
        proxy.poison(Timeout(0.2))
        assert await sent(streams) == b""


async def test_a_reset_is_one(proxy: Proxy) -> None:
    async with connected(proxy) as streams:
        assert await sent(streams) == HELLO
        proxy.poison(Reset(0))
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(streams[0].read(), 20)


async def test_a_slow_close_tells_the_other_side_later(proxy: Proxy) -> None:
    async with connected(proxy) as streams:
        assert await sent(streams) == HELLO
        proxy.poison(SlowClose(0.2))
        with passed_over() as pauses:
            streams[1].write_eof()
            assert await asyncio.wait_for(streams[0].read(), 20) == b""
    assert 0.2 in [pause.seconds for pause in pauses]


async def test_when_it_is_down_connections_end_and_are_refused_until_it_is_up(
    proxy: Proxy,
) -> None:
    async with connected(proxy) as streams:
        assert await sent(streams) == HELLO
        await proxy.down()
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(streams[0].read(), 20)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", proxy.port)
    await proxy.up()
    async with connected(proxy) as streams:
        assert await sent(streams) == HELLO


async def test_a_healed_proxy_passes_everything(proxy: Proxy) -> None:
    proxy.poison(Timeout(30))
    async with connected(proxy) as streams:
        streams[1].write(HELLO)
        await asyncio.sleep(0.05)
        proxy.heal()
        assert await asyncio.wait_for(streams[0].readexactly(len(HELLO)), 20) == HELLO


async def test_a_toxic_may_befall_a_share_of_the_connections(echo: int) -> None:
    async with Proxy(echo, seed=3) as proxy:
        proxy.poison(Limit(0), share=0.5)
        whole = 0
        for _ in range(40):
            async with connected(proxy) as streams:
                whole += await sent(streams) == HELLO
    assert 5 < whole < 35
