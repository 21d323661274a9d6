"""Tokens that end are renewed in time, by one of all who would, and by one process of many."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import InstalledClients, ManyInstallations, who_are_we
from bot.database import upgrade
from bot.keys import Sealer
from core.domain import now
from core.domain.errors import DeliveryError
from core.storage.database import create_engine
from core.storage.installations import InstallationStore, Installed
from tests.books import COVERED, COVERED_FACT
from tests.wire.slack import Installation, Limits, ServerError, SlackServer
from tests.wire.slack_bot import a_trial
from tests.wire.slack_installs import install

# slack_sdk names itself to Slack in a way that aiohttp will not know any more one day.
pytestmark = [
    pytest.mark.costly,
    pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning"),
]

EXCHANGE = "oauth.v2.access"


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as running:
        running.world.app.token_rotation = True
        yield running


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[list[InstallationStore]]:
    """The stores of three processes over one database."""
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    engines = [create_engine(url) for _ in range(3)]
    await upgrade(engines[0])
    sealer = Sealer([b"key"])
    yield [
        InstallationStore(engine, "slack", seal=sealer.seal, unseal=sealer.unseal)
        for engine in engines
    ]
    for engine in engines:
        await engine.dispose()


def as_kept(installation: Installation, lives: timedelta) -> Installed:
    return Installed(
        place=installation.workspace.id,
        organisation=None,
        bot_user=installation.bot.id,
        bot=installation.bot_id,
        scopes="chat:write",
        token=installation.token,
        refresh_token=installation.refresh_token,
        expires_at=now() + lives,
    )


def process(server: SlackServer, store: InstallationStore) -> ManyInstallations:
    app = server.world.app
    return ManyInstallations(
        store,
        server.api_url,
        ClosedMethods(),
        client_id=app.client_id,
        client_secret=app.client_secret,
    )


async def begun(server: SlackServer, store: InstallationStore, lives: timedelta) -> str:
    """Keep an installation whose token lives for so long; return the workspace's id."""
    installation = server.world.installation
    server.world.oauth._rotate(installation)
    await store.save(as_kept(installation, lives))
    return installation.workspace.id


@pytest.mark.parametrize("minutes", [60, -5], ids=["a token that lives", "a dead token"])
async def test_processes_that_renew_at_once_all_have_a_token_that_slack_takes(
    server: SlackServer, stores: list[InstallationStore], minutes: int
) -> None:
    team = await begun(server, stores[0], timedelta(minutes=minutes))
    processes = [process(server, store) for store in stores]
    await asyncio.gather(*(each.find(team, None) for each in processes for _ in range(5)))
    found = [await _read_anew(server, store, team) for store in stores]
    assert {one.token for one in found} == {server.world.installation.token}
    assert len(server.world.history.of(EXCHANGE)) <= len(processes)
    assert sum(call.error is None for call in server.world.history.of(EXCHANGE)) == 1
    assert (await who_are_we(SlackClient(server.api_url, found[0].token))).place == team


async def test_a_process_alone_exchanges_once_for_all_who_ask(
    server: SlackServer, stores: list[InstallationStore]
) -> None:
    team = await begun(server, stores[0], timedelta(minutes=-5))
    one = process(server, stores[0])
    found = await asyncio.gather(*(one.find(team, None) for _ in range(20)))
    assert {each.token for each in found if each} == {server.world.installation.token}
    assert len(server.world.history.of(EXCHANGE)) == 1


async def test_what_slack_does_not_renew_now_is_tried_again_and_not_given_up(
    server: SlackServer, stores: list[InstallationStore]
) -> None:
    team = await begun(server, stores[0], timedelta(minutes=-5))
    clients = InstalledClients(process(server, stores[0]), server.api_url, ClosedMethods())
    server.faults.api(ServerError(503), EXCHANGE)
    with pytest.raises(DeliveryError) as failure:
        await clients.of(team, None)
    assert not failure.value.permanent
    assert (await who_are_we(await clients.of(team, None))).place == team
    await clients.close()


async def test_a_workspace_of_which_slack_does_not_tell_is_not_forgotten(
    server: SlackServer, stores: list[InstallationStore]
) -> None:
    team = await begun(server, stores[0], timedelta(hours=12))
    one = process(server, stores[0])
    server.faults.api(ServerError(503), "auth.test")
    with pytest.raises(DeliveryError):
        await one.remove(team, None)
    assert await stores[1].find(team) is not None
    assert not await one.remove(team, None)
    server.world.uninstall(server.world.app, server.world.workspace)
    assert await one.remove(team, None)
    assert await stores[1].find(team) is None


async def test_a_workspace_that_left_meanwhile_is_not_kept_anew(
    server: SlackServer, stores: list[InstallationStore]
) -> None:
    team = await begun(server, stores[0], timedelta(minutes=-5))
    before = await stores[0].find(team)
    assert before is not None
    await stores[1].remove(before)
    assert not await stores[0].renew(before, replace(before, token="xoxe.later"))
    assert await stores[2].find(team) is None


async def test_a_bot_whose_token_ends_goes_on_answering(one_course: Path, tmp_path: Path) -> None:
    limits = Limits.relaxed()
    limits.rotated_token_life = 60.0
    async with a_trial(one_course, tmp_path, by_oauth=True, limits=limits) as trial:
        await trial.bot.says("listening for Slack on port")
        world = trial.world
        world.app.token_rotation = True
        await install(trial, world.workspace)
        given = world.installation.token
        limits.rotated_token_life = 43_200.0
        ann = trial.user()
        assert COVERED_FACT in (await trial.ask(ann, trial.channel(ann), COVERED)).shown
        assert world.installation.token != given
        exchanges = [c for c in world.history.of(EXCHANGE) if "refresh_token" in c.arguments]
        assert len(exchanges) == 1


async def _read_anew(server: SlackServer, store: InstallationStore, team: str) -> Installed:
    found = await process(server, store).find(team, None)
    assert found is not None
    return found
