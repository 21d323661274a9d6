"""One of everything that the bot can show in Slack, and what Slack says of it."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.actions.use import CardLine, CardPart, Cards, Field, Form, LineStyle
from adapters.chat.access import Choice
from adapters.chat.base import Nearest
from adapters.chat.buttons import NO_ID, ON_CARD, Button
from adapters.chat.markdown.footnotes import Exhibit, Footnote, Paragraph, Stretch
from adapters.slack import outbound
from adapters.slack.client import SlackClient
from adapters.slack.home import header, section
from adapters.slack.modals import (
    button_row,
    card_blocks,
    explain_modal,
    form_view,
    private_message,
    shown_modal,
    told,
)
from adapters.slack.mrkdwn import around_table, to_slack
from adapters.slack.outbound import Post, blocks_of_post
from adapters.slack.reply import blocks_of
from core.domain import i18n
from core.domain.errors import DeliveryError

_ID = UUID(int=1)
_URL = "https://example.org/book#place"
_NO_VERDICT = frozenset({"unknown_method", "ratelimited", "invalid_auth", "not_authed"})
_TEXT = """## A heading

Words in **bold** and *italics*, `code`, and a list:

1. One
2. Two

> A quote.

```python
print("<b>" + '<@U1>')
```
"""
_TABLE = "| Name | Size | From | To |\n| :-- | --: | :-: | --- |\n| `i8` | 1 | -128 | 127 |\n"


def specimens() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each shows, and the arguments with which `blocks.validate` is asked about it."""
    for name, post in _posts():
        yield name, {"blocks": blocks_of_post(post)}
    for name, message in _messages():
        yield name, {"blocks": message["blocks"]}
    for name, view in _views():
        yield name, {"view": view}


def _posts() -> Iterator[tuple[str, Post]]:
    note = "From [1] <https://example.org/book#place|Book › Place>"
    yield "a placeholder", outbound.placeholder(_ID)
    answering = (Button.HELPFUL, Button.NOT_HELPFUL, Button.EVIDENCE, Button.ASK_STAFF)
    yield "an answer", Post(to_slack(_TEXT), note, (*answering, Button.DELETE), _ID)
    found = around_table(_TABLE)
    yield "an answer with a table", Post("A table:", note, table=found.tables[0], after="After.")
    yield "a notification", outbound.announcing(Post("heap"), "U0000000001")
    yield "a menu of courses", Post("Which?", choice=Choice(_ID, (("algebra", "Algebra"),)))
    sections = Nearest(_ID, ("Heaps", "Trees"))
    yield "a refusal", Post("No.", buttons=(Button.ASK_STAFF,), request_id=_ID, nearest=sections)
    yield "a question", outbound.question("heap", "ann")
    yield "a card of the queue", Post("**Why?**", "waits", ON_CARD, _ID)


def _messages() -> Iterator[tuple[str, dict[str, Any]]]:
    own_data = (Button.EXPORT, Button.FORGET_ME)
    yield "a sentence with code", told("`<@U1>`", buttons=own_data)
    lines = (CardLine(LineStyle.TITLE, "Why?"), CardLine(LineStyle.QUOTE, "So.", "Before"))
    cards = Cards("", ((CardPart(lines, ON_CARD, _ID),),), _ID)
    yield "a list for staff", private_message("Two.", card_blocks(cards))


def _views() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "the form about a passage", explain_modal("A passage.", "{}")
    fields = (
        Field("because", "Reason", required=False, options=(("wrong", "It is wrong"),)),
        Field("question", "Question", 999, 3, "Why?"),
        Field("answer", "Answer", 3_000, value="So.", is_long=True),
    )
    form = Form(Button.ANSWER, _ID, "Answer", fields, beside="[1] Book")
    yield "a form", form_view(form, "{}")
    place = Footnote((1,), "Book › Place", "p. 3", _URL, "book.pdf")
    paragraph = Paragraph((Stretch("Some words "), Stretch("that are cited.", cited=True)))
    evidence = blocks_of([Exhibit(place, (paragraph,))])
    yield "the evidence", shown_modal(i18n.text("button-evidence"), evidence)
    home = [header("Courses"), section("• Algebra"), button_row((Button.FORGET_ME,), NO_ID)]
    yield "the Home", {"type": "home", "blocks": home}


async def refused(token: str, api_url: str | None) -> AsyncIterator[str]:
    """Yield what of it Slack refuses, and why.

    Raises:
        DeliveryError: when Slack does not judge, or cannot be reached.
    """
    client = SlackClient(api_url, token)
    for name, payload in specimens():
        try:
            await client.blocks_validate(**payload)
        except SlackApiError as error:
            word = str(error.response.get("error"))
            if not word.startswith("invalid_") or word in _NO_VERDICT:
                raise DeliveryError(f"blocks.validate: {word}", permanent=True) from error
            yield f"{name}: {_reasons(error.response.get('errors')) or word}"
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise DeliveryError("blocks.validate does not answer") from error


def _reasons(errors: object) -> str:
    """Return what is wrong and where, in one line."""
    if not isinstance(errors, list):
        return ""
    return "; ".join(
        f"{one.get('pointer', '')} {one.get('message', '')}".strip()
        if isinstance(one, dict)
        else json.dumps(one)
        for one in errors
    )
