"""Discord's entry: its variables, its ids, and what else is done for it."""

from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar

from pydantic import Field, SecretStr

from bot.platforms.entry import IdForm, Platform, PlatformSettings
from bot.providers.tables import ServiceUrl
from core.access.staff import StaffKind

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
    adapter="bot.platforms.build_discord:discord_adapter",
    doctor="bot.doctor.discord:check_discord",
)
