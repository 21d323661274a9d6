"""What `glossator doctor` checks of Slack: the tokens, and the scopes that are missing."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from bot.cli.doctor_models import Finding, failed, misconfigured, warning
from bot.keys import Sealer
from bot.platforms import DiscordSettings, SlackSettings
from bot.settings import Settings
from core.domain.errors import BotError, ConfigurationError, DeliveryError, ServiceError, StoreError
from core.storage.database import create_engine, dispose

if TYPE_CHECKING:
    from core.storage.installations import InstallationStore


_UNREACHABLE = "Slack cannot be reached; try again later."
_ADD_THEM = (
    "add what is missing on the app's page, OAuth & Permissions, or take over "
    "what 'glossator slack-manifest' prints, then install the app again."
)


async def check_slack(settings: SlackSettings) -> AsyncIterator[Finding]:
    """Check the app, when there is one; nothing is said without it."""
    if not settings.is_set_up:
        return
    try:
        settings.check()
    except ConfigurationError as error:
        yield failed("slack", error)
        return
    if settings.bot_token is not None:
        async for finding in _account(settings, settings.bot_token.get_secret_value()):
            yield finding
    else:
        yield Finding("slack", "workspaces install the app at /slack/install")
    if settings.transport == "socket" and settings.app_token is not None:
        yield await _socket(settings, settings.app_token.get_secret_value())
    else:
        yield Finding("slack", f"Slack's requests come to port {settings.port}, /slack/events")


async def check_blocks(settings: SlackSettings) -> AsyncIterator[Finding]:
    """Have Slack judge one of everything that the bot can show; nothing is shown to anybody."""
    if not settings.is_set_up:
        return
    if settings.bot_token is None:
        yield warning("slack", "What the bot shows is not checked: that takes a bot token.")
        return
    from adapters.slack.specimens import refused, specimens

    found = 0
    try:
        async for reason in refused(settings.bot_token.get_secret_value(), settings.api_url):
            found += 1
            yield misconfigured(
                "slack", f"Slack refuses {reason}. Take a newer version of Glossator, or report it."
            )
    except DeliveryError as error:
        yield failed("slack", ServiceError(f"Slack does not judge what the bot shows: {error}"))
        return
    if not found:
        yield Finding("slack", f"takes all that the bot can show: {len([*specimens()])} specimens")


async def check_installations(
    settings: Settings, sealing: Sequence[bytes]
) -> AsyncIterator[Finding]:
    """Check that the tokens of the workspaces that installed the app can be unsealed.

    Args:
        sealing: The keys there are, which are proved.
    """
    from adapters.slack.inbound import PLATFORM
    from core.storage.installations import InstallationStore

    if settings.group(SlackSettings).client_id is None:
        return
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        sealer = Sealer(sealing or [b""])
        store = InstallationStore(engine, PLATFORM, seal=sealer.seal, unseal=sealer.unseal)
        lost = [place for place in await store.places() if not await _is_readable(store, place)]
    except BotError as error:
        yield failed("slack", error)
        return
    finally:
        await dispose(engine)
    if lost:
        yield misconfigured(
            "slack",
            f"The tokens of {', '.join(sorted(lost))} were sealed with another key: restore "
            "encryption.key of the data folder, or the former GLOSSATOR_ENCRYPTION_KEY, or let "
            "these workspaces install the app again.",
        )


async def _is_readable(store: "InstallationStore", place: str) -> bool:
    try:
        await store.find(place)
    except StoreError:
        return False
    return True


async def _account(settings: SlackSettings, token: str) -> AsyncIterator[Finding]:
    from adapters.slack.oauth import account

    try:
        found = await account(token, settings.api_url)
    except DeliveryError:
        yield failed("slack", ServiceError(_UNREACHABLE))
        return
    except BotError as error:
        yield failed("slack", error)
        return
    if found.missing_scopes:
        missing = ", ".join(found.missing_scopes)
        yield misconfigured("slack", f"The bot token lacks the scopes {missing}: {_ADD_THEM}")
    elif not found.missing_besides:
        yield Finding("slack", f"{found.name} has all its scopes in {found.workspace}")
    if found.clock_warning is not None:
        yield warning("slack", found.clock_warning)
    if found.missing_besides:
        yield warning("slack", f"{_lacking(found.missing_besides)}. To have all of it, {_ADD_THEM}")


def _lacking(scopes: Sequence[str]) -> str:
    """Return which scopes were not granted, each with what is missing for it."""
    from adapters.slack.oauth import WITHOUT

    each = [f"without {scope} {WITHOUT[scope]}" for scope in scopes]
    return f"The bot token lacks scopes that the app asks for: {'; '.join(each)}"


async def _socket(settings: SlackSettings, app_token: str) -> Finding:
    from adapters.slack.client import SlackClient
    from adapters.slack.sockets import socket_address

    try:
        await socket_address(app_token, SlackClient(settings.api_url))
    except DeliveryError:
        return failed("slack", ServiceError(_UNREACHABLE))
    except BotError as error:
        return failed("slack", error)
    return Finding("slack", "the app token opens sockets")


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
