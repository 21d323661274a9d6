"""How buttons and menus are used on Discord."""

from functools import partial
from typing import Any

from adapters.chat.buttons import NO_ID, Button, custom_id
from tests.security.courses_matrix.discord.using import Using
from tests.security.courses_matrix.matrix import (
    UNKNOWN_COURSE,
    Lane,
    alike,
)
from tests.security.courses_matrix.relations import (
    word,
)
from tests.security.courses_matrix.witness import HOLDER
from tests.wire.discord import Callback, Channel, Interaction, User
from tests.wire.discord.errors import Json


class Pressing(Using):
    """Uses what stands under messages."""

    async def _press(self, lane: Lane, letter: str, *, quiet: bool, mark: int) -> None:
        self._keep(lane, "answer", lane.answer)  # an edit may have changed it
        request = lane.request(self.elsewhere, letter)
        number = ":0" if letter == "w" else ""
        click = await self._clicked(lane, f"gl:{letter}:{request}{number}")
        if click.callback is Callback.MODAL:
            await self._replied(await self.world.submit_modal(click, reason="Too short."))
        if letter == "s":
            await self.house.incoming(lane, mark, quiet=quiet)

    async def _choose(self, lane: Lane, what: str, *, quiet: bool, mark: int) -> None:
        if what == "its":
            await self._chosen(lane, lane.typing(word(lane.bond.course, "id")))
            return
        foreign = lane.typing(word(lane.unseen, "id"))
        await alike(partial(self._chosen, lane), foreign, UNKNOWN_COURSE)

    async def _chosen(self, lane: Lane, course: str) -> str:
        """Choose from a menu of courses, whatever it offers."""
        custom_id = f"gl:course:{lane.request(self.elsewhere, 'choice')}"
        option = {"label": "A course", "value": course}
        menu = {"type": 3, "custom_id": custom_id, "options": [option]}
        click = await self._clicked(lane, custom_id, menu, [course])
        return click.original.text if click.original is not None else ""

    async def _clicked(
        self,
        lane: Lane,
        custom_id: str,
        part: Json | None = None,
        values: list[str] | None = None,
    ) -> Interaction:
        return await self._clicked_by(lane.user, lane.where, custom_id, part, values)

    async def _clicked_by(
        self,
        user: User,
        where: Channel,
        custom_id: str,
        part: Json | None = None,
        values: list[str] | None = None,
    ) -> Interaction:
        """Use a button, or a menu, that stands under a message of the bot, whatever it says."""
        button = {"type": 2, "style": 2, "label": "Press", "custom_id": custom_id}
        row = {"type": 1, "components": [part or button]}
        body = {"content": HOLDER, "components": [row]}
        holder = self.world.posting.create(self.world.bot, where, body, {})
        click = await self.world.click(user, holder, custom_id, values)
        await self._replied(click)
        return click

    async def _forget(self, lane: Lane, _: str, **__: Any) -> None:
        await self._clicked(lane, custom_id(Button.FORGET_ME, NO_ID))

    async def _export(self, lane: Lane, _: str, **__: Any) -> None:
        await self._clicked(lane, custom_id(Button.EXPORT, NO_ID))
