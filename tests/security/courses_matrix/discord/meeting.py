"""What Discord's people do besides asking: they take offers up."""

import asyncio

from adapters.discord.notices import OFFER
from tests.security.courses_matrix.discord.using import Using
from tests.security.courses_matrix.matrix import Lane
from tests.security.courses_matrix.relations import CHATTER, HALF
from tests.wire.discord import Message

_A_MOMENT = 0.05
"""Seconds between two messages: Discord's ids know which of two is older by the millisecond."""


class Meeting(Using):
    """Reacts."""

    async def prepare_offer(self, lane: Lane) -> None:
        """Let the bot offer to answer in a lane, while it may."""
        if not lane.asks_itself:
            lane.offered = await self._offer(lane, quiet=False)

    async def _take_up(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        if lane.asks_itself and (quiet or lane.is_refused):
            await self.house.barrier()  # there is nothing to take up; other cells ask there
            return
        if lane.asks_itself:  # who asked is answered at once in their own thread, without an offer
            there = lane.answer.channel if lane.answer is not None else lane.where
            await self.world.say(lane.user, there, HALF)
            await self.house.incoming(lane, mark, quiet=False)
            return
        quiet = lane.offered is None and (quiet or lane.is_refused)
        line = lane.offered or await self._offer(lane, quiet=quiet)
        taken = self.witness.mark()
        await self.world.react(lane.user, line, OFFER)
        await self.house.incoming(lane, taken, quiet=quiet)

    async def _offer(self, lane: Lane, *, quiet: bool) -> Message:
        """Return a message that the bot offers to answer, unless it keeps quiet."""
        tenant, bot = lane.bond.tenant, self.world.bot
        there = lane.answer.channel if lane.answer is not None else lane.where
        author = self.house.person(tenant)
        await self.world.say(self.house.person(tenant), there, CHATTER)
        await asyncio.sleep(_A_MOMENT)
        line = await self.world.say(author, there, HALF)
        if quiet:
            await self.house.barrier()
        else:
            await self.house.until(lambda: bot.id in line.reactions.get(OFFER, ()) or None)
        return line
