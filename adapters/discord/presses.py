"""Buttons, menus and forms on Discord: read for the shared actions, and what these say shown."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol, Self, cast
from uuid import UUID

import discord
from discord import ui

from adapters.actions.presses import IN_PLACE, Presses
from adapters.actions.use import (
    Card,
    CardLine,
    Cards,
    CoursesFound,
    Declined,
    Evidence,
    Extent,
    Field,
    Form,
    LineStyle,
    Notice,
    QuestionTaken,
    Result,
    Terms,
    Use,
)
from adapters.chat.acceptor import Unreadable
from adapters.chat.base import mapping
from adapters.chat.buttons import UUID_PATTERN, Button, custom_id, parsed
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.layout import shortened, whole_lines
from adapters.discord import outbound
from adapters.discord.inbound import (
    DIRECT,
    PLATFORM,
    category_of,
    incoming_from_command,
    is_guest,
    may_open_thread,
    presence_of,
)
from adapters.discord.members import member_of
from adapters.discord.notices import (
    Interaction,
    acknowledge,
    in_time,
    respond,
    show,
    show_card,
    show_in_place,
    show_view,
    tell,
    tell_all,
)
from adapters.discord.outbound import View, as_written, evidence, layout
from adapters.discord.rest import Rest
from core.domain import i18n
from core.domain.errors import BotError, RequestError
from core.domain.i18n import Message
from core.storage.access import NamedStaff, StaffKind
from core.storage.channels import Place
from core.storage.inbox.base import Arrival
from core.teaching.help_requests import CardDue, QueueCard

_MODAL_OPEN = 1_800.0
"""Seconds after which discord.py forgets that it showed a form: as long as a request is held."""
_LONGEST_BESIDE = 1_900
_LONGEST_LABEL = 45
_LONGEST_MESSAGE = 2_000
_STYLES = {
    Button.ANSWER: discord.ButtonStyle.primary,
    Button.EDIT: discord.ButtonStyle.primary,
    Button.RETIRE: discord.ButtonStyle.danger,
    Button.FORGET_ME: discord.ButtonStyle.danger,
}


TERMS = Terms(
    Message("discord-how-to-ask"),
    {
        Extent.CHANNEL: Message("staff-done-channel"),
        Extent.CATEGORY: Message("staff-done-category"),
        Extent.TENANT: Message("staff-done-server"),
    },
    bullet="",
)


class DiscordUse(Use):
    """An interaction: a command, a press, or a form that was sent."""

    terms = TERMS

    def __init__(self, interaction: Interaction) -> None:
        self.interaction = interaction
        self.who = presence_of(interaction)
        self.here = Place(PLATFORM, self.who.location.workspace, str(interaction.channel_id))
        self.at = interaction.created_at
        self.position = interaction.id
        self.direct = interaction.guild_id is None
        message = interaction.message
        self.alone = message is not None and message.flags.ephemeral
        self.message = str(message.id) if message is not None else None
        self.has_opened = False
        """Whether a form is the first response, to which nothing can be added."""

    def heard(
        self,
        question: str,
        *,
        quote: str | None = None,
        section: str | None = None,
        private: bool = False,
    ) -> IncomingMessage:
        """Return what is asked by it, with the token that answers it."""
        return incoming_from_command(
            self.interaction, question, quote=quote, section=section, private=private
        )

    async def open(self, form: Form) -> bool:
        """Show a form, which has to be the first response; it took too long otherwise."""
        if self.interaction.response.is_done():
            return False
        self.has_opened = True  # from now on, or nothing else may be the first response
        shown = modal(form)
        self.has_opened = await respond(lambda: self.interaction.response.send_modal(shown))
        return self.has_opened

    async def locale(self) -> str | None:
        """Return the locale that Discord shows to the user."""
        return str(self.interaction.locale)

    async def user_name(self) -> str:
        """Return how the user is called on the server."""
        return self.interaction.user.display_name

    async def workspaces(self) -> Collection[str]:
        """Return the servers that the bot is in, and what stands for direct messages."""
        return {DIRECT, *(str(guild.id) for guild in self.interaction.client.guilds)}

    async def address_to_share(self) -> Mapping[str, Any]:
        """Return the channel of the button, where the bot is a member."""
        interaction = self.interaction
        if is_guest(interaction):
            raise Declined(i18n.text("discord-not-a-member"))
        return {
            "route": "message",
            "channel": interaction.channel_id,
            "message": None,
            "open_thread": may_open_thread(interaction),
            "asker": interaction.user.id,
            "dm": interaction.guild_id is None,
        }

    def reply_address(self, original: Arrival, thread: str | None) -> Mapping[str, Any]:
        """Return where the staff's reply to a question goes: its thread, or the asker alone.

        What was asked privately on a server is answered in direct messages.
        """
        address = {**original.address, "open_thread": False}
        if address.get("ephemeral"):
            return address  # without a token it goes directly
        channel = int(thread) if thread is not None and thread.isdigit() else address["channel"]
        is_same = channel == address["channel"]
        question = address.get("message") if is_same else None
        return {**address, "route": "message", "channel": channel, "message": question}

    async def to_be_staff(self, named: NamedStaff) -> str:
        """Return that admins have to show the command to others.

        Raises:
            RequestError: for everybody, and for who is no member of the server.
        """
        given = self.interaction.namespace
        if named.kind is StaffKind.ROLE and given.role.is_default():
            raise RequestError(user_message=i18n.text("discord-staff-everybody"))
        if named.kind is StaffKind.PERSON and member_of(given.person) is None:
            raise RequestError(user_message=i18n.text("discord-staff-no-member"))
        return i18n.text("discord-staff-to-show-commands")

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Show a card in its channel."""
        return await show_card(Rest(self.interaction.client, lambda: None), due, card)

    def place_of(self, extent: Extent) -> Place | None:
        """Return the channel, also of a thread, its category if it is in one, or the server."""
        channel = self.interaction.channel
        if extent is Extent.CATEGORY:
            category = category_of(channel)
            return None if category is None else Place(PLATFORM, self.here.workspace, str(category))
        if extent is Extent.CHANNEL and isinstance(channel, discord.Thread):
            return Place(PLATFORM, self.here.workspace, str(channel.parent_id))
        return super().place_of(extent)

    @property
    def not_to_set_up(self) -> str:
        """A sentence where the bot is no member of the server."""
        return i18n.text("discord-not-a-member-staff") if is_guest(self.interaction) else ""

    async def shown(
        self, doing: Callable[[Use], Awaitable[Result]], *, thinking: bool = True
    ) -> None:
        """Do something, and show what it comes to; Discord hears within its three seconds.

        Args:
            thinking: As for `in_time`.
        """

        async def done() -> Result:
            return await doing(self)

        with i18n.use_locale(str(self.interaction.locale)):
            result = await in_time(
                self.interaction, done(), thinking=thinking, unless=lambda: self.has_opened
            )
            await self._show(result)

    async def _show(self, result: Result) -> None:
        interaction = self.interaction
        match result:
            case None if not self.has_opened:
                await show_in_place(interaction, None)
            case Notice() if not self.has_opened:
                await self._say(result)
            case QuestionTaken(received):
                await acknowledge(interaction, received)
            case Evidence(response):
                await show(interaction, evidence(response))
            case CoursesFound(sentence, choice):
                await show_in_place(interaction, layout(outbound.sentence(sentence, choice)))
            case Cards(in_place=True):
                await show_in_place(interaction, cards_view(result))
            case Cards():
                await show_view(interaction, cards_view(result))

    async def _say(self, said: Notice) -> None:
        text = whole_lines(said.markdown, _LONGEST_MESSAGE)
        if said.for_all:
            await tell_all(self.interaction, text)
        elif said.in_place and not self.interaction.response.is_done():
            change = self.interaction.response.edit_message
            await respond(lambda: change(content=text, view=None))
        else:
            view = ui.View(timeout=None) if said.buttons else None
            for button in said.buttons:
                assert view is not None
                view.add_item(_button(button, said.name))
            await tell(self.interaction, text, view=view, file=said.file)


# --- cards and forms ----------------------------------------------------------------------


def cards_view(cards: Cards) -> View:
    """Return a page of cards."""
    view = View(timeout=None)
    if cards.heading:
        view.add_item(ui.TextDisplay(as_written(cards.heading)))
    for card in cards.cards:
        view.add_item(ui.Container(*_card(card)))
    if cards.next_page is not None:
        view.add_item(ui.ActionRow(_button(Button.MORE, cards.next_page)))
    return view


def _card(card: Card) -> Iterator[ui.Item[View]]:
    for part in card:
        lines = "\n".join(_line(line) for line in part.lines)
        yield ui.TextDisplay(shortened(lines, _LONGEST_BESIDE))
        if part.buttons:
            yield ui.ActionRow(*(_button(one, part.name) for one in part.buttons))


def _line(line: CardLine) -> str:
    shown = as_written(line.text)
    match line.style:
        case LineStyle.TITLE:
            return f"**{shown}**"
        case LineStyle.SMALL:
            return f"-# {shown}"
        case LineStyle.QUOTE:
            return f"**{line.label}**\n> {shown}"
    return shown


def _button(button: Button, name: UUID) -> ui.Button[Any]:
    style = _STYLES.get(button, discord.ButtonStyle.secondary)
    return ui.Button(label=button.label, style=style, custom_id=custom_id(button, name))


def modal(form: Form) -> ui.Modal:
    """Return a form; what is sent back arrives at `form_in`, also after a restart."""
    shown = ui.Modal(
        title=form.title, timeout=_MODAL_OPEN, custom_id=custom_id(form.button, form.name)
    )
    if form.beside:
        shown.add_item(ui.TextDisplay(shortened(as_written(form.beside), _LONGEST_BESIDE)))
    for field in form.fields:
        label = (field.unmarked or field.label)[:_LONGEST_LABEL]
        shown.add_item(ui.Label(text=label, component=_input(field)))
    return shown


def _input(field: Field) -> ui.TextInput[Any] | ui.RadioGroup[Any]:
    if field.options:
        options = [discord.RadioGroupOption(label=said, value=v) for v, said in field.options]
        return ui.RadioGroup(custom_id=field.name, required=field.required, options=options)
    return ui.TextInput(
        custom_id=field.name,
        style=discord.TextStyle.paragraph if field.is_long else discord.TextStyle.short,
        default=field.value[: field.longest] or None,
        min_length=field.shortest or None,
        max_length=field.longest,
        required=field.required,
    )


def form_in(interaction: Interaction) -> tuple[Button, UUID, Mapping[str, str]] | None:
    """Return which form was filled in and what its fields hold; None: it is not ours."""
    data = cast("Mapping[str, Any]", interaction.data or {})
    if interaction.type is not discord.InteractionType.modal_submit:
        return None
    form = parsed(str(data.get("custom_id", "")))
    if form is None:
        return None
    return (*form, dict(_values(data.get("components", ()))))


def _values(components: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what was typed into each input, those inside rows and labels included."""
    for component in components:
        if component.get("value") is not None:  # of a group of which nothing was chosen
            yield str(component.get("custom_id")), str(component["value"])
        inner = component.get("component")
        yield from _values([*component.get("components", ()), *([inner] if inner else [])])


# --- what is pressed ----------------------------------------------------------------------


class DiscordClicks:
    """Hands presses and forms on, and shows what they come to, to their user alone."""

    def __init__(self, presses: Presses) -> None:
        self._presses = presses

    async def pressed(self, interaction: Interaction, name: str) -> None:
        """Do what a button of that name says, or what was chosen in a menu of that name."""
        values = mapping(interaction.data).get("values") or ()
        value = str(values[0]) if values else None
        found = parsed(value or name)
        changes = found is not None and found[0] in IN_PLACE
        doing = partial(self._presses.pressed, name, value)
        await DiscordUse(interaction).shown(doing, thinking=not changes)

    async def submitted(
        self, interaction: Interaction, button: Button, name: UUID, fields: Mapping[str, str]
    ) -> None:
        """Take in what was typed into a form."""
        doing = partial(self._presses.submit, button, name, fields)
        await DiscordUse(interaction).shown(doing, thinking=button not in IN_PLACE)


class Clickable(Protocol):
    """The client that a click comes in by."""

    clicks: DiscordClicks
    unreadable: Unreadable


async def _contained(interaction: Interaction, name: str) -> None:
    """Do what a click asks for; one that cannot be read is noted, and its clicker notified."""
    client = cast("Clickable", interaction.client)
    with i18n.use_locale(str(interaction.locale)):
        try:
            await client.clicks.pressed(interaction, name)
        except Exception as error:  # noqa: BLE001 - a click of any form is answered
            client.unreadable.note("INTERACTION_CREATE", interaction.id, error)
            await tell(interaction, BotError.user_message)


class AnyButton(
    ui.DynamicItem[ui.Button[Any]],
    template=re.compile(rf"gl:[a-z]:{UUID_PATTERN}(?::[0-9])?"),
):
    """A button of the bot's, made again from its custom id when it is clicked."""

    @classmethod
    async def from_custom_id(cls, _: Interaction, item: ui.Item[Any], __: re.Match[str], /) -> Self:
        """Return the button that a custom id names."""
        return cls(cast("ui.Button[Any]", item))

    async def callback(self, interaction: Interaction) -> None:
        """Do what the button says."""
        await _contained(interaction, self.custom_id)


class AnyMenu(
    ui.DynamicItem[ui.Select[Any]],
    template=re.compile(rf"gl:(?:rest|course):{UUID_PATTERN}"),
):
    """A menu of the bot's, made again from its custom id when something is chosen."""

    @classmethod
    async def from_custom_id(cls, _: Interaction, item: ui.Item[Any], __: re.Match[str], /) -> Self:
        """Return the menu that a custom id names."""
        return cls(cast("ui.Select[Any]", item))

    async def callback(self, interaction: Interaction) -> None:
        """Do what was chosen."""
        await _contained(interaction, self.custom_id)
