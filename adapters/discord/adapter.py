"""Discord as a chat platform: lets events in, and opens the way back for their answers."""

import asyncio
import io
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import aiohttp
import discord

from adapters.chat.acceptor import Acceptor
from adapters.chat.base import Json, Nearest, PlatformReply, PostKeeper
from adapters.chat.front_desk import DeletedChannels, FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage, PlatformClock
from adapters.chat.markdown.layout import whole_lines
from adapters.chat.question_context import QuestionContext
from adapters.discord import catch_up, surroundings
from adapters.discord import notices as queue_cards
from adapters.discord import notices as reactions
from adapters.discord import reply as threads
from adapters.discord.account import Greeter
from adapters.discord.answer_messages import nonce
from adapters.discord.catch_up import Backfill, Change, Deleted, Edited, GoneChannel, ShardRange
from adapters.discord.client import Client, point_at
from adapters.discord.commands import AppCommands, CatalogueTranslator, sync_changed
from adapters.discord.gateway_lease import GatewayHolder, ShardLiveness, retry_forever
from adapters.discord.inbound import (
    DIRECT,
    PLATFORM,
    incoming_from_message,
    is_no_persons,
    message_key,
    position_of,
)
from adapters.discord.payloads import RawMessage, moment, needed_id, read_message
from adapters.discord.presses import AnyButton, AnyMenu, DiscordClicks
from adapters.discord.reply import DiscordReply, abandon, notify, retract, tell_reader, tidy
from adapters.discord.rest import Rest, refused, shared_limits
from adapters.discord.surroundings import QuestionSurroundings
from core.domain import AgentRequest
from core.domain.errors import DeliveryError, StoreError
from core.domain.telemetry import NO_METER, Meter
from core.storage.access import Tenant
from core.storage.inbox.base import DeletedEvent, Job, Twin
from core.storage.leases import Leases, RateLimitWindows
from core.teaching.help_requests import CardDue, QueueCard
from core.teaching.radar_store import RadarChannel, RadarPost

logger = logging.getLogger(__name__)


_READ_OF_AN_EDIT = frozenset({"author", "content", "mentions", "type"})
_LATE_MENTION = timedelta(minutes=10)
"""How long an edit may take to reach us by which a message becomes a question."""


class MessageIntake:
    """Takes messages in, in the order of their channel; methods return when that has begun."""

    def __init__(
        self,
        client: Client,
        rest: Rest,
        desk: FrontDesk,
        intake: Acceptor,
        clock: PlatformClock,
        me: Callable[[], discord.ClientUser],
    ) -> None:
        """Prepare for a client that is not connected yet; `me` is asked once it is."""
        self._client = client
        self._rest = rest
        self._desk = desk
        self._intake = intake
        self._clock = clock
        self._me = me

    async def written(self, data: Json) -> None:
        """Take a question in; others are passed over."""
        message = read_message(data, surroundings.guild_of(self._client, data))
        await self._intake.begin(message.channel_id, lambda: self._message(message, None))

    async def missed(self, message: RawMessage, listening_since: datetime) -> None:
        """Take in a message that was missed; raises StoreError when that cannot be done now."""
        accept = partial(self._message, message, listening_since)
        await self._intake.begin(message.channel_id, accept, missed=True)

    async def edited(self, data: Json, guild: int | None) -> None:
        """Have an edited question answered again; a preview that Discord adds is no edit.

        Discord may send a part of the message, which is then read.
        """
        if moment(data.get("edited_timestamp")) is None:
            return
        if not data.keys() >= _READ_OF_AN_EDIT:
            try:
                whole = await self._rest.message(
                    needed_id(data, "channel_id"), needed_id(data, "id")
                )
            except DeliveryError as error:
                logger.warning("an edited message cannot be read: %s", error)
                return
            data = {**whole, "member": data.get("member")}
        message = read_message(data, guild)
        await self._intake.begin(message.channel_id, lambda: self._redone(message))

    async def deleted(
        self, guild: int | None, channel_id: int, message_id: int, position: int
    ) -> None:
        """Have a deleted question and its answer forgotten; `position`: as `Arrival.position`."""
        unheard = DeletedEvent(
            key=message_key(self._me().id, message_id),
            platform=PLATFORM,
            workspace=DIRECT if guild is None else str(guild),
            sent_at=discord.utils.snowflake_time(message_id),
        )
        await self._intake.begin(channel_id, lambda: self._desk.deleted(unheard, position))

    async def _message(
        self, message: RawMessage, listening_since: datetime | None
    ) -> Received | None:
        incoming = await self._incoming(message)
        if incoming is None:
            return None
        return await self._desk.receive(replace(incoming, listening_since=listening_since))

    async def _redone(self, message: RawMessage) -> Received | None:
        incoming = await self._incoming(message)
        if incoming is None or message.edited_at is None:
            return None
        edited_ms = int(message.edited_at.timestamp() * 1_000)
        again = incoming.as_edit(str(edited_ms), position_of(edited_ms))
        redone = await self._desk.redo(again, original=incoming.key)
        is_new = discord.utils.utcnow() - self._clock.ours(message.edited_at) < _LATE_MENTION
        if redone is None and incoming.addressed and is_new:
            # It has become a question by the edit; one that was known is not taken in again.
            return await self._desk.receive(replace(incoming, sent_at=message.edited_at))
        return redone

    async def _incoming(self, message: RawMessage) -> IncomingMessage | None:
        if is_no_persons(message):
            return None
        around = await surroundings.around(self._client, self._client.unreadable, message)
        return incoming_from_message(message, self._me(), around)


_LONGEST_MESSAGE = 2_000
_LOOKED_BACK = timedelta(days=8)
"""How far back a post may stand that another process made."""


async def announce(
    client: discord.Client, rest: Rest, channel: RadarChannel, post: RadarPost, key: str
) -> None:
    """Post a text with its picture, unless they stand in the channel already.

    The picture's name is that of its course and week, by which it is found.

    Raises:
        DeliveryError: when Discord does not take it.
    """
    number = int(channel.channel)
    since = discord.utils.time_snowflake(discord.utils.utcnow() - _LOOKED_BACK)
    for message in await rest.messages_after(number, since):
        names = [one.get("filename") for one in message.get("attachments") or ()]
        if (message.get("author") or {}).get("id") == rest.me and post.picture_name in names:
            return
    target = client.get_partial_messageable(number)
    options: dict[str, Any] = {
        "allowed_mentions": discord.AllowedMentions.none(),
        "suppress_embeds": True,
        "nonce": nonce(key, number, 0),
    }
    picture = io.BytesIO(post.picture)
    file = discord.File(picture, post.picture_name, description=post.alternative)
    try:
        await target.send(whole_lines(post.text, _LONGEST_MESSAGE), file=file, **options)
    except discord.HTTPException as error:
        raise refused(error) from error
    except (aiohttp.ClientError, OSError) as error:
        raise DeliveryError(f"posting into a channel: {type(error).__name__}") from error


class DiscordAdapter:
    """One bot account on Discord."""

    platform = PLATFORM

    def __init__(
        self,
        *,
        token: str,
        api_url: str | None,
        message_content: bool,
        desk: FrontDesk,
        gone: DeletedChannels,
        cursors: catch_up.Cursors,
        context: QuestionContext,
        clicks: DiscordClicks,
        greeter: Greeter,
        commands: AppCommands,
        wake: Callable[[], None],
        closed: RateLimitWindows,
        leases: Leases,
        shards: int | None = None,
        clock: PlatformClock | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        """Prepare a client; nothing is connected yet.

        Args:
            token: The bot's.
            api_url: Where Discord's API is, as of a proxy; none: Discord's own.
            message_content: Whether messages without a mention can be read.
            wake: Tells the worker that there is something to do.
            closed: The rate limits of which other processes know.
            leases: Keep the gateway for one of the bot's processes.
            shards: How many connections there are; None: as many as Discord recommends.
            clock: Discord's, which the desk knows, too.
        """
        if api_url is not None:
            point_at(api_url)
        self._clock = clock or PlatformClock(PLATFORM)
        self._token = token
        self._desk = desk
        self._gone = gone
        self._cursors = cursors
        self._context = context
        self._clicks = clicks
        self._greeter = greeter
        self._commands = commands
        self._intake = Acceptor(wake, meter)
        self._client = Client(
            self,
            message_content=message_content,
            prepare=self._prepare,
            watch=shared_limits(closed, self._clock),
            meter=meter,
        )
        self._liveness = ShardLiveness()
        self._holder = GatewayHolder(self._client, leases, self._liveness, shards=shards)
        self._rest = Rest(self._client, lambda: None)
        self._messages = MessageIntake(
            self._client, self._rest, desk, self._intake, self._clock, lambda: self._me
        )
        self._look_back = Backfill(self._client, self._rest, cursors, self, self._clock)
        self._catching_up = set[asyncio.Task[Any]]()

    async def run(self) -> None:
        """Stand by, or stay connected, until `close`; raises as `GatewayHolder.run` does."""
        await self._holder.run(self._token)

    async def close(self) -> None:
        """Disconnect; what is being taken in is finished before.

        Catching up ends first: it would take a closed connection for an event's fault. The next
        start goes on with it.
        """
        self._client.unreadable.end()
        for task in self._catching_up:
            task.cancel()
        self._greeter.close()
        await self._intake.close()
        if self._client.http.token is not None:  # else it has not begun to connect
            await self._client.close()

    @property
    def is_ready(self) -> bool:
        """Whether the login has said who the bot is."""
        return self._client.user is not None

    async def is_connected(self) -> bool:
        """Return whether what people write is heard, by this process or by one that it knows."""
        return self._holder.is_whole

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader, with the placeholder in place."""
        if job.arrival.told_to_wait:
            keeper.mark_ambiguous()  # the notice goes when the answer stands
        reply = await DiscordReply.open(self._client, job, keeper)
        await threads.rename(self._client, Rest(self._client, keeper.check), job)
        return reply

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Send the asker a sentence: alone after a command, else as a reply to the message."""
        if job.arrival.told_to_wait:
            keeper.mark_ambiguous()
        await tell_reader(self._client, job, keeper, sentence, link, nearest)

    async def notify(self, job: Job, sentence: str) -> None:
        """Send the asker a notice while the question waits, as `tell` does."""
        await notify(self._client, job, sentence)

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return a request with the text of its files, its thread and what it points at."""
        around = QuestionSurroundings(self._client, self._rest, job)
        return await self._context.complete(job, request, around)

    async def is_member(self, tenant: Tenant, user: str) -> bool:
        """Return whether a user is a member of a server; raises DeliveryError."""
        if not self.is_ready:
            raise DeliveryError("we are not logged in to Discord yet")
        return await self._rest.is_member(tenant.workspace, user)

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return a channel, its category where it is in one, and its server."""
        return await surroundings.places_of(
            self._client, self._client.unreadable, workspace, channel
        )

    async def announce(self, channel: RadarChannel, post: RadarPost, key: str) -> None:
        """Post into a channel, unless a post with this key stands there already."""
        await announce(self._client, self._rest, channel, post, key)

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Show a request in a channel of the staff, as `ChatPlatform.show_card` does."""
        return await queue_cards.show_card(self._rest, due, card)

    async def remove_card(self, due: CardDue) -> None:
        """Delete the message that shows a request, as `ChatPlatform.remove_card` does."""
        await queue_cards.remove_card(self._rest, due)

    async def ended(self, job: Job) -> None:
        """Show nothing: the placeholder of an answer says that it is being written."""

    async def retract(self, job: Job) -> None:
        """Remove what was posted for a job, and its question from its thread's name."""
        await retract(self._client, job)
        await threads.close(self._client, self._rest, job)

    async def abandon(self, job: Job, error: DeliveryError) -> None:
        """Remove what stands where no answer can be shown, and tell the asker directly."""
        await abandon(self._client, job, error)

    async def react(self, job: Job) -> None:
        """Show a reaction on a job's message."""
        await reactions.react(self._client, job)

    async def unreact(self, job: Job) -> None:
        """Remove the reaction of an offer."""
        await reactions.unreact(self._client, job)

    async def link(self, job: Job, twin: Twin) -> str | None:
        """Return a link to an answer; None: it does not stand there any more."""
        return await reactions.link(self._rest, twin)

    async def tidy(self, job: Job) -> None:
        """Remove the bot's messages that answer a job's question and that the job does not name."""
        await tidy(self._client, job)

    # --- what the connection tells ---------------------------------------------------

    async def joined(self, *guilds: discord.Guild) -> None:
        """Keep that these servers were met, and greet the new ones."""
        await self._greeter.meet(*guilds)

    async def let_in(self, guild: discord.Guild) -> None:
        """Do as `joined`; a server that the operator does not admit is notified."""
        await self._greeter.let_in(guild)

    async def hidden(self, guild: discord.Guild) -> None:
        """Look for what was said on a server while an outage hid it, once that is over."""
        with self._catching_up_on(guild.shard_id):
            await self._look_back.look_when_seen(self._shard(guild.shard_id), guild.id)

    async def message(self, data: Json) -> None:
        """Take a question in; others are passed over."""
        await self._messages.written(data)

    async def edited(self, data: Json) -> None:
        """Have an edited question answered again; a preview that Discord adds is no edit."""
        await self._messages.edited(data, surroundings.guild_of(self._client, data))

    async def deleted(self, guild: int | None, channel_id: int, message_id: int) -> None:
        """Have a deleted question and its answer forgotten."""
        await self._messages.deleted(guild, channel_id, message_id, self._position_now())

    async def reacted(self, data: Json) -> None:
        """Have a question answered whose offer a user takes up."""
        reaction = reactions.read_reaction(data)
        if reaction.emoji != reactions.OFFER or reaction.user == self._me.id:
            return
        key, who = message_key(self._me.id, reaction.message), str(reaction.user)
        presence = reactions.presence_at(self._client, reaction)
        await self._intake.begin(reaction.channel, lambda: self._desk.take_up(key, who, presence))

    async def gone(self, channel_id: int) -> None:
        """Have all that was asked in a deleted channel or thread forgotten."""
        await self._intake.begin(
            channel_id, lambda: self._gone.forget(PLATFORM, str(channel_id), self._position_now())
        )

    async def disconnected(self, shard_id: int) -> None:
        """Take note that a shard hears nothing at the moment."""
        self._liveness.lost(shard_id)

    async def connected(self, shard_id: int, *, resumed: bool) -> None:
        """Look for what was said while the bot was away."""
        if resumed:
            self._liveness.resumed(shard_id)
            return
        self._liveness.met(shard_id)
        since = discord.utils.utcnow()
        with self._catching_up_on(shard_id):
            await self._look_back.look(self._shard(shard_id), since)
        await self._note(shard_id, since)

    async def alive(self, shard_id: int) -> None:
        """Note, now and then, that a shard heard everything up to this moment."""
        if not self._intake.waiting and not self._intake.gave_up:
            await self._note(shard_id, discord.utils.utcnow())

    async def _note(self, shard_id: int, moment: datetime) -> None:
        if not self._holder.is_certain or not self._liveness.is_to_be_noted(shard_id):
            return
        try:
            await self._cursors.note(self._shard(shard_id), self._clock.theirs(moment))
        except StoreError as error:
            logger.warning("how far Discord was heard could not be noted: %s", error)

    def _position_now(self) -> int:
        there = self._clock.theirs(discord.utils.utcnow())
        return position_of(int(there.timestamp() * 1_000))

    @contextmanager
    def _catching_up_on(self, shard_id: int) -> Iterator[None]:
        """Have the block, in a task of its own, end with `close`."""
        task = asyncio.current_task()
        assert task is not None, "an event of the client"
        self._catching_up.add(task)
        try:
            with self._liveness.catching_up(shard_id):
                yield
        finally:
            self._catching_up.discard(task)

    # --- the rest ------------------------------------------------------------------------

    def _shard(self, shard_id: int) -> ShardRange:
        return ShardRange(shard_id, self._client.shard_count or 1)

    @property
    def _me(self) -> discord.ClientUser:
        assert self._client.user is not None
        return self._client.user

    async def _prepare(self, client: Client) -> None:
        client.clicks = self._clicks
        client.add_dynamic_items(AnyButton, AnyMenu)
        self._commands.register(client.tree)
        for command in client.tree.get_commands():
            if command.allowed_contexts is None:  # else Discord offers it among friends, too
                command.allowed_contexts = discord.app_commands.AppCommandContext(
                    guild=True, dm_channel=True, private_channel=False
                )
        await client.tree.set_translator(CatalogueTranslator())
        try:
            await retry_forever(lambda: sync_changed(client.tree))
        except discord.DiscordException as error:
            logger.error("Discord does not take the commands: %s", error)

    async def missed_message(self, message: RawMessage, listening_since: datetime) -> None:
        """Take in a message that was missed; raises StoreError when that cannot be done now."""
        await self._messages.missed(message, listening_since)

    async def changed(self, change: Change) -> None:
        """Take in what became of a message meanwhile."""
        match change:
            case Deleted(guild, channel, message):
                await self.deleted(guild, channel, message)
            case GoneChannel(channel):
                await self.gone(channel)
            case Edited(guild, data):
                await self._messages.edited(data, guild)
