"""The requests that wait, in a channel of the staff: each in one message."""

from datetime import timedelta

from adapters.buttons import ON_CARD
from adapters.slack.api.rest import Rest
from adapters.slack.installs.workspaces import Workspaces
from adapters.slack.markup.dialect import as_written
from adapters.slack.markup.text import words
from adapters.slack.replies.outbound import Post
from adapters.slack.replies.removing import delete
from core.help_requests.base import CardDue, QueueCard

_EVENT_TYPE = "glossator_queue"
_CLOCKS = timedelta(minutes=5)
"""How far our clock and Slack's may differ."""


async def show_card(workspaces: Workspaces, due: CardDue, card: QueueCard) -> str:
    """Show a request, as `ChatPlatform.show_card` does, and return the message's timestamp."""
    rest, channel, post = await _rest_of(workspaces, due), due.channel.channel, _post(card)
    metadata = {"event_type": _EVENT_TYPE, "event_payload": {"key": str(card.help_id)}}
    if (ts := due.message or await _standing(rest, due)) is None:
        return await rest.post(channel, None, post, metadata)
    await rest.update(channel, ts, post, metadata)
    return ts


async def remove_card(workspaces: Workspaces, due: CardDue) -> None:
    """Delete the message of a request, as `ChatPlatform.remove_card` does."""
    rest = await _rest_of(workspaces, due)
    if (ts := due.message or await _standing(rest, due)) is not None:
        await delete(rest, due.channel.channel, ts)


async def _rest_of(workspaces: Workspaces, due: CardDue) -> Rest:
    place = (due.channel.workspace, due.channel.enterprise)
    return await Rest.of(workspaces, place, lambda: None)


def _post(card: QueueCard) -> Post:
    notes = "\n".join(words(line) for line in (card.status, card.said) if line)
    buttons = ON_CARD if card.is_open else ()
    question = f"**{as_written(card.question)}**"
    return Post(question, notes=notes, buttons=buttons, request_id=card.help_id)


async def _standing(rest: Rest, due: CardDue) -> str | None:
    """Return the message that another process posted; None: there is none."""
    if due.posted_since is None:
        return None
    since = (due.posted_since - _CLOCKS).timestamp()
    me, key = await rest.me(), str(due.help_id)
    for message in await rest.messages(due.channel.channel, f"{since:.6f}"):
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        is_it = metadata.get("event_type") == _EVENT_TYPE and payload.get("key") == key
        if is_it and message.get("user") == me:
            return str(message["ts"])
    return None
