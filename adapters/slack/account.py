"""What Slack says of the app, for `glossator doctor`, and what the app needs."""

from dataclasses import dataclass

from adapters.platform_clock import PlatformClock
from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.installations import who_are_we
from adapters.slack.people import GROUPS_SCOPE
from core.errors import ConfigurationError, DeliveryError

SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        GROUPS_SCOPE,
        "users:read",
    }
)
"""What the bot asks a workspace for."""
EVENTS = frozenset(
    {
        "app_home_opened",
        "app_mention",
        "app_uninstalled",
        "assistant_thread_context_changed",
        "assistant_thread_started",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "tokens_revoked",
    }
)
"""What the bot subscribes to."""


@dataclass(frozen=True, slots=True)
class Account:
    """The bot as Slack knows it in a workspace."""

    workspace: str
    name: str
    missing_scopes: tuple[str, ...]
    """Without which the bot cannot work."""
    may_read_groups: bool
    """Whether user groups can make somebody staff."""
    clock_warning: str | None = None
    """What is wrong with this machine's clock."""


async def account(token: str, api_url: str | None) -> Account:
    """Return what Slack says of a bot token.

    Raises:
        ConfigurationError: when Slack refuses the token.
        DeliveryError: when Slack cannot be reached.
    """
    clock = PlatformClock("Slack")
    client = SlackClient(api_url, token, closed=ClosedMethods(clock=clock))
    try:
        installed = await who_are_we(client)
        said = await client.auth_test()
    except DeliveryError as error:
        if error.permanent:
            raise ConfigurationError("Slack refuses GLOSSATOR_SLACK__BOT_TOKEN.") from error
        raise
    granted = set(installed.scopes.split(","))
    missing = tuple(sorted(SCOPES - granted - {GROUPS_SCOPE}))
    return Account(
        workspace=str(said.get("team", installed.place)),
        name=str(said.get("user", "")),
        missing_scopes=missing,
        may_read_groups=GROUPS_SCOPE in granted,
        clock_warning=clock.warning,
    )
