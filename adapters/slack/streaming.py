"""One message that Slack shows while it is being written."""

from collections.abc import Iterator

from adapters.markdown.slack_text import markdown_escaped
from adapters.slack.blocks import Block, buttons
from adapters.slack.outbound import Growing, Post
from adapters.slack.rest import Rest
from core.i18n import Message

BUFFER = 256
"""Characters that are gathered before they are sent, as the SDK does."""
_SEARCHES = ("search", Message("notice-searching"))
_READING = "read"
_WRITES = ("write", Message("notice-writing"))
Task = tuple[str, Message | str]
"""A name, and what the reader sees."""


def beginning(post: Post) -> list[Block]:
    """Return what a stream begins with: the placeholder's button, and what is being done."""
    shown: Block = {"type": "blocks", "blocks": buttons(post)}
    return [shown, _task(_SEARCHES, "in_progress")]


class Stream:
    """What a stream shows so far: text, which can only grow, and what is being done."""

    def __init__(self, rest: Rest, channel: str, ts: str) -> None:
        self._rest = rest
        self._channel = channel
        self._ts = ts
        self._doing: Task = _SEARCHES
        self.sent = ""

    async def show(self, growing: Growing) -> None:
        """Send what is new in a longer text, once it is enough; before there is any, what is read.

        A text that does not go on from the one before is left to the end of the answer.

        Raises:
            Refused: when Slack does not take it.
            Unclear: when it may show the new text, or not: nothing must be added any more.
        """
        escape_code = self._rest.workspace.escape_code
        text = markdown_escaped(growing.settled, escape_code=escape_code)
        if not text:
            await self._show_task(growing.reads)
            return
        new = text[len(self.sent) :]
        is_enough = len(new) >= BUFFER or (new and not self.sent)
        if not is_enough or not text.startswith(self.sent):
            return
        chunks = [*self._next(_WRITES), {"type": "markdown_text", "text": new}]
        if await self._rest.append_if_spare(self._channel, self._ts, chunks):
            self.sent, self._doing = text, _WRITES

    async def end(self, metadata: Block) -> None:
        """End it, also where it has ended by itself.

        Raises:
            Refused: when the message is gone, or ended before.
        """
        done = [_task(self._doing, "complete")]
        await self._rest.end_stream(self._channel, self._ts, metadata, done)

    async def _show_task(self, title: str | None) -> None:
        if title is None or self._doing != _SEARCHES:
            return
        reads = (_READING, title)
        if await self._rest.append_if_spare(self._channel, self._ts, [*self._next(reads)]):
            self._doing = reads

    def _next(self, task: Task) -> Iterator[Block]:
        """Yield that what was being done is done, and something else begun."""
        if task != self._doing:
            yield _task(self._doing, "complete")
            yield _task(task, "in_progress")


def _task(task: Task, status: str) -> Block:
    name, title = task
    return {"type": "task_update", "id": name, "title": str(title), "status": status}
