"""What the doctor finds out about the bot's account on Discord."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.command_line import CommandLine, Finished
from tests.wire.discord import DiscordServer, Limits, Permission, ServerError

pytestmark = pytest.mark.costly


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(Limits.relaxed()) as server:
        yield server


async def doctor(glossator: CommandLine, server: DiscordServer, **settings: str) -> Finished:
    known = glossator.setting(
        **{
            "DISCORD__API_URL": server.api_url,
            "DISCORD__TOKEN": server.world.application.token,
            **settings,
        }
    )
    return await asyncio.to_thread(known.run, "doctor")


async def test_it_names_the_account_and_how_to_invite_it(
    glossator: CommandLine, server: DiscordServer
) -> None:
    done = await doctor(glossator, server)
    assert "discord   glossator reads messages" in done.out
    assert f"client_id={server.world.application.id}" in done.out
    assert "scope=bot+applications.commands" in done.out
    assert server.world.application.token not in done.out + done.err


@pytest.mark.parametrize(
    ("reviewed", "said"),
    [(False, "from 10,000 users on, Discord reviews"), (True, "renew that every year")],
)
async def test_it_says_that_the_intent_is_renewed_every_year(
    glossator: CommandLine, server: DiscordServer, reviewed: bool, said: str
) -> None:
    server.world.application.is_reviewed = reviewed
    assert (
        f"ok    discord   {'Discord has' if reviewed else said}"
        in (done := await doctor(glossator, server)).out
    )
    assert said in done.out


async def test_a_refused_token_is_told(glossator: CommandLine, server: DiscordServer) -> None:
    done = await doctor(glossator, server, DISCORD__TOKEN="not-the-token")
    assert "FAIL  discord" in done.out
    assert "GLOSSATOR_DISCORD__TOKEN" in done.out
    assert done.code == 78


async def test_a_missing_intent_is_told_with_what_to_do(
    glossator: CommandLine, server: DiscordServer
) -> None:
    server.world.application.message_content = False
    refused = await doctor(glossator, server)
    assert "FAIL  discord   The Message Content intent is off" in refused.out
    done = await doctor(glossator, server, DISCORD__MESSAGE_CONTENT="false")
    assert "reads mentions and commands only" in done.out


async def test_missing_permissions_are_told_by_server(
    glossator: CommandLine, server: DiscordServer
) -> None:
    world = server.world
    everyone = world.everyone(world.guild)
    everyone.permissions &= ~Permission.CREATE_PUBLIC_THREADS
    for role in world.guild.roles.values():
        role.permissions &= ~Permission.CREATE_PUBLIC_THREADS
    done = await doctor(glossator, server)
    assert f"on the server {world.guild.name!r} the bot's role lacks" in done.out
    assert "lacks 'Create Public Threads'" in done.out


async def test_an_outage_is_no_fault_of_the_token(
    glossator: CommandLine, server: DiscordServer
) -> None:
    server.faults.rest(ServerError(503), "GET /users/@me", times=20)
    done = await doctor(glossator, server)
    assert "Discord cannot be reached" in done.out
    assert done.code == 69


async def test_without_a_token_nothing_is_said_of_discord(glossator: CommandLine) -> None:
    assert "discord" not in (await asyncio.to_thread(glossator.run, "doctor")).out
