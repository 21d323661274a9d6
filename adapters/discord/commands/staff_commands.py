"""`/course staff`: whom a server's admins name as staff."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import discord
from discord import app_commands

from adapters.access.standing import Presence
from adapters.discord.commands.translator import described
from adapters.discord.inbound import presence_of
from adapters.discord.members import member_of
from adapters.discord.replies.ephemeral import Interaction, in_time, tell
from adapters.features.staff.settings import StaffSettings
from core import i18n
from core.access.staff import NamedStaff, StaffKind
from core.errors import BotError, RequestError

Choices = list[app_commands.Choice[str]]
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

        await _answer(interaction, added())

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

        await _answer(interaction, removed())

    @app_commands.command(name="list", description=described("describe-staff-list"))
    async def show(self, interaction: Interaction) -> None:
        """List the staff."""

        async def listed() -> str:
            lines = await self._staff.lines(presence_of(interaction))
            return "\n".join(f"- {line}" for line in lines)

        await _answer(interaction, listed())

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


async def _answer(interaction: Interaction, answering: Coroutine[Any, Any, str]) -> None:
    try:
        text = await in_time(interaction, answering)
    except BotError as error:
        text = error.user_message
    await tell(interaction, text)
