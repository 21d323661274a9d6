"""What `glossator doctor` checks of Slack: the tokens, and the scopes that are missing."""

from collections.abc import AsyncIterator

from bot.cli.findings import Finding, failed, misconfigured
from bot.settings import SlackSettings
from core.errors import BotError, ConfigurationError, DeliveryError, ServiceError

_UNREACHABLE = "Slack cannot be reached; try again later."


async def check_slack(settings: SlackSettings) -> AsyncIterator[Finding]:
    """Check the app, when there is one; nothing is said without it."""
    from bot.slack import check, is_set_up

    if not is_set_up(settings):
        return
    try:
        check(settings)
    except ConfigurationError as error:
        yield failed("slack", error)
        return
    if settings.bot_token is not None:
        yield await _account(settings, settings.bot_token.get_secret_value())
    else:
        yield Finding("slack", "workspaces install the app at /slack/install")
    if settings.transport == "socket" and settings.app_token is not None:
        yield await _socket(settings, settings.app_token.get_secret_value())
    else:
        yield Finding("slack", f"Slack's requests come to port {settings.port}, /slack/events")


async def _account(settings: SlackSettings, token: str) -> Finding:
    from adapters.slack.account import account

    try:
        found = await account(token, settings.api_url)
    except DeliveryError:
        return failed("slack", ServiceError(_UNREACHABLE))
    except BotError as error:
        return failed("slack", error)
    if found.missing_scopes:
        missing = ", ".join(found.missing_scopes)
        return misconfigured(
            "slack",
            f"The bot token lacks the scopes {missing}: add them on the app's page, OAuth & "
            "Permissions, or take over docs/slack-manifest.yaml, then install the app again.",
        )
    return Finding("slack", f"{found.name} has all its scopes in {found.workspace}")


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
