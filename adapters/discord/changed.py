"""Finds questions that were edited or deleted while the bot was not connected."""

import logging
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Protocol, cast

import discord

from adapters.changed import LOOKED_BACK, changed_in
from adapters.discord.inbound import message_key
from adapters.discord.refusals import UNKNOWN_CHANNEL
from core.inbox.places import Question

logger = logging.getLogger(__name__)

_MOST_A_CHANNEL = 500


@dataclass(frozen=True, slots=True)
class Shard:
    """One of so many parts of Discord's servers; direct messages are the first one's."""

    number: int
    """From 0."""
    of: int

    def serves(self, workspace: str) -> bool:
        """Return whether a server, or the direct messages, are this shard's."""
        server = int(workspace) if workspace.isdecimal() else 0
        return (server >> 22) % self.of == self.number


class Asked(Protocol):
    """Knows what was asked."""

    async def questions(self, since: datetime) -> list[Question]:
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


Change = discord.Message | Deleted | GoneChannel
"""A message is an edited question, as it is now."""


async def changed(
    client: discord.Client, asked: Asked, shard: Shard, since: datetime
) -> AsyncIterator[Change]:
    """Yield what happened after a moment to a shard's questions of the hour before, and since.

    Every channel with such a question is read. What is closed to us tells nothing, and neither
    does what another bot was asked over the same database: this one may never have been there.
    An edit that was heard already may be among them.

    Raises:
        discord.DiscordException: when Discord does not let a channel be read now.
    """
    found = await asked.questions(since - LOOKED_BACK)
    here = (q for q in found if shard.serves(q.workspace) and _is_ours(client, q))
    ours = sorted(here, key=attrgetter("channel"))
    for channel_id, group in groupby(ours, key=attrgetter("channel")):
        try:
            channel = client.get_channel(channel_id) or await client.fetch_channel(channel_id)
            changes = await _messages(cast("discord.abc.Messageable", channel), group, since)
        except discord.Forbidden as error:
            logger.info("channel %s cannot be read: %s", channel_id, error.code)
        except discord.NotFound as error:
            if error.code == UNKNOWN_CHANNEL:
                yield GoneChannel(channel_id)
        else:
            for change in changes:
                yield change


def _is_ours(client: discord.Client, question: Question) -> bool:
    application = client.application_id
    return application is not None and question.key == message_key(
        application, int(question.message)
    )


async def _messages(
    channel: discord.abc.Messageable, questions: Iterable[Question], since: datetime
) -> list[Change]:
    ids = sorted(int(question.message) for question in questions)
    before_first = discord.Object(ids[0] - 1)
    history = channel.history(after=before_first, oldest_first=True, limit=_MOST_A_CHANNEL)
    there = {message.id: message async for message in history}
    read_to_the_end = len(there) < _MOST_A_CHANNEL
    furthest = max(there, default=0)
    found = changed_in(
        ids,
        {number: message.edited_at for number, message in there.items()},
        lambda number: read_to_the_end or number < furthest,
        since,
    )
    return [there.get(number) or Deleted(_id_of(channel), number) for number in found]


def _id_of(channel: discord.abc.Messageable) -> int:
    return cast("discord.abc.Snowflake", channel).id
