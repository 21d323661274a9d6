"""The cards and forms by which staff answer in Slack."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from adapters.buttons import ON_CARD, ON_WORDING, Button
from adapters.features.staff.cards import AnswerForm, QueuePage, VerifiedCard, page_name
from adapters.slack.commands.modals import plain
from core import i18n
from core.help_requests.base import QueueCard
from core.verified_answers.base import LONGEST_QUESTION

Json = dict[str, Any]

STAFF_FORM = "gl:staff-form"
"""The callback id of the form in which staff answer."""
QUESTION, ANSWER = "question", "answer"
"""The fields of a form."""
_LONGEST_INPUT = 3_000
"""Characters that Slack takes in an input."""
_LONGEST_SECTION = 2_900


def page_message(queue: QueuePage) -> Json:
    """Return a page of the queue as a message that its reader alone sees."""
    blocks = [block for card in queue.cards for block in help_blocks(card.shown)]
    if queue.next_offset is not None:
        blocks.append(more_button(queue.next_offset, of_verified=False))
    return private_message(queue.heading, blocks)


def form_view(title: str, form: AnswerForm, metadata: str) -> Json:
    """Return the form in which staff answer, next to what the bot found."""
    beside = form.beside
    found, nothing = i18n.text("queue-form-passages"), i18n.text("queue-form-no-passages")
    heading = found if beside else nothing
    shown = f"{heading}\n{beside}"[:_LONGEST_SECTION].strip()
    question, answer = i18n.text("queue-form-question"), i18n.text("queue-form-answer")
    return {
        "type": "modal",
        "callback_id": STAFF_FORM,
        "private_metadata": metadata,
        "title": plain(title),
        "submit": plain(i18n.text("button-send")),
        "close": plain(i18n.text("button-cancel")),
        "blocks": [
            {"type": "section", "text": plain(shown)},
            _input(QUESTION, question, form.question, LONGEST_QUESTION),
            _input(ANSWER, answer, form.draft, _LONGEST_INPUT, is_long=True),
        ],
    }


def _input(name: str, label: str, value: str, most: int, *, is_long: bool = False) -> Json:
    element: Json = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": is_long,
        "max_length": most,
    }
    if value:
        element["initial_value"] = value[:most]
    return {"type": "input", "block_id": name, "label": plain(label), "element": element}


def help_blocks(card: QueueCard) -> Iterator[Json]:
    """Yield the blocks of a request."""
    lines = [line for line in (card.question, card.status, card.said) if line]
    yield {"type": "section", "text": plain("\n".join(lines)[:_LONGEST_SECTION])}
    if card.is_open:
        yield _actions(ON_CARD, card.help_id)


def verified_blocks(card: VerifiedCard) -> Iterator[Json]:
    """Yield the blocks of an answer that staff verified."""
    lines = [card.question, card.said, card.status]
    for before, after in card.changes():
        lines.append(f"{i18n.text('verified-before')}: {before}")
        lines.append(f"{i18n.text('verified-now')}: {after}")
    yield {"type": "section", "text": plain("\n".join(lines)[:_LONGEST_SECTION])}
    yield _actions((Button.EDIT, Button.RETIRE), card.answer.answer_id)
    for wording, said in card.wordings:
        yield {"type": "section", "text": plain(said[:_LONGEST_SECTION])}
        yield _actions(ON_WORDING, wording)


def more_button(offset: int, *, of_verified: bool) -> Json:
    """Return the button that shows the next page."""
    return _actions((Button.MORE,), page_name(offset, of_verified=of_verified))


def _actions(buttons: Sequence[Button], name: UUID) -> Json:
    elements = [
        {
            "type": "button",
            "text": plain(button.label),
            "action_id": f"gl:{button.value}",
            "value": str(name),
        }
        for button in buttons
    ]
    return {"type": "actions", "elements": elements}


def private_message(heading: str, blocks: Sequence[Json]) -> Json:
    """Return a message that its reader alone sees."""
    above = [{"type": "section", "text": plain(heading)}] if heading else []
    return {"response_type": "ephemeral", "text": heading or "…", "blocks": [*above, *blocks]}


def sentence_blocks(said: str) -> list[Json]:
    """Return a sentence as the blocks of a modal."""
    return [{"type": "section", "text": plain(said)}]


def ask_button(request_id: UUID) -> Json:
    """Return the button that passes a question on, below a sentence."""
    return _actions((Button.ASK_STAFF,), request_id)
