"""What Slack's page may ask for, checked before anything is done."""

from typing import Annotated

from pydantic import Field

from tests.wire.playground import side
from tests.wire.playground.uploads import Attached

Id = Annotated[str, Field(pattern=r"^[A-Z0-9]{1,20}$")]
Ts = Annotated[str, Field(pattern=r"^[0-9]{1,12}\.[0-9]{6}$")]
Name = Annotated[str, Field(min_length=1, max_length=255)]
Text = Annotated[str, Field(max_length=12_000)]
Written = Annotated[Text, Field(min_length=1)]
Value = Annotated[str, Field(max_length=4_000)]


class Request(side.Request):
    """Something that a person does."""

    user: Id


class Say(Request):
    """Write a message, as it goes over the wire; `thread` is the timestamp of its first one."""

    channel: Id
    text: Text
    thread: Ts | None = None
    files: list[Attached] = Field(default_factory=list, max_length=10)


class Forward(Request):
    """Forward a message to a channel, below a text or alone."""

    message: Ts
    channel: Id
    text: Text = ""


class React(Request):
    """Add an own reaction to a message, by its name, or take it back."""

    message: Ts
    emoji: Annotated[str, Field(pattern=r"^[a-z0-9_+-]{1,100}$")]


class Edit(Request):
    """Change an own message."""

    message: Ts
    text: Written


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


class OpenMessages(Request):
    """Open the app's Messages tab, beside the channel that was looked at."""

    channel: Id | None = None


class Stop(Request):
    """Press the stop button of what the app does in a thread."""

    channel: Id
    thread: Ts
