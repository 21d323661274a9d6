"""Answers an interaction at once, to its user alone; an interaction that is lost is let go."""

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import aiohttp
import discord
from discord.http import HTTPClient, Route

from adapters.actions.use import File
from adapters.chat.acceptor import done_in_time
from adapters.chat.access import Location
from adapters.chat.base import Json, mapping
from adapters.chat.buttons import ON_CARD
from adapters.chat.front_desk import Received
from adapters.chat.places import Presence
from adapters.discord.answer_messages import first_part, nonce
from adapters.discord.inbound import DIRECT, PLATFORM, where
from adapters.discord.members import lookup_in
from adapters.discord.outbound import Post, as_written, layout
from adapters.discord.payloads import interaction_address, needed_id, snowflake
from adapters.discord.rest import (
    UNKNOWN_CHANNEL,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    Refused,
    Rest,
)
from adapters.discord.surroundings import Address
from core.domain import i18n
from core.domain.errors import DeliveryError
from core.storage.inbox.base import Acceptance, Job, Kind, Twin
from core.teaching.help_requests import CardDue, QueueCard

logger = logging.getLogger(__name__)


Interaction = discord.Interaction[Any]
Result = TypeVar("Result")

_RESPONDED_ALREADY = 40060
TRIES = 3
"""How often a first response is sent that the network loses."""
_EPHEMERAL = discord.MessageFlags(ephemeral=True).value


async def respond(call: Callable[[], Awaitable[object]]) -> bool:
    """Send a first response; return whether Discord has it.

    An event that is delivered twice is responded to twice, and Discord refuses the second:
    that is as good. An interaction that is lost after three seconds cannot be helped.
    """
    for _ in range(TRIES):
        try:
            await call()
        except discord.InteractionResponded:
            return True
        except discord.HTTPException as error:
            if error.code == _RESPONDED_ALREADY:
                return True
            known = error.code == UNKNOWN_INTERACTION
            logger.log(
                logging.INFO if known else logging.WARNING,
                "an interaction could not be responded to: %s, code %s",
                *(error.status, error.code),
            )
            return False
        except (aiohttp.ClientError, OSError) as error:
            logger.info("responding to an interaction is tried again: %s", type(error).__name__)
        except RuntimeError as error:  # aiohttp's, when its connections are closed for good
            logger.info("an interaction is not responded to: %s", type(error).__name__)
            return False
        else:
            return True
    return False


async def in_time(
    interaction: Interaction,
    work: Coroutine[Any, Any, Result],
    *,
    thinking: bool = True,
    unless: Callable[[], bool] = lambda: False,
) -> Result:
    """Return what some work comes to; Discord, which waits three seconds, hears if it is slow.

    To be sent afterwards by `tell`, which then shows it in place of "thinking".

    Args:
        thinking: False: the message with the button is to show it, by `show_in_place`.
        unless: Whether the work itself has responded by then, or is about to.
    """
    working = asyncio.create_task(work)
    if not await done_in_time(working) and not unless():
        await respond(lambda: interaction.response.defer(ephemeral=thinking, thinking=thinking))
    return await working


def has_deferred_change(interaction: Interaction) -> bool:
    """Return whether Discord waits for a change of the message whose button was pressed."""
    return interaction.response.type is discord.InteractionResponseType.deferred_message_update


async def show_in_place(interaction: Interaction, view: discord.ui.LayoutView | None) -> None:
    """Show something in the message whose button was pressed; None: it stays as it is."""
    nobody, response = discord.AllowedMentions.none(), interaction.response
    if view is None:
        if not has_deferred_change(interaction):
            await respond(response.defer)
    elif has_deferred_change(interaction):
        await respond(
            lambda: interaction.edit_original_response(view=view, allowed_mentions=nobody)
        )
    else:
        await respond(lambda: response.edit_message(view=view, allowed_mentions=nobody))


async def tell(
    interaction: Interaction,
    text: str,
    *,
    view: discord.ui.View | None = None,
    file: File | None = None,
) -> None:
    """Send the user a message that no one else sees, as the first response or in its place."""
    nobody = discord.AllowedMentions.none()
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        await respond(
            lambda: interaction.edit_original_response(
                content=text,
                attachments=_attached(file),
                view=view,
                allowed_mentions=nobody,
            )
        )
        return
    send: Callable[..., Awaitable[object]] = interaction.response.send_message
    if has_deferred_change(interaction):
        send = interaction.followup.send
    await respond(
        lambda: send(
            text,
            files=_attached(file),
            view=view or discord.utils.MISSING,
            ephemeral=True,
            suppress_embeds=True,
            allowed_mentions=nobody,
        )
    )


async def tell_all(interaction: Interaction, text: str) -> None:
    """Send a message to everybody in the channel; no one is notified."""
    nobody = discord.AllowedMentions.none()
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        # What was deferred for its user alone stays so: it goes, and a message for all comes.
        await respond(interaction.delete_original_response)
        await respond(lambda: interaction.followup.send(text, allowed_mentions=nobody))
        return
    await respond(lambda: interaction.response.send_message(text, allowed_mentions=nobody))


async def show(interaction: Interaction, posts: Sequence[Post]) -> None:
    """Show the user cards that no one else sees, the first in the way that `tell` does."""
    nobody = discord.AllowedMentions.none()
    first, *more = map(layout, posts)
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        shown = await respond(
            lambda: interaction.edit_original_response(view=first, allowed_mentions=nobody)
        )
    else:
        shown = await respond(
            lambda: interaction.response.send_message(
                view=first, ephemeral=True, allowed_mentions=nobody
            )
        )
    for view in more if shown else ():
        follow = partial(interaction.followup.send, ephemeral=True, allowed_mentions=nobody)
        if not await respond(partial(follow, view=view)):
            return


async def show_view(interaction: Interaction, view: discord.ui.LayoutView) -> None:
    """Show the user a view that no one else sees, in the way that `tell` does."""
    nobody = discord.AllowedMentions.none()
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        await respond(
            lambda: interaction.edit_original_response(view=view, allowed_mentions=nobody)
        )
        return
    sending: Callable[..., Awaitable[object]] = interaction.response.send_message
    if has_deferred_change(interaction):
        sending = interaction.followup.send
    await respond(lambda: sending(view=view, ephemeral=True, allowed_mentions=nobody))


async def say_slow(interaction: Interaction) -> None:
    """Notify the asker alone, once, that it takes long to store a question."""
    await respond(
        lambda: interaction.response.send_message(i18n.text("asking-slow"), ephemeral=True)
    )


async def acknowledge(interaction: Interaction, received: Received) -> None:
    """Respond to Discord, within its three seconds, that the answer will follow.

    Only what is in the inbox is acknowledged. When the interaction is lost, or was
    acknowledged before a restart, the answer finds its way all the same. An answer that stands
    apart would leave what is deferred for all unfinished: its asker reads again what Discord may
    not have taken the first time.
    """
    arrival, acceptance = received.arrival, received.accepted.acceptance
    is_stopped = acceptance in {Acceptance.LIMITED, Acceptance.PASSED_OVER}
    is_refused = arrival.refusal is not None or is_stopped
    if arrival.address.get("apart") and not is_refused:
        await say_slow(interaction)
        return
    hidden = bool(arrival.address["ephemeral"]) or is_refused
    await respond(lambda: interaction.response.defer(ephemeral=hidden, thinking=True))
    if acceptance is Acceptance.PASSED_OVER:
        await respond(interaction.delete_original_response)


async def tell_unread(http: HTTPClient, data: Json, text: str) -> None:
    """Respond to an interaction whose payload discord.py cannot read."""
    address = interaction_address(data)
    if address is None:
        return
    number, token = address
    if data.get("type") == discord.InteractionType.autocomplete.value:
        return  # it takes suggestions alone
    message = {"content": text, "flags": _EPHEMERAL, "allowed_mentions": {"parse": []}}
    route = Route("POST", f"/interactions/{number}/{token}/callback")
    body = {"type": discord.InteractionResponseType.channel_message.value, "data": message}
    await respond(lambda: http.request(route, json=body))


def _attached(file: File | None) -> list[discord.File]:
    """Return a file as discord.py reads it, again for each try."""
    return [discord.File(io.BytesIO(file.data), file.name)] if file is not None else []


async def tell_instead(interaction: Interaction, text: str) -> None:
    """Send the user a message in place of the one before, if there was one."""
    if not interaction.response.is_done():
        await tell(interaction, text)
        return
    nobody = discord.AllowedMentions.none()
    await respond(lambda: interaction.edit_original_response(content=text, allowed_mentions=nobody))


OFFER, THANKS, CLOSED = "🙋", "👍", "🔇"
UNKNOWN_EMOJI = 10014
_GONE = frozenset({UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, UNKNOWN_EMOJI})
_OWN = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction that a user added to a message."""

    channel: int
    message: int
    user: int
    guild: int | None
    emoji: str


def read_reaction(data: Json) -> Reaction:
    """Return the reaction that an event tells of.

    Raises:
        UnreadableEvent: when it does not say who reacted to what.
    """
    emoji = mapping(data.get("emoji"))
    return Reaction(
        channel=needed_id(data, "channel_id"),
        message=needed_id(data, "message_id"),
        user=needed_id(data, "user_id"),
        guild=snowflake(data.get("guild_id")),
        emoji="" if emoji.get("id") else str(emoji.get("name") or ""),
    )


def presence_at(client: discord.Client, reaction: Reaction) -> Presence:
    """Return who reacted, as far as they may be staff where they did."""
    guild = client.get_guild(reaction.guild) if reaction.guild is not None else None
    channel = guild.get_channel_or_thread(reaction.channel) if guild is not None else None
    place = where(channel, reaction.guild, reaction.channel)
    user, personal = str(reaction.user), place.workspace == DIRECT
    location = Location(PLATFORM, place.workspace, place.places, user, personal, None)
    return Presence(location, lookup_in(guild, reaction.user, None))


async def react(client: discord.Client, job: Job) -> None:
    """Show a reaction on a job's message, as `ChatAdapter.react` does."""
    emoji = OFFER if job.arrival.kind is Kind.OFFER else THANKS
    await Rest(client, _hold_nothing_back).call(route("PUT", job, emoji))


async def unreact(client: discord.Client, job: Job) -> None:
    """Remove the reaction of an offer, as `ChatAdapter.unreact` does."""
    try:
        await Rest(client, _hold_nothing_back).call(route("DELETE", job, OFFER))
    except Refused as refusal:
        if refusal.code not in _GONE:
            raise


async def link(rest: Rest, twin: Twin) -> str | None:
    """Return where an answer stands; None: it is deleted, or cannot be read now."""
    place = twin.thread or str(twin.address.get("channel") or twin.channel)
    first_in_channel = twin.address.get("route") == "interaction" and len(twin.messages) == 1
    channel, message = twin.channel if first_in_channel else place, twin.messages[0]
    try:
        await rest.message(int(channel), int(message))
    except DeliveryError as error:
        logger.info("a link to an answer cannot be had: %s", error)
        return None
    return f"https://discord.com/channels/{twin.workspace}/{channel}/{message}"


def route(method: str, job: Job, emoji: str) -> Route:
    """Return the request that adds or removes a reaction of the bot's on a job's message."""
    address = Address.of(job)
    return Route(method, _OWN, channel_id=address.channel, message_id=address.question, emoji=emoji)


def _hold_nothing_back() -> None:
    """Let every request pass: a reaction shown twice is shown once."""


_CLOCKS = timedelta(minutes=5)
"""How far our clock and Discord's may differ."""
_QUEUE_CARDS_GONE = frozenset({UNKNOWN_MESSAGE, UNKNOWN_CHANNEL})


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
        if refusal.code not in _QUEUE_CARDS_GONE:
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
