"""What the bot's commands are called, the same on every platform."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo, field_validator

_NAME = re.compile(r"[a-z0-9_-]{1,32}")
"""What both Discord and Slack take."""
_SLACKS_OWN = frozenset(
    "active apps archive away call collapse dm dnd expand feed feedback invite invite_people join "
    "kick leave list me msg mute open part prefs remind remove rename search shortcuts shrug star "
    "status topic unarchive who".split()
)
"""Commands of Slack's, which an app cannot replace."""


def _checked(name: str) -> str:
    """Return a name that both platforms take, or raise ValueError saying what is wrong."""
    word = name.removeprefix("/")
    if not _NAME.fullmatch(word):
        raise ValueError(
            "a command has 1 to 32 lower-case letters (a to z), digits, hyphens or underscores"
        )
    if word in _SLACKS_OWN:
        raise ValueError(f"/{word} is a command of Slack's own: choose another name")
    return word


Name = Annotated[str, AfterValidator(_checked)]


class CommandNames(BaseModel):
    """The names of the top-level commands, without their slash."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    ask: Name = "ask"
    """Asks a question."""
    glossator: Name = "glossator"
    """Help, sources, about, and what is stored about its user."""
    course: Name = "course"
    """What staff set."""

    @field_validator("ask", "glossator", "course")
    @classmethod
    def _is_free(cls, name: str, info: ValidationInfo) -> str:
        """Refuse a name that another command has."""
        for other, taken in info.data.items():
            if taken == name:
                raise ValueError(f"the command {other!r} is called {name!r} already")
        return name

    def terms(self) -> Mapping[str, str]:
        """Return how messages mention each command, by the placeholder's name."""
        return {f"{command}_command": f"/{name}" for command, name in self}
