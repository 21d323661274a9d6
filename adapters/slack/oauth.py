"""Lets workspaces install the app: Slack's OAuth v2, with stores of our own."""

import asyncio
import html
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urljoin

import aiohttp
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackClientError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.about import Greeting
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.access import Location
from adapters.chat.incoming_message import PlatformClock
from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.inbound import PLATFORM
from adapters.slack.installations import (
    InstalledClients,
    InstalledTenants,
    ManyInstallations,
    moment_of,
    who_are_we,
)
from adapters.slack.modals import told
from adapters.slack.people import GROUPS_SCOPE
from core.domain import i18n
from core.domain.errors import BotError, ConfigurationError, DeliveryError, RequestError
from core.domain.i18n import Message, text, use_locale
from core.storage.installations import Installed, InstallStates

logger = logging.getLogger(__name__)


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


_TIMEOUT = 5.0
"""Seconds for one try."""
_AGAIN = (2.0, 15.0, 120.0)
"""Seconds before each further try after a failure."""
_FAILURES = (BotError, SlackClientError, aiohttp.ClientError, OSError, TimeoutError)


class Greeter:
    """Greets in the installer's language, and tries again for some minutes after a failure."""

    def __init__(
        self, greeting: Greeting, clients: InstalledClients, background: BackgroundWork
    ) -> None:
        """Prepare to greet.

        Args:
            background: Keeps further tries, for which no browser waits.
        """
        self._greeting = greeting
        self._clients = clients
        self._background = background

    async def greet(self, token: str, workspace: str, user: str) -> None:
        """Send the greeting of a workspace to one of its people; slow tries go on by themselves."""
        await self._background.in_time(self._until_greeted(token, workspace, user))

    async def _until_greeted(self, token: str, workspace: str, user: str) -> None:
        client = self._clients.with_token(token)
        for pause in (*_AGAIN, None):
            try:
                await self._try(client, workspace, user)
            except _FAILURES as error:
                again = "that was all" if pause is None else f"again in {pause:.0f} s"
                logger.warning(
                    "who installed the app in %s was not greeted, %s: %s", workspace, again, error
                )
            else:
                return
            if pause is not None:
                await asyncio.sleep(pause)

    async def _try(self, client: AsyncWebClient, workspace: str, user: str) -> None:
        async with asyncio.timeout(_TIMEOUT):
            with use_locale(await _locale_of(client, user)):
                where = Location(PLATFORM, workspace, (workspace,), user)
                words = await self._greeting.words(where)
            message = {**told(words), "link_names": False, "unfurl_links": False}
            del message["response_type"]
            opened = await client.conversations_open(users=user)
            await client.chat_postMessage(channel=opened["channel"]["id"], **message)


async def _locale_of(client: AsyncWebClient, user: str) -> str | None:
    """Return the locale that a user has set in Slack; None where Slack does not say."""
    try:
        found = await client.users_info(user=user, include_locale=True)
    except SlackClientError as error:
        logger.info("the locale of who installed the app is not known: %s", error)
        return None
    locale = (found.get("user") or {}).get("locale")
    return str(locale) if locale else None


_DECLINED = "access_denied"
_WHY = {
    _DECLINED: Message("install-declined"),
    "invalid_browser": Message("install-other-browser"),
    "invalid_state": Message("install-too-late"),
    "storage_error": Message("install-not-stored"),
}
"""By the reason as bolt, or Slack, names it."""


def callbacks(install_path: str) -> AsyncCallbackOptions:
    """Return what answers the browser that Slack sends back.

    Args:
        install_path: Where one begins again.
    """

    async def succeeded(args: AsyncSuccessArgs) -> BoltResponse:
        return _response(HTTPStatus.OK, page(i18n.text("install-done")), args)

    async def failed(args: AsyncFailureArgs) -> BoltResponse:
        why = str(_WHY.get(args.reason) or Message("install-refused"))
        again = None if args.reason == _DECLINED else install_path
        is_told = args.reason in _WHY or args.suggested_status_code != HTTPStatus.OK
        # An error that Slack tells comes with 200, which only a user's own choice is.
        status = args.suggested_status_code if is_told else HTTPStatus.BAD_REQUEST
        return _response(status, page(why, again, i18n.text("install-begin-again")), args)

    return AsyncCallbackOptions(success=succeeded, failure=failed)


def page(words: str, link: str | None = None, label: str = "") -> str:
    """Return a page with a sentence, and a link below it."""
    anchor = f'<p><a href="{html.escape(link)}">{html.escape(label)}</a></p>' if link else ""
    return (
        f'<!DOCTYPE html><html lang="{i18n.current_language()}">'
        '<head><meta charset="utf-8"><title>Glossator</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><p>{html.escape(words)}</p>{anchor}</body></html>"
    )


def _response(status: int, text: str, args: AsyncSuccessArgs | AsyncFailureArgs) -> BoltResponse:
    headers: dict[str, str | Sequence[str]] = {
        "Content-Type": "text/html; charset=utf-8",
        "Set-Cookie": args.settings.state_utils.build_set_cookie_for_deletion(),
    }
    return BoltResponse(status=int(status), body=text, headers=headers)


INSTALL = "/slack/install"
REDIRECT = "/slack/oauth_redirect"
STATE_LIFE = timedelta(minutes=10)


def oauth_flow(
    installations: ManyInstallations,
    states: InstallStates,
    tenants: InstalledTenants,
    client: AsyncWebClient,
    greeter: Greeter,
    *,
    client_id: str,
    client_secret: str,
) -> AsyncOAuthFlow:
    """Return the flow that installs the app where a workspace's people allow it."""
    return _Flow(
        client=client,
        settings=AsyncOAuthSettings(
            client_id=client_id,
            client_secret=client_secret,
            scopes=sorted(SCOPES),
            user_scopes=[],
            install_path=INSTALL,
            redirect_uri_path=REDIRECT,
            installation_store=_Saving(installations, tenants, greeter),
            state_store=_States(states),
            state_expiration_seconds=int(STATE_LIFE.total_seconds()),
            authorization_url=urljoin(client.base_url, "/oauth/v2/authorize"),
            callback_options=callbacks(INSTALL),
        ),
    )


class _Flow(AsyncOAuthFlow):
    """Bolt's flow, with our own page to begin at."""

    async def build_install_page_html(self, url: str, request: AsyncBoltRequest) -> str:
        return page(text("install-what"), url, text("install-invitation"))


class NotAdmitted(RequestError):
    """A workspace that the operator does not let install the app."""

    sentence = Message("install-not-admitted")


class _States(AsyncOAuthStateStore):
    """Our states, as the flow asks for them."""

    def __init__(self, states: InstallStates) -> None:
        self._states = states

    async def async_issue(self, *_: object, **__: object) -> str:
        return self._states.issue()

    async def async_consume(self, state: str) -> bool:
        return self._states.is_good(state)


class _Saving(AsyncInstallationStore):
    """Our installations, as the flow hands them over."""

    def __init__(
        self, installations: ManyInstallations, tenants: InstalledTenants, greeter: Greeter
    ) -> None:
        self._installations = installations
        self._tenants = tenants
        self._greeter = greeter

    @property
    def logger(self) -> logging.Logger:
        return logger

    async def async_save(self, installation: Installation) -> None:
        """Keep an installation, where the operator lets it in, and greet who made a new one.

        Raises:
            NotAdmitted: for any other workspace, whose token is revoked.
        """
        installed = _installed(installation)
        if not self._installations.admits(installed):
            await self._installations.revoke(installed)
            logger.warning("the workspace %s may not install the app", installed.place)
            raise NotAdmitted
        await self._installations.save(installed)
        is_new = await self._tenants.note(installed)
        logger.info("the app was installed in %s", installed.place)
        if is_new:
            await self._greeter.greet(installed.token, installed.place, installation.user_id)


def _installed(installation: Installation) -> Installed:
    bot = installation.to_bot()
    org_wide = bool(installation.is_enterprise_install)
    return Installed(
        place=str(installation.enterprise_id if org_wide else installation.team_id),
        organisation=installation.enterprise_id,
        bot_user=bot.bot_user_id,
        bot=bot.bot_id,
        scopes=",".join(bot.bot_scopes),
        token=bot.bot_token,
        refresh_token=bot.bot_refresh_token,
        expires_at=moment_of(bot.bot_token_expires_at),
    )
