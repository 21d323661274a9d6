"""The cards and forms by which staff answer on Discord."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from uuid import UUID

import discord
from discord import ui

from adapters.buttons import ON_CARD, ON_WORDING, Button, custom_id, parsed
from adapters.discord.markup.dialect import as_written
from adapters.discord.replies.ephemeral import Interaction
from adapters.discord.replies.layout import View
from adapters.features.staff.cards import AnswerForm, QueuePage, VerifiedCard, page_name
from adapters.markdown.splitting import shortened
from core import i18n
from core.help_requests.base import QueueCard
from core.verified_answers.base import LONGEST_ANSWER, LONGEST_QUESTION

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
