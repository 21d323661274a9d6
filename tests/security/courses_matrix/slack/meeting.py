"""What Slack's people do besides asking: take offers up, look elsewhere, stop answers."""

from adapters.slack.notices import OFFER
from tests.security.courses_matrix.matrix import Lane
from tests.security.courses_matrix.relations import CHATTER, FIRST, HALF
from tests.security.courses_matrix.slack.using import Using
from tests.wire.slack import AgentSession, Message


class Meeting(Using):
    """Reacts, looks at channels, and presses Slack's own button."""

    async def prepare_offer(self, lane: Lane) -> None:
        """Let the bot offer to answer in a lane, while it may."""
        if not lane.asks_itself:
            lane.offered = await self._offer(lane, quiet=False)

    async def _take_up(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        if lane.asks_itself and (quiet or lane.is_refused):
            await self.house.barrier()  # there is nothing to take up; other cells ask there
            return
        if lane.asks_itself:  # who asked is answered at once in their own thread, without an offer
            root = lane.question.thread_ts or lane.question.ts
            await self.world.say(lane.user, lane.channel, HALF, thread=root)
            await self.house.incoming(lane, mark, quiet=False)
            return
        quiet = lane.offered is None and (quiet or lane.is_refused)
        line = lane.offered or await self._offer(lane, quiet=quiet)
        taken = self.witness.mark()
        await self.world.react(lane.user, line, OFFER)
        await self.house.incoming(lane, taken, quiet=quiet)

    async def _offer(self, lane: Lane, *, quiet: bool) -> Message:
        """Return a message that the bot offers to answer, unless it keeps quiet."""
        tenant, bot = lane.bond.tenant, self.house.installed[lane.bond.tenant].bot
        root = lane.question.thread_ts or lane.question.ts
        people = [self.house.person(tenant), self.house.person(tenant)]
        lane.channel.members |= {person.id: person for person in people}
        await self.world.say(people[0], lane.channel, CHATTER, thread=root)
        line = await self.world.say(people[1], lane.channel, HALF, thread=root)
        if quiet:
            await self.house.barrier()
        else:
            await self.house.until(lambda: bot.id in line.reactions.get(OFFER, ()) or None)
        return line

    async def _look(self, lane: Lane, what: str, *, quiet: bool, mark: int) -> None:
        # Settings that are told once more leave a channel with no course, and a notice of this
        # minute has said so.
        quiet = quiet or not self.waits_for_words
        looked_at = self.others_room if what == "another's" else lane.channel
        await self.world.agents.look_at(lane.user, looked_at)
        if what:
            asked = self.witness.mark()
            await self.world.say(lane.user, self.world.dm(lane.user), FIRST)
            await self.house.incoming(lane, asked, quiet=quiet)
        elif quiet or lane.is_refused:
            await self.house.barrier()
        else:
            await self._something(lane, mark)
        self.world.agents.look(lane.user, None)

    async def _stop(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        question = await self._says(lane, FIRST)
        installation = self.house.installed[lane.bond.tenant]
        root = question.thread_ts or question.ts
        session = AgentSession(installation, question.channel, root)
        self.world.events.session_stopped(session, lane.user, [])
        quiet = quiet or not self.waits_for_words
        await self.house.incoming(lane, mark, quiet=quiet)
