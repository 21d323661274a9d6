"""People who go on asking, about as fast as they are answered; most of them on Discord."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain.errors import StoreError
from core.storage.database import reading
from core.storage.inbox.base import State
from core.storage.inbox.rows import InboxRow
from tests.chaos.history import Asked
from tests.chaos.people import Away, People
from tests.chaos.plan import talks

_ON_SLACK = 16
"""One conversation in so many: Slack allows a bot fifty updates a minute."""
_LOOKS_EVERY = 0.2


class Crowd(People):
    """Asks so many questions again and again, as the same people in the same channels."""

    answered = 0
    """Since the beginning."""

    async def ask_all(self, away: Away | None = None) -> None:
        """Have as many conversations as it takes, and wait for all their answers."""
        async with asyncio.TaskGroup() as talking:
            for number, talk in enumerate(talks(self.questions, self.seed, plain=away is None)):
                await self._turn.acquire()
                # Even numbers are held on Slack, odd ones on Discord.
                held = replace(talk, number=int(number % _ON_SLACK != 0))
                talking.create_task(self._talk(held))
                await asyncio.sleep(len(talk.names) / self.pace)

    async def watch(self, engine: AsyncEngine) -> None:
        """Tell those who wait that they were heard, and answered, until cancelled."""
        while True:
            await asyncio.sleep(_LOOKS_EVERY)
            unanswered = [one for one in self.asked if one.done_at is None]
            with suppress(StoreError):
                await self._look(engine, unanswered)

    async def _look(self, engine: AsyncEngine, unanswered: Sequence[Asked]) -> None:
        query = select(InboxRow.key, InboxRow.state)
        async with reading(engine) as db:
            rows = await db.execute(query.where(InboxRow.key.in_([one.key for one in unanswered])))
            states = dict(rows.tuples().all())
        now = asyncio.get_running_loop().time()
        for one in unanswered:
            state = states.get(one.key)
            one.seen_at = one.seen_at or (now if state else None)
            if state not in (None, State.WAITING.value):
                one.done_at = now
                self.answered += 1

    def forget(self) -> None:
        """Forget what was said and done, as nobody looks at it; old threads are archived.

        Discord archives a thread by itself when nobody has written for a day.
        """
        self.asked.clear()
        there, here = self.ground.discord, self.ground.slack
        for channel in list(there.world.channels.values()):
            if channel.thread is not None and not channel.thread.archived:
                there.world.threads.change(there.world.owner, channel, {"archived": True})
        gone: tuple[Any, ...] = (
            *(there.world.messages, there.world.previews, there.world.typing),
            *(there.world.history.calls, there.world.history.dispatches),
            *(there.world.history.written, there.world.history.commands),
            *(here.world.messages, here.world.previews),
            *(here.world.history.calls, here.world.history.deliveries),
            *(channel.messages for channel in here.world.channels.values()),
        )
        for kept in gone:
            kept.clear()
        for session in there.gateway.sessions.values():  # nothing is replayed here
            session.log[:] = session.log[-1:] * len(session.log)
