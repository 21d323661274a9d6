"""What a user is shown at once and alone: texts, modals, and how they reach their reader."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import aiohttp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.use import Card, Cards, Field, Form
from adapters.chat.acceptor import BackgroundWork
from adapters.chat.buttons import ASKS_FIRST, NO_ID, Button
from adapters.slack.inbound import Spot
from adapters.slack.mrkdwn import CONTROLS, divided
from adapters.slack.outbound import Post, confirm, fallback, markdown_blocks
from core.domain import MAX_SELECTED_TEXT, i18n

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_PAUSES = (0.3, 1.0, None)
"""Seconds before a click is answered again that Slack failed to answer."""
EXPLAIN = "explain"
"""The callback id of the message shortcut, and of its modal."""
FORM = "gl:form"
"""The callback id of every other modal that is sent back."""
QUESTION, WHO_SEES = "question", "who-sees"
"""The action ids of inputs."""
PRIVATE, PUBLIC = "private", "public"
_LONGEST_SECTION = 3_000
_LONGEST_CARD = 2_900
_LONGEST_INPUT = 3_000
"""Characters that Slack takes in an input, which is less than a message may have."""
_QUOTED = "quote-"
_PATIENCE = 2.0
"""Seconds for a modal to open; the click it answers is to be acknowledged within three."""


def told(markdown: str, buttons: Sequence[Button] = (), name: UUID = NO_ID) -> Json:
    """Return a message that its reader alone sees; titles and names in it are escaped before."""
    shown = markdown_blocks(divided(markdown, CONTROLS))
    row = [button_row(buttons, name)] if buttons else []
    return {
        "response_type": "ephemeral",
        "text": fallback(Post(markdown)),
        "blocks": [*shown, *row],
    }


def private_message(heading: str, blocks: Sequence[Json]) -> Json:
    """Return a message of blocks that its reader alone sees."""
    above = [{"type": "section", "text": plain(heading)}] if heading else []
    return {"response_type": "ephemeral", "text": heading or "…", "blocks": [*above, *blocks]}


def card_blocks(cards: Cards) -> list[Json]:
    """Return the blocks of a page of cards."""
    blocks = [block for card in cards.cards for block in _card_blocks(card)]
    if cards.next_page is not None:
        blocks.append(button_row((Button.MORE,), cards.next_page))
    return blocks


def _card_blocks(card: Card) -> Iterator[Json]:
    for part in card:
        shown = "\n".join(": ".join(filter(None, (one.label, one.text))) for one in part.lines)
        yield {"type": "section", "text": plain(shown[:_LONGEST_CARD])}
        if part.buttons:
            yield button_row(part.buttons, part.name)


def button_row(buttons: Sequence[Button], name: UUID) -> Json:
    """Return a row of buttons."""
    return {"type": "actions", "elements": [_button(one, name) for one in buttons]}


def _button(button: Button, name: UUID) -> Json:
    shown: Json = {
        "type": "button",
        "text": plain(button.label),
        "action_id": f"gl:{button.value}",
        "value": str(name),
    }
    if button in ASKS_FIRST:
        shown["style"] = "danger"
        shown["confirm"] = confirm(button)
    return shown


async def answer_command(
    background: BackgroundWork,
    answering: Coroutine[Any, Any, Json],
    ack: AsyncAck,
    respond: AsyncRespond,
) -> None:
    """Answer a command with its acknowledgement, or afterwards when that would be too late."""
    message = await background.in_time(answering, partial(respond_with, respond))
    await (ack(message) if message is not None else ack())


async def respond_with(respond: AsyncRespond, message: Json, *, replace: bool = False) -> None:
    """Answer a click in its channel, again where Slack failed; else it is let go."""
    for pause in _PAUSES:
        try:
            answered = await respond({**message, "replace_original": replace})
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.info("a click could not be answered: %s", type(error).__name__)
            return
        if answered.status_code < 400:
            return
        logger.info("a click could not be answered: %s", answered.status_code)
        if answered.status_code < 500 or pause is None:
            return
        await asyncio.sleep(pause)


async def answer_press(
    client: AsyncWebClient, respond: AsyncRespond, spot: Spot | None, message: Json
) -> None:
    """Answer a click for its clicker alone, in the thread where the button stands, or in its place.

    A response URL shows what one user sees in the channel only, so it serves where there is no
    thread, or where the bot may not post.
    """
    replaces = bool(message.get("replace_original"))
    if (
        replaces
        or spot is None
        or not spot.thread
        or not await _has_whispered(client, spot, message)
    ):
        await respond_with(respond, message, replace=replaces)


async def _has_whispered(client: AsyncWebClient, spot: Spot, message: Json) -> bool:
    return await _has_shown(
        client.chat_postEphemeral(
            channel=spot.channel,
            user=spot.user,
            thread_ts=spot.thread,
            text=message["text"],
            blocks=message["blocks"],
        )
    )


async def open_modal(client: AsyncWebClient, trigger: str, view: Json) -> bool:
    """Show a modal; return whether it is shown: not for a click older than three seconds."""
    return await _has_shown(client.views_open(trigger_id=trigger, view=view))


async def update_modal(client: AsyncWebClient, view_id: str, view: Json) -> None:
    """Show something else in a modal, unless it was closed meanwhile."""
    await _has_shown(client.views_update(view_id=view_id, view=view))


async def _has_shown(showing: Awaitable[object]) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE):
            await showing
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
        logger.info("a modal or message could not be shown: %s", error)
        return False
    return True


def explain_modal(quote: str, metadata: str) -> Json:
    """Return the modal that asks what about a passage is to be explained."""
    return {
        "type": "modal",
        "callback_id": EXPLAIN,
        "private_metadata": metadata,
        "title": plain(i18n.text("slack-explain-title")),
        "submit": plain(i18n.text("slack-explain")),
        "close": plain(i18n.text("button-cancel")),
        "blocks": [*_quote_blocks(quote[:MAX_SELECTED_TEXT]), _question_input(), _who_sees()],
    }


def quote_in(view: Json) -> str:
    """Return the passage that a modal shows."""
    blocks = view.get("blocks") or ()
    return "".join(
        b["text"]["text"] for b in blocks if str(b.get("block_id", "")).startswith(_QUOTED)
    )


def form_view(form: Form, metadata: str) -> Json:
    """Return the modal that asks for what a form does."""
    beside = [{"type": "section", "text": plain(form.beside[:_LONGEST_CARD])}]
    return {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": metadata,
        "title": plain(form.title),
        "submit": plain(form.submit or i18n.text("button-send")),
        "close": plain(i18n.text("button-cancel")),
        "blocks": [*(beside if form.beside else ()), *map(_field, form.fields)],
    }


def _field(field: Field) -> Json:
    longest = min(field.longest, _LONGEST_INPUT)
    element: Json = {
        "type": "plain_text_input",
        "action_id": field.name,
        "multiline": field.is_long,
        "max_length": longest,
    }
    if field.shortest:
        element["min_length"] = field.shortest
    if field.value:
        element["initial_value"] = field.value[:longest]
    if field.options:
        options = [{"text": plain(said), "value": value} for value, said in field.options]
        element = {"type": "radio_buttons", "action_id": field.name, "options": options}
    return {
        "type": "input",
        "block_id": field.name,
        "optional": not field.required,
        "label": plain(field.label),
        "element": element,
    }


def sentence_modal(title: str, sentence: str) -> Json:
    """Return a modal that shows a sentence."""
    shown = plain(sentence.replace("`", "")[:_LONGEST_SECTION])
    return shown_modal(title, [{"type": "section", "text": shown}])


def shown_modal(title: str, blocks: Sequence[Json]) -> Json:
    """Return a modal that only shows something."""
    return {
        "type": "modal",
        "title": plain(title),
        "close": plain(i18n.text("button-close")),
        "blocks": list(blocks),
    }


def typed_in(view: Json) -> dict[str, str]:
    """Return what was typed or chosen in each input, by its action id."""
    return {
        name: str((state.get("selected_option") or {}).get("value") or state.get("value") or "")
        for inputs in (view.get("state") or {}).get("values", {}).values()
        for name, state in inputs.items()
    }


def plain(shown: str) -> Json:
    """Return a text that is shown letter by letter."""
    return {"type": "plain_text", "text": shown, "emoji": False}


def _quote_blocks(quote: str) -> Iterator[Json]:
    for start in range(0, len(quote), _LONGEST_SECTION):
        part = quote[start : start + _LONGEST_SECTION]
        yield {"type": "section", "block_id": f"{_QUOTED}{start}", "text": plain(part)}


def _question_input() -> Json:
    element: Json = {
        "type": "plain_text_input",
        "action_id": QUESTION,
        "multiline": True,
        "max_length": _LONGEST_INPUT,
        "placeholder": plain(i18n.text("slack-explain-placeholder")),
    }
    return {
        "type": "input",
        "block_id": QUESTION,
        "optional": True,
        "label": plain(i18n.text("slack-your-question")),
        "element": element,
    }


def _who_sees() -> Json:
    public = {"text": plain(i18n.text("slack-seen-by-everybody")), "value": PUBLIC}
    private = {"text": plain(i18n.text("slack-seen-by-me")), "value": PRIVATE}
    element: Json = {
        "type": "radio_buttons",
        "action_id": WHO_SEES,
        "options": [public, private],
        "initial_option": public,
    }
    return {
        "type": "input",
        "block_id": WHO_SEES,
        "label": plain(i18n.text("slack-who-sees")),
        "element": element,
    }
