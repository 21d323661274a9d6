"""The chat platforms that there are; settings, course file, doctor and wiring follow from them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from bot.model_tables import ServiceUrl
from core.domain import NonBlank
from core.domain.errors import ConfigurationError
from core.domain.telemetry import check_host
from core.storage.access import StaffKind

Host = Annotated[NonBlank, AfterValidator(check_host)]
"""Where requests come to."""


class PlatformSettings(BaseModel):
    """A platform's variables, `GLOSSATOR_PLATFORM__KEY`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    written_as_json: ClassVar[Mapping[str, str]] = {}
    """Keys whose value is more than one word, and how to write it."""

    @property
    def is_set_up(self) -> bool:
        """Whether the variables name an account of the bot's there."""
        raise NotImplementedError

    @property
    def admitted(self) -> Collection[str]:
        """The only tenants whose members are answered; empty: all are."""
        return ()

    def check(self) -> None:
        """Look at what is set up, without asking the platform.

        Raises:
            ConfigurationError: when a variable is missing, or two exclude one another.
        """


G = TypeVar("G", bound=PlatformSettings)


@dataclass(frozen=True, slots=True)
class IdForm:
    """How a platform writes the ids of one kind."""

    pattern: str
    words: str
    """What an operator reads who wrote another id, such as `a role's id of 15 to 20 digits`."""

    def fits(self, written: str) -> bool:
        """Return whether an id has this form."""
        return re.fullmatch(self.pattern, written) is not None


@dataclass(frozen=True, slots=True)
class Platform(Generic[G]):
    """A chat platform's entry."""

    name: str
    """As in `Arrival.platform`, in variables, in the course file and in names of tenants."""
    settings: type[G]
    set_up_by: str
    """Which variable sets it up, and the page that says how to get it."""
    tokens: Mapping[str, str]
    """The secret variables that `glossator init` asks for, with what to call each."""
    channel: IdForm
    """Of `[NAME.channels.ID]` in the course file; its words are a clause about a wrong id."""
    tenant: IdForm
    """Of whom `[staff."NAME:ID"]` in the course file is about."""
    named_tenant: IdForm
    """Of whom a command such as `glossator courses grant` names: `a server (NAME:ID)`."""
    staff: Mapping[str, tuple[StaffKind, IdForm]]
    """Whom a table of staff may name, by its key."""
    adapter: str
    """`module:function`: given `ChatServices`, returns the `ChatPlatform`, not yet connected."""
    doctor: str
    """`module:function`: given the variables, yields what it finds of the account, if any."""
    live: str | None = None
    """`module:function`: given the variables, yields what the platform says of all that the bot can
    show there, for `doctor --live`."""
    stored: str | None = None
    """`module:function`: given all settings and the sealing keys, yields what it finds of what is
    sealed in the database."""


_SNOWFLAKE = r"\d{15,20}"
_GUILD = r"\d{1,20}"


class DiscordSettings(PlatformSettings):
    """The bot account on Discord."""

    token: SecretStr | None = None
    """None: no Discord."""
    api_url: ServiceUrl | None = None
    """Where Discord's API is, such as a proxy's; None: Discord's own."""
    message_content: bool = True
    """Read messages that do not mention the bot; a privileged intent of the account."""
    shards: Annotated[int, Field(ge=1)] | None = None
    """How many connections share the servers; None: as many as Discord recommends."""
    guilds: tuple[Annotated[str, Field(pattern=rf"^{_GUILD}$")], ...] = ()
    """The only servers that are answered, as a JSON list of ids; empty: all."""

    written_as_json: ClassVar[Mapping[str, str]] = {
        "guilds": 'a JSON list of ids, such as ["123456789012345678"]'
    }

    @property
    def is_set_up(self) -> bool:
        """Whether there is a token."""
        return self.token is not None

    @property
    def admitted(self) -> Collection[str]:
        """The only servers that are answered."""
        return self.guilds


DISCORD = Platform(
    name="discord",
    settings=DiscordSettings,
    set_up_by="GLOSSATOR_DISCORD__TOKEN ('glossator help discord' says how to get one)",
    tokens={"GLOSSATOR_DISCORD__TOKEN": "Token of the Discord bot"},
    channel=IdForm(
        _SNOWFLAKE,
        "this is no id of a Discord channel, category or server, which has 15 to 20 digits",
    ),
    tenant=IdForm(_SNOWFLAKE, "a server's id of 15 to 20 digits"),
    named_tenant=IdForm(_GUILD, "ids of Discord servers are numbers of up to 20 digits"),
    staff={
        "roles": (StaffKind.ROLE, IdForm(_SNOWFLAKE, "a role's id of 15 to 20 digits")),
        "people": (StaffKind.PERSON, IdForm(_SNOWFLAKE, "a user's id of 15 to 20 digits")),
    },
    adapter="bot.build_discord:discord_adapter",
    doctor="bot.cli.doctor_platforms:check_discord",
)


_NO_APP_TOKEN = (
    "Slack's Socket Mode needs an app-level token: set GLOSSATOR_SLACK__APP_TOKEN, "
    "or GLOSSATOR_SLACK__TRANSPORT=http."
)
_APP_FOR_BOT_TOKEN = (
    "GLOSSATOR_SLACK__BOT_TOKEN holds an app-level token (xapp-...): it needs the bot's, which "
    "begins with xoxb-."
)
_BOT_FOR_APP_TOKEN = (
    "GLOSSATOR_SLACK__APP_TOKEN holds a bot's token (xoxb-...): it needs the app-level one, which "
    "begins with xapp-."
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
        for token, beginning, problem in (
            (self.bot_token, "xapp-", _APP_FOR_BOT_TOKEN),
            (self.app_token, "xoxb-", _BOT_FOR_APP_TOKEN),
        ):
            if token is not None and token.get_secret_value().startswith(beginning):
                raise ConfigurationError(problem)
        if self.transport == "socket" and self.app_token is None:
            raise ConfigurationError(_NO_APP_TOKEN)
        if self.transport == "http" and self.signing_secret is None:
            raise ConfigurationError(_NO_SIGNING_SECRET)


SLACK = Platform(
    name="slack",
    settings=SlackSettings,
    set_up_by="GLOSSATOR_SLACK__BOT_TOKEN and GLOSSATOR_SLACK__APP_TOKEN ('glossator help slack')",
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
    adapter="bot.build_slack:slack_adapter",
    doctor="bot.cli.doctor_platforms:check_slack",
    live="bot.cli.doctor_platforms:check_blocks",
    stored="bot.cli.doctor_platforms:check_installations",
)


PLATFORMS: Mapping[str, Platform[Any]] = {entry.name: entry for entry in (DISCORD, SLACK)}
"""By name, in the order in which they are named to people."""
