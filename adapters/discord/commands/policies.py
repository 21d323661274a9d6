"""`/course policy`, `/course hints` and `/course radar`: what staff hold answers to, and see."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, Literal, cast

import discord
from discord import app_commands

from adapters.discord.commands.translator import described
from adapters.discord.inbound import PLATFORM, presence_of
from adapters.discord.replies.ephemeral import Interaction, in_time, respond, tell
from adapters.features.data_export import File
from adapters.features.policy_settings import (
    LONGEST_NAME,
    LONGEST_TEXT,
    AssignmentForm,
    PolicyForm,
    PolicySettings,
)
from adapters.features.radar_views import RadarViews
from core.errors import BotError
from core.i18n import text, use_locale
from core.models import PolicyMode
from core.storage.channels.store import Place

Choices = list[app_commands.Choice[str]]
Extent = Literal["this channel", "this category", "this server"]
Admit = Callable[[Interaction, Extent], Awaitable[None]]
"""Raises RequestError unless a user may set something for so wide a place."""
PlaceAt = Callable[[Interaction, Extent], Place | None]
_FORM = "gl:hints"
_OPEN = 900.0
"""Seconds after which discord.py forgets that it showed a form."""
_MOST_CHOICES = 25
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
        ][:_MOST_CHOICES]


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
