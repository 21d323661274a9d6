"""Lets workspaces install the app: Slack's OAuth v2, with stores of our own."""

import logging
from datetime import timedelta
from urllib.parse import urljoin

from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.account import SCOPES
from adapters.slack.installations import ManyInstallations, moment_of
from core.installations.store import Installed, InstallStates

logger = logging.getLogger(__name__)

INSTALL = "/slack/install"
REDIRECT = "/slack/oauth_redirect"
STATE_LIFE = timedelta(minutes=10)


def oauth_flow(
    installations: ManyInstallations,
    states: InstallStates,
    client: AsyncWebClient,
    *,
    client_id: str,
    client_secret: str,
) -> AsyncOAuthFlow:
    """Return the flow that installs the app where a workspace's people allow it."""
    return AsyncOAuthFlow(
        client=client,
        settings=AsyncOAuthSettings(
            client_id=client_id,
            client_secret=client_secret,
            scopes=sorted(SCOPES),
            user_scopes=[],
            install_path=INSTALL,
            redirect_uri_path=REDIRECT,
            installation_store=_Saving(installations),
            state_store=_States(states),
            state_expiration_seconds=int(STATE_LIFE.total_seconds()),
            authorization_url=urljoin(client.base_url, "/oauth/v2/authorize"),
        ),
    )


class _States(AsyncOAuthStateStore):
    """Our states, as the flow asks for them."""

    def __init__(self, states: InstallStates) -> None:
        self._states = states

    async def async_issue(self, *_: object, **__: object) -> str:
        return await self._states.issue()

    async def async_consume(self, state: str) -> bool:
        return await self._states.consume(state)


class _Saving(AsyncInstallationStore):
    """Our installations, as the flow hands them over."""

    def __init__(self, installations: ManyInstallations) -> None:
        self._installations = installations

    @property
    def logger(self) -> logging.Logger:
        return logger

    async def async_save(self, installation: Installation) -> None:
        bot = installation.to_bot()
        org_wide = bool(installation.is_enterprise_install)
        place = str(installation.enterprise_id if org_wide else installation.team_id)
        await self._installations.save(
            Installed(
                place=place,
                organisation=installation.enterprise_id,
                bot_user=bot.bot_user_id,
                bot=bot.bot_id,
                scopes=",".join(bot.bot_scopes),
                token=bot.bot_token,
                refresh_token=bot.bot_refresh_token,
                expires_at=moment_of(bot.bot_token_expires_at),
            )
        )
        logger.info("the app was installed in %s", place)
