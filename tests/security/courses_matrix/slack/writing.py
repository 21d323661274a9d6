"""How people of Slack try to write what belongs to another tenant."""

from typing import Any
from uuid import UUID

from core.teaching.help_requests import help_id_for
from tests.security.courses_matrix.matrix import Lane, name_of, others_name
from tests.security.courses_matrix.relations import near_question, staff_question
from tests.security.courses_matrix.slack.house import is_answer
from tests.security.courses_matrix.slack.teaching import Teaching
from tests.security.courses_matrix.slack.using import REQUEST
from tests.wire.bot_process import PATIENCE
from tests.wire.slack import Interaction

_QUIET = "vhesxd"
"""What may be answered to the place, or to nobody."""
_TYPED = {"question": "Who says so?", "answer": "Somebody else does.", "reason": "It is wrong."}


class Writing(Teaching):
    """Presses what others were shown, and what is not any more what it was."""

    async def open_form(self, lane: Lane) -> None:
        """Open a form, which is sent much later."""
        if "answer" in lane.turns and lane.answer is not None:
            lane.form = await self.world.shortcut(lane.user, "gl-verify", lane.answer)
            await self._told_or_asked(lane.form)

    async def _old_form(self, lane: Lane, _: str, **__: Any) -> None:
        form, lane.form = lane.form, None
        if form is not None:
            await self._sent(lane, form)

    async def _steal(self, lane: Lane, letter: str, **_: Any) -> None:
        name = others_name(letter, lane.stolen, self.planted, self.offered)
        await self._pressed(lane, letter, name)

    async def _rewrite(self, lane: Lane, _: str, **__: Any) -> None:
        """Have an answer of another tenant's staff shown, and use all that stands below it."""
        for question in (staff_question(lane.stolen), near_question(lane.stolen)):
            mark = self.witness.mark()
            used = await self.world.slash(lane.user, lane.where, "/ask", lane.typing(question))
            await used.ack(PATIENCE)
            incoming = await self.house.incoming(lane, mark)  # in a channel, it is no reply to us
            asked = next(filter(is_answer, used.messages), incoming)
            if asked is None:
                continue
            found = REQUEST.search(str(asked.blocks).replace("'", '"'))
            if found is None:
                continue
            await self._used_up(lane, UUID(found[1] or found[2]))
            shortcut = await self.world.shortcut(lane.user, "gl-verify", asked)
            await self._told_or_asked(shortcut)
            await self._sent(lane, shortcut)

    async def _used_up(self, lane: Lane, request: UUID) -> None:
        for letter in "vcnkhd":
            await self._pressed(lane, letter, request)
        for letter in "taz":
            await self._pressed(lane, letter, help_id_for(request))

    async def _stale(self, lane: Lane, letter: str, **_: Any) -> None:
        """Open what a button opens, have the thing behind it end, and go on as if it had not."""
        request = lane.passed_on(self.planted, self.elsewhere)
        await self._curate(lane, letter)
        opened = await self._begun_alone(lane, letter, name_of(letter, request))
        for ending in "zr":
            await self._begun_alone(lane, ending, name_of(ending, request))
        await self._sent(lane, opened)
        await self._pressed(lane, letter, name_of(letter, request))

    async def _pressed(self, lane: Lane, letter: str, name: UUID) -> None:
        await self._sent(lane, await self._begun_alone(lane, letter, name))

    async def _begun_alone(self, lane: Lane, letter: str, name: UUID) -> Interaction:
        action, value = f"gl:{letter}", str(name)
        if letter in "hn":
            action, value = "gl:vote", f"gl:{letter}:{name}"
        if letter in _QUIET:
            return await self._clicked(lane, action, value, quiet=True)
        return await self._answered_alone(lane, action, value)

    async def _sent(self, lane: Lane, opened: Interaction) -> None:
        """Fill in the forms that a deed opened."""
        for view in opened.opened:
            fields = str(view.body)
            said = {name: text for name, text in _TYPED.items() if f"'{name}'" in fields}
            sent = await self.world.submit_view(lane.user, view, **said)
            await sent.ack(PATIENCE)
