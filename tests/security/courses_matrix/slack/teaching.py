"""How questions reach staff on Slack, and what staff set and see of a course."""

import re
from functools import partial
from typing import Any

from adapters.actions.queue import page_name
from core.answering.verified import answer_id_for
from tests.security.courses_matrix.matrix import UNKNOWN_POLICY, Lane, alike, name_of
from tests.security.courses_matrix.relations import (
    FIRST,
    REVOKED,
    TAUGHT,
    TWO,
    Place,
    Relation,
    Role,
    heading,
    near_question,
    staff_answer,
    staff_question,
    taught,
    word,
    words,
)
from tests.security.courses_matrix.slack.pressing import Pressing
from tests.wire.bot_process import PATIENCE
from tests.wire.slack import Interaction, Message

_KEY = re.compile(r"`([0-9a-f]{8})`")
_OFFERED = re.compile(r'"gl:v", "value": "([0-9a-f-]{36})"()')
_LATER = "from 2099-01-01 until 2099-12-01"


class Teaching(Pressing):
    """Asks staff, and does what staff do."""

    async def prepare_staff(self) -> None:
        """Let the staff of each tenant answer, set and choose something about each course."""
        for tenant, course in TAUGHT:
            key, owner = taught(tenant, course), self.house.owners[tenant]
            person = self.house.person(tenant)
            room = self.house.room(tenant, person)
            asker = Lane(Relation.OWN, Role.STUDENT, Place.CHANNEL, person, room, room, of=tenant)
            staff = Lane(Relation.OWN, Role.ADMIN, Place.CHANNEL, owner, room, room, of=tenant)
            for lane in (asker, staff):
                lane.places = frozenset({room.id, f"user {lane.user.id}"})
            await self._told(staff, "/course", f"bind {word(course, 'id')}")
            answer = await self._answered(asker, FIRST)
            self.planted[key] = self._request_of(answer)
            await self._told_by(owner, self.house.room(tenant), "/course", "queue post")
            await self._answered_alone(asker, "gl:k", str(self.planted[key]))
            await self._checked(staff, answer, key)
            near = await self._answered(asker, near_question(key))
            self.offered[key] = self._request_of(near, _OFFERED)
            await self._clicked(asker, "gl:v", str(self.offered[key]))
            await self._have_policy(staff, key)
            self.policies[key] = _KEY.findall(await self._told(staff, "/course", "policy list"))[-1]
            await self._told(staff, "/course", "radar post")

    async def see_posts(self, mark: int) -> None:
        """Wait for weeks and cards of the courses that their tenants may read."""
        read = [course for tenant, course in TAUGHT if (course, tenant) != REVOKED]
        wanted = words(read, ("title", "body"))

        def posted() -> bool | None:
            seen = {w for s in self.witness.seen[mark:] if s.public for w in s.words}
            return wanted <= seen or None

        await self.house.until(posted)

    async def _answered(self, lane: Lane, question: str) -> Message:
        mark = self.witness.mark()
        await self._says(lane, question)
        answer = await self.house.incoming(lane, mark)
        assert answer is not None
        return answer

    async def _have_policy(self, staff: Lane, key: str) -> None:
        """Have a policy set: of the shared course one that holds in its tenant, else nowhere."""
        name = word(key, "policy")
        if key == taught(TWO, "granted"):
            await self._assigned(staff, name=name, text=FIRST)
        else:
            await self._told(staff, "/course", f'policy set full section "{name}"')

    async def _assigned(self, lane: Lane, **typed: str) -> None:
        """Open the form for an assignment, and send it where it opens."""
        opening = await self.world.slash(lane.user, lane.where, "/course", "hints")
        await opening.ack(PATIENCE)
        await self.house.until(lambda: opening.messages or None)
        for view in opening.opened:
            sent = await self.world.submit_view(lane.user, view, **typed)
            await sent.ack(PATIENCE)

    async def _curate(self, lane: Lane, letter: str, **_: Any) -> None:
        request = lane.passed_on(self.planted, self.elsewhere)
        key = lane.taught
        lane.typing(staff_question(key) + staff_answer(key))
        if letter in "taz":
            await self._answered_alone(lane, "gl:k", str(request))
        if letter in "wr":
            await self._checked(lane, self._to_check(lane), key)
        await self._written(lane, letter, key, str(name_of(letter, request)))
        if letter in "cw":
            await self._answered_alone(lane, "gl:r", str(name_of("r", request)))
        if letter == "a":
            answer = answer_id_for(f"help:{name_of('a', request)}")
            await self._answered_alone(lane, "gl:r", str(answer))

    async def _written(self, lane: Lane, letter: str, key: str, name: str) -> None:
        """Press a button, and fill in the form that it opens, if it does."""
        click = await self._answered_alone(lane, f"gl:{letter}", name)
        await self._filled_in(lane, click, key)

    async def _filled_in(self, lane: Lane, opened: Interaction, key: str) -> None:
        for view in opened.opened:
            said = {"question": staff_question(key), "answer": staff_answer(key)}
            sent = await self.world.submit_view(lane.user, view, **said)
            await sent.ack(PATIENCE)

    async def _ask_taught(self, lane: Lane, _: str, **__: Any) -> None:
        question = staff_question(lane.taught)
        await self._told_alone(lane, "/ask", lane.typing(f"private {question}"))

    async def _show_offered(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        await self._clicked(lane, "gl:v", str(self.offered[lane.taught]), quiet=quiet)

    async def _verify(self, lane: Lane, _: str, **__: Any) -> None:
        lane.typing(staff_question(lane.taught) + staff_answer(lane.taught))
        await self._checked(lane, self._to_check(lane), lane.taught)
        request = lane.passed_on(self.planted, self.elsewhere)
        await self._answered_alone(lane, "gl:r", str(name_of("r", request)))

    def _to_check(self, lane: Lane) -> Message:
        """Return the answer that its person was given, or a message that shows none of theirs."""
        is_own = lane.bond.readable and lane.relation is not Relation.ANOTHERS
        return (lane.answer if is_own else None) or self._holder(lane, [])

    async def _checked(self, lane: Lane, message: Message, key: str) -> None:
        """Use the shortcut on a message, and fill in the form that it opens, if it does."""
        shortcut = await self.world.shortcut(lane.user, "gl-verify", message)
        await shortcut.ack(PATIENCE)
        await self._told_or_asked(shortcut)
        await self._filled_in(lane, shortcut, key)

    async def _queue(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "/course", "queue")

    async def _post_queue(self, lane: Lane, _: str, **__: Any) -> None:
        for cards in ("post", "stop"):
            await self._told(lane, "/course", f"queue {cards}")

    async def _more(self, lane: Lane, _: str, **__: Any) -> None:
        for of_verified in (False, True):
            await self._answered_alone(lane, "gl:m", str(page_name(0, of_verified=of_verified)))

    async def _verified(self, lane: Lane, _: str, **__: Any) -> None:
        await self._told(lane, "/course", "verified")

    async def _hints(self, lane: Lane, _: str, **__: Any) -> None:
        typed = {"name": "Sheet", "text": "Draw a harbour.", "until": "2020-01-01"}
        await self._assigned(lane, **typed, sections=lane.typing(heading(lane.unseen)))

    async def _policy(self, lane: Lane, what: str, **_: Any) -> None:
        match what:
            case "list":
                await self._told(lane, "/course", "policy list")
            case "set":
                section = lane.typing(heading(lane.unseen))
                for where in ("", " workspace"):
                    text = f'policy set full section "{section}" {_LATER}{where}'
                    done = await self._told_alone(lane, "/course", text)
                    for key in _KEY.findall(done)[-1:]:
                        await self._told(lane, "/course", f"policy remove {key}")
            case _:
                named = self.policies[lane.others_taught]
                await alike(partial(self._without_policy, lane), named, UNKNOWN_POLICY)

    async def _without_policy(self, lane: Lane, key: str) -> str:
        return await self._told_alone(lane, "/course", f"policy remove {key}")

    async def _radar(self, lane: Lane, what: str, **_: Any) -> None:
        await self._told(lane, "/course", f"radar {what}")
