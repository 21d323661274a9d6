"""What the doctor finds out about the Slack app."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from adapters.slack.specimens import specimens
from tests.command_line import CommandLine, Finished
from tests.wire.slack import Limits, Refused, ServerError, SlackServer

pytestmark = pytest.mark.costly


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(Limits.relaxed()) as server:
        yield server


async def doctor(
    glossator: CommandLine, server: SlackServer, *options: str, **settings: str
) -> Finished:
    world = server.world
    known = {
        "SLACK__API_URL": server.api_url,
        "SLACK__BOT_TOKEN": world.installation.token,
        "SLACK__APP_TOKEN": world.app.app_token,
        **settings,
    }
    line = glossator.setting(**{name: value for name, value in known.items() if value})
    return await asyncio.to_thread(line.run, "doctor", *options)


async def test_it_names_the_workspace_and_checks_both_tokens(
    glossator: CommandLine, server: SlackServer
) -> None:
    done = await doctor(glossator, server)
    assert "slack     glossator has all its scopes in Course" in done.out
    assert "slack     the app token opens sockets" in done.out
    assert server.world.installation.token not in done.out + done.err


async def test_missing_scopes_are_named(glossator: CommandLine, server: SlackServer) -> None:
    server.world.installation.scopes -= {"assistant:write", "users:read"}
    done = await doctor(glossator, server)
    assert "FAIL  slack     The bot token lacks the scopes assistant:write, users:read" in done.out
    assert done.code == 78


async def test_of_the_other_scopes_it_is_said_what_is_missing_without_them(
    glossator: CommandLine, server: SlackServer
) -> None:
    server.world.installation.scopes -= {"usergroups:read", "reactions:read"}
    done = await doctor(glossator, server)
    assert "WARN  slack     The bot token lacks scopes that the app asks for: " in done.out
    assert "without reactions:read no reaction asks for an answer; " in done.out
    assert "without usergroups:read user groups make nobody staff. " in done.out
    assert done.code == 0


@pytest.mark.parametrize("name", ["SLACK__BOT_TOKEN", "SLACK__APP_TOKEN"])
async def test_a_refused_token_is_told(
    glossator: CommandLine, server: SlackServer, name: str
) -> None:
    done = await doctor(glossator, server, **{name: "not-the-token"})
    assert "FAIL  slack" in done.out
    assert f"GLOSSATOR_{name}" in done.out
    assert done.code == 78


async def test_a_missing_setting_is_told(glossator: CommandLine, server: SlackServer) -> None:
    done = await doctor(glossator, server, SLACK__APP_TOKEN="")
    assert "set GLOSSATOR_SLACK__APP_TOKEN" in done.out
    done = await doctor(glossator, server, SLACK__TRANSPORT="http")
    assert "set GLOSSATOR_SLACK__SIGNING_SECRET" in done.out
    done = await doctor(glossator, server, SLACK__CLIENT_ID="1.2")
    assert "set one of them" in done.out


async def test_an_outage_is_no_fault_of_the_token(
    glossator: CommandLine, server: SlackServer
) -> None:
    server.faults.api(ServerError(503), times=None)
    done = await doctor(glossator, server)
    assert "Slack cannot be reached" in done.out
    assert done.code == 69


async def test_without_a_token_nothing_is_said_of_slack(glossator: CommandLine) -> None:
    assert "slack" not in (await asyncio.to_thread(glossator.run, "doctor")).out


async def test_live_it_has_slack_judge_all_that_the_bot_can_show(
    glossator: CommandLine, server: SlackServer
) -> None:
    done = await doctor(glossator, server, "--live")
    assert "ok    slack     takes all that the bot can show: " in done.out
    asked = server.world.history.of("blocks.validate")
    assert len(asked) == len([*specimens()])
    assert not server.world.messages
    shown = {kind for one in asked for kind in _types_in(_payload(one.arguments))}
    assert shown >= {
        *("actions", "button", "context", "context_actions", "feedback_buttons", "header", "home"),
        *("icon_button", "input", "markdown", "modal", "overflow", "plain_text_input"),
        *("radio_buttons", "rich_text", "section", "static_select", "table"),
    }


async def test_live_it_names_what_slack_refuses_and_where(
    glossator: CommandLine, server: SlackServer
) -> None:
    server.world.limits.markdown = 10
    done = await doctor(glossator, server, "--live")
    assert "FAIL  slack     Slack refuses an answer: /blocks markdown text must be less" in done.out
    assert done.code == 78


async def test_live_a_slack_that_does_not_judge_is_told(
    glossator: CommandLine, server: SlackServer
) -> None:
    server.faults.api(Refused("unknown_method"), "blocks.validate", times=None)
    done = await doctor(glossator, server, "--live")
    assert "Slack does not judge what the bot shows" in done.out


def _payload(arguments: dict[str, Any]) -> Any:
    (payload,) = (arguments[name] for name in ("blocks", "view") if name in arguments)
    return json.loads(payload) if isinstance(payload, str) else payload


def _types_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _types_in(one)
    elif isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield value["type"]
        for one in value.values():
            yield from _types_in(one)
