"""What the page may ask for, checked before anything is done."""

from typing import Annotated

from pydantic import Field

from tests.wire.playground import side
from tests.wire.playground.uploads import Attached

Id = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Text = Annotated[str, Field(max_length=4_000)]
Value = bool | int | float | Annotated[str, Field(max_length=6_000)]


class Request(side.Request):
    """Something that a person does."""

    user: Id


class Say(Request):
    """Write a message."""

    channel: Id
    content: Text
    reply_to: Id | None = None
    files: list[Attached] = Field(default_factory=list, max_length=10)


class Forward(Request):
    """Forward a message to a channel; a text is written below it."""

    message: Id
    channel: Id
    content: Text = ""


class React(Request):
    """Add an own reaction to a message, or take it back."""

    message: Id
    emoji: Name


class Edit(Request):
    """Change an own message."""

    message: Id
    content: Text


class Delete(Request):
    """Delete a message."""

    message: Id


class ListCommands(Request):
    """Look up the commands that a channel offers."""

    channel: Id


class UseCommand(Request):
    """Use a slash command; `command` may name subcommands: "course bind"."""

    channel: Id
    command: Name
    options: dict[Name, Value] = Field(default_factory=dict, max_length=25)


class Complete(UseCommand):
    """Type into an option, for its suggestions."""

    focused: Name


class UseMenu(Request):
    """Use an entry of a message's menu."""

    message: Id
    command: Name


class Click(Request):
    """Press a button, or choose from a menu."""

    message: Id
    custom_id: Name
    values: list[Name] | None = None


class Submit(Request):
    """Send a form that a button opened."""

    interaction: Id
    fields: dict[Name, Text] = Field(default_factory=dict, max_length=5)
