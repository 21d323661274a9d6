"""What there is to say of a chat platform: all else that is done for it follows from this."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from core.access.staff import StaffKind
from core.models import NonBlank
from core.runtime.hosts import check_host

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
