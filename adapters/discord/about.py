"""What people ask about the bot itself: `/help`, `/sources`, `/about`, `/forget-me` ..."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from adapters.about import Facts, asked_here, in_words
from adapters.access.whereabouts import Here
from adapters.desk import FrontDesk
from adapters.discord.clicks import ForgetMe, pseudonyms
from adapters.discord.inbound import heard_command, location_of
from adapters.discord.questions import Questions
from adapters.discord.telling import Interaction, in_time, tell
from adapters.own_data import File, OwnData
from core import i18n
from core.errors import BotError
from core.models import MAX_QUESTION, MIN_QUESTION
from core.personal import PersonalData, Stored


class About(commands.Cog):
    """Answers questions about the bot, to the asker alone."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        facts: Facts,
        personal: PersonalData,
        own_data: OwnData,
        questions: Questions,
    ) -> None:
        self._desk = desk
        self._facts = facts
        self._personal = personal
        self._own_data = own_data
        self._questions = questions

    @app_commands.command(name="help", description="How to ask, or a question about me")
    @app_commands.describe(question="What you want to know about me")
    async def help(
        self,
        interaction: Interaction,
        question: app_commands.Range[str, MIN_QUESTION, MAX_QUESTION] | None = None,
    ) -> None:
        """Tell how to ask, or answer from the handbook."""
        if question is None:
            await tell(interaction, i18n.text("discord-how-to-ask"))
            return
        heard = heard_command(interaction, asked_here(question, "Discord"))
        heard = replace(heard, course=self._facts.handbook)
        await self._questions.take(interaction, heard, private=True)

    @app_commands.command(description="List what I have read")
    async def sources(self, interaction: Interaction) -> None:
        """List the titles of the course that this channel is answered from."""
        await self._tell(interaction, self._facts.sources)

    @app_commands.command(description="Version, model and edition")
    async def about(self, interaction: Interaction) -> None:
        """Tell what answers here."""
        await self._tell(interaction, self._facts.about)

    @app_commands.command(name="forget-me", description="See and delete what is stored about you")
    async def forget_me(self, interaction: Interaction) -> None:
        """Show what is stored about the asker, with a button that deletes it."""

        async def counted() -> Stored:
            theirs = await pseudonyms(self._desk, self._personal, interaction)
            return await self._personal.stored(theirs)

        try:
            stored = await in_time(interaction, counted())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        view = discord.ui.View(timeout=None).add_item(ForgetMe()) if stored.anything else None
        await tell(interaction, in_words(stored, "Discord"), view=view)

    @app_commands.command(
        name="export-my-data", description="Get what is stored about you, as a file"
    )
    async def export_my_data(self, interaction: Interaction) -> None:
        """Give the asker, and nobody else, all that is stored about them."""

        async def made() -> File:
            theirs = await pseudonyms(self._desk, self._personal, interaction)
            return await self._own_data.file(theirs, location_of(interaction))

        try:
            file = await in_time(interaction, made())
        except BotError as error:
            await tell(interaction, error.user_message)
        else:
            await tell(interaction, i18n.text("privacy-export-sent"), file=file)

    async def _tell(
        self, interaction: Interaction, told: Callable[[Here], Coroutine[Any, Any, str]]
    ) -> None:
        async def text() -> str:
            return await told(await self._desk.here(location_of(interaction)))

        try:
            await tell(interaction, await in_time(interaction, text()))
        except BotError as error:
            await tell(interaction, error.user_message)
