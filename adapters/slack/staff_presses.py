"""How staff answer in Slack: the queue as messages and on the Home tab, forms, and a shortcut."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.answers import Clicker, Declined
from adapters.actions.queue import AnswerForm, HelpCard, QueuePage, VerifiedCard, page_name, page_of
from adapters.actions.staff import QueueBoard, ShowCard, StaffDesk, StandingCard
from adapters.actions.verified import Reviewer
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.buttons import ON_CARD, ON_WORDING, Button
from adapters.chat.front_desk import FrontDesk
from adapters.slack.inbound import PLATFORM, Spot, heard_press, position_of, pressed_at
from adapters.slack.modals import (
    open_modal,
    plain,
    respond_with,
    shown_modal,
    told,
    typed,
    update_modal,
)
from adapters.slack.notices import message_id
from adapters.slack.people import People
from core.answering.verified import LONGEST_QUESTION
from core.domain import i18n
from core.domain.errors import BotError
from core.domain.i18n import current_language
from core.storage.channels import Place
from core.storage.inbox.base import Arrival
from core.teaching.help_requests import QueueCard

FrozenJson = dict[str, Any]

STAFF_FORM = "gl:staff-form"
"""The callback id of the form in which staff answer."""
QUESTION, ANSWER = "question", "answer"
"""The fields of a form."""
_LONGEST_INPUT = 3_000
"""Characters that Slack takes in an input."""
_LONGEST_SECTION = 2_900


def page_message(queue: QueuePage) -> FrozenJson:
    """Return a page of the queue as a message that its reader alone sees."""
    blocks = [block for card in queue.cards for block in help_blocks(card.shown)]
    if queue.next_offset is not None:
        blocks.append(more_button(queue.next_offset, of_verified=False))
    return private_message(queue.heading, blocks)


def form_view(title: str, form: AnswerForm, metadata: str) -> FrozenJson:
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


def _input(name: str, label: str, value: str, most: int, *, is_long: bool = False) -> FrozenJson:
    element: FrozenJson = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": is_long,
        "max_length": most,
    }
    if value:
        element["initial_value"] = value[:most]
    return {"type": "input", "block_id": name, "label": plain(label), "element": element}


def help_blocks(card: QueueCard) -> Iterator[FrozenJson]:
    """Yield the blocks of a request."""
    lines = [line for line in (card.question, card.status, card.said) if line]
    yield {"type": "section", "text": plain("\n".join(lines)[:_LONGEST_SECTION])}
    if card.is_open:
        yield _actions(ON_CARD, card.help_id)


def verified_blocks(card: VerifiedCard) -> Iterator[FrozenJson]:
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


def more_button(offset: int, *, of_verified: bool) -> FrozenJson:
    """Return the button that shows the next page."""
    return _actions((Button.MORE,), page_name(offset, of_verified=of_verified))


def _actions(buttons: Sequence[Button], name: UUID) -> FrozenJson:
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


def private_message(heading: str, blocks: Sequence[FrozenJson]) -> FrozenJson:
    """Return a message that its reader alone sees."""
    above = [{"type": "section", "text": plain(heading)}] if heading else []
    return {"response_type": "ephemeral", "text": heading or "…", "blocks": [*above, *blocks]}


def sentence_blocks(said: str) -> list[FrozenJson]:
    """Return a sentence as the blocks of a modal."""
    return [{"type": "section", "text": plain(said)}]


def ask_button(request_id: UUID) -> FrozenJson:
    """Return the button that passes a question on, below a sentence."""
    return _actions((Button.ASK_STAFF,), request_id)


Json = dict[str, Any]

VERIFY = "gl-verify"
"""The callback id of the message shortcut."""

Change = Callable[[UUID, Reviewer], Awaitable[HelpCard]]
"""What a button does about a request."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button that was pressed, and by whom."""

    name: UUID
    spot: Spot
    body: Json
    client: AsyncWebClient


class StaffQueue:
    """Does what these buttons and forms say; raises BotError with the reply to the clicker."""

    def __init__(
        self,
        desk: FrontDesk,
        staff: StaffDesk,
        board: QueueBoard,
        people: People,
        unhurried: BackgroundWork,
        show: ShowCard,
    ) -> None:
        self._board = board
        self._show = show
        self._desk = desk
        self._staff = staff
        self._people = people
        self._unhurried = unhurried

    async def pressed(self, button: Button, press: Pressed) -> Json | str | None:
        """Do what a button says, and return what the clicker is shown."""
        reviewer = self._reviewer(press.spot)
        match button:
            case Button.ASK_STAFF:
                return await self._ask(press)
            case Button.STAFF_ANSWER:
                return await self._read_offered(press)
            case Button.TAKE:
                return await self._change(press, self._staff.take)
            case Button.DISMISS:
                return await self._change(press, self._staff.dismiss)
            case Button.RETIRE:
                return await self._staff.checked.retire(press.name, reviewer)
            case Button.SAME_QUESTION | Button.OTHER_QUESTION:
                is_same = button is Button.SAME_QUESTION
                card = await self._staff.checked.judge(press.name, reviewer, is_same=is_same)
                blocks = [*verified_blocks(card), more_button(0, of_verified=True)]
                return {**private_message("", blocks), "replace_original": True}
            case Button.MORE:
                offset, of_verified = page_of(press.name)
                showing = self._verified if of_verified else self._queue
                return await showing(reviewer, offset)
            case Button.ANSWER:
                async with await self._changing(press, reviewer):
                    form = await self._staff.form(press.name, reviewer)
                    title = i18n.text("queue-form-title")
                    return await self._open(button, press.name, press.spot, press, title, form)
            case _:
                form = await self._staff.checked.form_to_edit(press.name, reviewer)
                title = i18n.text("verify-form-title")
        return await self._open(button, press.name, press.spot, press, title, form)

    async def voted_down(self, request_id: UUID, spot: Spot) -> None:
        """Take back a user's yes to an answer of the staff."""
        await self._staff.voted_down(request_id, self._clicker(spot))

    async def asked(self, spot: Spot, words: Sequence[str]) -> Json:
        """Do what `/course queue` with some words says, and return what its user is shown.

        Without any it is what waits, as a message that the reader alone sees.
        """
        reviewer, here = self._reviewer(spot), Place(PLATFORM, spot.team, spot.channel)
        match words:
            case []:
                return await self._queue(reviewer)
            case ["post"]:
                locale = current_language()
                posting = self._board.post_here(
                    reviewer, here, enterprise=spot.enterprise, locale=locale
                )
                return told(await posting)
            case ["stop"]:
                return told(await self._board.stop(reviewer, here))
            case _:
                return told(i18n.text("slack-how-to-queue"))

    async def verified(self, spot: Spot) -> Json:
        """Return what the staff verified, as a message that the reader alone sees."""
        return await self._verified(self._reviewer(spot))

    async def _queue(self, reviewer: Reviewer, offset: int = 0) -> Json:
        return page_message(await self._staff.queue(reviewer, offset))

    async def _change(self, press: Pressed, change: Change) -> Json | None:
        """Change a request, and return what stands in place of the list with its button."""
        reviewer = self._reviewer(press.spot)
        async with await self._changing(press, reviewer) as standing:
            card = await change(press.name, reviewer)
        container = press.body.get("container") or {}
        if standing.message is not None and standing.message == container.get("message_ts"):
            return None  # the button's own message shows it
        in_list = _is_ephemeral(press)
        page = page_message(await self._staff.page_with(card, reviewer))
        return {**page, "replace_original": in_list}

    async def _changing(
        self, press: Pressed, reviewer: Reviewer
    ) -> AbstractAsyncContextManager[StandingCard]:
        return self._board.changing(press.name, reviewer, await self._name(press), self._show)

    async def _name(self, press: Pressed) -> str:
        spot = press.spot
        member = await self._people.member(spot.team, spot.enterprise, spot.user)
        return member.name if member is not None else ""

    async def _verified(self, reviewer: Reviewer, offset: int = 0) -> Json:
        found = await self._staff.checked.answers(reviewer, offset)
        blocks = [block for card in found for block in verified_blocks(card)]
        shown = offset + len(found)
        if shown < await self._staff.checked.number(reviewer):
            blocks.append(more_button(shown, of_verified=True))
        return private_message(i18n.text("verified-none") if not found else "", blocks)

    async def home_blocks(self, spot: Spot) -> list[Json]:
        """Return what waits, for the Home tab of staff; nothing for anybody else."""
        try:
            queue = await self._staff.queue(self._reviewer(spot))
        except BotError:
            return []
        heading: Json = {"type": "section", "text": plain(queue.heading)}
        return [heading, *(block for card in queue.cards for block in help_blocks(card.shown))]

    async def shortcut(
        self, body: Json, ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        """Open the form in which the answer of the bot in a message is corrected."""

        async def opening() -> None:
            try:
                spot = await self._people.spot_of(body)
                shown = message_id(spot.channel, str(body["message"]["ts"]))
                request_id = await self._staff.checked.shown_in(PLATFORM, shown)
                form = await self._staff.checked.form_to_verify(request_id, self._reviewer(spot))
                press = Pressed(request_id, spot, body, client)
                title = i18n.text("verify-form-title")
                sentence = await self._open(Button.VERIFY, request_id, spot, press, title, form)
            except BotError as error:
                sentence = error.user_message
            if sentence is not None:
                await respond_with(respond, told(sentence))

        await self._unhurried.in_time(opening())
        await ack()

    async def submitted(self, body: Json, ack: AsyncAck, client: AsyncWebClient) -> None:
        """Keep what was typed into a form, and say in its place what came of it."""
        view = body["view"]
        title = str(view["title"]["text"])

        async def late(sentence: str) -> None:
            await update_modal(client, view["id"], shown_modal(title, sentence_blocks(sentence)))

        sentence = await self._unhurried.in_time(self._keep(view), late)
        said = sentence or i18n.text("slack-keeping-reason")
        await ack(response_action="update", view=shown_modal(title, sentence_blocks(said)))

    async def _keep(self, view: Json) -> str:
        kept: Json = json.loads(view["private_metadata"])
        spot, name, button = Spot(**kept["spot"]), UUID(kept["name"]), Button(kept["button"])
        question, said = typed(view, QUESTION), typed(view, ANSWER)
        reviewer = self._reviewer(spot)
        try:
            if button is Button.ANSWER:
                position = position_of(str(kept["at"]))
                return await self._staff.answer(
                    name, reviewer, question, said, position, reply_address
                )
            keep = self._staff.checked.edit if button is Button.EDIT else self._staff.checked.verify
            return await keep(name, reviewer, question, said)
        except BotError as error:
            return error.user_message

    async def _ask(self, press: Pressed) -> str:
        presence = self._people.presence_of(press.spot)
        locale = await self._people.locale_of(press.body)
        return await self._staff.ask(press.name, self._clicker(press.spot), presence, locale)

    async def _read_offered(self, press: Pressed) -> str | None:
        private = _is_ephemeral(press)
        asked = await self._staff.read_offered(
            press.name,
            self._clicker(press.spot),
            lambda question: self._people.introduced(
                heard_press(press.spot, press.body, question, private=private)
            ),
        )
        return asked if isinstance(asked, str) else None

    async def _open(
        self, button: Button, name: UUID, spot: Spot, press: Pressed, title: str, form: AnswerForm
    ) -> str | None:
        at = pressed_at(press.body) if "actions" in press.body else press.body["message"]["ts"]
        kept = {"button": button.value, "name": str(name), "spot": asdict(spot), "at": at}
        view = form_view(title, form, json.dumps(kept))
        if await open_modal(press.client, press.body["trigger_id"], view):
            return None
        raise Declined(i18n.text("queue-no-form"))

    def _reviewer(self, spot: Spot) -> Reviewer:
        return Reviewer(self._people.presence_of(spot), self._clicker(spot).user_id)

    def _clicker(self, spot: Spot) -> Clicker:
        return Clicker(spot.location, self._desk.pseudonym(PLATFORM, spot.team, spot.user))


def reply_address(original: Arrival, thread: str | None) -> Mapping[str, Any]:
    """Return where the staff's reply to a question goes: into its thread."""
    address = dict(original.address)
    root = thread or address.get("thread") or address.get("message")
    question = address.get("message") or root
    return {**address, "thread": root, "message": question, "post_question": False}


def _is_ephemeral(press: Pressed) -> bool:
    return bool((press.body.get("container") or {}).get("is_ephemeral"))
