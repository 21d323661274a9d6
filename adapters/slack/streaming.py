"""One message that Slack shows while it is being written."""

from adapters.slack.blocks import Block, buttons
from adapters.slack.outbound import Post
from adapters.slack.rest import Rest
from core.grounding import wording

BUFFER = 256
"""Characters that are gathered before they are sent, as the SDK does."""
_SEARCHING = "search"
_WRITING = "write"
_WRITES = "Writing, each sentence checked against the book …"


def beginning(post: Post) -> list[Block]:
    """Return what a stream begins with: the placeholder's button, and what is being done."""
    shown: Block = {"type": "blocks", "blocks": buttons(post)}
    return [shown, _task(_SEARCHING, wording.SEARCHING, "in_progress")]


class Stream:
    """The text that a stream shows so far; it can only grow."""

    def __init__(self, rest: Rest, channel: str, ts: str) -> None:
        self._rest = rest
        self._channel = channel
        self._ts = ts
        self.sent = ""

    async def show(self, text: str) -> None:
        """Send what is new in a longer text, once it is enough.

        A text that does not go on from the one before is left to the end of the answer.

        Raises:
            Refused: when Slack does not take it.
            Unclear: when it may show the new text, or not: nothing must be added any more.
        """
        new = text[len(self.sent) :]
        is_enough = len(new) >= BUFFER or (new and not self.sent)
        if not is_enough or not text.startswith(self.sent):
            return
        chunks = [{"type": "markdown_text", "text": new}]
        if not self.sent:
            done = _task(_SEARCHING, wording.SEARCHING, "complete")
            chunks = [done, _task(_WRITING, _WRITES, "in_progress"), *chunks]
        if await self._rest.append_if_spare(self._channel, self._ts, chunks):
            self.sent = text

    async def end(self, metadata: Block) -> None:
        """End it, also where it has ended by itself.

        Raises:
            Refused: when the message is gone, or ended before.
        """
        name, title = (_WRITING, _WRITES) if self.sent else (_SEARCHING, wording.SEARCHING)
        done = [_task(name, title, "complete")]
        await self._rest.end_stream(self._channel, self._ts, metadata, done)


def _task(name: str, title: str, status: str) -> Block:
    return {"type": "task_update", "id": name, "title": title, "status": status}
