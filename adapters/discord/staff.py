"""`/course`: what staff set for a channel, its category or the whole server."""

from enum import StrEnum
from typing import Any, Literal

import discord
from discord import app_commands
from discord.ext import commands

from adapters.channel_settings import NOTHING_TO_SET, ChannelSettings
from adapters.discord.inbound import PLATFORM, category_of, where
from adapters.discord.telling import Interaction, in_time, tell
from adapters.guide import Guide
from core.channels.rules import Askers, FollowUps, Rules
from core.channels.store import Place
from core.errors import BotError
from core.models import AnswerLength

Extent = Literal["this channel", "this category", "this server"]


def _choices(kind: type[StrEnum]) -> list[app_commands.Choice[str]]:
    """Return the values of an enumeration as what can be chosen, in plain words."""
    return [app_commands.Choice(name=v.replace("-", " "), value=v) for v in kind]


@app_commands.guild_only()
@app_commands.default_permissions(manage_channels=True)
class CourseCommands(commands.GroupCog, group_name="course", group_description="Set me up here"):
    """Sets rules for the place that the command is given in."""

    def __init__(self, settings: ChannelSettings, guide: Guide) -> None:
        self._settings = settings
        self._guide = guide

    @app_commands.command(description="Show what holds in this channel")
    async def show(self, interaction: Interaction) -> None:
        """Tell what holds here."""
        lines = await in_time(interaction, self._lines(interaction))
        await tell(interaction, "\n".join(lines))

    @app_commands.command(description="Answer from this course here")
    @app_commands.describe(course="The course's id", extent="Where it holds")
    @app_commands.rename(extent="where")
    async def bind(
        self, interaction: Interaction, course: str, extent: Extent = "this channel"
    ) -> None:
        """Choose the course that is answered from."""
        if refusal := await in_time(interaction, self._settings.unknown_course(course)):
            await tell(interaction, refusal)
            return
        await self._change(interaction, extent, {"course_id": course, "excluded": False})

    @bind.autocomplete("course")
    async def _courses(self, _: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        fitting = [
            app_commands.Choice(name=f"{mark.course.title} ({course_id})"[:100], value=course_id)
            for course_id, mark in sorted((await self._guide.courses()).items())
            if typed.casefold() in f"{course_id} {mark.course.title}".casefold()
        ]
        return fitting[:25]

    @app_commands.command(description="Forget which course was chosen here")
    @app_commands.describe(extent="Where it was chosen")
    @app_commands.rename(extent="where")
    async def unbind(self, interaction: Interaction, extent: Extent = "this channel") -> None:
        """Take the choice of a course back."""
        await self._change(interaction, extent, {"course_id": None})

    @app_commands.command(description="Switch me off or on here")
    @app_commands.describe(state="Whether I answer", extent="Where it holds")
    @app_commands.rename(extent="where")
    async def switch(
        self,
        interaction: Interaction,
        state: Literal["off", "on"],
        extent: Extent = "this channel",
    ) -> None:
        """Say nothing here, or answer again."""
        await self._change(interaction, extent, {"excluded": state == "off"})

    @app_commands.command(name="set", description="Set how I behave here")
    @app_commands.describe(
        follow_ups="When threads are answered without a mention",
        askers="Who is answered",
        length="How long answers are",
        private="Whether /ask shows its answer to the asker alone",
        auto_answer="Whether new posts of this forum are answered without a mention",
        extent="Where it holds",
    )
    @app_commands.choices(
        follow_ups=_choices(FollowUps), askers=_choices(Askers), length=_choices(AnswerLength)
    )
    @app_commands.rename(extent="where")
    async def set_rules(
        self,
        interaction: Interaction,
        follow_ups: str | None = None,
        askers: str | None = None,
        length: str | None = None,
        private: bool | None = None,
        auto_answer: bool | None = None,
        extent: Extent = "this channel",
    ) -> None:
        """Change what is given, and leave the rest as it is."""
        asked = Rules(
            follow_ups=FollowUps(follow_ups) if follow_ups else None,
            askers=Askers(askers) if askers else None,
            answer_length=AnswerLength(length) if length else None,
            private=private,
            auto_answer=auto_answer,
        ).said()
        if not asked:
            await tell(interaction, NOTHING_TO_SET)
            return
        await self._change(interaction, extent, asked)

    async def _change(
        self, interaction: Interaction, extent: Extent, changes: dict[str, Any]
    ) -> None:
        place = _place(interaction, extent)
        if place is None:
            await tell(interaction, "This channel is in no category.")
            return
        if not _may_set(interaction, extent):
            await tell(interaction, f"You may not manage {extent}.")
            return

        async def changed() -> list[str]:
            await self._settings.change(place, changes)
            return await self._lines(interaction)

        try:
            lines = await in_time(interaction, changed())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        await tell(interaction, f"Done, for {extent}.\n" + "\n".join(lines))

    async def _lines(self, interaction: Interaction) -> list[str]:
        """Return what holds where the command was given, a line each."""
        assert interaction.channel_id is not None
        here = where(interaction.channel, interaction.guild_id, interaction.channel_id)
        return await self._settings.lines(PLATFORM, here.workspace, here.places)


def _place(interaction: Interaction, extent: Extent) -> Place | None:
    channel = interaction.channel
    workspace = str(interaction.guild_id)
    if extent == "this server":
        return Place(PLATFORM, workspace, workspace)
    if extent == "this category":
        category = category_of(channel)
        return None if category is None else Place(PLATFORM, workspace, str(category))
    if isinstance(channel, discord.Thread):
        return Place(PLATFORM, workspace, str(channel.parent_id))
    return Place(PLATFORM, workspace, str(interaction.channel_id))


def _may_set(interaction: Interaction, extent: Extent) -> bool:
    """Return whether somebody who may manage this channel may manage the wider place, too."""
    member, channel = interaction.user, interaction.channel
    assert isinstance(member, discord.Member), "the command is for servers only"
    if extent == "this server":
        return member.guild_permissions.manage_channels
    category_id = category_of(channel)
    if extent == "this category" and category_id is not None:
        category = member.guild.get_channel(category_id)
        return category is not None and category.permissions_for(member).manage_channels
    return True
