"""The requests that wait, in a channel of the staff: each in one message."""

from datetime import timedelta

import discord

from adapters.buttons import ON_CARD
from adapters.discord.api.refusals import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Refused
from adapters.discord.api.rest import Rest
from adapters.discord.markup.dialect import as_written
from adapters.discord.replies.dedupe import first_part, nonce
from adapters.discord.replies.outbound import Post
from core.help_requests.base import CardDue, QueueCard

_CLOCKS = timedelta(minutes=5)
"""How far our clock and Discord's may differ."""
_GONE = frozenset({UNKNOWN_MESSAGE, UNKNOWN_CHANNEL})


async def show_card(rest: Rest, due: CardDue, card: QueueCard) -> str:
    """Show a request, as `ChatPlatform.show_card` does, and return the message's id."""
    channel, post = int(due.channel.channel), _post(card)
    if (message := due.message or await _standing(rest, due)) is None:
        name = nonce(f"queue:{card.help_id}", channel, 0)
        message, _ = await rest.post(channel, post, nonce=name)
    else:
        await rest.edit(channel, message, post)
    return message


async def remove_card(rest: Rest, due: CardDue) -> None:
    """Delete the message of a request, as `ChatPlatform.remove_card` does."""
    try:
        if (message := due.message or await _standing(rest, due)) is not None:
            await rest.delete(int(due.channel.channel), message)
    except Refused as refusal:
        if refusal.code not in _GONE:
            raise


def _post(card: QueueCard) -> Post:
    notes = "\n".join(f"-# {as_written(line)}" for line in (card.status, card.said) if line)
    buttons = ON_CARD if card.is_open else ()
    question = f"**{as_written(card.question)}**"
    return Post(question, notes=notes, buttons=buttons, request_id=card.help_id)


async def _standing(rest: Rest, due: CardDue) -> str | None:
    """Return the message that another process posted; None: there is none."""
    if due.posted_since is None:
        return None
    since = discord.utils.time_snowflake(due.posted_since - _CLOCKS)
    messages = await rest.messages_after(int(due.channel.channel), since)
    return first_part(messages, rest.me, "", request_id=due.help_id, question=None)
