"""Finds questions that were edited or deleted while the bot was not connected."""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Protocol

import discord

from adapters.discord.api.refusals import UNKNOWN_CHANNEL, Refused
from adapters.discord.api.rest import Json, Rest
from adapters.discord.inbound import message_key
from adapters.discord.raw_message import moment, snowflake
from adapters.intake.reconcile import LOOKED_BACK, changed_in
from core.inbox.places import PlacedQuestion

logger = logging.getLogger(__name__)

_MOST_A_CHANNEL = 500


@dataclass(frozen=True, slots=True)
class ShardRange:
    """One of so many parts of Discord's servers; direct messages are the first one's."""

    number: int
    """From 0."""
    of: int

    def serves(self, workspace: str) -> bool:
        """Return whether a server, or the direct messages, are this shard's."""
        server = int(workspace) if workspace.isdecimal() else 0
        return (server >> 22) % self.of == self.number


class AskedQuestions(Protocol):
    """Knows what was asked."""

    async def questions(self, since: datetime) -> list[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Deleted:
    """A question whose message is gone."""

    channel: int
    message: int


@dataclass(frozen=True, slots=True)
class GoneChannel:
    """A channel or thread that is gone, with all questions in it."""

    channel: int


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited question, as it is now."""

    guild: int | None
    data: Json


Change = Edited | Deleted | GoneChannel


async def changed(
    client: discord.Client, rest: Rest, asked: AskedQuestions, shard: ShardRange, since: datetime
) -> AsyncIterator[Change]:
    """Yield what happened after a moment to a shard's questions of the hour before, and since.

    Every channel with such a question is read. What is closed to us tells nothing, and neither
    does what another bot was asked over the same database: this one may never have been there.
    An edit that was heard already may be among them.

    Raises:
        DeliveryError: when Discord does not let a channel be read now.
    """
    found = await asked.questions(since - LOOKED_BACK)
    here = (q for q in found if shard.serves(q.workspace) and _is_ours(client, q))
    ours = sorted(here, key=attrgetter("channel"))
    for channel, group in groupby(ours, key=attrgetter("channel")):
        try:
            changes = await _messages(rest, channel, [*group], since)
        except Refused as refusal:
            if not refusal.permanent:
                raise
            logger.info("channel %s cannot be read: %s", channel, refusal)
            if refusal.code == UNKNOWN_CHANNEL:
                yield GoneChannel(channel)
        else:
            for change in changes:
                yield change


def _is_ours(client: discord.Client, question: PlacedQuestion) -> bool:
    application = client.application_id
    return application is not None and question.key == message_key(
        application, int(question.message)
    )


async def _messages(
    rest: Rest, channel: int, questions: Sequence[PlacedQuestion], since: datetime
) -> list[Change]:
    ids = sorted(int(question.message) for question in questions)
    history = await rest.messages_after(channel, ids[0] - 1, most=_MOST_A_CHANNEL)
    there = {number: one for one in history if (number := snowflake(one.get("id"))) is not None}
    all_read = len(there) == len(history)  # else one that is not there may be there all the same
    read_to_the_end = len(history) < _MOST_A_CHANNEL
    furthest = max(there, default=0)
    found = changed_in(
        ids,
        {number: moment(message.get("edited_timestamp")) for number, message in there.items()},
        lambda number: all_read and (read_to_the_end or number < furthest),
        since,
    )
    workspace = questions[0].workspace
    guild = int(workspace) if workspace.isdecimal() else None
    return [
        Edited(guild, there[number]) if number in there else Deleted(channel, number)
        for number in found
    ]
