"""What a user is shown at once and alone: texts, modals, and how they reach their reader."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from functools import partial
from typing import Any

import aiohttp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.answers import REASONS
from adapters.chat.acceptor import BackgroundWork
from adapters.slack.inbound import Spot
from adapters.slack.mrkdwn import CONTROLS, divided
from adapters.slack.outbound import Post, fallback, markdown_blocks
from core.domain import MAX_QUESTION, MAX_SELECTED_TEXT, MIN_QUESTION, i18n
from core.domain.i18n import text
from core.storage.sessions import LONGEST_REASON

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_PAUSES = (0.3, 1.0, None)
"""Seconds before a click is answered again that Slack failed to answer."""
EXPLAIN = "explain"
"""The callback id of the message shortcut, and of its modal."""
REASON = "gl:reason"
"""The callback id of the modal that asks why an answer was not helpful."""
MEANT = "gl:meant"
"""The callback id of the modal that asks what a follow-up was to mean."""
EXPORT = "gl:export-my-data"
"""The action id of the button that sends what is stored about its user as a file."""
FORGET_ME = "gl:forget-me"
"""The action id of the button that deletes what is stored about the user who presses it."""
BECAUSE, QUESTION, WHO_SEES, WHY = "because", "question", "who-sees", "why"
"""The action ids of inputs."""
PRIVATE, PUBLIC = "private", "public"
_LONGEST_SECTION = 3_000
_LONGEST_INPUT = 3_000
"""Characters that Slack takes in an input, which is less than a message may have."""
_QUOTED = "quote-"
_PATIENCE = 2.0
"""Seconds for a modal to open; the click it answers is to be acknowledged within three."""


def told(markdown: str, *more: Json) -> Json:
    """Return a message that its reader alone sees; titles and names in it are escaped before."""
    shown = [*markdown_blocks(divided(markdown, CONTROLS)), *more]
    return {"response_type": "ephemeral", "text": fallback(Post(markdown)), "blocks": shown}


def data_buttons(*, may_delete: bool) -> Json:
    """Return the buttons that give what is stored as a file, and delete it."""
    export: Json = {"type": "button", "text": plain(text("privacy-export")), "action_id": EXPORT}
    return {"type": "actions", "elements": [export, *([_forget_button()] if may_delete else [])]}


def told_to_all(markdown: str) -> Json:
    """Return a message that everybody in the channel sees."""
    return {**told(markdown), "response_type": "in_channel"}


def forget_button() -> Json:
    """Return the button that deletes everything, alone."""
    return {"type": "actions", "elements": [_forget_button()]}


def _forget_button() -> Json:
    return {
        "type": "button",
        "text": plain(i18n.text("privacy-delete-all")),
        "action_id": FORGET_ME,
        "style": "danger",
        "confirm": {
            "title": plain(i18n.text("button-delete-question")),
            "text": plain(i18n.text("privacy-delete-confirm")),
            "confirm": plain(i18n.text("button-delete")),
            "deny": plain(i18n.text("button-cancel")),
        },
    }


async def answer_command(
    unhurried: BackgroundWork,
    answering: Coroutine[Any, Any, Json],
    ack: AsyncAck,
    respond: AsyncRespond,
) -> None:
    """Answer a command with its acknowledgement, or afterwards when that would be too late."""
    message = await unhurried.in_time(answering, partial(respond_with, respond))
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


def reason_modal(metadata: str) -> Json:
    """Return the modal that asks why an answer was not helpful; the vote is kept already."""
    words: Json = {
        "type": "plain_text_input",
        "action_id": WHY,
        "multiline": True,
        "max_length": LONGEST_REASON,
    }
    options = [{"text": plain(str(said)), "value": value} for value, said in REASONS.items()]
    because: Json = {"type": "radio_buttons", "action_id": BECAUSE, "options": options}
    return {
        "type": "modal",
        "callback_id": REASON,
        "private_metadata": metadata,
        "title": plain(i18n.text("vote-why")),
        "submit": plain(i18n.text("button-send")),
        "close": plain(i18n.text("button-close")),
        "blocks": [
            {
                "type": "input",
                "block_id": BECAUSE,
                "optional": True,
                "label": plain(i18n.text("vote-because")),
                "element": because,
            },
            {
                "type": "input",
                "block_id": WHY,
                "optional": True,
                "label": plain(i18n.text("vote-in-your-words")),
                "element": words,
            },
        ],
    }


def meant_modal(understood: str, metadata: str) -> Json:
    """Return the modal that asks what was meant, beginning with what was understood."""
    words: Json = {
        "type": "plain_text_input",
        "action_id": QUESTION,
        "multiline": True,
        "min_length": MIN_QUESTION,
        "max_length": MAX_QUESTION,
        "initial_value": understood[:MAX_QUESTION],
    }
    label = plain(i18n.text("not-meant-question"))
    return {
        "type": "modal",
        "callback_id": MEANT,
        "private_metadata": metadata,
        "title": plain(i18n.text("not-meant-title")),
        "submit": plain(i18n.text("button-send")),
        "close": plain(i18n.text("button-cancel")),
        "blocks": [{"type": "input", "block_id": QUESTION, "label": label, "element": words}],
    }


def shown_modal(title: str, blocks: Sequence[Json]) -> Json:
    """Return a modal that only shows something."""
    return {
        "type": "modal",
        "title": plain(title),
        "close": plain(i18n.text("button-close")),
        "blocks": list(blocks),
    }


def typed(view: Json, name: str) -> str:
    """Return what was typed or chosen in an input, by its action id."""
    for inputs in (view.get("state") or {}).get("values", {}).values():
        if name in inputs:
            state = inputs[name]
            chosen = (state.get("selected_option") or {}).get("value")
            return str(chosen or state.get("value") or "")
    return ""


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
