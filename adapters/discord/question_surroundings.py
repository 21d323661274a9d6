"""What Discord can read around a question: its files, and the messages right before it."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import aiohttp
import discord
from discord.http import Route

from adapters.context.file_text import fetched_text
from adapters.context.message_parts import TextFile
from adapters.context.pointing import Earlier
from adapters.context.question_context import MOST_MESSAGES, MessageWindow
from adapters.discord.api.rest import Rest
from adapters.discord.inbound import is_no_persons, parts_about, text_of
from adapters.discord.raw_message import RawMessage, read_message, snowflake
from adapters.discord.replies.address import Address
from adapters.intake.unreadable import UnreadableEvent
from adapters.payloads import Json
from core.errors import DeliveryError
from core.inbox.base import Job

logger = logging.getLogger(__name__)

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
