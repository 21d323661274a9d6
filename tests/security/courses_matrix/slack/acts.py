"""How each surface is tried on Slack, and what is done before."""

import re
from pathlib import Path

import yaml

from tests.security.courses_matrix.cells import Cell
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
from tests.security.courses_matrix.slack.asking import Asking
from tests.security.courses_matrix.slack.meeting import Meeting
from tests.security.courses_matrix.slack.setting import Setting
from tests.security.courses_matrix.slack.using import CHOICE, NEARBY
from tests.security.courses_matrix.slack.writing import Writing
from tests.wire.bot_process import PATIENCE
from tests.wire.slack import View

_MANIFEST = Path(__file__).parents[4] / "docs/slack-manifest.yaml"
_OF_THE_APP = frozenset({"app_uninstalled", "tokens_revoked"})
"""Events that no person hears anything of."""


_UNKNOWN = f'private in "{UNKNOWN_SECTION}" {FIRST}'
"""What is refused with the nearest section on a button, whatever the book says."""


class SlackActs(Asking, Meeting, Setting, Writing):
    """Does what people do; all that comes of it is in the house's witness."""

    async def act(self, cell: Cell, lane: Lane, mark: int) -> None:
        """Try a cell, and wait until the bot has answered."""
        surface = cell.surface
        quiet, sent = lane.relation in surface.silent, len(self.house.sent)
        await getattr(self, f"_{surface.act}")(lane, surface.what, quiet=quiet, mark=mark)
        if surface.again:
            await self.house.deliver_again(lane.user, sent)
        wanted = due(cell) if self.waits_for_words else None
        if wanted is not None:  # an edit may follow the first text
            await self._patiently(lambda: self._came(lane, mark, wanted))

    async def prepare(self, lane: Lane) -> None:
        """Let the owner set what the lane is about, and its person ask, while they still may."""
        attempts = [f"bind {word(lane.bond.course, 'id')}"]
        match lane.relation:
            case Relation.SWITCHED_OFF:
                attempts += ["switch on", "switch on workspace"]
            case Relation.FIXED:
                attempts = [f"bind {word('granted', 'id')}"]
            case Relation.STAFF_ONLY:
                attempts = ["set askers: everyone"]
            case Relation.HIDDEN:
                attempts = ["set private: no"]
        for text in attempts:
            await self._by_owner(lane, lane.channel, text)
        await self._converse(lane)

    async def _converse(self, lane: Lane) -> None:
        mark, quiet = self.witness.mark(), lane.relation is Relation.SWITCHED_OFF
        lane.question = await self._says(lane, FIRST)
        lane.answer = await self.house.incoming(lane, mark, quiet=quiet)
        self._keep(lane, "choice", lane.answer, CHOICE)
        if "choice" in lane.turns:
            mark = self.witness.mark()
            await self._chosen(lane, word(lane.bond.course, "id"))
            lane.answer = await self.house.incoming(lane, mark)
        self._keep(lane, "answer", lane.answer)
        if lane.place is not Place.THREAD:
            private = await self._told_by(lane.user, lane.where, "/ask", f"private {FIRST}")
            self._keep(lane, "private", private)
            near = await self._told_by(lane.user, lane.where, "/ask", _UNKNOWN)
            self._keep(lane, "near", near, NEARBY)

    async def prepare_elsewhere(self) -> None:
        """Have turns of other tenants, and of other people, whose ids are then tried."""
        for tenant, course in ((TWO, "foreign"), (HOME, "operator")):
            person, owner = self.house.person(tenant), self.house.owners[tenant]
            room = self.house.room(tenant, person)
            bound = await self.world.slash(owner, room, "/course", f"bind {word(course, 'id')}")
            await bound.ack(PATIENCE)
            answer = await self._told_by(person, room, "/ask", f"private {FIRST}")
            self.elsewhere[course] = self._request_of(answer)
            near = await self._told_by(person, room, "/ask", _UNKNOWN)
            self.elsewhere[f"near {course}"] = self._request_of(near, NEARBY)
            self.others_room = room if tenant == TWO else self.others_room
            if tenant == HOME:
                answer = await self._told_by(person, room, "/ask", f"private {SECOND}")
                self.elsewhere["private"] = self._request_of(answer)

        await self.prepare_staff()
        person = self.house.person(ONE)
        direct = self.world.dm(person)
        lane = Lane(Relation.OWN, Role.STUDENT, Place.DIRECT, person, direct, direct)
        lane.places, mark = frozenset({direct.id}), self.witness.mark()
        await self.world.say(person, direct, FIRST)
        self._keep(lane, "choice", await self.house.incoming(lane, mark), CHOICE)
        self.elsewhere["choice"] = lane.turns.get("choice", self.elsewhere["private"])

    def registered(self) -> frozenset[str]:
        """Return the names of the manifest's commands, shortcuts and events."""
        manifest = yaml.safe_load(_MANIFEST.read_text("utf-8"))
        commands = [one["command"] for one in manifest["features"]["slash_commands"]]
        shortcuts = [f"shortcut {one['callback_id']}" for one in manifest["features"]["shortcuts"]]
        events = set(manifest["settings"]["event_subscriptions"]["bot_events"])
        events -= _OF_THE_APP
        return frozenset({*commands, *shortcuts, *events})

    async def words_of_course(self) -> frozenset[str]:
        """Return what `/course` says that it understands, and what its hint says."""
        owner, mark = self.house.owners[HOME], self.witness.mark()
        room = self.house.room(HOME)
        used = await self.world.slash(owner, room, "/course", "dance")
        await used.ack(PATIENCE)
        shown = next(self.witness.since(mark, frozenset({room.id}))).subject.shown
        words = re.findall(r"/course ([a-z]+(?: (?:add|list|remove))?)", shown)
        rules = re.findall(r"`([a-z-]+): ", shown.replace("/course set ", ""))
        manifest = yaml.safe_load(_MANIFEST.read_text("utf-8"))
        commands = manifest["features"]["slash_commands"]
        [hint] = [one["usage_hint"] for one in commands if one["command"] == "/course"]
        words += [usage.split()[0] for usage in hint.split("|")]
        return frozenset({f"course {w}" for w in words} | {f"course set {r}" for r in rules})

    def pressable(self) -> frozenset[str]:
        """Return the names of all buttons and modals that were shown."""
        found = set[str]()
        for seen in self.witness.seen:
            if isinstance(seen.subject, View) and '"type": "modal"' in seen.text:
                found |= {f"modal {c}" for c in re.findall(r'"callback_id": "([^"]+)"', seen.text)}
            else:
                actions = re.findall(r'"action_id": "gl:([^"]+)"', seen.text)
                found |= {f"button {action.partition(':')[0]}" for action in actions}
        return frozenset(found)
