"""How people of Discord try to write what belongs to another tenant."""

from typing import Any
from uuid import UUID

from core.teaching.help_requests import help_id_for
from tests.security.courses_matrix.discord.teaching import Teaching
from tests.security.courses_matrix.discord.using import request_of
from tests.security.courses_matrix.matrix import Lane, name_of, others_name
from tests.security.courses_matrix.relations import near_question, staff_question
from tests.wire.discord import Callback, Interaction

_TYPED = {"question": "Who says so?", "answer": "Somebody else does.", "reason": "It is wrong."}


class Writing(Teaching):
    """Presses what others were shown, and what is not any more what it was."""

    async def open_form(self, lane: Lane) -> None:
        """Open a form, which is sent much later."""
        if "answer" in lane.turns:
            lane.form = await self._clicked(lane, f"gl:c:{lane.turns['answer']}")

    async def _old_form(self, lane: Lane, _: str, **__: Any) -> None:
        form, lane.form = lane.form, None
        if form is not None:
            await self._sent(form)

    async def _steal(self, lane: Lane, letter: str, **_: Any) -> None:
        name = others_name(letter, lane.stolen, self.planted, self.offered)
        await self._sent(await self._clicked(lane, f"gl:{letter}:{name}"))

    async def _rewrite(self, lane: Lane, _: str, **__: Any) -> None:
        """Have an answer of another tenant's staff shown, and use all that stands below it."""
        for question in (staff_question(lane.stolen), near_question(lane.stolen)):
            asked = self._use(lane.user, lane.where, "ask", {"question": lane.typing(question)})
            await self._replied(asked)
            request = request_of(asked.original)
            if request is not None:
                await self._used_up(lane, request)
            if request is not None and asked.original is not None:
                opened = self._chosen_from_menu(
                    lane.user, lane.where, asked.original, "Verify answer"
                )
                await self._replied(opened)
                await self._sent(opened)

    async def _used_up(self, lane: Lane, request: UUID) -> None:
        for letter in "vcnkhd":
            await self._sent(await self._clicked(lane, f"gl:{letter}:{request}"))
        for letter in "taz":
            await self._sent(await self._clicked(lane, f"gl:{letter}:{help_id_for(request)}"))

    async def _stale(self, lane: Lane, letter: str, **_: Any) -> None:
        """Open what a button opens, have the thing behind it end, and go on as if it had not."""
        request = lane.passed_on(self.planted, self.elsewhere)
        await self._curate(lane, letter)
        custom_id = f"gl:{letter}:{name_of(letter, request)}"
        opened = await self._clicked(lane, custom_id)
        for ending in "zr":
            await self._clicked(lane, f"gl:{ending}:{name_of(ending, request)}")
        await self._sent(opened)
        await self._sent(await self._clicked(lane, custom_id))

    async def _sent(self, opened: Interaction) -> None:
        """Fill in the form that a deed opened, if it did."""
        if opened.callback is not Callback.MODAL or opened.modal is None:
            return
        fields = str(opened.modal)
        said = {name: text for name, text in _TYPED.items() if f"'{name}'" in fields}
        await self._replied(await self.world.submit_modal(opened, **said))
