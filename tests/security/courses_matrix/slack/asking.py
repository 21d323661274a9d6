"""How the bot is asked on Slack, and about itself."""

from functools import partial
from typing import Any

from tests.security.courses_matrix.matrix import (
    UNKNOWN_SECTION,
    Lane,
    alike,
)
from tests.security.courses_matrix.relations import (
    FIRST,
    SECOND,
    Place,
    first_fact,
    word,
)
from tests.security.courses_matrix.slack.using import Using
from tests.wire.bot_process import PATIENCE


class Asking(Using):
    """Asks."""

    async def _ask(self, lane: Lane, what: str, *, quiet: bool, mark: int) -> None:
        await self._told(lane, "/ask", f"{what} {FIRST}".strip())

    async def _ask_section(self, lane: Lane, what: str, **_: Any) -> None:
        if what == "foreign":
            await alike(partial(self._asked_in, lane), lane.section(what), UNKNOWN_SECTION)
        else:
            await self._asked_in(lane, lane.section(what))

    async def _asked_in(self, lane: Lane, section: str) -> str:
        question = lane.typing(f'private in "{section}" {FIRST}')
        return await self._told_alone(lane, "/ask", question)

    async def _help(self, lane: Lane, what: str, **_: Any) -> None:
        question = " How do I ask a question?" if what else ""
        await self._told(lane, "/glossator", f"help{question}")

    async def _mention(self, lane: Lane, what: str, *, quiet: bool, mark: int) -> None:
        quote = f"\n&gt; {first_fact(lane.bond.course)}" if what else ""
        await self._says(lane, lane.typing(f"{FIRST}{quote}"))
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _pass_on(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        passage = await self._passage(lane)
        await self._says(lane, FIRST, share_of=passage)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _edit(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        await self.world.edit(lane.question, self._addressed(lane, f"{FIRST} And the loom?"))
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _follow_up(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        root = lane.question.thread_ts or lane.question.ts
        thread = None if lane.place is Place.DIRECT else root
        await self.world.say(lane.user, lane.where, SECOND, thread=thread)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _begin(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        room = self.house.room(lane.bond.tenant, lane.user)
        lane.places |= {room.id}
        for text in (f"bind {word(lane.bond.course, 'id')}", "set auto-answer: yes"):
            await self._by_owner(lane, room, text)
        await self.world.say(lane.user, room, FIRST)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _explain(self, lane: Lane, what: str, *, quiet: bool, mark: int) -> None:
        passage = await self._passage(lane)
        shortcut = await self.world.shortcut(lane.user, "explain", passage)
        await shortcut.ack(PATIENCE)
        [view] = shortcut.opened
        sent = await self.world.submit_view(lane.user, view, **{"who-sees": what or "public"})
        await sent.ack(PATIENCE)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _about_bot(self, lane: Lane, name: str, **__: Any) -> None:
        await self._told(lane, "/glossator", name)

    async def _home(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        await self.world.open_home(lane.user)
        await self._something(lane, mark)
