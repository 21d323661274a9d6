"""What Slack says of the app, for `glossator doctor`, and what the app needs."""

from dataclasses import dataclass

from adapters.intake.platform_clock import PlatformClock
from adapters.slack.api.client import ClosedMethods, SlackClient
from adapters.slack.installs.installations import who_are_we
from adapters.slack.people import GROUPS_SCOPE
from core.errors import ConfigurationError, DeliveryError

NEEDED = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "mpim:history",
        "mpim:read",
        "users:read",
    }
)
"""Scopes that the bot cannot work without."""
WITHOUT = {
    "files:read": "attached text files are not read",
    "im:write": "nobody gets a direct message that they did not ask for",
    "reactions:read": "no reaction asks for an answer",
    "reactions:write": "no answer is offered by a reaction",
    GROUPS_SCOPE: "user groups make nobody staff",
}
"""Scopes that the bot asks for besides, and what is missing without each."""
SCOPES = NEEDED | WITHOUT.keys()
"""What the bot asks a workspace for: all at once, for it has to consent again to every new one."""
EVENTS = frozenset(
    {
        "agent_session_stopped",
        "app_context_changed",
        "app_home_opened",
        "app_mention",
        "app_uninstalled",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "reaction_added",
        "tokens_revoked",
    }
)
"""What the bot hears."""


@dataclass(frozen=True, slots=True)
class Account:
    """The bot as Slack knows it in a workspace."""

    workspace: str
    name: str
    missing_scopes: tuple[str, ...]
    """Without which the bot cannot work."""
    missing_besides: tuple[str, ...]
    """Others that were not granted; see `WITHOUT`."""
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
    return Account(
        workspace=str(said.get("team", installed.place)),
        name=str(said.get("user", "")),
        missing_scopes=tuple(sorted(NEEDED - granted)),
        missing_besides=tuple(sorted(WITHOUT.keys() - granted)),
        clock_warning=clock.warning,
    )
