"""What people ask about the bot itself: `/glossator help`, `sources`, `about`, `data`."""

from dataclasses import replace
from typing import Any

from discord import app_commands
from discord.ext import commands

from adapters.discord.commands.my_data import MyData
from adapters.discord.commands.questions import Questions
from adapters.discord.commands.translator import described, localized
from adapters.discord.inbound import heard_command, location_of
from adapters.discord.replies.ephemeral import Interaction, in_time, tell
from adapters.features.about import ABOUT_COMMANDS, AboutCommand, Facts, asked_here
from adapters.features.command_names import CommandNames
from adapters.intake.front_desk import FrontDesk
from core import i18n
from core.errors import BotError
from core.models import MAX_QUESTION, MIN_QUESTION


class About(
    commands.GroupCog,
    group_name="glossator",
    group_description=described("describe-glossator"),
):
    """Answers questions about the bot, to the asker alone."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        facts: Facts,
        my_data: MyData,
        questions: Questions,
        names: CommandNames,
    ) -> None:
        self._desk = desk
        self._facts = facts
        self._my_data = my_data
        self._questions = questions
        group = self.app_command
        assert group is not None, "a group has one"
        group.name = names.glossator
        for command in ABOUT_COMMANDS.values():
            group.add_command(self._command(command))

    @app_commands.command(description=described("describe-help"))
    @app_commands.describe(question=described("describe-help-question"))
    async def help(
        self,
        interaction: Interaction,
        question: app_commands.Range[str, MIN_QUESTION, MAX_QUESTION] | None = None,
    ) -> None:
        """Say how to ask, or answer from the handbook."""
        if question is None:
            await tell(interaction, i18n.text("discord-how-to-ask"))
            return
        incoming = heard_command(interaction, asked_here(question, "Discord"))
        incoming = replace(incoming, course=self._facts.handbook)
        await self._questions.take(interaction, incoming, private=True)

    @app_commands.command(description=described("describe-data"))
    async def data(self, interaction: Interaction) -> None:
        """Show what is stored about the asker, with buttons that give it to them or delete it."""
        await self._my_data.show(interaction)

    def _command(self, command: AboutCommand) -> app_commands.Command[Any, ..., None]:
        async def callback(interaction: Interaction) -> None:
            async def text() -> str:
                return await command.answer(
                    self._facts, await self._desk.here(location_of(interaction))
                )

            try:
                await tell(interaction, await in_time(interaction, text()))
            except BotError as error:
                await tell(interaction, error.user_message)

        return app_commands.Command(
            name=command.name, description=localized(command.description), callback=callback
        )
