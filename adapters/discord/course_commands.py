"""`/course`: what staff set for a channel or its category, and admins for the whole server."""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, Literal, cast

import discord
from discord import app_commands
from discord.ext import commands

from adapters.actions.command_names import CommandNames
from adapters.actions.reports import File, RadarViews
from adapters.actions.settings import (
    LONGEST_NAME,
    LONGEST_TEXT,
    AssignmentForm,
    ChannelSettings,
    PolicyForm,
    PolicySettings,
    StaffSettings,
)
from adapters.chat.markdown.layout import visible
from adapters.chat.whereabouts import Presence
from adapters.discord.commands import described
from adapters.discord.inbound import PLATFORM, category_of, is_guest, location_of, presence_of
from adapters.discord.members import member_of
from adapters.discord.notices import Interaction, in_time, respond, tell, tell_all
from adapters.discord.staff_presses import StaffClicks
from core.domain import AnswerLength, PolicyMode, i18n
from core.domain.errors import BotError, RequestError
from core.domain.i18n import Message, text, use_locale
from core.storage.access import NamedStaff, StaffKind
from core.storage.channels import Askers, FollowUps, Place, Rules

logger = logging.getLogger(__name__)


Choices = list[app_commands.Choice[str]]
Extent = Literal["this channel", "this category", "this server"]
Admit = Callable[[Interaction, Extent], Awaitable[None]]
"""Raises RequestError unless a user may set something for so wide a place."""
PlaceAt = Callable[[Interaction, Extent], Place | None]
_FORM = "gl:hints"
_OPEN = 900.0
"""Seconds after which discord.py forgets that it showed a form."""
_POLICIES_MOST_CHOICES = 25
_LONGEST_MESSAGE = 2_000
_MODES = [app_commands.Choice(name=mode.value, value=mode.value) for mode in PolicyMode]


class HintsForm(discord.ui.Modal):
    """Asks for an assignment; what is sent back arrives at `form_in`, also after a restart."""

    def __init__(self) -> None:
        super().__init__(title=text("policy-form-title"), timeout=_OPEN, custom_id=_FORM)
        long = discord.TextStyle.paragraph
        for name, label, style, longest, required in (
            ("name", text("policy-form-name"), discord.TextStyle.short, LONGEST_NAME, True),
            ("text", text("policy-form-text"), long, LONGEST_TEXT, True),
            ("sections", text("policy-form-sections"), long, 500, False),
            ("until", text("policy-form-until"), discord.TextStyle.short, 20, False),
            ("solution", text("policy-form-solution"), long, LONGEST_TEXT, False),
        ):
            field: discord.ui.TextInput[HintsForm] = discord.ui.TextInput(
                label=label, custom_id=name, style=style, max_length=longest, required=required
            )
            self.add_item(field)


def form_in(interaction: Interaction) -> AssignmentForm | None:
    """Return what a filled-in form says; None: it is another one."""
    data = cast("Mapping[str, Any]", interaction.data or {})
    if interaction.type is not discord.InteractionType.modal_submit:
        return None
    if data.get("custom_id") != _FORM:
        return None
    typed: dict[str, Any] = dict(_typed(data.get("components", ())))
    return AssignmentForm(**typed)


def _typed(components: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for component in components:
        if "value" in component:
            yield str(component["custom_id"]), str(component["value"])
        inner = component.get("component")
        yield from _typed([*component.get("components", ()), *([inner] if inner else [])])


class PolicyCommands(app_commands.Group):
    """Says how questions are answered somewhere."""

    def __init__(self, policies: PolicySettings, admit: Admit, place_at: PlaceAt) -> None:
        """Prepare the commands."""
        super().__init__(name="policy", description=described("describe-policy"))
        self._policies = policies
        self._admit = admit
        self._place_at = place_at

    async def open_form(self, interaction: Interaction) -> None:
        """Show the form for an assignment to staff."""
        try:
            await self._admit(interaction, "this channel")
            await self._policies.course(presence_of(interaction))
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        await respond(lambda: interaction.response.send_modal(HintsForm()))

    async def form_sent(self, interaction: Interaction) -> None:
        """Keep what a form for an assignment says; any other interaction does nothing."""
        form = form_in(interaction)
        if form is None:
            return
        with use_locale(str(interaction.locale)):

            async def kept() -> str:
                await self._admit(interaction, "this channel")
                return await self._policies.set_assignment(presence_of(interaction), form)

            await _answer(interaction, kept())

    @app_commands.command(name="list", description=described("describe-policy-list"))
    async def show(self, interaction: Interaction) -> None:
        """Show the policies of the course that answers here."""

        async def listed() -> str:
            await self._admit(interaction, "this channel")
            lines = await self._policies.lines(presence_of(interaction))
            return "\n".join(f"- {line}" for line in lines)

        await _answer(interaction, listed())

    @app_commands.command(name="set", description=described("describe-policy-set"))
    @app_commands.describe(
        mode=described("describe-policy-mode"),
        section=described("describe-policy-section"),
        begin=described("describe-policy-from"),
        until=described("describe-policy-until"),
        extent=described("describe-where"),
    )
    @app_commands.choices(mode=_MODES)
    @app_commands.rename(extent="where", begin="from")
    async def set_policy(
        self,
        interaction: Interaction,
        mode: str,
        section: app_commands.Range[str, 1, 100] | None = None,
        begin: app_commands.Range[str, 1, 20] | None = None,
        until: app_commands.Range[str, 1, 20] | None = None,
        extent: Extent = "this channel",
    ) -> None:
        """Have questions in a place answered by a mode."""

        async def kept() -> str:
            await self._admit(interaction, extent)
            form = PolicyForm(PolicyMode(mode), section or "", begin or "", until or "")
            place = self._place_at(interaction, extent)
            return await self._policies.set_place(presence_of(interaction), place, form)

        await _answer(interaction, kept())

    @app_commands.command(name="remove", description=described("describe-policy-remove"))
    @app_commands.describe(policy=described("describe-policy-which"))
    async def remove(
        self, interaction: Interaction, policy: app_commands.Range[str, 1, 40]
    ) -> None:
        """Remove a policy that was set here."""

        async def removed() -> str:
            await self._admit(interaction, "this channel")
            return await self._policies.remove(presence_of(interaction), policy)

        await _answer(interaction, removed())

    @remove.autocomplete("policy")
    async def _removable(self, interaction: Interaction, typed: str) -> Choices:
        try:
            await self._admit(interaction, "this channel")
            found = await self._policies.removable(presence_of(interaction))
        except BotError:
            return []
        return [
            app_commands.Choice(name=line.replace("`", "")[:100], value=key)
            for key, line in found
            if typed.casefold() in line.casefold()
        ][:_POLICIES_MOST_CHOICES]


class RadarCommands(app_commands.Group):
    """Shows what a course was asked, and has it posted every week."""

    def __init__(self, radar: RadarViews, admit: Admit) -> None:
        """Prepare the commands."""
        super().__init__(name="radar", description=described("describe-radar"))
        self._radar = radar
        self._admit = admit

    @app_commands.command(name="show", description=described("describe-radar-show"))
    async def show(self, interaction: Interaction) -> None:
        """Show the report of the latest complete week."""

        async def shown() -> Any:
            await self._admit(interaction, "this channel")
            return await self._radar.shown(presence_of(interaction))

        try:
            post = await in_time(interaction, shown())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        await tell(interaction, shortened(post.text), file=File(post.picture_name, post.picture))

    @app_commands.command(name="post", description=described("describe-radar-post"))
    async def post(self, interaction: Interaction) -> None:
        """Have it posted into this channel every week."""

        async def chosen() -> str:
            await self._admit(interaction, "this channel")
            workspace, channel = str(interaction.guild_id), str(interaction.channel_id)
            here = Place(PLATFORM, workspace, channel)
            who = presence_of(interaction)
            locale = str(interaction.locale)
            return await self._radar.post_here(who, here, enterprise=None, locale=locale)

        await _answer(interaction, chosen())

    @app_commands.command(name="stop", description=described("describe-radar-stop"))
    async def stop(self, interaction: Interaction) -> None:
        """Have it posted no more."""

        async def stopped() -> str:
            await self._admit(interaction, "this channel")
            return await self._radar.stop(presence_of(interaction))

        await _answer(interaction, stopped())


def shortened(markdown: str) -> str:
    """Return what a message holds of a text: whole lines."""
    if len(markdown) <= _LONGEST_MESSAGE:
        return markdown
    return markdown[: _LONGEST_MESSAGE - 2].rpartition("\n")[0] + "\n…"


async def _answer(interaction: Interaction, answering: Coroutine[Any, Any, str]) -> None:
    try:
        shown = await in_time(interaction, answering)
    except BotError as error:
        shown = error.user_message
    await tell(interaction, shortened(shown))


Person = discord.Member | discord.User


class StaffCommands(app_commands.Group):
    """Names staff for the server, or for one course in it."""

    def __init__(
        self, staff: StaffSettings, courses: Callable[[Interaction, str], Awaitable[Choices]]
    ) -> None:
        """Prepare the commands; `courses` suggests some for what was typed."""
        super().__init__(name="staff", description=described("describe-staff"))
        self._staff = staff
        self._courses = courses

    @app_commands.command(description=described("describe-staff-add"))
    @app_commands.describe(
        role=described("describe-staff-add-role"),
        person=described("describe-staff-add-person"),
        course=described("describe-staff-add-course"),
    )
    async def add(
        self,
        interaction: Interaction,
        role: discord.Role | None = None,
        person: Person | None = None,
        course: str | None = None,
    ) -> None:
        """Name a user or a role as staff."""

        async def added() -> str:
            named = _chosen(role, person, course)
            if named is None:
                raise RequestError(user_message=i18n.text("discord-staff-whom"))
            told = await self._staff.add(presence_of(interaction), named)
            return f"{told}\n{i18n.text('discord-staff-to-show-commands')}"

        await _staff_commands_answer(interaction, added())

    @app_commands.command(description=described("describe-staff-remove"))
    @app_commands.describe(
        role=described("describe-staff-remove-role"),
        person=described("describe-staff-remove-person"),
        course=described("describe-staff-remove-course"),
        gone=described("describe-staff-remove-gone"),
    )
    async def remove(
        self,
        interaction: Interaction,
        role: discord.Role | None = None,
        person: Person | None = None,
        course: str | None = None,
        gone: app_commands.Range[str, 1, 20] | None = None,
    ) -> None:
        """Remove a staff member, who may have left the server."""
        chosen = [NamedStaff(StaffKind.ROLE, str(role.id), course)] if role else []
        chosen += [NamedStaff(StaffKind.PERSON, str(person.id), course)] if person else []
        chosen += [NamedStaff(StaffKind.PERSON, gone, course)] if gone else []

        async def removed() -> str:
            if len(chosen) != 1:
                raise RequestError(user_message=i18n.text("discord-staff-whom-to-remove"))
            return await self._staff.remove(presence_of(interaction), chosen[0])

        await _staff_commands_answer(interaction, removed())

    @app_commands.command(name="list", description=described("describe-staff-list"))
    async def show(self, interaction: Interaction) -> None:
        """List the staff."""

        async def listed() -> str:
            lines = await self._staff.lines(presence_of(interaction))
            return "\n".join(f"- {line}" for line in lines)

        await _staff_commands_answer(interaction, listed())

    @add.autocomplete("course")
    @remove.autocomplete("course")
    async def _suggested(self, interaction: Interaction, typed: str) -> Choices:
        return await self._courses(interaction, typed)


async def shown(_: Presence, named: NamedStaff) -> str:
    """Return a role or person as Discord shows its name, with the id of one who may be gone."""
    sign = "@&" if named.kind is StaffKind.ROLE else "@"
    return f"<{sign}{named.id}> (`{named.id}`)"


def _chosen(
    role: discord.Role | None, person: Person | None, course: str | None
) -> NamedStaff | None:
    """Return who is to be named; None: it is not one role or one person.

    Raises:
        RequestError: for whom can be no staff.
    """
    if role is not None and person is None:
        if role.is_default():
            raise RequestError(user_message=i18n.text("discord-staff-everybody"))
        return NamedStaff(StaffKind.ROLE, str(role.id), course)
    if person is not None and role is None:
        if member_of(person) is None:
            raise RequestError(user_message=i18n.text("discord-staff-no-member"))
        return NamedStaff(StaffKind.PERSON, str(person.id), course)
    return None


async def _staff_commands_answer(
    interaction: Interaction, answering: Coroutine[Any, Any, str]
) -> None:
    try:
        text = await in_time(interaction, answering)
    except BotError as error:
        text = error.user_message
    await tell(interaction, text)


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
