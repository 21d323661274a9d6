"""What people do with an app, from the click to its acknowledgement and answers."""

import asyncio
import copy
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tests.wire.slack.entities import Channel, Installation, Message, User, View
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.state import Dispatch

if TYPE_CHECKING:
    from tests.wire.slack.world import World


class InteractionType(StrEnum):
    """Slack's payload types; a command has none of its own."""

    COMMAND = "slash_commands"
    BLOCK_ACTIONS = "block_actions"
    MESSAGE_SHORTCUT = "message_action"
    SHORTCUT = "shortcut"
    VIEW_SUBMISSION = "view_submission"
    VIEW_CLOSED = "view_closed"


@dataclass(eq=False)
class Interaction:
    """One deed of a user; what came of it is read from here."""

    kind: InteractionType
    installation: Installation
    user: User
    channel: Channel | None
    trigger_id: str
    secret: str
    """The end of its response_url."""
    started: float
    message: Message | None = None
    view: View | None = None
    """The view it happened in."""
    opened: list[View] = field(default_factory=list)
    """Modals that came of it."""
    messages: list[Message] = field(default_factory=list)
    """What was posted by response_url or with the acknowledgement."""
    response: Json | None = None
    """What the acknowledgement held."""
    failure: str | None = None
    """Why the user was told that it did not work."""
    acked_at: float | None = None
    triggered: bool = False
    url_uses: int = 0
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def ack(self, timeout: float = 5.0) -> Json | None:  # noqa: ASYNC109
        """Wait for the acknowledgement and return what it held.

        Raises:
            AssertionError: The user was told that it did not work.
        """
        async with asyncio.timeout(timeout):
            await self._settled.wait()
        assert self.failure is None, self.failure
        return self.response

    def settle(self, at: float | None, failure: str | None = None) -> None:
        """Note how the delivery ended."""
        if not self._settled.is_set():
            self.acked_at, self.failure = at, failure or self.failure
            self._settled.set()


class Interactions:
    """Begins interactions and carries out what their acknowledgements ask for."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._by_trigger: dict[str, Interaction] = {}
        self._by_secret: dict[str, Interaction] = {}

    def begin(
        self,
        kind: InteractionType,
        installation: Installation,
        user: User,
        channel: Channel | None,
        **more: Any,
    ) -> Interaction:
        """Return a fresh interaction with its trigger and response_url."""
        trigger = f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**10)}.{secrets.token_hex(16)}"
        secret = f"{installation.workspace.id}/{secrets.token_hex(12)}"
        now = self._world.clock.now()
        interaction = Interaction(kind, installation, user, channel, trigger, secret, now, **more)
        self._by_trigger[trigger] = interaction
        self._by_secret[secret] = interaction
        return interaction

    def send(self, interaction: Interaction, name: str, payload: Json) -> Interaction:
        """Hand an interaction to its app."""
        is_command = interaction.kind is InteractionType.COMMAND
        kind = "slash_commands" if is_command else "interactive"
        app = interaction.installation.app
        self._world.emit(Dispatch(app, kind, name, copy.deepcopy(payload), interaction))
        return interaction

    def by_secret(self, secret: str) -> Interaction | None:
        """Return the interaction of a response_url."""
        return self._by_secret.get(secret)

    def triggering(self, trigger_id: str, installation: Installation) -> Interaction:
        """Return the interaction of a trigger that is good for one view, or refuse."""
        interaction = self._by_trigger.get(trigger_id)
        if interaction is None or interaction.installation is not installation:
            raise SlackError("invalid_trigger_id")
        if interaction.triggered:
            raise SlackError("exchanged_trigger_id")
        if self._world.clock.now() - interaction.started > self._world.limits.trigger_life:
            raise SlackError("expired_trigger_id")
        return interaction

    def answered(self, interaction: Interaction, response: Any) -> None:
        """Carry out what an acknowledgement holds: a command's answer, a modal's next step."""
        if interaction.acked_at is not None:
            return
        interaction.response = response if isinstance(response, dict) and response else None
        try:
            if interaction.kind is InteractionType.COMMAND and interaction.response:
                self._world.response_urls.respond(interaction, interaction.response)
            elif interaction.kind is InteractionType.VIEW_SUBMISSION:
                self._world.modals.submitted(interaction, interaction.response or {})
        except SlackError as error:
            interaction.failure = error.error
            self._world.mistakes.append(f"acknowledgement refused: {error.body}")
        interaction.settle(self._world.clock.now())
