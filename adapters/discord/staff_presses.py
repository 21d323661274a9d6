"""What the buttons of students and staff do that lead to the staff and back, on Discord."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Any, cast
from uuid import UUID

import discord
from discord import ui

from adapters.actions.answers import Clicker, Declined
from adapters.actions.queue import AnswerForm, HelpCard, QueuePage, VerifiedCard, page_name, page_of
from adapters.actions.staff import QueueBoard, StaffDesk, StandingCard
from adapters.actions.verified import Reviewer
from adapters.chat.buttons import ON_CARD, ON_WORDING, Button, custom_id, parsed
from adapters.chat.front_desk import FrontDesk
from adapters.chat.markdown.layout import shortened
from adapters.discord.commands import acknowledge
from adapters.discord.inbound import PLATFORM, heard_command, location_of, presence_of
from adapters.discord.notices import (
    Interaction,
    has_deferred_change,
    in_time,
    respond,
    show_card,
    show_in_place,
    tell,
)
from adapters.discord.outbound import View, as_written
from adapters.discord.rest import Rest
from core.answering.verified import LONGEST_ANSWER, LONGEST_QUESTION
from core.domain import i18n
from core.storage.channels import Place
from core.storage.inbox.base import Arrival
from core.teaching.help_requests import QueueCard

QUESTION, ANSWER = "question", "answer"
"""The fields of a form."""
_LONGEST_BESIDE = 1_900
_LONGEST_LABEL = 45
_MODAL_OPEN = 1_800.0
"""Seconds after which discord.py forgets that it showed a form: as long as a request is held."""
_STYLES = {
    Button.ANSWER: discord.ButtonStyle.primary,
    Button.EDIT: discord.ButtonStyle.primary,
    Button.RETIRE: discord.ButtonStyle.danger,
}

Part = ui.Item[View]


def queue_view(queue: QueuePage) -> View:
    """Return a page of the queue."""
    view = View(timeout=None)
    view.add_item(ui.TextDisplay(as_written(queue.heading)))
    for card in queue.cards:
        view.add_item(ui.Container(*_help_card(card.shown)))
    if queue.next_offset is not None:
        view.add_item(_more(queue.next_offset, of_verified=False))
    return view


def verified_view(cards: Iterable[VerifiedCard], next_offset: int | None) -> View:
    """Return a page of the answers that staff verified."""
    view, shown = View(timeout=None), [*cards]
    if not shown:
        view.add_item(ui.TextDisplay(i18n.text("verified-none")))
    for card in shown:
        view.add_item(ui.Container(*_verified_card(card)))
    if next_offset is not None:
        view.add_item(_more(next_offset, of_verified=True))
    return view


def ask_view(request_id: UUID) -> ui.View:
    """Return the button that passes a question on, below a sentence."""
    view = ui.View(timeout=None)
    view.add_item(_button(Button.ASK_STAFF, request_id))
    return view


class AnswerModal(ui.Modal):
    """Asks for an answer, next to what the bot found.

    What is sent back arrives at `form_in`, also when the bot was restarted meanwhile.
    """

    def __init__(self, button: Button, name: UUID, title: str, form: AnswerForm) -> None:
        super().__init__(title=title, timeout=_MODAL_OPEN, custom_id=custom_id(button, name))
        beside = form.beside
        found, nothing = i18n.text("queue-form-passages"), i18n.text("queue-form-no-passages")
        heading = found if beside else nothing
        shown = f"{heading}\n{as_written(beside)}" if beside else heading
        self.add_item(ui.TextDisplay(shortened(shown, _LONGEST_BESIDE)))
        self.add_item(
            _field(QUESTION, i18n.text("queue-form-question"), form.question, LONGEST_QUESTION)
        )
        self.add_item(
            _field(ANSWER, i18n.text("queue-form-answer"), form.draft, LONGEST_ANSWER, is_long=True)
        )


def form_in(interaction: Interaction) -> tuple[Button, UUID, Mapping[str, str]] | None:
    """Return which form was filled in and what its fields hold; None: it is not ours."""
    data = cast("Mapping[str, Any]", interaction.data or {})
    if interaction.type is not discord.InteractionType.modal_submit:
        return None
    modal = parsed(str(data.get("custom_id", "")))
    if modal is None:
        return None
    return (*modal, dict(_values(data.get("components", ()))))


def _field(name: str, label: str, value: str, most: int, *, is_long: bool = False) -> ui.Label[Any]:
    style = discord.TextStyle.paragraph if is_long else discord.TextStyle.short
    written: ui.TextInput[Any] = ui.TextInput(
        custom_id=name, style=style, default=value[:most] or None, max_length=most
    )
    return ui.Label(text=label[:_LONGEST_LABEL], component=written)


def _help_card(card: QueueCard) -> Iterator[Part]:
    lines = [f"**{as_written(card.question)}**", f"-# {as_written(card.status)}"]
    if card.said:
        lines.append(f"-# {as_written(card.said)}")
    yield ui.TextDisplay("\n".join(lines))
    if card.is_open:
        yield ui.ActionRow(*(_button(one, card.help_id) for one in ON_CARD))


def _verified_card(card: VerifiedCard) -> Iterator[Part]:
    lines = [
        f"**{as_written(card.question)}**",
        as_written(card.said),
        f"-# {as_written(card.status)}",
    ]
    for before, after in card.changes():
        lines.append(f"**{i18n.text('verified-before')}**\n> {as_written(before)}")
        lines.append(f"**{i18n.text('verified-now')}**\n> {as_written(after)}")
    yield ui.TextDisplay(shortened("\n".join(lines), _LONGEST_BESIDE))
    name = card.answer.answer_id
    yield ui.ActionRow(_button(Button.EDIT, name), _button(Button.RETIRE, name))
    for wording, said in card.wordings:
        yield ui.TextDisplay(as_written(said))
        yield ui.ActionRow(*(_button(one, wording) for one in ON_WORDING))


def _button(button: Button, name: UUID) -> ui.Button[Any]:
    style = _STYLES.get(button, discord.ButtonStyle.secondary)
    return ui.Button(label=button.label, style=style, custom_id=custom_id(button, name))


def _more(offset: int, *, of_verified: bool) -> ui.ActionRow[View]:
    return ui.ActionRow(_button(Button.MORE, page_name(offset, of_verified=of_verified)))


def _values(components: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what was typed into each input, those inside rows and labels included."""
    for component in components:
        if component.get("value") is not None:  # of a group of which nothing was chosen
            yield str(component.get("custom_id")), str(component["value"])
        inner = component.get("component")
        yield from _values([*component.get("components", ()), *([inner] if inner else [])])


Change = Callable[[UUID, Reviewer], Awaitable[HelpCard]]
"""What a button does about a request."""


class StaffClicks:
    """Does what these buttons and forms say; raises BotError with the reply to the clicker."""

    def __init__(self, desk: FrontDesk, staff: StaffDesk, board: QueueBoard) -> None:
        self._desk = desk
        self._board = board
        self._staff = staff
        self.doing: dict[Button, Callable[[Interaction, UUID], Awaitable[None]]] = {
            Button.ASK_STAFF: self._ask,
            Button.STAFF_ANSWER: self._read_offered,
            Button.TAKE: self._take,
            Button.ANSWER: self._form,
            Button.DISMISS: self._dismiss,
            Button.VERIFY: self.form_to_verify,
            Button.EDIT: self._form_to_edit,
            Button.RETIRE: self._retire,
            Button.SAME_QUESTION: partial(self._judge, is_same=True),
            Button.OTHER_QUESTION: partial(self._judge, is_same=False),
            Button.MORE: self._more,
        }

    async def submitted(
        self, interaction: Interaction, button: Button, name: UUID, fields: Mapping[str, str]
    ) -> None:
        """Keep what was typed into a form."""
        question, said = fields.get(QUESTION, ""), fields.get(ANSWER, "")
        reviewer = self._reviewer(interaction)
        if button is Button.ANSWER:
            keeping = self._staff.answer(
                name, reviewer, question, said, interaction.id, reply_address
            )
        elif button is Button.EDIT:
            keeping = self._staff.checked.edit(name, reviewer, question, said)
        else:
            keeping = self._staff.checked.verify(name, reviewer, question, said)
        await tell(interaction, await in_time(interaction, keeping))

    async def queue(self, interaction: Interaction, offset: int = 0) -> None:
        """Show what waits for the staff."""
        queue = await in_time(interaction, self._staff.queue(self._reviewer(interaction), offset))
        await _show(interaction, queue_view(queue))

    async def post_queue(self, interaction: Interaction) -> None:
        """Have what waits posted into the channel of a command."""
        posting = self._board.post_here(
            self._reviewer(interaction),
            _place(interaction),
            enterprise=None,
            locale=str(interaction.locale),
        )
        await tell(interaction, await in_time(interaction, posting))

    async def stop_queue(self, interaction: Interaction) -> None:
        """Have it posted no more."""
        stopping = self._board.stop(self._reviewer(interaction), _place(interaction))
        await tell(interaction, await in_time(interaction, stopping))

    async def verified(self, interaction: Interaction, offset: int = 0) -> None:
        """Show what the staff verified."""
        await _show(interaction, await in_time(interaction, self._verified(interaction, offset)))

    async def form_to_verify(self, interaction: Interaction, request_id: UUID) -> None:
        """Open the form in which an answer of the bot is corrected."""
        reviewer = self._reviewer(interaction)
        form = await in_time(interaction, self._staff.checked.form_to_verify(request_id, reviewer))
        await _open(interaction, Button.VERIFY, request_id, i18n.text("verify-form-title"), form)

    async def verify_message(self, interaction: Interaction, message: int) -> None:
        """Open that form for the answer that a message shows."""
        request_id = await in_time(
            interaction, self._staff.checked.shown_in(PLATFORM, str(message))
        )
        await self.form_to_verify(interaction, request_id)

    async def voted_down(self, interaction: Interaction, request_id: UUID) -> None:
        """Take back a user's yes to an answer of the staff."""
        await self._staff.voted_down(request_id, self._clicker(interaction))

    def below_vote(self, request_id: UUID) -> discord.ui.View:
        """Return the button that passes a question on whose answer did not help."""
        return ask_view(request_id)

    async def _verified(self, interaction: Interaction, offset: int) -> Any:
        reviewer = self._reviewer(interaction)
        cards = await self._staff.checked.answers(reviewer, offset)
        total, shown = await self._staff.checked.number(reviewer), offset + len(cards)
        return verified_view(cards, shown if shown < total else None)

    async def _ask(self, interaction: Interaction, request_id: UUID) -> None:
        asking = self._staff.ask(
            request_id,
            self._clicker(interaction),
            presence_of(interaction),
            str(interaction.locale),
        )
        await tell(interaction, await in_time(interaction, asking))

    async def _read_offered(self, interaction: Interaction, request_id: UUID) -> None:
        private = self._is_private(interaction)
        reading = self._staff.read_offered(
            request_id,
            self._clicker(interaction),
            lambda question: heard_command(interaction, question, private=private),
        )
        asked = await in_time(interaction, reading)
        if isinstance(asked, str):
            await tell(interaction, asked)
        else:
            await acknowledge(interaction, asked)

    async def _take(self, interaction: Interaction, help_id: UUID) -> None:
        await self._change(interaction, help_id, self._staff.take)

    async def _dismiss(self, interaction: Interaction, help_id: UUID) -> None:
        await self._change(interaction, help_id, self._staff.dismiss)

    async def _change(self, interaction: Interaction, help_id: UUID, change: Change) -> None:
        """Change a request, and show that where its button stands."""
        reviewer, in_list = self._reviewer(interaction), _is_ephemeral(interaction)

        async def changing() -> View | None:
            async with self._changing(interaction, help_id, reviewer) as standing:
                card = await change(help_id, reviewer)
            if interaction.message and standing.message == str(interaction.message.id):
                return None  # the button's own message shows it
            return queue_view(await self._staff.page_with(card, reviewer))

        view = await in_time(interaction, changing(), thinking=False)
        if view is None or in_list:
            await show_in_place(interaction, view)
        else:
            await _show(interaction, view)

    async def _form(self, interaction: Interaction, help_id: UUID) -> None:
        reviewer = self._reviewer(interaction)
        async with AsyncExitStack() as stack:
            changing = stack.enter_async_context(self._changing(interaction, help_id, reviewer))
            await in_time(interaction, changing)
            form = await in_time(interaction, self._staff.form(help_id, reviewer))
            await _open(interaction, Button.ANSWER, help_id, i18n.text("queue-form-title"), form)

    def _changing(
        self, interaction: Interaction, help_id: UUID, reviewer: Reviewer
    ) -> AbstractAsyncContextManager[StandingCard]:
        show = partial(show_card, Rest(interaction.client, lambda: None))
        return self._board.changing(help_id, reviewer, interaction.user.display_name, show)

    async def _form_to_edit(self, interaction: Interaction, answer_id: UUID) -> None:
        reviewer = self._reviewer(interaction)
        form = await in_time(interaction, self._staff.checked.form_to_edit(answer_id, reviewer))
        await _open(interaction, Button.EDIT, answer_id, i18n.text("verify-form-title"), form)

    async def _retire(self, interaction: Interaction, answer_id: UUID) -> None:
        retiring = self._staff.checked.retire(answer_id, self._reviewer(interaction))
        await tell(interaction, await in_time(interaction, retiring))

    async def _judge(self, interaction: Interaction, phrasing_id: UUID, *, is_same: bool) -> None:
        judging = self._staff.checked.judge(
            phrasing_id, self._reviewer(interaction), is_same=is_same
        )
        card = await in_time(interaction, judging, thinking=False)
        await show_in_place(interaction, verified_view([card], 0))

    async def _more(self, interaction: Interaction, name: UUID) -> None:
        offset, of_verified = page_of(name)
        await (self.verified if of_verified else self.queue)(interaction, offset)

    def _is_private(self, interaction: Interaction) -> bool:
        """Return whether the clicker alone sees what a click has answered."""
        if _is_ephemeral(interaction):
            return True
        is_guild = interaction.guild_id is not None
        return is_guild and self._desk.keeps_private(location_of(interaction))

    def _reviewer(self, interaction: Interaction) -> Reviewer:
        return Reviewer(presence_of(interaction), self._clicker(interaction).user_id)

    def _clicker(self, interaction: Interaction) -> Clicker:
        location = location_of(interaction)
        user_id = self._desk.pseudonym(PLATFORM, location.workspace, location.user)
        return Clicker(location, user_id)


def reply_address(original: Arrival, thread: str | None) -> Mapping[str, Any]:
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


def _is_ephemeral(interaction: Interaction) -> bool:
    return interaction.message is not None and interaction.message.flags.ephemeral


def _place(interaction: Interaction) -> Place:
    return Place(PLATFORM, str(interaction.guild_id), str(interaction.channel_id))


async def _show(interaction: Interaction, view: Any) -> None:
    """Show staff something that no one else sees."""
    nobody = discord.AllowedMentions.none()
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        await respond(
            lambda: interaction.edit_original_response(view=view, allowed_mentions=nobody)
        )
        return
    sending: Any = interaction.response.send_message
    if has_deferred_change(interaction):
        sending = interaction.followup.send
    await respond(lambda: sending(view=view, ephemeral=True, allowed_mentions=nobody))


async def _open(
    interaction: Interaction, button: Button, name: UUID, title: str, form: AnswerForm
) -> None:
    """Open a form, which has to be the first response."""
    if interaction.response.is_done():
        raise Declined(i18n.text("queue-no-form"))
    modal = AnswerModal(button, name, title, form)
    await respond(lambda: interaction.response.send_modal(modal))
