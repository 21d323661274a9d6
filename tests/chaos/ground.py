"""Where a run takes place: two platforms and a database, each behind a proxy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from adapters.slack.oauth import EVENTS, SCOPES
from tests.chaos.happenings.crowds import CHANNEL_PER_MINUTE, USER_PER_MINUTE
from tests.chaos.proxy import Proxy
from tests.postgres import PostgresServer
from tests.wire import discord, slack
from tests.wire.discord import Behind, Drop, Duplicate, ServerError
from tests.wire.slack_bot import COMMANDS

REPEATED, OVERTAKEN = 0.10, 0.05
"""How many deliveries come twice, and how many behind the next one."""
LIMITED, FAILED, APPLIED = 0.05, 0.03, 0.05
"""How many calls are answered 429, or 500; or are done, and then the connection is reset."""
_LATE = 2.0
_SLACK_TRIES_AGAIN = (0.5, 5.0, 20.0)
"""Seconds; Slack's own are 0, 60 and 300."""
LEASE = 4.0
_SESSION_KEPT = 600.0
"""Seconds for which Discord's sessions may be taken up: even a busy machine starts a bot sooner, so
that what is lost is lost by the bot."""


@dataclass(frozen=True)
class Ground:
    """Servers and the ways to them; `database` is None where it is a file."""

    discord: discord.DiscordServer
    slack: slack.SlackServer
    to_discord: Proxy
    to_slack: Proxy
    to_database: Proxy | None

    @property
    def proxies(self) -> dict[str, Proxy]:
        """The ways by what is at their end."""
        ways = {"discord": self.to_discord, "slack": self.to_slack, "database": self.to_database}
        return {name: proxy for name, proxy in ways.items() if proxy is not None}

    def settings(self, database: str, shards: int = 1) -> dict[str, str]:
        """Return the settings of a bot; `database` names the one at the end of the proxy."""
        app = self.slack.world.app
        found = {
            "DISCORD__TOKEN": self.discord.world.application.token,
            "DISCORD__API_URL": through(self.to_discord, self.discord.api_url),
            "DISCORD__SHARDS": str(shards),
            "SLACK__BOT_TOKEN": self.slack.world.installation.token,
            "SLACK__APP_TOKEN": app.app_token,
            "SLACK__SIGNING_SECRET": app.signing_secret,
            "SLACK__API_URL": through(self.to_slack, self.slack.api_url),
            "PSEUDONYM_KEY": "chaos",
            "ENCRYPTION_KEY": "chaos, too",
            "INBOX__LEASE": str(LEASE),
            "INBOX__USER_PER_MINUTE": str(USER_PER_MINUTE),
            "INBOX__USER_WAIT_MINUTES": "0",  # so that limits stop questions, too
            "INBOX__CHANNEL_PER_MINUTE": str(CHANNEL_PER_MINUTE),
            "INBOX__USER_IN_FLIGHT": "8",
            "INBOX__CHANNEL_IN_FLIGHT": "16",
        }
        if self.to_database is not None:
            found["DATABASE__URL"] = (
                f"postgresql://bot@127.0.0.1:{self.to_database.port}/{database}"
            )
        return found

    def spoil(self, seed: int) -> None:
        """Let deliveries and calls go wrong at the rates above, by a seeded chance."""
        there, here = self.discord.faults, self.slack.faults
        there.seed(seed)
        here.seed(seed + 1)
        limited, many = discord.RateLimited(), slack.RateLimited()
        there.rest(limited, times=None, probability=LIMITED)
        here.api(many, times=None, probability=LIMITED)
        for fault, chance in ((ServerError(500), FAILED), (Drop(applied=True), APPLIED)):
            there.rest(fault, times=None, probability=chance)
            here.api(fault, times=None, probability=chance)
        said = "MESSAGE_CREATE"
        there.gateway(Duplicate(), said, times=None, probability=REPEATED)
        there.gateway(Behind(said, _LATE), said, times=None, probability=OVERTAKEN)
        for name in ("message", "app_mention"):
            here.delivery(Duplicate(), name, times=None, probability=REPEATED / 2)
            here.delivery(slack.Echo(), name, times=None, probability=REPEATED / 2)
            here.delivery(Behind(name, _LATE), name, times=None, probability=OVERTAKEN)

    def heal(self) -> None:
        """Let everything be well from now on."""
        self.discord.faults.heal()
        self.slack.faults.heal()
        for proxy in self.proxies.values():
            proxy.heal()


@asynccontextmanager
async def a_ground(postgres: PostgresServer | None, seed: int) -> AsyncIterator[Ground]:
    """Open two platforms and the ways to them, and to a database server if there is one."""
    wide, many = discord.Limits.relaxed(), slack.Limits.relaxed()
    wide.resume_window = _SESSION_KEPT
    many.retry_delays = _SLACK_TRIES_AGAIN
    async with (
        discord.DiscordServer(wide) as discord_server,
        slack.SlackServer(many) as slack_server,
        Proxy(_port(discord_server.api_url), seed) as to_discord,
        Proxy(_port(slack_server.api_url), seed) as to_slack,
    ):
        gateway, sockets = discord_server.gateway, slack_server.sockets
        gateway.url = through(to_discord, gateway.url)
        slack_app = slack_server.world.app
        slack_app.commands, slack_app.events, slack_app.scopes = COMMANDS, EVENTS, SCOPES
        slack_server.world.installation.scopes = SCOPES
        sockets.url = through(to_slack, sockets.url)
        if postgres is None:
            yield Ground(discord_server, slack_server, to_discord, to_slack, None)
            return
        async with Proxy(postgres.port, seed) as to_database:
            yield Ground(discord_server, slack_server, to_discord, to_slack, to_database)


def through(proxy: Proxy, url: str) -> str:
    """Return an address by way of a proxy."""
    return url.replace(f":{_port(url)}/", f":{proxy.port}/", 1)


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port
