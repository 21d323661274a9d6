"""`/course`: what staff set for a channel or its category, and admins for the whole server."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from enum import StrEnum
from typing import Any, Literal

import discord
from discord import app_commands
from discord.ext import commands

from adapters.access.standing import Presence
from adapters.discord.commands.policies import Extent, PolicyCommands, RadarCommands
from adapters.discord.commands.staff_commands import StaffCommands
from adapters.discord.commands.translator import described
from adapters.discord.inbound import PLATFORM, category_of, is_guest, location_of, presence_of
from adapters.discord.replies.ephemeral import Interaction, in_time, tell, tell_all
from adapters.discord.staff_clicks import StaffClicks
from adapters.features.channel_settings import ChannelSettings
from adapters.features.command_names import CommandNames
from adapters.features.policy_settings import PolicySettings
from adapters.features.radar_views import RadarViews
from adapters.features.staff.settings import StaffSettings
from adapters.markdown.visible import visible
from core.errors import BotError, RequestError
from core.i18n import Message, text
from core.models import AnswerLength
from core.storage.channels.rules import Askers, FollowUps, Rules
from core.storage.channels.store import Place

logger = logging.getLogger(__name__)

_MOST_CHOICES = 25
_DONE: dict[str, Message] = {
    "this channel": Message("staff-done-channel"),
    "this category": Message("staff-done-category"),
    "this server": Message("staff-done-server"),
}


def _choices(kind: type[StrEnum]) -> list[app_commands.Choice[str]]:
    """Return the values of an enumeration as what can be chosen, in plain words."""
    return [app_commands.Choice(name=v.replace("-", " "), value=v) for v in kind]


@app_commands.guild_only()
@app_commands.default_permissions(manage_guild=True)
class CourseCommands(
    commands.GroupCog, group_name="course", group_description=described("describe-course")
):
    """Sets rules for the place that the command is given in.

    The permission only tells Discord's client to whom the command is shown at first: who may use
    it is checked with each use.
    """

    def __init__(
        self,
        settings: ChannelSettings,
        staff: StaffSettings,
        clicks: StaffClicks,
        policies: PolicySettings,
        radar: RadarViews,
        *,
        names: CommandNames,
    ) -> None:
        self._settings = settings
        self._clicks = clicks
        self.menu = app_commands.ContextMenu(
            name=described("describe-verify-answer"), callback=self._verify
        )
        app_commands.default_permissions(manage_guild=True)(self.menu)
        app_commands.guild_only(self.menu)
        self._staff = staff
        group = self.app_command
        assert group is not None, "a group has one"
        group.name = names.course
        group.add_command(StaffCommands(staff, self._suggested))
        self._policies = PolicyCommands(policies, self._admit, place_at)
        group.add_command(self._policies)
        group.add_command(RadarCommands(radar, self._admit))

    @commands.Cog.listener("on_interaction")
    async def form_sent(self, interaction: Interaction) -> None:
        """Take in what was typed into a form, also one of before a restart."""
        await self._policies.form_sent(interaction)

    @app_commands.command(description=described("describe-hints"))
    async def hints(self, interaction: Interaction) -> None:
        """Ask for an assignment to which students get hints alone."""
        await self._policies.open_form(interaction)

    async def interaction_check(self, interaction: Interaction, /) -> bool:
        """Return whether there is anything to set up: the bot has to be on the server itself."""
        if is_guest(interaction):
            await tell(interaction, text("discord-not-a-member-staff"))
            return False
        return True

    @app_commands.command(description=described("describe-queue"))
    @app_commands.describe(cards=described("describe-queue-cards"))
    async def queue(
        self, interaction: Interaction, cards: Literal["post here", "stop"] | None = None
    ) -> None:
        """Show what students passed on, or choose where that is posted."""
        doing = {"post here": self._clicks.post_queue, "stop": self._clicks.stop_queue}
        showing = self._clicks.queue if cards is None else doing[cards]
        await self._told(interaction, showing(interaction))

    @app_commands.command(description=described("describe-verified"))
    async def verified(self, interaction: Interaction) -> None:
        """Show what the staff verified, to be edited or retired."""
        await self._told(interaction, self._clicks.verified(interaction))

    async def _verify(self, interaction: Interaction, message: discord.Message) -> None:
        """Open the form in which an answer of the bot is corrected."""
        await self._told(interaction, self._clicks.verify_message(interaction, message.id))

    async def _told(self, interaction: Interaction, doing: Coroutine[Any, Any, None]) -> None:
        """Do what staff ask for; others get a refusal."""
        try:
            await doing
        except BotError as error:
            await tell(interaction, error.user_message)

    @app_commands.command(description=described("describe-show"))
    async def show(self, interaction: Interaction) -> None:
        """Show the settings that hold here."""
        await self._do(interaction, "this channel", lambda: self._lines(interaction))

    @app_commands.command(description=described("describe-bind"))
    @app_commands.describe(
        course=described("describe-bind-course"), extent=described("describe-where")
    )
    @app_commands.rename(extent="where")
    async def bind(
        self, interaction: Interaction, course: str, extent: Extent = "this channel"
    ) -> None:
        """Choose the course that is answered from."""
        changes = {"course_id": course, "excluded": False}

        async def bound() -> list[str]:
            location = location_of(interaction)
            if refusal := await self._settings.unknown_course(location, course):
                raise RequestError(user_message=refusal)
            return await self._changed(interaction, extent, changes)

        await self._do(interaction, extent, bound)

    @bind.autocomplete("course")
    async def _courses(
        self, interaction: Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return await self._suggested(interaction, typed)

    async def _suggested(
        self, interaction: Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        """Return the courses that fit what staff typed so far; others are shown none."""
        try:
            await self._staff.admit(presence_of(interaction))
            fitting = await self._settings.courses_like(location_of(interaction), typed)
        except BotError as error:
            logger.warning("no courses could be suggested: %s", error)
            return []
        return [
            app_commands.Choice(name=f"{visible(title)} ({course_id})"[:100], value=course_id)
            for course_id, title in fitting[:_MOST_CHOICES]
        ]

    @app_commands.command(description=described("describe-unbind"))
    @app_commands.describe(extent=described("describe-unbind-where"))
    @app_commands.rename(extent="where")
    async def unbind(self, interaction: Interaction, extent: Extent = "this channel") -> None:
        """Take the choice of a course back."""
        await self._change(interaction, extent, {"course_id": None})

    @app_commands.command(description=described("describe-switch"))
    @app_commands.describe(
        state=described("describe-switch-state"), extent=described("describe-where")
    )
    @app_commands.rename(extent="where")
    async def switch(
        self,
        interaction: Interaction,
        state: Literal["off", "on"],
        extent: Extent = "this channel",
    ) -> None:
        """Say nothing here, or answer again."""
        await self._change(interaction, extent, {"excluded": state == "off"})

    @app_commands.command(description=described("describe-pause"))
    async def pause(self, interaction: Interaction) -> None:
        """Answer only who addresses the bot in this thread or channel, until `resume`."""
        await self._attend(interaction, self._staff.pause)

    @app_commands.command(description=described("describe-resume"))
    async def resume(self, interaction: Interaction) -> None:
        """Answer in this thread or channel without a mention again."""
        await self._attend(interaction, self._staff.resume)

    async def _attend(
        self,
        interaction: Interaction,
        change: Callable[[Presence, Place], Awaitable[str]],
    ) -> None:
        """Change whom the bot listens to right here, and show it to everybody here."""
        who = presence_of(interaction)
        here = Place(PLATFORM, str(interaction.guild_id), str(interaction.channel_id))

        async def changed() -> str:
            return await change(who, here)

        try:
            shown = await in_time(interaction, changed())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        await tell_all(interaction, shown)

    @app_commands.command(name="set", description=described("describe-set"))
    @app_commands.describe(
        follow_ups=described("describe-set-follow-ups"),
        askers=described("describe-set-askers"),
        length=described("describe-set-length"),
        private=described("describe-set-private"),
        auto_answer=described("describe-set-auto-answer"),
        extent=described("describe-where"),
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
            await tell(interaction, text("settings-nothing"))
            return
        await self._change(interaction, extent, asked)

    async def _change(
        self, interaction: Interaction, extent: Extent, changes: dict[str, Any]
    ) -> None:
        await self._do(interaction, extent, lambda: self._changed(interaction, extent, changes))

    async def _changed(
        self, interaction: Interaction, extent: Extent, changes: dict[str, Any]
    ) -> list[str]:
        place = place_at(interaction, extent)
        assert place is not None, "else nobody is admitted"
        await self._settings.change(place, location_of(interaction), changes)
        return [str(_DONE[extent]), *await self._lines(interaction)]

    async def _do(
        self, interaction: Interaction, extent: Extent, do: Callable[[], Awaitable[list[str]]]
    ) -> None:
        """Do what staff ask for, and show the result; others get a refusal."""

        async def done() -> list[str]:
            await self._admit(interaction, extent)
            return await do()

        try:
            lines = await in_time(interaction, done())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        await tell(interaction, "\n".join(lines))

    async def _admit(self, interaction: Interaction, extent: Extent) -> None:
        """Raise RequestError unless the user may set something for so wide a place."""
        who, place = presence_of(interaction), place_at(interaction, extent)
        if place is None:
            raise RequestError(user_message=text("discord-no-category"))
        if extent == "this server":
            await self._staff.admit_admin(who)
            return
        places = who.location.places
        wider = replace(who.location, places=places[places.index(place.place) :])
        await self._staff.admit(replace(who, location=wider))

    async def _lines(self, interaction: Interaction) -> list[str]:
        """Return what holds where the command was given, a line each."""
        return await self._settings.lines(location_of(interaction))


def place_at(interaction: Interaction, extent: Extent) -> Place | None:
    """Return the place that an extent means; None: there is no such category."""
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
