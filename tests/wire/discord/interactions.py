"""The life of interactions: three seconds to the first response, fifteen minutes in all."""

import asyncio
import secrets
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tests.wire.discord.commands import check_choices
from tests.wire.discord.component_checks import check_modal
from tests.wire.discord.entities import (
    Application,
    Channel,
    Message,
    MessageFlag,
    MessageType,
    User,
)
from tests.wire.discord.errors import FormErrors, Json, invalid, refusal
from tests.wire.discord.payloads import user_payload
from tests.wire.discord.posting import Origin, Posting
from tests.wire.discord.state import Event, State
from tests.wire.discord.uploads import Files


class InteractionType(IntEnum):
    """What a user did."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL_SUBMIT = 5


class Callback(IntEnum):
    """What a first response asks for."""

    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE_MESSAGE = 7
    AUTOCOMPLETE = 8
    MODAL = 9


_POSSIBLE = {
    InteractionType.COMMAND: {4, 5, 9},
    InteractionType.COMPONENT: {4, 5, 6, 7, 9},
    InteractionType.AUTOCOMPLETE: {8},
    InteractionType.MODAL_SUBMIT: {4, 5, 6, 7},
}


@dataclass(eq=False)
class Interaction:
    """One use of a command, component or modal, and what became of it."""

    id: int
    token: str
    kind: InteractionType
    application: Application
    user: User
    channel: Channel
    data: Json
    at: float
    """The server's clock when it was sent out."""
    message: Message | None = None
    """The message whose component was used."""
    menu: bool = False
    """Whether it comes from a context menu."""
    parent: "Interaction | None" = None
    """What showed the modal that was submitted."""
    callback: Callback | None = None
    responded_after: float | None = None
    """Seconds from sending it out to the first response."""
    original: Message | None = None
    follow_ups: list[Message] = field(default_factory=list)
    modal: Json | None = None
    choices: list[Json] | None = None
    _responded: asyncio.Event = field(default_factory=asyncio.Event)

    async def response(self, timeout: float = 5.0) -> Callback:  # noqa: ASYNC109
        """Wait for the first response and return what it was."""
        async with asyncio.timeout(timeout):
            await self._responded.wait()
        assert self.callback is not None
        return self.callback

    @property
    def ephemeral(self) -> bool:
        """Whether the original response is seen by the user alone."""
        return self.original is not None and self.original.ephemeral

    def settle(self, callback: Callback, after: float) -> None:
        """Record the first response."""
        self.callback = callback
        self.responded_after = after
        self._responded.set()


class Interactions:
    """Answers what applications do about interactions."""

    def __init__(self, state: State, posting: Posting) -> None:
        self._state = state
        self._posting = posting
        self.all: dict[int, Interaction] = {}
        self._by_token: dict[str, Interaction] = {}

    def begin(self, kind: InteractionType, application: Application, user: User,
              channel: Channel, data: Json, **more: Any) -> Interaction:  # fmt: skip
        """Record that a user did something; the caller sends it out."""
        interaction = Interaction(
            self._state.snowflakes.next(),
            secrets.token_urlsafe(96),
            kind,
            application,
            user,
            channel,
            data,
            self._state.clock.now(),
            **more,
        )
        self.all[interaction.id] = interaction
        self._by_token[interaction.token] = interaction
        return interaction

    def respond(self, interaction_id: str, token: str, body: Json, files: Files) -> Interaction:
        """Take the first response."""
        interaction = self.all.get(int(interaction_id))
        if interaction is None or interaction.token != token:
            raise refusal(10062)
        age = self._state.clock.now() - interaction.at
        if interaction.callback is not None:
            raise refusal(40060)
        if age > self._state.limits.first_response:
            raise refusal(10062)
        kind = body.get("type")
        if kind not in _POSSIBLE[interaction.kind]:
            text = "The interaction callback type is not possible for this interaction."
            raise invalid("type", "INTERACTION_CALLBACK_TYPE_INVALID", text)
        callback = Callback(kind)
        self._apply(interaction, callback, body.get("data") or {}, files)
        interaction.settle(callback, age)
        self._show(interaction)
        return interaction

    def follow_up(self, application_id: str, token: str, body: Json, files: Files) -> Message:
        """Post a further answer; the first one after a deferral fills the placeholder."""
        interaction = self._alive(application_id, token)
        original = interaction.original
        if original is not None and original.loading and not original.deleted:
            return self._posting.edit(original, _without_privacy(body), files)
        origin = self._origin(interaction, _private(body))
        author = interaction.application.user
        message = self._posting.answer(origin, author, interaction.channel, body, files)
        interaction.follow_ups.append(message)
        return message

    def message(self, application_id: str, token: str, message_id: str) -> Message:
        """Return a message that the interaction's token gives access to."""
        interaction = self._alive(application_id, token)
        known = [interaction.original, *interaction.follow_ups]
        for message in known:
            wanted = message_id in ("@original", str(message.id)) if message else False
            if message is not None and wanted and not message.deleted:
                return message
            if message_id == "@original":
                break
        raise refusal(10008)

    def edit(self, application_id: str, token: str, message_id: str, body: Json,
             files: Files) -> Message:  # fmt: skip
        """Change a message that the interaction gives access to."""
        message = self.message(application_id, token, message_id)
        return self._posting.edit(message, _without_privacy(body), files)

    def delete(self, application_id: str, token: str, message_id: str) -> None:
        """Delete a message that the interaction gives access to."""
        self._posting.delete(self.message(application_id, token, message_id))

    def _show(self, interaction: Interaction) -> None:
        """Tell the user's client, which opens a modal or lists the choices."""
        data = {
            "id": str(interaction.id),
            "callback": interaction.callback,
            "modal": interaction.modal,
            "choices": interaction.choices,
        }
        only_to = frozenset({interaction.user.id})
        channel = interaction.channel
        self._state.tell(
            Event("INTERACTION_SUCCESS", data, channel.guild, channel, only_to=only_to)
        )

    def _alive(self, application_id: str, token: str) -> Interaction:
        interaction = self._by_token.get(token)
        if interaction is None or str(interaction.application.id) != application_id:
            raise refusal(10015)
        if self._state.clock.now() - interaction.at > self._state.limits.token_life:
            raise refusal(50027)
        if interaction.callback is None:
            raise refusal(10015)
        return interaction

    def _apply(
        self, interaction: Interaction, callback: Callback, data: Json, files: Files
    ) -> None:
        author, channel = interaction.application.user, interaction.channel
        match callback:
            case Callback.MESSAGE:
                origin = self._origin(interaction, _private(data))
                interaction.original = self._posting.answer(origin, author, channel, data, files)
            case Callback.DEFERRED_MESSAGE:
                _refuse_layout(data)
                origin = self._origin(interaction, _private(data))
                interaction.original = self._posting.think(origin, author, channel)
            case Callback.DEFERRED_UPDATE:
                interaction.original = _used_message(interaction)
            case Callback.UPDATE_MESSAGE:
                message = _used_message(interaction)
                interaction.original = self._posting.edit(message, data, files)
            case Callback.AUTOCOMPLETE:
                interaction.choices = _checked_choices(data)
            case Callback.MODAL:
                check_modal(data)
                interaction.modal = data

    def _origin(self, interaction: Interaction, ephemeral: bool) -> Origin:
        kind = MessageType.DEFAULT
        if interaction.kind is InteractionType.COMMAND:
            menu = interaction.menu
            kind = MessageType.CONTEXT_MENU_COMMAND if menu else MessageType.CHAT_INPUT_COMMAND
        return Origin(
            interaction.application.id,
            _metadata(interaction),
            ephemeral,
            interaction.user.id,
            kind,
        )


def owners(interaction: Interaction) -> dict[str, str]:
    """Return on whose behalf the application is installed here."""
    guild = interaction.channel.guild
    return {"0": str(guild.id) if guild else "0"}


def _metadata(interaction: Interaction) -> Json:
    metadata: Json = {
        "id": str(interaction.id),
        "type": int(interaction.kind),
        "user": user_payload(interaction.user),
        "authorizing_integration_owners": owners(interaction),
    }
    if interaction.kind is InteractionType.COMPONENT and interaction.message:
        metadata["interacted_message_id"] = str(interaction.message.id)
    if interaction.kind is InteractionType.MODAL_SUBMIT and interaction.parent:
        metadata["triggering_interaction_metadata"] = _metadata(interaction.parent)
    if interaction.original is not None:
        metadata["original_response_message_id"] = str(interaction.original.id)
    return metadata


def _used_message(interaction: Interaction) -> Message:
    if interaction.message is None:
        text = "There is no message to update."
        raise invalid("type", "INTERACTION_CALLBACK_TYPE_INVALID", text)
    return interaction.message


def _private(body: Json) -> bool:
    return bool(int(body.get("flags") or 0) & MessageFlag.EPHEMERAL)


def _refuse_layout(data: Json) -> None:
    """Refuse what only the answer that follows may say: that it consists of components."""
    if int(data.get("flags") or 0) & MessageFlag.IS_COMPONENTS_V2:
        text = "Only EPHEMERAL can be set when an answer is deferred."
        raise invalid("data.flags", "INTERACTION_CALLBACK_INVALID_FLAGS", text)


def _without_privacy(body: Json) -> Json:
    """Drop the flag that was fixed when the answer was deferred."""
    if not _private(body):
        return body
    return {**body, "flags": int(body["flags"]) & ~MessageFlag.EPHEMERAL}


def _checked_choices(data: Json) -> list[Json]:
    errors = FormErrors()
    choices = data.get("choices") or []
    check_choices(choices, "data.choices", errors)
    errors.check()
    return list(choices)
