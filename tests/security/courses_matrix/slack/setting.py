"""How the bot is set up on Slack, or tried to be."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.security.courses_matrix.matrix import (
    UNKNOWN_COURSE,
    Lane,
    alike,
)
from tests.security.courses_matrix.relations import (
    FIRST,
    word,
)
from tests.security.courses_matrix.slack.using import Using

_RULES: dict[str, Sequence[str]] = {
    "follow_ups": ("mention", "until-people-talk"),
    "askers": ("staff", "everyone"),
    "length": ("short", "normal"),
    "private": ("yes", "no"),
    "auto_answer": ("yes", "no"),
    "outsiders": ("yes", "no"),
}
"""What is set, and then set back."""


class Setting(Using):
    """Gives the commands of staff."""

    async def _show(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "/course", "show")

    async def _bind(self, lane: Lane, _: str, **__: Any) -> None:
        text = f"bind {word(lane.bond.course, 'id')}"
        await self._told(lane, "/course", text if lane.bond.readable else lane.typing(text))

    async def _bind_unseen(self, lane: Lane, _: str, **__: Any) -> None:
        foreign = lane.typing(f"bind {word(lane.unseen, 'id')}")
        tell = partial(self._told_alone, lane, "/course")
        await alike(tell, foreign, f"bind {UNKNOWN_COURSE}")

    async def _staff(self, lane: Lane, what: str, **_: Any) -> None:
        if what == "list":
            await self._told(lane, "/course", "staff list")
            return
        person = self.house.person(lane.bond.tenant)
        text = f"staff {what} <@{person.id}>"
        foreign = lane.typing(f"{text} {word(lane.unseen, 'id')}")
        tell = partial(self._told_alone, lane, "/course")
        await alike(tell, foreign, f"{text} {UNKNOWN_COURSE}")

    async def _unbind(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "/course", "unbind")
        if not lane.bond.by_file and lane.bond.readable:
            await self._by_owner(lane, lane.channel, f"bind {word(lane.bond.course, 'id')}")

    async def _pause(self, lane: Lane, _: str, **__: Any) -> None:
        for command in ("pause", "resume"):
            await self._told(lane, "/course", command)

    async def _switch(self, lane: Lane, _: str, **__: Any) -> None:
        for state in ("off", "on"):
            await self._told(lane, "/course", f"switch {state}")

    async def _set_rule(self, lane: Lane, what: str, **_: Any) -> None:
        for value in _RULES[what]:
            await self._told(lane, "/course", f"set {what.replace('_', '-')}: {value}")

    async def _wide(self, lane: Lane, what: str, **_: Any) -> None:
        tried = {
            "bind its": lane.typing(f"bind {word(lane.unseen, 'id')}"),
            "unbind": "unbind",
            "switch": "switch on",
            "set": "set askers: everyone",
        }
        await self._told(lane, "/course", f"{tried[what]} workspace")
        await self._told(lane, "/ask", FIRST)
        if what == "bind its":
            await self._told(lane, "/course", "unbind workspace")
