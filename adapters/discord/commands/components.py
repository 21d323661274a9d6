"""Buttons and menus that find what they do by their custom ids, also after a restart."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self, cast
from uuid import UUID

import discord

from adapters import nearest_sections
from adapters.access.choice import NAME
from adapters.buttons import ANY, REST_OF, Button, parsed
from adapters.discord.replies.ephemeral import Interaction, tell
from adapters.intake.unreadable import Unreadable
from core import i18n
from core.errors import BotError

if TYPE_CHECKING:
    from adapters.discord.commands.actions import ButtonActions


class Clickable(Protocol):
    """The client that a click comes in by."""

    clicks: "ButtonActions"
    unreadable: Unreadable


async def contained(interaction: Interaction, doing: Callable[[], Awaitable[None]]) -> None:
    """Do what a click asks for; one that cannot be read is noted, and its clicker notified."""
    with i18n.use_locale(str(interaction.locale)):
        try:
            await doing()
        except Exception as error:  # noqa: BLE001 - a click of any form is answered
            client = cast("Clickable", interaction.client)
            client.unreadable.note("INTERACTION_CREATE", interaction.id, error)
            await tell(interaction, BotError.user_message)


class AnswerButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=ANY):
    """A button under an answer, made again from its custom id when it is clicked."""

    def __init__(self, item: discord.ui.Button[Any], button: Button, request_id: UUID) -> None:
        super().__init__(item)
        self._button = button
        self._request_id = request_id

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the button that a custom id names."""
        button = cast("discord.ui.Button[Any]", item)
        return cls(button, Button(match["button"]), UUID(match["request"]))

    async def callback(self, interaction: Interaction) -> None:
        """Do what the button says."""
        clicks = cast("Clickable", interaction.client).clicks
        await contained(
            interaction, lambda: clicks.clicked(interaction, self._button, self._request_id)
        )


class RestMenu(discord.ui.DynamicItem[discord.ui.Select[Any]], template=REST_OF):
    """The menu of what has no button of its own, made again when something is chosen."""

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the menu that a custom id names."""
        return cls(cast("discord.ui.Select[Any]", item))

    async def callback(self, interaction: Interaction) -> None:
        """Do what was chosen, as its button would."""
        clicks = cast("Clickable", interaction.client).clicks

        async def choose() -> None:
            name = cast("Mapping[str, Any]", interaction.data or {})["values"][0]
            if (chosen := parsed(str(name))) is not None:
                await clicks.clicked(interaction, *chosen)

        await contained(interaction, choose)


class CourseMenu(discord.ui.DynamicItem[discord.ui.Select[Any]], template=NAME):
    """A menu of courses, made again from its custom id when something is chosen."""

    def __init__(self, item: discord.ui.Select[Any], request_id: UUID) -> None:
        super().__init__(item)
        self._request_id = request_id

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the menu that a custom id names."""
        return cls(cast("discord.ui.Select[Any]", item), UUID(match["request"]))

    async def callback(self, interaction: Interaction) -> None:
        """Answer from the course that was chosen."""
        clicks = cast("Clickable", interaction.client).clicks

        async def choose() -> None:
            course_id = cast("Mapping[str, Any]", interaction.data or {})["values"][0]
            await clicks.chosen(interaction, self._request_id, str(course_id))

        await contained(interaction, choose)


class SectionButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=nearest_sections.NAME):
    """A section near to a question that was refused, or one of the questions that it may be.

    It is made again when it is clicked.
    """

    def __init__(
        self, item: discord.ui.Button[Any], kind: str, request_id: UUID, number: int
    ) -> None:
        super().__init__(item)
        self._kind = kind
        self._request_id = request_id
        self._number = number

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the button that a custom id names."""
        button = cast("discord.ui.Button[Any]", item)
        return cls(button, match["kind"], UUID(match["request"]), int(match["number"]))

    async def callback(self, interaction: Interaction) -> None:
        """Ask within the section, or the question."""
        clicks = cast("Clickable", interaction.client).clicks
        is_choice = self._kind == nearest_sections.CHOICE
        doing = clicks.question_chosen if is_choice else clicks.section_chosen
        await contained(interaction, lambda: doing(interaction, self._request_id, self._number))
