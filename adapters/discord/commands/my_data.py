"""What is stored about a person: shown to them, given to them as a file, or deleted."""

import re
from typing import Any, Protocol, Self, cast

import discord

from adapters.discord.commands.components import contained
from adapters.discord.inbound import DIRECT, PLATFORM, location_of
from adapters.discord.replies.ephemeral import Interaction, in_time, respond, tell
from adapters.features.about import in_words
from adapters.features.data_export import DataExport, File
from adapters.intake.front_desk import FrontDesk
from core import i18n
from core.errors import BotError
from core.privacy.personal_data import PersonalData, StoredAmounts


class MyData:
    """Shows, gives and deletes what is stored about who asks for it, to them alone."""

    def __init__(self, desk: FrontDesk, personal: PersonalData, own_data: DataExport) -> None:
        self._desk = desk
        self._personal = personal
        self._own_data = own_data

    async def show(self, interaction: Interaction) -> None:
        """Show how much is stored, with buttons that give it or delete it."""

        async def counted() -> StoredAmounts:
            return await self._personal.stored(await self._pseudonyms(interaction))

        try:
            stored = await in_time(interaction, counted())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        view = discord.ui.View(timeout=None).add_item(ExportMyData())
        if stored.anything:
            view.add_item(ForgetMe())
        await tell(interaction, in_words(stored, "Discord"), view=view)

    async def export(self, interaction: Interaction) -> None:
        """Give the asker, and no one else, all that is stored about them, as a file."""

        async def made() -> File:
            theirs = await self._pseudonyms(interaction)
            return await self._own_data.file(theirs, location_of(interaction))

        try:
            file = await in_time(interaction, made())
        except BotError as error:
            await tell(interaction, error.user_message)
        else:
            await tell(interaction, i18n.text("privacy-export-sent"), file=file)

    async def forget(self, interaction: Interaction) -> None:
        """Delete what is stored about the asker, in all servers that we share."""

        async def forgotten() -> None:
            await self._personal.forget(await self._pseudonyms(interaction))

        try:
            await in_time(interaction, forgotten())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        if interaction.response.is_done():
            await tell(interaction, i18n.text("privacy-deleted"))
        else:
            await respond(
                lambda: interaction.response.edit_message(
                    content=i18n.text("privacy-deleted"), view=None
                )
            )

    async def _pseudonyms(self, interaction: Interaction) -> list[str]:
        """Return the pseudonyms a person may have: one a server, and one for direct messages.

        Servers that the bot has left, or that other processes connect, are among them as long as
        an event of theirs is kept; raises StoreError when the database fails.
        """
        known = await self._personal.workspaces(PLATFORM)
        workspaces = {DIRECT, *known, *(str(guild.id) for guild in interaction.client.guilds)}
        user = str(interaction.user.id)
        return [self._desk.pseudonym(PLATFORM, workspace, user) for workspace in sorted(workspaces)]


class MyDataHolder(Protocol):
    """The client that a click comes in by."""

    my_data: MyData


class ForgetMe(discord.ui.DynamicItem[discord.ui.Button[Any]], template=re.compile("gl:forget-me")):
    """Deletes what is stored about the user who clicks it."""

    def __init__(self) -> None:
        style = discord.ButtonStyle.danger
        super().__init__(
            discord.ui.Button(
                label=i18n.text("privacy-delete-all"), style=style, custom_id="gl:forget-me"
            )
        )

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, __: discord.ui.Item[Any], ___: re.Match[str], /
    ) -> Self:
        """Return the button; there is nothing to read from its custom id."""
        return cls()

    async def callback(self, interaction: Interaction) -> None:
        """Delete what is stored."""
        my_data = cast("MyDataHolder", interaction.client).my_data
        await contained(interaction, lambda: my_data.forget(interaction))


class ExportMyData(
    discord.ui.DynamicItem[discord.ui.Button[Any]], template=re.compile("gl:export-my-data")
):
    """Gives its clicker a file with all that is stored about them."""

    def __init__(self) -> None:
        label = i18n.text("privacy-export")
        super().__init__(discord.ui.Button(label=label, custom_id="gl:export-my-data"))

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, __: discord.ui.Item[Any], ___: re.Match[str], /
    ) -> Self:
        """Return the button; there is nothing to read from its custom id."""
        return cls()

    async def callback(self, interaction: Interaction) -> None:
        """Give what is stored."""
        my_data = cast("MyDataHolder", interaction.client).my_data
        await contained(interaction, lambda: my_data.export(interaction))
