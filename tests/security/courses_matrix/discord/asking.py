"""How the bot is asked on Discord, and about itself."""

from functools import partial
from typing import Any

from tests.security.courses_matrix.discord.using import Using
from tests.security.courses_matrix.matrix import (
    UNKNOWN_SECTION,
    Lane,
    alike,
)
from tests.security.courses_matrix.relations import (
    FIRST,
    SECOND,
    first_fact,
    word,
)
from tests.wire.discord import ChannelType


class Asking(Using):
    """Asks."""

    async def _ask(self, lane: Lane, what: str, **_: Any) -> None:
        options = {"private": {"private": True}, "public": {"private": False}}.get(what, {})
        await self._told(lane, "ask", {"question": FIRST, **options})

    async def _ask_section(self, lane: Lane, what: str, **_: Any) -> None:
        if what == "foreign":
            await alike(partial(self._asked_in, lane), lane.section(what), UNKNOWN_SECTION)
        else:
            await self._asked_in(lane, lane.section(what))

    async def _asked_in(self, lane: Lane, section: str) -> str:
        options = {"question": FIRST, "section": lane.typing(section), "private": True}
        return await self._told(lane, "ask", options)

    async def _sections(self, lane: Lane, what: str, **_: Any) -> None:
        await self._typed_into(lane, "ask", "section", lane.section(what) if what else "")

    async def _help(self, lane: Lane, what: str, **_: Any) -> None:
        question = {"question": "How do I ask a question?"} if what else {}
        await self._told(lane, "glossator help", question)

    async def _mention(self, lane: Lane, what: str, *, quiet: bool, mark: int) -> None:
        quote = f"> {first_fact(lane.bond.course)}\n" if what else ""
        text = lane.typing(self._addressed(lane, f"{FIRST}\n{quote}"))
        await self.world.say(lane.user, lane.where, text)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _pass_on(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        passage = await self._passage(lane, lane.channel)
        text = self._addressed(lane, "")
        if lane.where.guild is None:
            passage = await self._passage(lane, lane.where)
        # A forward has no text of its own, so that in a channel the bot is mentioned after it.
        forwarded = await self.world.say(lane.user, lane.where, forward_of=passage)
        if text:
            await self.world.say(lane.user, lane.where, f"{text} {FIRST}", reply_to=forwarded)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _reply(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        passage = await self._passage(lane, lane.where)
        await self.world.say(lane.user, lane.where, self._addressed(lane, FIRST), reply_to=passage)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _edit(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        text = f"{FIRST} And the loom?"
        await self.world.edit(lane.question, self._addressed(lane, text))
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _follow_up(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        there = lane.answer.channel if lane.answer is not None else lane.where
        answers = lane.answer if there is lane.channel else None
        await self.world.say(lane.user, there, SECOND, reply_to=answers)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _begin(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        owner, guild = self.house.owners[lane.bond.tenant], lane.channel.guild
        forum = self.world.add_channel(guild, f"forum-{mark}", ChannelType.FORUM)
        lane.places |= {str(forum.id)}
        first = await self.world.open_post(lane.user, forum, "Kiln", FIRST)
        course = word(lane.bond.course, "id")
        await self._replied(self._use(owner, first, "course bind", {"course": course}))
        await self._replied(self._use(owner, first, "course set", {"auto_answer": True}))
        await self.world.open_post(lane.user, forum, "The kiln", FIRST)
        await self.house.incoming(lane, mark, quiet=quiet)

    async def _explain(self, lane: Lane, _: str, **__: Any) -> None:
        passage = await self._passage(lane, lane.where)
        menu = await self.world.context_menu(lane.user, passage, "Explain this passage")
        await self._replied(menu)

    async def _about_bot(self, lane: Lane, name: str, **__: Any) -> None:
        await self._told(lane, f"glossator {name}", {})
