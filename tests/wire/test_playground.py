"""The playground's server: what it serves, to whom, and what it refuses to do."""

import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import aiohttp
import psutil
import pytest

from bot.settings import Settings
from tests.command_line import ROOT
from tests.wire.discord.entities import User
from tests.wire.playground.bot_process import environment
from tests.wire.playground.examples import NEWS, PASSAGE, READING
from tests.wire.playground.running import Playground
from tests.wire.playground.site import PAGE

pytestmark = pytest.mark.costly

_NOBODY = "1"
_FILES = {
    "slash": [{"name": "../a.txt", "content": ""}],
    "twice": [{"name": "a.txt", "content": ""}] * 2,
    "broken": [{"name": "a.txt", "content": "!"}],
}
_DEVELOPMENT = ("hypothesis", "jsonschema", "psutil", "pytest")


@pytest.fixture
async def playground(tmp_path: Path) -> AsyncIterator[Playground]:
    """The playground without a bot."""
    async with Playground(data_dir=tmp_path, with_bot=False) as running:
        yield running


@pytest.fixture
async def browser(playground: Playground) -> AsyncIterator[aiohttp.ClientSession]:
    """A client that knows the playground's address."""
    async with aiohttp.ClientSession(playground.url) as session:
        yield session


async def _do(browser: aiohttp.ClientSession, action: str, body: Any) -> tuple[int, Any]:
    async with browser.post(f"/discord/do/{action}", json=body) as response:
        return response.status, await response.json()


def _with_files(body: str) -> str:
    """Return a body with lists of files that cannot be sent in the places of their names."""
    for name, files in _FILES.items():
        body = body.replace(json.dumps(f"{{{name}}}"), json.dumps(files))
    return body


def _id(user: User) -> str:
    return str(user.id)


async def test_the_page_comes_with_a_policy_that_forbids_inline_and_foreign_code(
    browser: aiohttp.ClientSession,
) -> None:
    async with browser.get("/") as response:
        page = await response.text()
        policy = response.headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*src=)|<style| style=| on\w+=", page)
    assert not re.search(r"(src|href)=\"(?:\w+:|//)", page)


async def test_every_file_that_the_page_needs_is_served_and_none_builds_html_from_text(
    browser: aiohttp.ClientSession,
) -> None:
    wanted, seen = ["/"], set()
    while wanted:
        path = wanted.pop()
        seen.add(path)
        async with browser.get(path) as response:
            assert response.status == 200, path
            text = await response.text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
        found = re.findall(r'(?:src|href|from|import)[= ]"([^"#]+)"', text)
        targets = {urljoin(path, name) for name in found}
        wanted += targets - seen

    files = (path.relative_to(PAGE) for path in PAGE.rglob("*") if path.is_file())
    assert seen == {f"/{file.as_posix().removesuffix('index.html')}" for file in files}


@pytest.mark.parametrize("path", ["/missing.js", "/../site.py", "/%2e%2e/site.py", "//etc/passwd"])
async def test_nothing_but_the_pages_own_files_is_served(
    browser: aiohttp.ClientSession, playground: Playground, path: str
) -> None:
    async with browser.get(playground.url.rstrip("/") + path) as response:
        assert response.status == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "", "[::2]"]
)
async def test_a_foreign_name_that_points_at_this_machine_is_refused(
    browser: aiohttp.ClientSession, host: str
) -> None:
    async with browser.get("/", headers={"Host": host}) as response:
        assert response.status == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
async def test_another_site_cannot_act(browser: aiohttp.ClientSession, origin: str) -> None:
    async with browser.post("/discord/do/say", json={}, headers={"Origin": origin}) as response:
        assert response.status == 403


async def test_a_form_of_another_kind_than_json_is_refused(browser: aiohttp.ClientSession) -> None:
    for body in (aiohttp.FormData({"user": "1"}), b"{}"):
        async with browser.post("/discord/do/say", data=body) as response:
            assert response.status == 400


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("fly", {}),
        ("say", []),
        ("say", None),
        ("say", {}),
        ("say", {"channel": "{channel}", "content": "no user"}),
        ("say", {"user": _NOBODY, "channel": "{channel}", "content": "x"}),
        ("say", {"user": "{bot}", "channel": "{channel}", "content": "as the bot"}),
        ("say", {"user": "{me}", "channel": _NOBODY, "content": "x"}),
        ("say", {"user": "{me}", "channel": "{other_direct}", "content": "x"}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": "x", "more": 1}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": ""}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": "x" * 2_001}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": 7}),
        ("say", {"user": "{me}", "channel": "9" * 400, "content": "x"}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": "x", "reply_to": "0"}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": "x", "files": "{slash}"}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": "x", "files": "{twice}"}),
        ("say", {"user": "{me}", "channel": "{channel}", "content": "x", "files": "{broken}"}),
        ("forward", {"user": "{me}", "message": "{passage}", "channel": "{other_direct}"}),
        ("forward", {"user": "{me}", "message": _NOBODY, "channel": "{channel}"}),
        ("react", {"user": "{me}", "message": _NOBODY, "emoji": "x"}),
        ("edit", {"user": "{me}", "message": "{passage}", "content": "changed"}),
        ("delete", {"user": "{me}", "message": "{passage}"}),
        ("click", {"user": "{me}", "message": "{passage}", "custom_id": "no-button"}),
        ("command", {"user": "{me}", "channel": "{channel}", "command": "ask"}),
        ("command", {"user": "{me}", "channel": "{channel}", "command": " "}),
        ("menu", {"user": "{me}", "message": "{passage}", "command": "Explain"}),
        ("submit", {"user": "{me}", "interaction": "5", "fields": {}}),
        ("bot", {"do": "explode"}),
    ],
)
async def test_bad_input_is_refused_with_a_sentence(
    browser: aiohttp.ClientSession, playground: Playground, action: str, body: Any
) -> None:
    stage, world = playground.discord.stage, playground.discord.world
    known = {
        "{me}": _id(stage.student),
        "{bot}": _id(world.bot),
        "{channel}": str(world.channel.id),
        "{other_direct}": str(world.direct_channel(stage.staff, world.bot).id),
        "{passage}": stage.examples()["passage"],
    }
    text = _with_files(json.dumps(body))
    for name, value in known.items():
        text = text.replace(name, value)
    before = len(world.messages)

    status, answer = await _do(browser, action, json.loads(text))

    assert status == 400
    assert answer["error"].strip()
    assert len(world.messages) == before


async def test_what_one_person_does_is_seen_live_by_the_other(
    browser: aiohttp.ClientSession, playground: Playground
) -> None:
    stage, world = playground.discord.stage, playground.discord.world
    async with browser.get("/discord/live", params={"user": _id(stage.staff)}) as live:
        name, everything = await _next_event(live)
        assert name == "all"
        assert [message["content"] for message in everything["messages"]] == [PASSAGE, NEWS]
        assert everything["bot"]["state"] == "stopped"

        say = {"user": _id(stage.student), "channel": str(world.channel.id), "content": "Hello"}
        _, said = await _do(browser, "say", say)
        assert (await _next_event(live))[1]["content"] == "Hello"

        edit = {"user": _id(stage.student), "message": said["id"], "content": "Hello all"}
        await _do(browser, "edit", edit)
        assert (await _next_event(live))[1]["content"] == "Hello all"

        delete = {"user": _id(stage.staff), "message": said["id"]}
        assert (await _do(browser, "delete", delete))[0] == 200
        assert await _next_event(live) == ("gone", {"id": said["id"]})


async def test_the_direct_messages_of_one_person_are_not_sent_to_the_other(
    browser: aiohttp.ClientSession, playground: Playground
) -> None:
    stage, world = playground.discord.stage, playground.discord.world
    async with browser.get("/discord/live", params={"user": _id(stage.staff)}) as live:
        await _next_event(live)
        await world.say(stage.student, world.direct_channel(stage.student, world.bot), "secret")
        await world.say(stage.student, world.channel, "public")

        assert (await _next_event(live))[1]["content"] == "public"


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("fly", {}),
        ("say", {"user": "{me}", "channel": "{channel}", "text": ""}),
        ("say", {"user": "{me}", "channel": "{channel}", "text": "x" * 12_001}),
        ("say", {"user": "{me}", "channel": "{other_direct}", "text": "x"}),
        ("say", {"user": "{bot}", "channel": "{channel}", "text": "as the bot"}),
        ("say", {"user": "{me}", "channel": "{channel}", "text": "x", "thread": "1.000000"}),
        ("edit", {"user": "{me}", "message": "{passage}", "text": "changed"}),
        ("delete", {"user": "{me}", "message": "{passage}"}),
        ("command", {"user": "{me}", "channel": "{channel}", "command": "/dance"}),
        ("shortcut", {"user": "{me}", "message": "{passage}", "callback": "dance"}),
        ("click", {"user": "{me}", "message": "{passage}", "action": "gl:e"}),
        ("press", {"user": "{me}", "view": "V1", "action": "gl:e"}),
        ("submit", {"user": "{me}", "view": "V1", "fields": {}}),
        ("close", {"user": "{me}", "view": "V1"}),
        ("say", {"user": "{me}", "channel": "{channel}", "text": "x", "files": "{slash}"}),
        ("say", {"user": "{me}", "channel": "{channel}", "text": "x", "files": "{twice}"}),
        ("forward", {"user": "{me}", "message": "{passage}", "channel": "{other_direct}"}),
        ("forward", {"user": "{me}", "message": "1.000000", "channel": "{channel}"}),
        ("react", {"user": "{me}", "message": "{passage}", "emoji": "no such one"}),
        ("react", {"user": "{me}", "message": "1.000000", "emoji": "heart"}),
        ("messages", {"user": "{me}", "channel": "{other_direct}"}),
        ("stop", {"user": "{me}", "channel": "{channel}", "thread": "{passage}"}),
    ],
)
async def test_what_slack_cannot_do_is_refused_with_a_sentence(
    browser: aiohttp.ClientSession, playground: Playground, action: str, body: Any
) -> None:
    stage, world = playground.slack.stage, playground.slack.world
    known = {
        "{me}": stage.student.id,
        "{bot}": world.bot.id,
        "{channel}": world.channel.id,
        "{other_direct}": world.dm(stage.staff).id,
        "{passage}": stage.examples()["passage"],
    }
    text = _with_files(json.dumps(body))
    for name, value in known.items():
        text = text.replace(name, value)
    before = len(world.messages)

    async with browser.post(f"/slack/do/{action}", json=json.loads(text)) as response:
        answer = await response.json()
        assert response.status == 400

    assert answer["error"].strip()
    assert len(world.messages) == before


async def test_slack_is_seen_live_by_those_who_may_see_it(
    browser: aiohttp.ClientSession, playground: Playground
) -> None:
    stage, world = playground.slack.stage, playground.slack.world
    async with browser.get("/slack/live", params={"user": stage.staff.id}) as live:
        name, everything = await _next_event(live)
        assert name == "all"
        assert [message["text"] for message in everything["messages"]] == [PASSAGE, ""]

        await world.say(stage.student, world.dm(stage.student), "secret")
        say = {"user": stage.student.id, "channel": world.channel.id, "text": "public"}
        async with browser.post("/slack/do/say", json=say) as response:
            said = await response.json()
        assert (await _next_event(live))[1]["text"] == "public"

        delete = {"user": stage.staff.id, "message": said["id"]}
        async with browser.post("/slack/do/delete", json=delete) as response:
            assert response.status == 200
        assert await _next_event(live) == ("gone", {"id": said["id"], "root": None})


async def test_nobody_hears_anything_without_being_somebody(browser: aiohttp.ClientSession) -> None:
    for user in ("", _NOBODY, "x"):
        async with browser.get("/discord/live", params={"user": user}) as response:
            assert response.status == 400


def test_the_bot_is_told_no_setting_of_the_operators_unless_asked(tmp_path: Path) -> None:
    playground = Playground(data_dir=tmp_path, with_bot=False)
    servers = playground.discord.server, playground.slack.server
    mine = {
        "GLOSSATOR_DATABASE__URL": "postgresql://production",
        "GLOSSATOR_DISCORD__TOKEN": "real",
        "GLOSSATOR_SLACK__BOT_TOKEN": "real",
        "GLOSSATOR_SLACK__TRANSPORT": "http",
        "GEMINI_API_KEY": "paid for",
        "PATH": "/bin",
    }

    (tmp_path / "glossator.toml").touch()
    settings = Settings(_env_file=None, config=tmp_path / "glossator.toml")
    alone = environment(*servers, data_dir=tmp_path, variables=mine)
    own = environment(*servers, data_dir=tmp_path, own=settings, variables=mine)

    assert alone["PATH"] == "/bin"
    assert {name for name in alone if name.startswith("GLOSSATOR_")} == {
        "GLOSSATOR_DATA_DIR",
        "GLOSSATOR_DISCORD__TOKEN",
        "GLOSSATOR_DISCORD__API_URL",
        "GLOSSATOR_SLACK__BOT_TOKEN",
        "GLOSSATOR_SLACK__APP_TOKEN",
        "GLOSSATOR_SLACK__TRANSPORT",
        "GLOSSATOR_SLACK__API_URL",
    }
    assert "GEMINI_API_KEY" not in alone
    assert own["GEMINI_API_KEY"] == "paid for"
    assert own["GLOSSATOR_CONFIG"] == str(tmp_path / "glossator.toml")
    assert "GLOSSATOR_DATABASE__URL" not in own, "a copy of the courses is worked on"
    for told in (alone, own):
        assert told["GLOSSATOR_DATA_DIR"] == str(tmp_path)
        assert told["GLOSSATOR_DISCORD__TOKEN"] == playground.discord.world.application.token
        assert told["GLOSSATOR_SLACK__BOT_TOKEN"] == playground.slack.world.installation.token
        assert told["GLOSSATOR_SLACK__TRANSPORT"] == "socket"


@pytest.mark.parametrize("passage", [PASSAGE, READING])
def test_the_passages_to_explain_stand_in_the_handbook(passage: str) -> None:
    pages = [page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")]
    assert any(passage in " ".join(page.split()) for page in pages)


async def test_the_playground_needs_no_package_for_development() -> None:
    hidden = "".join(f"sys.modules[{name!r}] = None; " for name in _DEVELOPMENT)
    code = f"import sys; {hidden}import tests.wire.playground.__main__"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=ROOT)

    assert await process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent there")
async def test_ctrl_c_stops_the_page_and_the_bot(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.wire.playground", "--data-dir", str(tmp_path)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    async with asyncio.timeout(30):
        while b"http://127.0.0.1:" not in await process.stdout.readline():
            pass
        bots = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        code = await process.wait()

    assert len(bots) == 1
    assert not any(bot.is_running() for bot in bots)
    assert code == 0


async def _next_event(live: aiohttp.ClientResponse) -> tuple[str, Any]:
    async with asyncio.timeout(5):
        name = (await live.content.readline()).decode().removeprefix("event: ").strip()
        data = (await live.content.readline()).decode().removeprefix("data: ")
        await live.content.readline()
    return name, json.loads(data)
