"""A folder as an operator has it: settings, course file, books and data, and who is asked."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.books import write_files
from tests.command_line import CommandLine
from tests.upgrade.courses import BOOKS
from tests.upgrade.worlds import Worlds, named
from tests.wire import bot_process, slack_bot
from tests.wire.discord import DiscordServer
from tests.wire.slack import SlackServer
from tests.wire.slack_bot import BY_HTTP, BY_SOCKET

_SETTING = re.compile(r"^# (GLOSSATOR_\w+)=(.*)$", re.MULTILINE)
_COURSES = """\
[courses.arden]
title = "The Arden lighthouse"
sources = ["books/arden"]
base_url = "https://arden.example.org/book/"
language = "en"
embedding = "local"

[courses.arden.answers]
model = "extractive"
temperature = 0.5
max_tokens = 2048
context_window = 32000
system_prompt = "You are a patient tutor."
score_threshold = 0.5
answered_from = 0.5
partial_from = 0.0
top_k = 5
max_turns = 10
answer_length = "normal"
retrieval_enabled = true

[courses.mill]
title = "The tide mill"
sources = ["books/mill"]

[discord.channels."{mill_questions}"]
course = "mill"
follow_ups = "until-people-talk"
askers = "everyone"
answer_length = "normal"
private = false
auto_answer = false
outsiders = false

[discord.channels."{office}"]
excluded = true

[discord.channels."{direct}"]
course = "arden"

[slack.channels."{slack_mill_questions}"]
course = "mill"

[slack.channels."{slack_office}"]
excluded = true

[slack.channels."{second_workspace}"]
course = "mill"
"""


class Bot(slack_bot.BotProcess):
    """The bot of an installation, which reads its tokens from `.env` itself."""

    def __init__(self, shell: CommandLine, discord: DiscordServer, slack: SlackServer) -> None:
        """Prepare a process that meets the local platforms instead of the real ones."""
        bot_process.BotProcess.__init__(self, shell.folder, {}, BY_SOCKET)
        self.shell = meeting(shell, discord, slack)

    async def start(self) -> None:
        """Start the process, and wait until it is connected to everything."""
        before = [self.log.count(ready) for ready in _CONNECTED]
        await self.launch()
        for ready, times in zip(_CONNECTED, before, strict=True):
            await self.says(ready, times + 1, within=_HANDBOOK_WITHIN)


_HANDBOOK_WITHIN = 600.0
"""Seconds for a start that ingests the handbook, however busy the machine is."""
_CONNECTED = (BY_SOCKET, BY_HTTP, "connected to Discord as")


def meeting(shell: CommandLine, discord: DiscordServer, slack: SlackServer) -> CommandLine:
    """Return the same shell, in which commands meet the local platforms."""
    return shell.setting(
        DISCORD__API_URL=discord.api_url, SLACK__API_URL=slack.api_url, SLACK__PORT="0"
    )


@dataclass(frozen=True)
class Written:
    """What the operator writes before the first command."""

    folder: Path
    example: str
    """The settings that the program has, as its `.env.example` lists them."""

    def files(self, worlds: Worlds) -> None:
        """Write the books, every setting and every key of the course file."""
        for course, pages in BOOKS.items():
            write_files(self.folder / "books" / course, pages)
        (self.folder / ".env").write_text(self._settings(worlds), encoding="utf-8")
        (self.folder / "glossator.toml").write_text(_course_file(worlds), encoding="utf-8")

    def _settings(self, worlds: Worlds) -> str:
        app = worlds.slack.app
        chosen = {
            "GLOSSATOR_DATA_DIR": "data",
            "GLOSSATOR_LOG_LEVEL": "INFO",
            "GLOSSATOR_GENERATOR": "extractive",
            "GLOSSATOR_BUDGET__USER_TOKENS": "100000",
            "GLOSSATOR_INGEST__ALLOWED_HOSTS": '["wiki.example.org"]',
            "GLOSSATOR_DISCORD__TOKEN": worlds.discord.application.token,
            "GLOSSATOR_SLACK__APP_TOKEN": app.app_token,
            "GLOSSATOR_SLACK__SIGNING_SECRET": app.signing_secret,
            "GLOSSATOR_SLACK__CLIENT_ID": app.client_id,
            "GLOSSATOR_SLACK__CLIENT_SECRET": app.client_secret,
            "GLOSSATOR_INBOX__USER_PER_MINUTE": "60",
            "GLOSSATOR_INBOX__USER_IN_FLIGHT": "1",
            # However old the installation is when it is upgraded, it is answered and kept.
            "GLOSSATOR_INBOX__STALE_AFTER": "3000000000",
            "GLOSSATOR_RETENTION__DAYS": "0",
        }
        names = dict(_SETTING.findall(self.example))
        assert set(chosen) <= set(names), "the program has no such setting"
        return "".join(f"{name}={value}\n" for name, value in {**names, **chosen}.items())


def _course_file(worlds: Worlds) -> str:
    discord, slack = worlds.discord, worlds.slack
    rooms, channels = discord.channels.values(), slack.channels.values()
    ann = named(discord.users.values(), "ann")
    return _COURSES.format(
        mill_questions=named(rooms, "mill-questions").id,
        office=named(rooms, "office").id,
        direct=discord.direct_channel(ann, discord.bot).id,
        slack_mill_questions=named(channels, "mill-questions").id,
        slack_office=named(channels, "office").id,
        second_workspace=named(slack.workspaces.values(), "Second").id,
    )
