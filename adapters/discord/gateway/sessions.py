"""Takes up the sessions of the gateway that an earlier connection left.

A first direct message to a bot that is away can be had in no other way: Discord lists no direct
channels to bots, and a new session gets none.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from datetime import datetime, timedelta
from typing import Any

import aiohttp

from adapters.discord.gateway.replay import ENDED, RESUMABLE, Connect, Fault, Replay
from adapters.discord.gateway.session_notes import AcceptanceProgress, SessionNotes, Store
from adapters.discord.inbound import PLATFORM
from adapters.intake.unreadable import Unreadable
from core.errors import StoreError
from core.models import now
from core.storage.gateway_sessions import LEFT, GatewaySession
from core.telemetry.metering import SESSION_GAPS, Meter

logger = logging.getLogger(__name__)

_LOOKS_EVERY = 1.0
"""Seconds between two looks whether a session is noted again."""
_WATCHED = 6
"""Looks, in which a session that another process has is noted again."""
_TRIES = 30
"""Looks in all, where the database does not answer each of them."""
_PAUSES = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Seconds after each try to resume a session, once a new one stands."""
_OLDEST = timedelta(hours=1)
"""Discord keeps a session for some minutes; no one asks it for one that is older than this."""


class ResumedSessions:
    """The sessions of a bot's shards: this process's own, and those that no one has any more."""

    def __init__(
        self, store: Store, accepting: AcceptanceProgress, unreadable: Unreadable, meter: Meter
    ) -> None:
        """Prepare to take up.

        Args:
            accepting: Tells what the inbox does not have yet.
            unreadable: Notes what cannot be read.
        """
        self.notes = SessionNotes(store, accepting)
        """Keeps this process's own."""
        self._store = store
        self._unreadable = unreadable
        self._meter = meter
        self._replays = dict[int, list[Replay]]()
        self._watches = dict[int, asyncio.Task[list[GatewaySession]]]()
        """What finds out, for a shard, which sessions no process has any more."""
        self._first = set[int]()
        """Shards of which no session at all was known when they were first to be connected."""
        self._asked = set[int]()
        self._left_at = dict[int, datetime]()
        """Per shard, up to when the first of its sessions had stored all."""
        self._connect: Connect | None = None
        self._token = ""

    def serve(self, bot: str, shards: int, *, is_alone: bool, connect: Connect, token: str) -> None:
        """Prepare for a bot that has logged in.

        Args:
            shards: How many there are.
            is_alone: No other process has this process's shards while it has them.
            connect: Opens a WebSocket.
        """
        self.notes.serve(bot, shards, is_alone=is_alone)
        self._connect, self._token = connect, token

    async def end(self, shards: Iterable[int]) -> None:
        """Let others take up the sessions of shards whose connections were ended."""
        for shard in shards:
            self.notes.leave(shard)
            if (watch := self._watches.pop(shard, None)) is not None:
                watch.cancel()
            for one in self._replays.pop(shard, []):
                await one.close(RESUMABLE)

    async def take_up(self, shard: int) -> None:
        """Resume what was left of a shard, so that nothing of it is missed from now on.

        Returns when Discord has sent what was missed, or does not. The connections stay until
        `missed` has yielded all of it: what happens before a new session stands comes there.

        Raises:
            OSError: when Discord cannot be reached.
            aiohttp.ClientError: the same.
        """
        if (found := await self._found(shard)) is None:
            if shard not in self._watches:
                self._watches[shard] = asyncio.create_task(self._found_later(shard))
            return
        free = [one for one in found if self._is_free(one)]
        await self._resume(shard, [*free])
        if (doubtful := [one for one in found if one not in free]) and shard not in self._watches:
            self._watches[shard] = asyncio.create_task(self._abandoned(doubtful))

    async def _resume(self, shard: int, sessions: list[GatewaySession]) -> None:
        """Resume sessions one by one; each that is done with is taken out of the list."""
        while sessions:
            session = sessions[0]
            if now() - session.noted_at > _OLDEST:
                await self._forget(session, Fault.EXPIRED)
                sessions.remove(session)
                continue
            assert self._connect is not None, "logged in"
            replay = Replay(session, self._connect, self._token, self._unreadable)
            replays = self._replays.setdefault(shard, [])
            replays.append(replay)  # known from the start to the one that ends it
            try:
                await replay.begin()
            except (OSError, aiohttp.ClientError):
                replays.remove(replay)
                raise
            sessions.remove(session)

    async def missed(self, shard: int) -> AsyncGenerator[tuple[str, Any], None]:
        """Yield the events that a shard's earlier sessions sent, in order, by name and payload.

        To be called when a new session stands. What was yielded is in the inbox when the next
        one is asked for; a session whose events all are is ended.
        """
        await self._resume_abandoned(shard)
        while replays := self._replays.get(shard):
            replay = replays.pop(0)
            try:
                await replay.settled()
                count = 0
                while (event := replay.next()) is not None:
                    count += 1
                    yield event
                logger.info("shard %d was told of %d events that it had missed", shard, count)
                if await self._forget(replay.session, replay.fault):
                    await replay.close(ENDED)
            finally:
                await replay.close(RESUMABLE)

    def is_first(self, shard: int) -> bool:
        """Return, once, whether nothing was known of a shard when it was first to be connected."""
        is_first = shard in self._first
        self._first.discard(shard)
        return is_first

    def left_at(self, shard: int) -> datetime | None:
        """Return up to when a shard's earlier sessions had stored all; None: there were none."""
        return self._left_at.get(shard)

    async def _found(self, shard: int) -> list[GatewaySession] | None:
        """Return what `_known` does, once the database answers; None: it does not for long."""
        for attempt in range(_TRIES):
            if attempt:
                await asyncio.sleep(_LOOKS_EVERY)
            try:
                return await self._known(shard)
            except StoreError as error:
                logger.warning("which of Discord's sessions were left is not known: %s", error)
        return None

    async def _known(self, shard: int) -> list[GatewaySession]:
        """Return the sessions of a shard that may have been left, but those that are resumed."""
        known = await self._store.of(self.notes.bot)
        if self.notes.is_alone and not known and shard not in self._asked:
            self._first.add(shard)
        self._asked.add(shard)
        replayed = {one.session.session_id for one in self._replays.get(shard, [])}
        found = [one for one in known if self._concerns(one, shard)]
        found = [one for one in found if one.session_id not in replayed]
        if found:
            self._left_at[shard] = min(one.noted_at for one in found)
        return found

    async def _found_later(self, shard: int) -> list[GatewaySession]:
        """Return the sessions that other processes left, whenever the database answers again.

        A new session stands by then, which is this process's own.
        """
        while (found := await self._found(shard)) is None:
            pass
        return await self._abandoned(one for one in found if one.holder != self.notes.holder)

    def _concerns(self, session: GatewaySession, shard: int) -> bool:
        """Return whether a session is a shard's; the first has those of other numbers of shards."""
        if session.shards != self.notes.shards:
            return shard == 0
        return session.shard == shard

    async def _resume_abandoned(self, shard: int) -> None:
        """Resume the sessions that other processes had, and have no more.

        One for which Discord cannot be reached again and again is a gap.
        """
        if (watch := self._watches.pop(shard, None)) is None:
            return
        left = await watch
        for pause in _PAUSES:
            try:
                await self._resume(shard, left)
            except (OSError, aiohttp.ClientError) as error:
                name = type(error).__name__
                logger.warning("a session that was left is not taken up yet: %s", name)
                await asyncio.sleep(pause)
            else:
                return
        for session in left:
            await self._forget(session, Fault.BROKEN)

    async def _abandoned(self, doubtful: Iterable[GatewaySession]) -> list[GatewaySession]:
        """Return the sessions that are not noted again by the process that has them."""
        unheard = {one.session_id: one for one in doubtful}
        looks = 0
        for _ in range(_TRIES):
            await asyncio.sleep(_LOOKS_EVERY)
            try:
                seen = {one.session_id: one for one in await self._store.of(self.notes.bot)}
            except StoreError:
                continue  # while nothing can be noted, no process is seen to note nothing
            looks += 1
            unheard = {n: one for n, one in unheard.items() if _is_unheard_of(one, seen.get(n))}
            if not unheard or looks == _WATCHED:
                break
        return [*unheard.values()]

    def _is_free(self, session: GatewaySession) -> bool:
        if session.holder in (LEFT, self.notes.holder):
            return True
        # Two processes may have one SQLite database, though none of them should.
        is_old = now() - session.noted_at > timedelta(seconds=_WATCHED * _LOOKS_EVERY)
        return self.notes.is_alone and is_old and session.shards == self.notes.shards

    async def _forget(self, session: GatewaySession, fault: Fault | None) -> bool:
        """Let go of a session, in whose place others are kept; return whether that is stored.

        Where it could not tell everything, that is noted.
        """
        if fault is not None:
            self.note_gap(session.shard, fault, session.noted_at)
        try:
            await self.notes.note()
            await self._store.forget([session.session_id])
        except StoreError as error:
            logger.warning("one of Discord's sessions is not forgotten: %s", error)
            return False
        return True

    def note_gap(self, shard: int, fault: Fault, since: datetime) -> None:
        """Count and log that not everything that a shard missed can be found."""
        self._meter.count(SESSION_GAPS, PLATFORM, fault.value)
        logger.warning(
            "Discord does not tell shard %d all that it missed since %s (%s): what can be read in "
            "channels is looked for; a first direct message of somebody is lost",
            *(shard, f"{since:%Y-%m-%d %H:%M:%S} UTC", fault.value),
        )


def _is_unheard_of(before: GatewaySession, seen: GatewaySession | None) -> bool:
    """Return whether no process has noted a session since, except that it left it."""
    return seen is not None and (seen.holder == LEFT or seen.noted_at == before.noted_at)
