"""How questions reach staff on Discord, and what staff set and see of a course."""

import re
from functools import partial
from typing import Any

from adapters.actions.queue import page_name
from core.answering.verified import answer_id_for
from tests.security.courses_matrix.discord.pressing import Pressing
from tests.security.courses_matrix.matrix import UNKNOWN_POLICY, Lane, alike, name_of
from tests.security.courses_matrix.relations import (
    FIRST,
    REVOKED,
    TAUGHT,
    TWO,
    heading,
    near_question,
    staff_answer,
    staff_question,
    taught,
    word,
    words,
)
from tests.wire.discord import Callback, Channel, Interaction, Message, User
from tests.wire.discord.commands import MESSAGE_MENU
from tests.wire.discord.errors import Json
from tests.wire.discord.interaction_payloads import message_menu_data
from tests.wire.discord.interactions import InteractionType

_KEY = re.compile(r"`([0-9a-f]{8})`")
_OFFERED = re.compile(r"gl:v:([0-9a-f-]{36})")
_LATER: Json = {"from": "2099-01-01", "until": "2099-12-01"}


class Teaching(Pressing):
    """Asks staff, and does what staff do."""

    async def prepare_staff(self) -> None:
        """Let the staff of each tenant answer, set and choose something about each course."""
        for tenant, course in TAUGHT:
            key, owner = taught(tenant, course), self.house.owners[tenant]
            person, room = self.house.person(tenant), self.house.room(tenant)
            bound = self._use(owner, room, "course bind", {"course": word(course, "id")})
            await self._replied(bound)
            request = await self._turn(person, room, {"question": FIRST})
            self.planted[key] = request
            await self._replied(self._use(owner, room, "course queue", {"cards": "post here"}))
            await self._clicked_by(person, room, f"gl:k:{request}")
            await self._written(owner, room, f"gl:c:{request}", key)
            near = {"question": near_question(key)}
            self.offered[key] = await self._turn(person, room, near, _OFFERED)
            await self._clicked_by(person, room, f"gl:v:{self.offered[key]}")
            await self._replied(await self._policy_of(owner, room, key))
            listed = self._use(owner, room, "course policy list", {})
            await self._replied(listed)
            self.policies[key] = _keys(listed)[-1]
            await self._replied(self._use(owner, room, "course radar post", {}))

    async def see_posts(self, mark: int) -> None:
        """Wait for weeks and cards of the courses that their tenants may read."""
        read = [course for tenant, course in TAUGHT if (course, tenant) != REVOKED]
        wanted = words(read, ("title", "body"))

        def posted() -> bool | None:
            seen = {w for s in self.witness.seen[mark:] if s.public for w in s.words}
            return wanted <= seen or None

        await self.house.until(posted)

    async def _policy_of(self, owner: User, room: Channel, key: str) -> Interaction:
        """Have a policy set: of the shared course one that holds in its tenant, else nowhere."""
        name = word(key, "policy")
        if key != taught(TWO, "granted"):
            options = {"mode": "full", "section": name}
            return self._use(owner, room, "course policy set", options)
        opened = self._use(owner, room, "course hints", {})
        await self._replied(opened)
        return await self.world.submit_modal(opened, name=name, text=FIRST)

    async def _curate(self, lane: Lane, letter: str, **_: Any) -> None:
        request = lane.passed_on(self.planted, self.elsewhere)
        key, by = lane.taught, (lane.user, lane.where)
        if letter in "taz":
            await self._clicked(lane, f"gl:k:{request}")
        if letter in "wr":
            await self._written(*by, f"gl:c:{request}", key)
        lane.typing(staff_question(key) + staff_answer(key))
        await self._written(*by, f"gl:{letter}:{name_of(letter, request)}", key)
        if letter in "cw":
            await self._clicked(lane, f"gl:r:{name_of('r', request)}")
        if letter == "a":
            answer = answer_id_for(f"help:{name_of('a', request)}")
            await self._clicked(lane, f"gl:r:{answer}")

    async def _written(self, user: User, where: Channel, custom_id: str, key: str) -> None:
        """Press a button, and fill in the form that it opens, if it does."""
        click = await self._clicked_by(user, where, custom_id)
        await self._filled_in(click, key)

    async def _filled_in(self, opened: Interaction, key: str) -> None:
        if opened.callback is Callback.MODAL:
            said = {"question": staff_question(key), "answer": staff_answer(key)}
            await self._replied(await self.world.submit_modal(opened, **said))

    async def _ask_taught(self, lane: Lane, _: str, **__: Any) -> None:
        question = staff_question(lane.taught)
        await self._told(lane, "ask", {"question": lane.typing(question), "private": True})

    async def _show_offered(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        await self._clicked(lane, f"gl:v:{self.offered[lane.taught]}")

    async def _more(self, lane: Lane, _: str, **__: Any) -> None:
        for of_verified in (False, True):
            await self._clicked(lane, f"gl:m:{page_name(0, of_verified=of_verified)}")

    async def _verify(self, lane: Lane, _: str, **__: Any) -> None:
        lane.typing(staff_question(lane.taught) + staff_answer(lane.taught))
        request = lane.passed_on(self.planted, self.elsewhere)
        message = self.answers.get(request) or lane.answer
        opened = self._chosen_from_menu(lane.user, lane.where, message, "Verify answer")
        await self._replied(opened)
        await self._filled_in(opened, lane.taught)
        await self._clicked(lane, f"gl:r:{name_of('r', request)}")

    def _chosen_from_menu(
        self, user: User, where: Channel, message: Message, name: str
    ) -> Interaction:
        """Use a menu on a message, also on one that its user does not see."""
        guild = where.guild.id if where.guild else None
        found = self.world.commands.named(self.world.application, MESSAGE_MENU, name, guild)
        data = message_menu_data(found, message, self.world)
        return self._begun(InteractionType.COMMAND, user, where, data)

    async def _queue(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "course queue", {})

    async def _post_queue(self, lane: Lane, _: str, **__: Any) -> None:
        for cards in ("post here", "stop"):
            await self._told(lane, "course queue", {"cards": cards})

    async def _verified(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "course verified", {})

    async def _hints(self, lane: Lane, _: str, **__: Any) -> None:
        opened = self._use(lane.user, lane.where, "course hints", {})
        await self._replied(opened)
        if opened.callback is Callback.MODAL:
            typed = {"name": "Sheet", "text": "Draw a harbour.", "until": "2020-01-01"}
            sections = lane.typing(heading(lane.unseen))
            sent = await self.world.submit_modal(opened, **typed, sections=sections)
            await self._replied(sent)
            await self._removed(lane, sent)

    async def _policy(self, lane: Lane, what: str, **_: Any) -> None:
        match what:
            case "list":
                await self._told(lane, "course policy list", {})
            case "set":
                section = lane.typing(heading(lane.unseen))
                for where in ("this channel", "this server"):
                    options = {"mode": "full", "section": section, "where": where, **_LATER}
                    done = self._use(lane.user, lane.where, "course policy set", options)
                    await self._replied(done)
                    await self._removed(lane, done)
            case _:
                named = self.policies[lane.others_taught]
                await alike(partial(self._without_policy, lane), named, UNKNOWN_POLICY)

    async def _without_policy(self, lane: Lane, key: str) -> str:
        return await self._told(lane, "course policy remove", {"policy": key})

    async def _removed(self, lane: Lane, done: Interaction) -> None:
        """Remove the policy that was set last."""
        for key in _keys(done)[-1:]:
            await self._without_policy(lane, key)

    async def _policies(self, lane: Lane, _: str, **__: Any) -> None:
        await self._typed_into(lane, "course policy remove", "policy", "")

    async def _radar(self, lane: Lane, what: str, **_: Any) -> None:
        await self._told(lane, f"course radar {what}", {})


def _keys(done: Interaction) -> list[str]:
    return _KEY.findall(done.original.text) if done.original is not None else []
