"""What Slack's page may ask for, checked before anything is done."""

from typing import Annotated

from pydantic import Field

from tests.wire.playground import side

Id = Annotated[str, Field(pattern=r"^[A-Z0-9]{1,20}$")]
Ts = Annotated[str, Field(pattern=r"^[0-9]{1,12}\.[0-9]{6}$")]
Name = Annotated[str, Field(min_length=1, max_length=255)]
Text = Annotated[str, Field(min_length=1, max_length=12_000)]
Value = Annotated[str, Field(max_length=4_000)]


class Request(side.Request):
    """Something that a person does."""

    user: Id


class Say(Request):
    """Write a message, as it goes over the wire; `thread` is the timestamp of its first one."""

    channel: Id
    text: Text
    thread: Ts | None = None


class Edit(Request):
    """Change an own message."""

    message: Ts
    text: Text


class Delete(Request):
    """Delete a message."""

    message: Ts


class UseCommand(Request):
    """Use a slash command."""

    channel: Id
    command: Name
    text: Value = ""


class UseShortcut(Request):
    """Use an entry of a message's menu."""

    message: Ts
    callback: Name


class Click(Request):
    """Press a button below a message; feedback buttons have a choice."""

    message: Ts
    action: Name
    choice: Name | None = None


class Press(Request):
    """Press a button in a modal or in the app's Home."""

    view: Id
    action: Name
    choice: Name | None = None


class Submit(Request):
    """Send a modal."""

    view: Id
    fields: dict[Name, Value] = Field(default_factory=dict, max_length=10)


class Close(Request):
    """Close a modal."""

    view: Id


class OpenHome(Request):
    """Look at the app's Home."""


class OpenAssistant(Request):
    """Begin a conversation in the assistant's panel, beside a channel."""

    channel: Id
