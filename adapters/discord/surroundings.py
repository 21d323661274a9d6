"""Looks up what is known around a message: its server, its channel, and its author's roles."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import discord
from discord.http import Route

from adapters.actions.staff import PINGS
from adapters.chat.acceptor import Unreadable, UnreadableEvent
from adapters.chat.base import Json
from adapters.chat.question_context import (
    MOST_MESSAGES,
    Earlier,
    MessageWindow,
    TextFile,
    fetched_text,
)
from adapters.discord.inbound import KnownSurroundings, is_no_persons, parts_about, text_of, where
from adapters.discord.odd_events import HISTORY, readable_member
from adapters.discord.payloads import RawMessage, read_message, snowflake
from adapters.discord.rest import Rest
from core.domain import now
from core.domain.errors import DeliveryError
from core.storage.inbox.base import Job, Posted

logger = logging.getLogger(__name__)


def guild_of(client: discord.Client, data: Json) -> int | None:
    """Return the server of an event; where it does not say that, its channel's, if it is known."""
    if (said := snowflake(data.get("guild_id"))) is not None:
        return said
    channel = client.get_channel(snowflake(data.get("channel_id")) or 0)
    guild: discord.Guild | None = getattr(channel, "guild", None)
    return guild.id if guild is not None else None


async def around(
    client: discord.Client, unreadable: Unreadable, message: RawMessage
) -> KnownSurroundings:
    """Return what is known around a message; an unknown channel of a server is asked for."""
    if message.guild_id is None:
        return KnownSurroundings()
    guild = client.get_guild(message.guild_id)
    channel: Any = guild.get_channel_or_thread(message.channel_id) if guild is not None else None
    if channel is None:  # as a thread's whose first message came early
        channel = await _fetched(client, unreadable, message.channel_id)
    parent: object = None
    if isinstance(channel, discord.Thread) and channel.parent is None:
        parent = await _fetched(client, unreadable, channel.parent_id)
    return KnownSurroundings(
        guild,
        channel,
        parent if isinstance(parent, discord.abc.GuildChannel) else None,
        None if guild is None else _member(message, guild),
    )


async def places_of(
    client: discord.Client, unreadable: Unreadable, workspace: str, channel: str
) -> tuple[str, ...]:
    """Return the places around a channel, as `ChatPlatform.places_of` does."""
    channel_id = int(channel)
    known: Any = client.get_channel(channel_id)
    if known is None:  # as in a process that stands by
        known = await _fetched(client, unreadable, channel_id)
    return where(known, int(workspace), channel_id).places


def _member(message: RawMessage, guild: discord.Guild) -> discord.Member | None:
    """Return the author as a member; None where it is not said which roles they have."""
    roles = message.member.get("roles")
    if not isinstance(roles, list):
        return None
    return readable_member(guild, message.author.id, filter(None, map(snowflake, roles)))


async def _fetched(client: discord.Client, unreadable: Unreadable, channel_id: int) -> object:
    """Return a channel as Discord tells of it; None where that cannot be read now."""
    try:
        return await client.fetch_channel(channel_id)
    except (discord.DiscordException, aiohttp.ClientError, OSError, RuntimeError) as error:
        logger.warning("a channel cannot be read: %s", type(error).__name__)
    except Exception as error:  # noqa: BLE001 - discord.py could not read what Discord answered
        unreadable.note(HISTORY, channel_id, error)
    return None


_MARGIN = timedelta(minutes=1)
_ACKNOWLEDGED_WITHIN = timedelta(seconds=5)
EARLY_PAUSE = 0.5
"""Seconds between two tries to use a response that is not there yet."""
MOST_EARLY = 10
"""How often that is tried, whatever the clocks show."""


@dataclass(frozen=True, slots=True)
class Response:
    """The way to answer an interaction, as long as its token lives."""

    application: int
    token: str
    expires_at: datetime
    accepted_at: datetime
    """When the interaction was accepted, by this machine's clock as all times here."""

    @property
    def is_over(self) -> bool:
        """Whether the token is dead, or might die before the answer is complete."""
        return now() >= self.expires_at - _MARGIN

    @property
    def may_be_early(self) -> bool:
        """Whether the interaction is so young that it may not be acknowledged yet."""
        return now() - self.accepted_at < _ACKNOWLEDGED_WITHIN


@dataclass(frozen=True, slots=True)
class Address:
    """Where an answer belongs."""

    channel: int
    asker: int
    question: int | None
    """The message that asks; none for an interaction, and for an answer that is shared."""
    of_interaction: bool
    opens_thread: bool
    ephemeral: bool
    response: Response | None
    """None for a message, and where the token is not there any more."""
    is_hidden: bool
    """Whether the asker alone sees the response to the interaction."""
    pings: int | None
    """Whom the answer notifies: its asker, who has asked for it; None: no one."""
    apart: bool
    """Whether its asker was sent something meanwhile, and the answer stands in the channel."""

    @classmethod
    def of(cls, job: Job) -> "Address":
        """Return where the answer to a job belongs."""
        arrival, address = job.arrival, job.arrival.address
        of_interaction = address["route"] == "interaction"
        response = None
        ephemeral, notice = address.get("ephemeral", False), address.get("apart", False)
        waited = of_interaction and arrival.told_to_wait and not ephemeral
        if of_interaction and arrival.token and arrival.token_expires_at:
            response = Response(
                address["application"],
                arrival.token,
                arrival.token_expires_at,
                job.accepted_at,
            )
        return cls(
            channel=address["channel"],
            asker=address["asker"],
            question=address.get("message"),
            of_interaction=of_interaction,
            opens_thread=address["open_thread"],
            ephemeral=ephemeral,
            response=response,
            is_hidden=ephemeral or notice or arrival.refusal is not None,
            pings=address["asker"] if address.get(PINGS) else None,
            apart=notice or waited,
        )

    def stands_in_thread(self, part: int) -> bool:
        """Return whether a part stands in the thread; one on our own message is after it."""
        return part > 0 or self.question is not None

    def channel_of(self, part: int, posted: Posted) -> int:
        """Return where a part that is known stands."""
        in_thread = posted.thread is not None and self.stands_in_thread(part)
        return int(posted.thread) if posted.thread and in_thread else self.channel


_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
"""Where Discord keeps what people attach."""


class QuestionSurroundings:
    """Reads around one question; what cannot be had is left out."""

    def __init__(self, client: discord.Client, rest: Rest, job: Job) -> None:
        self._client = client
        self._rest = rest
        self._address = Address.of(job)
        thread = job.arrival.request.user_context.thread if job.arrival.request else None
        self._thread = int(thread) if thread and thread.isdecimal() else None
        self._position = job.arrival.position
        self._guild = snowflake(job.arrival.workspace)
        self._names: dict[str, tuple[str, ...]] = {}
        """What the messages that were read call their authors."""

    @property
    def in_thread(self) -> bool:
        """Whether it was asked in a thread."""
        return self._thread is not None and self._address.channel == self._thread

    async def read(self, file: TextFile) -> str | None:
        """Return the text of a file; None when it is none, or cannot be had."""
        if not self._is_discords(file.url):
            return None
        async with aiohttp.ClientSession() as session:
            return await fetched_text(session, file.url)

    async def window(self) -> MessageWindow | None:
        """Return what stands before the question; None when it cannot be read."""
        try:
            found = await self._rest.messages_before(
                self._address.channel, self._position, most=MOST_MESSAGES
            )
            begins = await self._first(found) if self.in_thread else None
        except DeliveryError as error:
            logger.info("what stands before a question cannot be read: %s", error)
            return None
        messages = tuple(self._earlier(one) for one in _readable(found))
        return MessageWindow(messages, begins, is_partial=len(found) >= MOST_MESSAGES)

    async def names(self, authors: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return what people are called: their names, and what the server calls them."""
        guild = self._client.get_guild(self._guild) if self._guild is not None else None
        found = dict[str, Sequence[str]]()
        for one in authors:
            member = guild.get_member(int(one)) if guild is not None else None
            known = self._names.get(one, ())
            found[one] = known if member is None else (*known, member.display_name)
        return found

    async def _first(self, found: Sequence[Json]) -> Earlier | None:
        """Return a thread's title with the message that it hangs on, unless that is among these."""
        assert self._thread is not None
        thread = self._client.get_channel(self._thread)
        if not isinstance(thread, discord.Thread):
            return None
        in_forum = isinstance(thread.parent, discord.ForumChannel)
        title = thread.name if in_forum else ""
        if any(str(one.get("id")) == str(self._thread) for one in found):
            return Earlier(title) if title else None
        root = await self._root(thread, in_forum=in_forum)
        said = "\n".join(filter(None, [title, root.text if root else ""]))
        return Earlier(said, root.by_asker if root else False) if said else None

    async def _root(self, thread: discord.Thread, *, in_forum: bool) -> Earlier | None:
        """Return the message that a thread hangs on; None where there is none to be read."""
        if self._position == thread.id:
            return None  # it is the question itself
        channel = thread.id if in_forum else thread.parent_id
        try:
            message = read_message(await self._rest.message(channel, thread.id))
        except (DeliveryError, UnreadableEvent):
            return None  # a thread that was opened without a message
        return self._earlier(message) if not is_no_persons(message) else None

    def _earlier(self, message: RawMessage) -> Earlier:
        self._names[str(message.author.id)] = message.author.names
        return Earlier(
            text_of(message),
            by_asker=message.author.id == self._address.asker,
            ours=str(message.author.id) == self._rest.me,
            to_bot=any(str(person.id) == self._rest.me for person in message.mentions),
            parts=parts_about(message),
            author=str(message.author.id),
            said_at=discord.utils.snowflake_time(message.id),
        )

    def _is_discords(self, url: str) -> bool:
        """Return whether a file lies where Discord keeps files, so that nothing else is called."""
        wanted, own = urlsplit(url), urlsplit(Route.BASE)
        if wanted.scheme == "https" and wanted.hostname in _HOSTS:
            return True
        is_discord = own.hostname is not None and own.hostname.endswith("discord.com")
        return not is_discord and wanted.netloc == own.netloc


def _readable(found: Iterable[Json]) -> Iterator[RawMessage]:
    for message in found:
        with suppress(UnreadableEvent):
            yield read_message(message)
