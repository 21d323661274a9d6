"""Commands of apps whose manifest is of an older version: they work, and name the new ones."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.features.command_names import CommandNames
from adapters.slack.commands.about import About
from adapters.slack.commands.modals import told
from adapters.slack.commands.questions import Questions
from adapters.slack.commands.staff import Staff
from core.i18n import text

Json = dict[str, Any]
Listener = Callable[[Json, AsyncAck, AsyncRespond, AsyncWebClient], Awaitable[None]]


def former_commands(
    names: CommandNames, questions: Questions, about: About, staff: Staff
) -> Iterator[tuple[str, Listener]]:
    """Yield what hears each command of an older manifest, but for names that are in use."""
    usual, own = CommandNames(), f"/{names.glossator}"
    former: list[tuple[str, str, Listener]] = [
        ("/help", f"{own} help", lambda body, ack, *_: about.help(body, ack)),
        (
            "/sources",
            f"{own} sources",
            lambda body, ack, say, _: about.fact("sources", body, ack, say),
        ),
        ("/about", f"{own} about", lambda body, ack, say, _: about.fact("about", body, ack, say)),
        ("/forget-me", f"{own} data", lambda body, ack, say, _: about.data(body, ack, say)),
        ("/export-my-data", f"{own} data", about.export),
        (f"/{usual.ask}", f"/{names.ask}", lambda body, ack, *_: questions.ask(body, ack)),
        (f"/{usual.glossator}", own, lambda body, ack, say, _: about.glossator(body, ack, say)),
        (f"/{usual.course}", f"/{names.course}", staff.course),
    ]
    used = {f"/{name}" for _, name in names}
    for command, new, listener in former:
        if command not in used:
            yield command, _naming(new, listener)


def _naming(new: str, listener: Listener) -> Listener:
    """Return a listener whose acknowledgement also says what its command is called now."""

    async def former(
        body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        await listener(body, _NamingAck(ack, new), respond, client)

    return former


class _NamingAck(AsyncAck):
    """Acknowledges a command with a sentence more."""

    def __init__(self, ack: AsyncAck, new: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ack = ack
        self._sentence = told(text("command-renamed", new=new))

    async def __call__(self, *args: Any, **_: Any) -> BoltResponse:
        """Acknowledge with a message, if one is given, and the sentence below it."""
        message: Json = args[0] if args else {**self._sentence, "blocks": []}
        blocks = [*message["blocks"], *self._sentence["blocks"]]
        return await self._ack({**message, "blocks": blocks})
