"""How the bot is set up on Discord, or tried to be."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.security.courses_matrix.discord.using import Using
from tests.security.courses_matrix.matrix import (
    UNKNOWN_COURSE,
    Lane,
    alike,
)
from tests.security.courses_matrix.relations import (
    FIRST,
    word,
)
from tests.wire.discord.errors import Json

_EXTENTS = ("this channel", "this category", "this server")
_RULES: dict[str, Sequence[Any]] = {
    "follow_ups": ("mention", "until-people-talk"),
    "askers": ("staff", "everyone"),
    "length": ("short", "normal"),
    "private": (True, False),
    "auto_answer": (False, True),
}
"""What is set, and then set back."""


class Setting(Using):
    """Gives the commands of staff."""

    async def _show(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "course show", {})

    async def _bind(self, lane: Lane, _: str, **__: Any) -> None:
        course = lane.typing(word(lane.bond.course, "id")) if not lane.bond.readable else ""
        await self._told(lane, "course bind", {"course": course or word(lane.bond.course, "id")})

    async def _bind_unseen(self, lane: Lane, _: str, **__: Any) -> None:
        foreign = lane.typing(word(lane.unseen, "id"))
        await alike(partial(self._with_course, lane, "course bind", {}), foreign, UNKNOWN_COURSE)

    async def _with_course(self, lane: Lane, name: str, options: Json, course: str) -> str:
        return await self._told(lane, name, {**options, "course": course})

    async def _courses(self, lane: Lane, what: str, **_: Any) -> None:
        typed = f"zqid{lane.bond.course[:3]}" if what == "its" else ""
        name = f"course {what}" if what.startswith("staff") else "course bind"
        await self._typed_into(lane, name, "course", typed)

    async def _staff(self, lane: Lane, what: str, **_: Any) -> None:
        person, name = self.house.person(lane.bond.tenant), f"course staff {what}"
        if what == "list":
            await self._told(lane, name, {})
            return
        whom: list[Json] = [{"person": person}, {"role": self.house.tutors[lane.bond.tenant]}]
        for one in whom + ([{"gone": str(person.id)}] if what == "remove" else []):
            foreign = lane.typing(word(lane.unseen, "id"))
            await alike(partial(self._with_course, lane, name, one), foreign, UNKNOWN_COURSE)

    async def _unbind(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "course unbind", {})
        await self._restored(lane)

    async def _pause(self, lane: Lane, _: str, **__: Any) -> None:
        for command in ("course pause", "course resume"):
            await self._told(lane, command, {})

    async def _switch(self, lane: Lane, _: str, **__: Any) -> None:
        for state in ("off", "on"):
            await self._told(lane, "course switch", {"state": state})

    async def _set_rule(self, lane: Lane, what: str, **_: Any) -> None:
        for value in _RULES[what]:
            await self._told(lane, "course set", {what: value})
        if what == "auto_answer":
            await self._told(lane, "course set", {what: False})

    async def _wide(self, lane: Lane, what: str, **_: Any) -> None:
        course = lane.typing(word(lane.unseen, "id"))
        tried: dict[str, tuple[str, Json]] = {
            "bind its": ("course bind", {"course": course}),
            "unbind": ("course unbind", {}),
            "switch": ("course switch", {"state": "on"}),
            "set": ("course set", {"askers": "everyone"}),
        }
        name, options = tried[what]
        for extent in _EXTENTS[1:]:
            await self._told(lane, name, {**options, "where": extent})
        await self._told(lane, "ask", {"question": FIRST})
        if what == "bind its":
            await self._told(lane, "course unbind", {"where": "this server"})

    async def _restored(self, lane: Lane) -> None:
        if not lane.bond.by_file and lane.bond.readable:
            owner, options = (
                self.house.owners[lane.bond.tenant],
                {"course": word(lane.bond.course, "id")},
            )
            await self._replied(self._use(owner, lane.channel, "course bind", options))
