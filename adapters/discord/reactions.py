"""Reactions on Discord: the bot's own, those that take an offer up, and links to answers."""

import logging
from dataclasses import dataclass

import discord
from discord.http import Route

from adapters.access.location import Location
from adapters.access.standing import Presence
from adapters.discord.api.refusals import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Refused
from adapters.discord.api.rest import Rest
from adapters.discord.inbound import DIRECT, PLATFORM, where
from adapters.discord.members import lookup_in
from adapters.discord.raw_message import needed_id, snowflake
from adapters.discord.replies.address import Address
from adapters.payloads import Json, mapping
from core.errors import DeliveryError
from core.inbox.base import Job, Kind, Twin

logger = logging.getLogger(__name__)

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
