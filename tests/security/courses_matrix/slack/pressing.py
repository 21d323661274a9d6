"""How buttons and menus are used on Slack."""

from functools import partial

from adapters.chat.buttons import NO_ID
from tests.security.courses_matrix.matrix import (
    UNKNOWN_COURSE,
    Lane,
    alike,
)
from tests.security.courses_matrix.relations import (
    word,
)
from tests.security.courses_matrix.slack.using import Using
from tests.security.courses_matrix.witness import HOLDER
from tests.wire.bot_process import PATIENCE
from tests.wire.slack import Interaction, Message
from tests.wire.slack.errors import Json
from tests.wire.slack.posting import Draft


class Pressing(Using):
    """Uses what stands under messages."""

    async def _press(self, lane: Lane, letter: str, *, quiet: bool, mark: int) -> None:
        self._keep(lane, "answer", lane.answer)  # an edit may have changed it
        request = lane.request(self.elsewhere, letter)
        action, value = f"gl:{letter}", str(request)
        if letter in "hn":
            action, value = "gl:vote", f"gl:{letter}:{request}"
        if letter == "w":
            action, value = "gl:w:0", f"gl:w:{request}:0"
        click = await self._clicked(lane, action, value, quiet=quiet)
        if click.opened and letter == "n":
            sent = await self.world.submit_view(lane.user, click.opened[0], reason="Too short.")
            await sent.ack(PATIENCE)
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
        option = {"text": {"type": "plain_text", "text": "A course"}, "value": course}
        menu = {
            "type": "static_select",
            "action_id": "gl:course",
            "placeholder": {"type": "plain_text", "text": "Choose"},
            "options": [option],
        }
        block_id = f"gl:course:{lane.request(self.elsewhere, 'choice')}"
        block = {"type": "actions", "block_id": block_id, "elements": [menu]}
        mark = self.witness.mark()
        used = await self._used(lane, block, "gl:course", course, quiet=False)
        return await self._answer_to(used, lane, mark)

    async def _clicked(
        self, lane: Lane, action: str, value: str, *, quiet: bool = False
    ) -> Interaction:
        """Press a button that stands under a message of the bot, whatever it says."""
        return await self._used(lane, _button(action, value), action, None, quiet=quiet)

    async def _answered_alone(self, lane: Lane, action: str, value: str) -> Interaction:
        """Press a button whose answer its clicker alone sees, whatever else the place shows."""
        click = await self._begun(lane, _button(action, value), action, None)
        await self._told_or_asked(click)
        return click

    async def _told_or_asked(self, done: Interaction) -> None:
        """Wait until the person of a deed is told something, or shown a modal."""
        await self.house.until(lambda: done.opened or self.world.answers_to(done) or None)

    async def _begun(self, lane: Lane, block: Json, action: str, choice: str | None) -> Interaction:
        click = await self.world.click(lane.user, self._holder(lane, [block]), action, choice)
        await click.ack(PATIENCE)
        return click

    async def _used(
        self, lane: Lane, block: Json, action: str, choice: str | None, *, quiet: bool
    ) -> Interaction:
        mark = self.witness.mark()
        click = await self._begun(lane, block, action, choice)
        if quiet:
            await self.house.barrier()
        else:
            await self._something(lane, mark)
        return click

    def _holder(self, lane: Lane, blocks: list[Json]) -> Message:
        """Return a message of the bot that answers nothing."""
        draft = Draft(HOLDER, blocks)
        draft.thread_ts = lane.thread.ts if lane.thread else None
        installed = self.house.installed[lane.tenant]
        return self.world.posting.create(installed.bot, lane.where, draft, installation=installed)

    async def _forget(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        await self._clicked(lane, "gl:g", str(NO_ID))

    async def _export(self, lane: Lane, _: str, *, quiet: bool, mark: int) -> None:
        await self._clicked(lane, "gl:j", str(NO_ID))


def _button(action: str, value: str) -> Json:
    element: Json = {
        "type": "button",
        "text": {"type": "plain_text", "text": "Press"},
        "action_id": action,
        "value": value,
    }
    return {"type": "actions", "elements": [element]}
