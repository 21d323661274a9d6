"""How each surface is tried on Discord, and what is done before."""

import re

from adapters.discord.odd_events import READ_RAW
from tests.security.courses_matrix.cells import Cell
from tests.security.courses_matrix.discord.asking import Asking
from tests.security.courses_matrix.discord.meeting import Meeting
from tests.security.courses_matrix.discord.setting import Setting
from tests.security.courses_matrix.discord.using import CHOICE, NEARBY, REQUEST, request_of
from tests.security.courses_matrix.discord.writing import Writing
from tests.security.courses_matrix.matrix import (
    UNKNOWN_SECTION,
    Lane,
    due,
)
from tests.security.courses_matrix.relations import (
    FIRST,
    HOME,
    ONE,
    SECOND,
    TWO,
    Place,
    Relation,
    Role,
    word,
)
from tests.wire.discord.commands import CHAT_INPUT
from tests.wire.discord.errors import Json

_UNHEARD = frozenset({"MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "THREAD_DELETE", "CHANNEL_DELETE"})
"""Events that no person hears anything of."""


_UNKNOWN: Json = {"question": FIRST, "section": UNKNOWN_SECTION, "private": True}
"""What is refused with the nearest section on a button, whatever the book says."""


class DiscordActs(Asking, Meeting, Setting, Writing):
    """Does what people do; all that comes of it is in the house's witness."""

    async def act(self, cell: Cell, lane: Lane, mark: int) -> None:
        """Try a cell, and wait until the bot has answered."""
        surface = cell.surface
        quiet, sent = lane.relation in surface.silent, len(self.house.sent)
        more = {"quiet": quiet, "mark": mark}
        await getattr(self, f"_{surface.act}")(lane, surface.what, **more)
        if surface.again:
            await self.house.deliver_again(lane.user, sent)
        wanted = due(cell) if self.waits_for_words else None
        if wanted is not None:  # an edit may follow the first text
            await self._patiently(lambda: self._came(lane, mark, wanted))

    async def prepare(self, lane: Lane) -> None:
        """Let the owner set what the lane is about, and its person ask, while they still may."""
        owner = self.house.owners[lane.bond.tenant]
        course = word(lane.bond.course, "id")
        attempts: list[tuple[str, Json]] = [("course bind", {"course": course})]
        match lane.relation:
            case Relation.SWITCHED_OFF:
                attempts += [("course switch", {"state": "on"})]
                attempts += [("course switch", {"state": "on", "where": "this server"})]
            case Relation.FIXED:
                attempts = [("course bind", {"course": word("granted", "id")})]
            case Relation.STAFF_ONLY:
                attempts = [("course set", {"askers": "everyone"})]
            case Relation.HIDDEN:
                attempts = [("course set", {"private": False})]
        for name, options in attempts:
            await self._replied(self._use(owner, lane.channel, name, options))
        await self._converse(lane)

    async def _converse(self, lane: Lane) -> None:
        mark, quiet = self.witness.mark(), lane.relation is Relation.SWITCHED_OFF
        lane.question = await self.world.say(lane.user, lane.where, self._addressed(lane, FIRST))
        lane.answer = await self.house.incoming(lane, mark, quiet=quiet)
        self._keep(lane, "choice", lane.answer, CHOICE)
        if "choice" in lane.turns:
            mark = self.witness.mark()
            await self._chosen(lane, word(lane.bond.course, "id"))
            lane.answer = await self.house.incoming(lane, mark)
        self._keep(lane, "answer", lane.answer)
        asked = self._use(lane.user, lane.where, "ask", {"question": FIRST, "private": True})
        await self._replied(asked)
        self._keep(lane, "private", asked.original)
        asked = self._use(lane.user, lane.where, "ask", _UNKNOWN)
        await self._replied(asked)
        self._keep(lane, "near", asked.original, NEARBY)

    async def prepare_elsewhere(self) -> None:
        """Have turns of other tenants, and of other people, whose ids are then tried."""
        for tenant, course in ((TWO, "foreign"), (HOME, "operator")):
            room, owner = self.house.room(tenant), self.house.owners[tenant]
            options = {"course": word(course, "id")}
            await self._replied(self._use(owner, room, "course bind", options))
            person = self.house.person(tenant)
            self.elsewhere[course] = await self._turn(person, room, {"question": FIRST})
            near = await self._turn(person, room, _UNKNOWN, NEARBY)
            self.elsewhere[f"near {course}"] = near
            if tenant == HOME:
                self.elsewhere["private"] = await self._turn(
                    self.house.person(HOME), room, {"question": SECOND, "private": True}
                )

        await self.prepare_staff()
        person = self.house.person(ONE)
        direct = self.world.direct_channel(person, self.world.bot)
        lane = Lane(Relation.OWN, Role.STUDENT, Place.DIRECT, person, direct, direct)
        lane.places, mark = frozenset({str(direct.id)}), self.witness.mark()
        await self.world.say(person, direct, FIRST)
        found = request_of(await self.house.incoming(lane, mark), CHOICE)
        self.elsewhere["choice"] = found or self.elsewhere["private"]

    def registered(self) -> frozenset[str]:
        """Return the names of all events, commands, options, suggestions and menus of the bot."""
        commands = self.world.application.commands.values()
        names = frozenset(name for command in commands for name in _names(command))
        return names | (READ_RAW.keys() - _UNHEARD)

    def pressable(self) -> frozenset[str]:
        """Return the names of all buttons and modals that were shown."""
        modals = {f"modal {_short(seen.modal)}" for seen in self.witness.seen if seen.modal}
        shown = "\n".join(seen.text for seen in self.witness.seen if not seen.modal)
        known = {f"button {letter}" for letter in re.findall(r"gl:([a-z]):[0-9a-f]{8}-", shown)}
        others = re.findall(r'"custom_id": "([^"]+)"', shown)
        known |= {"button course"} if any(map(CHOICE.fullmatch, others)) else set()
        patterns = (REQUEST, CHOICE, NEARBY)
        rest = [o for o in others if not any(pattern.fullmatch(o) for pattern in patterns)]
        return frozenset(known | modals | {f"button {_short(other)}" for other in rest})


def _short(custom_id: str) -> str:
    """Return a custom id without our prefix and the ids of turns."""
    return custom_id.split(":")[1]


def _names(command: Json) -> list[str]:
    if command["type"] != CHAT_INPUT:
        return [f"menu {command['name']}"]
    return list(_option_names(command["name"], command.get("options") or []))


def _option_names(name: str, options: list[Json]) -> list[str]:
    grouped = [o for o in options if o["type"] in (1, 2)]
    if grouped:
        inside = ((f"{name} {o['name']}", o.get("options") or []) for o in grouped)
        return [found for group in inside for found in _option_names(*group)]
    found = [name, *(f"{name} {option['name']}" for option in options)]
    return found + [f"{name} {o['name']} suggested" for o in options if o.get("autocomplete")]
