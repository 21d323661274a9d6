"""Calls of Slack share their connections."""

from urllib.parse import urlsplit

from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import InstalledClients, OneInstallation
from tests.chaos.proxy import Proxy
from tests.wire.slack import Limits, SlackServer


async def test_calls_one_after_another_go_by_one_connection_until_it_breaks() -> None:
    async with SlackServer(Limits.relaxed()) as server:
        installed = server.world.installation
        one = OneInstallation(SlackClient(server.api_url, installed.token))
        address = urlsplit(server.api_url)
        assert address.port is not None
        async with Proxy(address.port) as proxy:
            through_it = f"http://127.0.0.1:{proxy.port}{address.path}"
            clients = InstalledClients(one, through_it, ClosedMethods())
            for _ in range(5):
                client = await clients.of(installed.workspace.id, None)
                assert (await client.auth_test())["ok"]
            assert proxy.connections == 1
            await proxy.down()
            await proxy.up()
            assert (await client.auth_test())["ok"]
            assert proxy.connections == 2
            await clients.close()
            assert (await client.auth_test())["ok"], "somebody is late, and is served"
