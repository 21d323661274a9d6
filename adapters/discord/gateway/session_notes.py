"""Notes this process's sessions of the gateway, and up to where the inbox has everything."""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol
from uuid import uuid4

from adapters.discord.inbound import PLATFORM
from core.errors import StoreError
from core.models import now
from core.storage.gateway_sessions import GatewaySession, left

logger = logging.getLogger(__name__)

_TICK = 1.0
"""Seconds between two looks at what is to be noted."""
_SETTLED = 5.0
"""Seconds that an event may take until the intake has begun to accept it, by far."""
_TOUCHED, _TOUCHED_ALONE = 2.0, 60.0
"""Seconds after which a session is noted again that sent nothing: others look whether it lives."""
_FAREWELL = 0.5
"""Seconds that the database gets to take the last note."""
_LONGEST_ID = 512
_MOST_EVENTS = 2**53
"""Larger numbers JSON does not carry exactly."""


class Store(Protocol):
    """Where sessions are kept; every method raises StoreError when the database fails."""

    async def begin(self, session: GatewaySession) -> None:
        """Keep a new session."""
        ...

    async def note(self, sessions: list[GatewaySession]) -> None:
        """Keep how far sessions have come."""
        ...

    async def of(self, bot: str) -> list[GatewaySession]:
        """Return a bot's sessions."""
        ...

    async def forget(self, session_ids: list[str]) -> None:
        """Delete sessions."""
        ...


class AcceptanceProgress(Protocol):
    """Tells how far what was heard is in the inbox."""

    @property
    def gave_up(self) -> bool:
        """Whether an event was lost."""
        ...

    def waits_since(self) -> float | None:
        """Return since when, by the loop's clock, the oldest event waits; None: none does."""
        ...


@dataclass(eq=False, slots=True)
class _Live:
    """A session that this process has, and how far it was heard and noted."""

    session: GatewaySession
    incoming: int
    marks: deque[tuple[float, int]] = field(default_factory=deque)
    """When, by the loop's clock, which event was the last; the oldest first."""
    is_kept: bool = False
    is_changed: bool = True
    noted: float = 0.0


class SessionNotes:
    """The sessions of this process's shards, as others will find them."""

    def __init__(self, store: Store, accepting: AcceptanceProgress) -> None:
        """Prepare to note.

        Args:
            accepting: Tells what the inbox does not have yet.
        """
        self._store = store
        self._accepting = accepting
        self.holder = uuid4().hex
        self.bot, self.shards, self.is_alone = "", 1, True
        self._live = dict[int, _Live]()
        self._ended = list[_Live]()
        self._begun = asyncio.Event()
        """A session has begun that is not kept yet."""

    def serve(self, bot: str, shards: int, *, is_alone: bool) -> None:
        """Prepare for a bot that has logged in, as `Sessions.serve` does."""
        self.bot, self.shards, self.is_alone = f"{PLATFORM}:{bot}", shards, is_alone

    def incoming(self, shard: int, session_id: object, url: object, sequence: object) -> None:
        """Take note of the latest event of a shard's session, which may have just begun.

        Discord's own client takes session and sequence as they come: what has another form than
        the protocol's is passed over, and the event before it stays the latest.
        """
        if not isinstance(session_id, str) or not 0 < len(session_id) <= _LONGEST_ID:
            return
        if "\0" in session_id:
            return
        known = sequence if type(sequence) is int and 0 < sequence <= _MOST_EVENTS else None
        live = self._live.get(shard)
        if live is None or live.session.session_id != session_id:
            found = GatewaySession(
                session_id=session_id,
                bot=self.bot,
                shard=shard,
                shards=self.shards,
                holder=self.holder,
                url=str(url),
                sequence=known or 0,
                noted_at=now(),
            )
            live = self._live[shard] = _Live(found, found.sequence)
            self._begun.set()
        live.incoming = known or live.incoming

    async def run(self) -> None:
        """Note now and then how far each session has come, and at once that one has begun."""
        while True:
            self._begun.clear()
            try:
                await self.note()
            except StoreError as error:
                logger.warning("how far Discord's sessions have come is not noted: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK):
                    await self._begun.wait()

    def leave(self, shard: int) -> None:
        """Let others take up the session of a shard whose connection was ended."""
        if (live := self._live.pop(shard, None)) is not None:
            live.session, live.is_changed = left(live.session), True
            self._ended.append(live)

    async def close(self) -> None:
        """Note for the last time; all connections have ended."""
        try:
            async with asyncio.timeout(_FAREWELL):
                await self.note()
        except (StoreError, TimeoutError) as error:
            logger.warning("that Discord's sessions were left is not noted: %r", error)

    async def note(self) -> None:
        """Note what there is to note; raises StoreError when the database fails."""
        clock = asyncio.get_running_loop().time()
        lives = [*self._live.values(), *self._ended]
        for live in lives:
            if not live.is_kept:
                await self._store.begin(live.session)
                live.is_kept, live.noted, live.is_changed = True, clock, False
            self._advance(live, clock)
        touched = _TOUCHED_ALONE if self.is_alone else _TOUCHED
        due = [one for one in lives if one.is_changed or clock - one.noted >= touched]
        for one in due:
            one.is_changed = False
        try:
            await self._store.note([one.session for one in due])
        except BaseException:
            for one in due:
                one.is_changed = True
            raise
        for one in due:
            one.noted = clock
        self._ended = [one for one in self._ended if one not in lives]

    def _advance(self, live: _Live, clock: float) -> None:
        """Move a session on to the last event after which the inbox has everything."""
        if not live.marks or live.marks[-1][1] < live.incoming:
            live.marks.append((clock, live.incoming))
        since = self._accepting.waits_since()
        until = clock - _SETTLED if since is None else min(clock, since) - _SETTLED
        if self._accepting.gave_up:
            return
        while live.marks and live.marks[0][0] <= until:
            _, sequence = live.marks.popleft()
            if sequence > live.session.sequence:
                live.session = replace(live.session, sequence=sequence)
                live.is_changed = True
