"""One message that Slack shows while it is being written."""

from collections.abc import Iterator
from uuid import UUID

from adapters.markdown.splitting import shortened
from adapters.slack.api.rest import Rest
from adapters.slack.markup.text import markdown_escaped
from adapters.slack.replies.blocks import Block, buttons, ending
from adapters.slack.replies.dedupe import step_id
from adapters.slack.replies.outbound import Growing, Post
from core.i18n import text

BUFFER = 256
"""Characters that are gathered before they are sent, as the SDK does."""
_SEARCH, _READ, _WRITE = "search", "read", "write"
"""What is done, in this order."""
_LONGEST_STEP = 75
_MOST_SOURCES = 10


def beginning(post: Post, *, with_button: bool) -> list[Block]:
    """Return what a stream begins with: what is being done, and a button that stops it.

    Args:
        with_button: Whether the button is needed, as Slack shows none of its own.
    """
    assert post.request_id is not None
    first = _step(post.request_id, (_SEARCH, text("notice-searching")), "in_progress")
    return [{"type": "blocks", "blocks": buttons(post)}, first] if with_button else [first]


class Stream:
    """What a stream shows so far: text, which can only grow, and what is being done."""

    def __init__(
        self, rest: Rest, channel: str, ts: str, request: UUID, *, may_stay: bool = False
    ) -> None:
        """Go on with a stream that has begun.

        Args:
            request: The id of the question, by which its steps are known.
            may_stay: Whether all that it shows may stay when it ends.
        """
        self._rest = rest
        self._channel = channel
        self._ts = ts
        self._request = request
        self._may_stay = may_stay
        self._doing = (_SEARCH, text("notice-searching"))
        self.sent = ""

    async def show(self, growing: Growing) -> None:
        """Send what is new in a longer text, once it is enough; before there is any, what is read.

        A text that does not go on from the one before is left to the end of the answer.

        Raises:
            Refused: when Slack does not take it.
            Unclear: when it may show the new text, or not: nothing must be added any more.
        """
        settled = self._escaped(growing.settled)
        if not settled:
            await self._show_step(growing.reads)
            return
        new = settled[len(self.sent) :]
        is_enough = len(new) >= BUFFER or (new and not self.sent)
        if not is_enough or not settled.startswith(self.sent):
            return
        writes = (_WRITE, text("slack-step-write"))
        chunks = [*self._next(writes), {"type": "markdown_text", "text": new}]
        if await self._rest.append_if_spare(self._channel, self._ts, chunks):
            self.sent, self._doing = settled, writes

    def becomes(self, post: Post) -> bool:
        """Return whether the stream can end as a post: with what it shows, and more below."""
        markdown, _ = ending(post, escape_code=self._rest.workspace.escape_code)
        return self._may_stay and markdown.startswith(self.sent)

    async def finish(self, post: Post, metadata: Block, status: str | None) -> None:
        """End it with all that a post shows which it does not show yet.

        Args:
            status: As of `Rest.end_stream`.

        Raises:
            Refused: when the message is gone, or ended before.
        """
        markdown, blocks = ending(post, escape_code=self._rest.workspace.escape_code)
        new = markdown[len(self.sent) :]
        chunks = list(self._last(post))
        chunks += [{"type": "markdown_text", "text": new}] if new else []
        await self._rest.end_stream(self._channel, self._ts, metadata, chunks, blocks, status)

    async def end(self, metadata: Block, status: str | None) -> None:
        """End it, also where it has ended by itself.

        Args:
            status: As of `Rest.end_stream`.

        Raises:
            Refused: when the message is gone, or ended before.
        """
        done = [_step(self._request, self._doing, "complete")]
        await self._rest.end_stream(self._channel, self._ts, metadata, done, status=status)

    async def _show_step(self, title: str | None) -> None:
        if title is None or self._doing[0] != _SEARCH:
            return
        reads = (_READ, shortened(title, _LONGEST_STEP))
        if await self._rest.append_if_spare(self._channel, self._ts, [*self._next(reads)]):
            self._doing = reads

    def _next(self, step: tuple[str, str]) -> Iterator[Block]:
        """Yield that what was being done is done, and something else begun."""
        if step != self._doing:
            yield _step(self._request, self._doing, "complete")
            yield _step(self._request, step, "in_progress")

    def _last(self, post: Post) -> Iterator[Block]:
        """Yield that all is done, whether it was checked, and with which pages of the book."""
        if not post.sources:
            yield _step(self._request, self._doing, "complete")
            return
        if self._doing[0] != _WRITE:
            yield _step(self._request, self._doing, "complete")
        found = [
            {"type": "url", "url": url, "text": shortened(title, _LONGEST_STEP)}
            for title, url in post.sources[:_MOST_SOURCES]
        ]
        title = text("slack-step-checked") if post.by_model else text("slack-step-shown")
        done = (_WRITE, title)
        yield {**_step(self._request, done, "complete"), "sources": found}

    def _escaped(self, markdown: str) -> str:
        return markdown_escaped(markdown, escape_code=self._rest.workspace.escape_code)


def _step(request: UUID, step: tuple[str, str], status: str) -> Block:
    name, title = step
    return {"type": "task_update", "id": step_id(request, name), "title": title, "status": status}
