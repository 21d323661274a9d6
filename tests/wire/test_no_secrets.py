"""What people write is in no log; a secret of the environment is nowhere at all.

The bot runs with canaries for secrets, tells all that it and its libraries have to tell, and
meets services that fail or refuse it, so that there are exceptions to tell of, too.
"""

import base64
import math
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from adapters.slack.oauth import EVENTS, SCOPES
from tests.books import COVERED, COVERED_FACT
from tests.command_line import CommandLine
from tests.wire import discord_bot, slack_bot
from tests.wire.bot_process import copied
from tests.wire.discord import DiscordServer
from tests.wire.discord import Limits as DiscordLimits
from tests.wire.discord import ServerError as DiscordError
from tests.wire.gemini_failures import ErrorStatus
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import honest
from tests.wire.slack import Limits as SlackLimits
from tests.wire.slack import ServerError, SlackServer

pytestmark = [
    pytest.mark.costly,
    pytest.mark.xdist_group("no_secrets"),
]

WRITTEN = "the zebra of Wednesday hums"
"""Stands in questions, and in no book."""
DISCORD_TOKEN = "MTE3NzY2NTU0NDMz.GcAnAr.zQxCanaryDiscord_7f3a9b2c4d5e6f"
GEMINI_KEY = "AIzaSyCanary-Gemini_9Qw8Er7Ty6Ui5Op4As3Df2"
QDRANT_KEY = "canary-qdrant-5d41402abc4b2a76b9719d911017c592"
PASSWORD = "canary-p@ss/w0rd+postgres"
ENCRYPTION_KEY = "canary-encryption-0123456789abcdef0123456789abcdef"
PSEUDONYM_KEY = "canary-pseudonym-fedcba9876543210fedcba9876543210"


async def test_no_text_of_a_message_is_logged(one_course: Path, tmp_path: Path) -> None:
    async with slack_bot.a_trial(one_course, tmp_path, transport="http") as trial:
        ann = trial.user()
        channel = trial.channel(ann)
        answer = await trial.ask(ann, channel, f"{COVERED} For {WRITTEN}.")
        assert COVERED_FACT in answer.shown
        trial.server.faults.api(ServerError(500), "chat.postMessage", times=2)
        await trial.ask(ann, channel, f"Tell me: {COVERED} Because {WRITTEN}.")
        log = trial.bot.log
    assert "turn " in log
    assert WRITTEN not in log
    assert COVERED[:30] not in log
    assert COVERED_FACT not in log


def forms(secret: str) -> Iterator[bytes]:
    """Yield a secret as it is, percent-encoded, in hexadecimal, and inside any Base64."""
    yield secret.encode()
    yield quote(secret, safe="").encode()
    yield secret.encode().hex().encode()
    for offset in range(3):
        whole = base64.b64encode(b"x" * offset + secret.encode()).rstrip(b"=")
        inner = whole[4 if offset else 0 : -1]  # what stands in front and behind colours the ends
        yield inner
        yield inner.replace(b"+", b"-").replace(b"/", b"_")


def leaks(secrets: Iterable[str], places: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return where one of these secrets stands, in whatever form."""
    wanted = [(secret, form) for secret in secrets for form in forms(secret)]
    return [f"{secret} in {name}" for name, data in places for secret, f in wanted if f in data]


def files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all that lies on disk, the model aside."""
    for path in folder.rglob("*"):
        if path.is_file() and "models" not in path.parts:
            yield str(path), path.read_bytes()


@pytest.mark.parametrize("secret", [DISCORD_TOKEN, PASSWORD])
def test_the_search_finds_each_form(secret: str) -> None:
    shown = (
        secret.encode(),
        quote(secret, safe="").encode(),
        secret.encode().hex().encode(),
        base64.b64encode(f"a{secret}b".encode()),
        base64.urlsafe_b64encode(f"Bearer {secret} ".encode()),
        base64.b64encode(f"no:{secret}".encode()),
    )
    assert len(leaks([secret], [(str(n), data) for n, data in enumerate(shown)])) >= len(shown)


async def test_no_secret_of_the_environment_is_told_anywhere(
    one_course: Path, tmp_path: Path
) -> None:
    async with (
        GeminiServer(api_key=GEMINI_KEY) as gemini,
        DiscordServer(DiscordLimits.relaxed()) as discord,
    ):
        gemini.answer_with(honest)
        discord.world.application.token = DISCORD_TOKEN
        settings = {
            "LOG_LEVEL": "DEBUG",
            "DISCORD__TOKEN": DISCORD_TOKEN,
            "DISCORD__API_URL": discord.api_url,
            "MODELS__GEMINI__API_KEY": GEMINI_KEY,
            "MODELS__GEMINI__BASE_URL": gemini.url,
            "QDRANT__API_KEY": QDRANT_KEY,
            "ENCRYPTION_KEY": ENCRYPTION_KEY,
            "PSEUDONYM_KEY": PSEUDONYM_KEY,
        }
        copied(one_course, tmp_path)
        async with SlackServer(SlackLimits.relaxed()) as server:
            app = server.world.app
            app.commands, app.events, app.scopes = (
                slack_bot.COMMANDS,
                EVENTS,
                SCOPES,
            )
            server.world.installation.scopes = SCOPES
            bot = slack_bot.BotProcess(tmp_path, server, settings)
            slack, there = slack_bot.Trial(server, bot), discord_bot.Trial(discord, bot)
            secrets = {
                *(DISCORD_TOKEN, GEMINI_KEY, QDRANT_KEY, ENCRYPTION_KEY, PSEUDONYM_KEY),
                *(app.app_token, app.signing_secret, server.world.installation.token),
            }
            try:
                await bot.start()
                await bot.says("connected to Discord as")
                await _trouble(slack, there, gemini)
                assert await bot.stop() == 0
            finally:
                if bot.is_running:
                    await bot.kill()
            said = [message.shown for message in server.world.messages]
            said += [message.text for message in discord.world.messages.values()]
        told = [("a prompt", str(call.body).encode()) for call in gemini.requests]
        told += [("a message", "\n".join(said).encode())]
    assert "WARNING" in bot.log
    places = [*files_below(tmp_path), *told]
    assert not leaks(secrets, places)
    print(
        f"canaries: 0 of {len(secrets)} secrets in {len(bot.log):,} characters of log at DEBUG, "
        f"{len(told) - 1} prompts, {len(said)} messages and {len(places) - len(told)} files"
    )


async def _trouble(
    slack: slack_bot.Trial, discord: discord_bot.Trial, gemini: GeminiServer
) -> None:
    """Ask on both platforms while all that can fail does."""
    ann, ben = slack.user(), discord.user()
    channel, room = slack.channel(ann), discord.channel()
    await slack.ask(ann, channel, COVERED)
    await discord.ask(ben, room, COVERED)
    slack.server.faults.api(ServerError(500), "chat.postMessage", times=2)
    discord.server.faults.rest(DiscordError(500), "POST /channels", times=2)
    gemini.fail(ErrorStatus("internal", 500, "INTERNAL"), times=3)
    await slack.ask(ann, channel, f"Again: {COVERED}")
    await discord.ask(ben, room, f"Again: {COVERED}")
    gemini.fail(ErrorStatus("denied", 403, "PERMISSION_DENIED"), times=math.inf)
    await slack.ask(ann, channel, f"Once more: {COVERED}")
    await slack.result_of(await slack.world.slash(ann, channel, "/ask", f"private {COVERED}"))


def test_no_password_is_told_by_a_command_that_fails(tmp_path: Path) -> None:
    url = f"postgresql://bot:{quote(PASSWORD, safe='')}@127.0.0.1:1/glossator"
    line = CommandLine(tmp_path).setting(
        DATABASE__URL=url,
        LOG_LEVEL="DEBUG",
        MODELS__GEMINI__API_KEY=f"{GEMINI_KEY}\u2028",
        QDRANT__URL="http://127.0.0.1:1",
        QDRANT__API_KEY=QDRANT_KEY,
        DISCORD__TOKEN=DISCORD_TOKEN,
        DISCORD__API_URL="http://127.0.0.1:1",
    )
    secrets = (PASSWORD, GEMINI_KEY, QDRANT_KEY, DISCORD_TOKEN)
    for command in (["doctor"], ["sessions", "list"], ["ask", COVERED]):
        done = line.run(*command)
        assert done.code != 0
        told = [("stdout", done.out.encode()), ("stderr", done.err.encode())]
        assert not leaks(secrets, [*told, *files_below(tmp_path)]), command
    with pytest.raises(subprocess.TimeoutExpired) as caught:  # it waits for its database
        line.run("run", timeout=12)
    assert caught.value.stderr
    assert not leaks(secrets, [("stderr", caught.value.stderr), *files_below(tmp_path)])
