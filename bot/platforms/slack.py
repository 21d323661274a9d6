"""Slack's entry: its variables, its ids, and what else is done for it."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, SecretStr

from bot.platforms.entry import Host, IdForm, Platform, PlatformSettings
from bot.providers.tables import ServiceUrl
from core.access.staff import StaffKind
from core.errors import ConfigurationError
from core.models import NonBlank

_NO_APP_TOKEN = (
    "Slack's Socket Mode needs an app-level token: set GLOSSATOR_SLACK__APP_TOKEN, "
    "or GLOSSATOR_SLACK__TRANSPORT=http."
)
_NO_SIGNING_SECRET = (
    "Slack over HTTP needs the app's signing secret, without which anybody could send events: "
    "set GLOSSATOR_SLACK__SIGNING_SECRET."
)
_NO_CLIENT_SECRET = "Installing the Slack app needs GLOSSATOR_SLACK__CLIENT_SECRET."
_ONE_OR_MANY = (
    "Slack answers in one workspace, by GLOSSATOR_SLACK__BOT_TOKEN, or in those that install "
    "the app, by GLOSSATOR_SLACK__CLIENT_ID: set one of them."
)
_ONE_WORKSPACE = (
    "GLOSSATOR_SLACK__WORKSPACES says which workspaces may install the app; with "
    "GLOSSATOR_SLACK__BOT_TOKEN there is one workspace: unset one of them."
)


class SlackSettings(PlatformSettings):
    """The Slack app: one workspace by its bot token, or many by OAuth."""

    bot_token: SecretStr | None = None
    """Of the one workspace; None: workspaces install the app, or no Slack."""
    app_token: SecretStr | None = None
    """Opens sockets."""
    signing_secret: SecretStr | None = None
    """Proves that a request over HTTP is Slack's."""
    transport: Literal["socket", "http"] = "socket"
    host: Host = "127.0.0.1"
    """Where Slack's requests, and people who install the app, come to."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 3_000
    """Of the same."""
    api_url: ServiceUrl | None = None
    """Where Slack's Web API is, such as GovSlack's; None: Slack's own."""
    client_id: NonBlank | None = None
    """Of the app, for workspaces that install it."""
    escape_code: bool = False
    """Write `&`, `<` and `>` in code as entities, where Slack shows these as characters."""
    client_secret: SecretStr | None = None
    workspaces: tuple[Annotated[str, Field(pattern=r"^[TE][A-Z0-9]+$")], ...] = ()
    """The only workspaces or organisations that may install the app, as a JSON list; empty: all."""

    written_as_json: ClassVar[Mapping[str, str]] = {
        "workspaces": 'a JSON list of ids, such as ["T0123", "E0456"]'
    }

    @property
    def is_set_up(self) -> bool:
        """Whether a bot token, or an app to install, is named."""
        return self.bot_token is not None or self.client_id is not None

    def check(self) -> None:
        """Raise ConfigurationError when a variable is missing, or two exclude one another."""
        if self.bot_token is not None and self.client_id is not None:
            raise ConfigurationError(_ONE_OR_MANY)
        if self.bot_token is not None and self.workspaces:
            raise ConfigurationError(_ONE_WORKSPACE)
        if self.client_id is not None and self.client_secret is None:
            raise ConfigurationError(_NO_CLIENT_SECRET)
        if self.transport == "socket" and self.app_token is None:
            raise ConfigurationError(_NO_APP_TOKEN)
        if self.transport == "http" and self.signing_secret is None:
            raise ConfigurationError(_NO_SIGNING_SECRET)


SLACK = Platform(
    name="slack",
    settings=SlackSettings,
    set_up_by="GLOSSATOR_SLACK__BOT_TOKEN ('glossator help slack')",
    tokens={
        "GLOSSATOR_SLACK__BOT_TOKEN": "Slack's bot token (xoxb-...)",
        "GLOSSATOR_SLACK__APP_TOKEN": "Slack's app-level token (xapp-...)",
    },
    channel=IdForm(
        r"[CGT][A-Z0-9]{6,}",
        "this is no id of a Slack channel or workspace, which begins with C, G or T",
    ),
    tenant=IdForm(
        r"[TE][A-Z0-9]{6,}", "a workspace's id, which begins with T, or an organisation's"
    ),
    named_tenant=IdForm(
        r"[TE][A-Z0-9]+", "those of Slack workspaces begin with T and of organisations with E"
    ),
    staff={
        "groups": (
            StaffKind.GROUP,
            IdForm(r"S[A-Z0-9]{6,}", "a group's id, which begins with S"),
        ),
        "people": (
            StaffKind.PERSON,
            IdForm(r"[UW][A-Z0-9]{6,}", "a person's id: U or W first"),
        ),
    },
    adapter="bot.platforms.build_slack:slack_adapter",
    doctor="bot.doctor.slack:check_slack",
    live="bot.doctor.slack:check_blocks",
    stored="bot.doctor.slack:check_installations",
)
