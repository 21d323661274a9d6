"""Lets workspaces install the app: Slack's OAuth v2, with stores of our own."""

import logging
from datetime import timedelta
from urllib.parse import urljoin

from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.installs.account import SCOPES
from adapters.slack.installs.greeter import Greeter
from adapters.slack.installs.installations import ManyInstallations, moment_of
from adapters.slack.installs.pages import callbacks, page
from adapters.slack.installs.tenants import InstalledTenants
from core.errors import RequestError
from core.i18n import Message, text
from core.storage.installations.states import InstallStates
from core.storage.installations.store import Installed

logger = logging.getLogger(__name__)

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
