"""What Discord says of the bot's account, for `glossator doctor`."""

from dataclasses import dataclass

import aiohttp
import discord

from adapters.discord.client import point_at
from core.errors import ConfigurationError, DeliveryError

PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    attach_files=True,
    embed_links=True,
    read_message_history=True,
)
"""What the bot asks a server for."""
SCOPES = ("bot", "applications.commands")


@dataclass(frozen=True, slots=True)
class Account:
    """A bot account as Discord knows it."""

    application_id: int
    name: str
    may_read_messages: bool
    """Whether the privileged intent for the content of messages is switched on."""
    is_public: bool
    """Whether everybody may invite it."""

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
    async with discord.Client(intents=discord.Intents.none()) as client:
        try:
            await client.login(token)
            info = await client.application_info()
        except discord.LoginFailure as error:
            raise ConfigurationError("Discord refuses GLOSSATOR_DISCORD__TOKEN.") from error
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise DeliveryError(f"Discord cannot be reached: {error}") from error
    flags = info.flags
    reads = flags.gateway_message_content or flags.gateway_message_content_limited
    return Account(info.id, info.name, reads, info.bot_public)
