"""What `glossator doctor` checks of Discord: the token, the intent, and how to invite the bot."""

from collections.abc import AsyncIterator

from bot.doctor.findings import Finding, failed, misconfigured, warning
from bot.platforms.discord import DiscordSettings
from core.errors import BotError, DeliveryError, ServiceError

_REVIEWED = (
    "Discord has approved the Message Content intent: renew that every year in the developer "
    "portal, before the day that it names there"
)
_NOT_REVIEWED = (
    "from 10,000 users on, Discord reviews who has the Message Content intent, and anew every year"
)
UNREACHABLE = "Discord cannot be reached; try again later."


async def check_discord(settings: DiscordSettings) -> AsyncIterator[Finding]:
    """Check the bot's account, when there is a token; nothing is said without one."""
    if settings.token is None:
        return
    from adapters.discord.account import account

    try:
        found = await account(settings.token.get_secret_value(), settings.api_url)
    except DeliveryError:
        yield failed("discord", ServiceError(user_message=UNREACHABLE))
        return
    except BotError as error:
        yield failed("discord", error)
        return
    if settings.message_content and not found.may_read_messages:
        yield misconfigured(
            "discord",
            "The Message Content intent is off: switch it on in the developer portal, page Bot, "
            "or set GLOSSATOR_DISCORD__MESSAGE_CONTENT=false.",
        )
    else:
        reads = "reads messages" if settings.message_content else "reads mentions and commands only"
        yield Finding("discord", f"{found.name} {reads}")
    if settings.message_content and found.may_read_messages:
        yield Finding("discord", _REVIEWED if found.is_reviewed else _NOT_REVIEWED)
    if found.clock_warning is not None:
        yield warning("discord", found.clock_warning)
    for server, missing in found.lacking.items():
        yield warning("discord", f"on the server {server!r} the bot's role lacks {missing}")
    yield Finding("discord", f"invite it with {found.invite_url}")
