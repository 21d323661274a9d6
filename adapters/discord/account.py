"""What Discord says of the bot's account, for `glossator doctor`."""

from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
import discord

from adapters.discord.gateway.client import point_at
from adapters.discord.permissions import PERMISSIONS, lacking
from adapters.intake.platform_clock import PlatformClock
from core.errors import ConfigurationError, DeliveryError

SCOPES = ("bot", "applications.commands")
_MOST_SERVERS = 200
"""As many as Discord lists at once."""


@dataclass(frozen=True, slots=True)
class Account:
    """A bot account as Discord knows it."""

    application_id: int
    name: str
    may_read_messages: bool
    """Whether the privileged intent for the content of messages is switched on."""
    is_reviewed: bool
    """Whether Discord has reviewed it for that intent, as it does from 10,000 users on."""
    is_public: bool
    """Whether everybody may invite it."""
    lacking: Mapping[str, str]
    """Which permissions it lacks, in words, by the name of the server."""
    clock_warning: str | None = None
    """What is wrong with this machine's clock."""

    @property
    def invite_url(self) -> str:
        """The URL by which it is invited to a server."""
        return discord.utils.oauth_url(self.application_id, permissions=PERMISSIONS, scopes=SCOPES)


async def account(token: str, api_url: str | None) -> Account:
    """Return what Discord says of the token's account.

    Raises:
        ConfigurationError: when Discord refuses the token.
        DeliveryError: when Discord cannot be reached.
    """
    if api_url is not None:
        point_at(api_url)
    clock = PlatformClock("Discord")
    watch = _watching(clock)
    async with discord.Client(intents=discord.Intents.none(), http_trace=watch) as client:
        try:
            await client.login(token)
            info = await client.application_info()
            guilds = await client.http.get_guilds(_MOST_SERVERS, with_counts=False)
        except discord.LoginFailure as error:
            raise ConfigurationError("Discord refuses GLOSSATOR_DISCORD__TOKEN.") from error
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise DeliveryError(f"Discord cannot be reached: {error}") from error
    flags = info.flags
    reads = flags.gateway_message_content or flags.gateway_message_content_limited
    missing = {
        str(guild["name"]): lacking(discord.Permissions(int(guild["permissions"])))
        for guild in guilds
    }
    return Account(
        info.id,
        info.name,
        reads,
        flags.gateway_message_content,
        info.bot_public,
        {n: said for n, said in missing.items() if said},
        clock.warning,
    )


def _watching(clock: PlatformClock) -> aiohttp.TraceConfig:
    """Return what has a clock learn from every answer."""

    async def note(_: object, __: object, ended: aiohttp.TraceRequestEndParams) -> None:
        clock.note(ended.response.headers.get("Date"))

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(note)
    return trace
