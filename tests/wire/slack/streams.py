"""Messages that appear while they are being written."""

from typing import TYPE_CHECKING

from tests.wire.slack.entities import Channel, Installation, Message, Stream
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.payloads import message_payload
from tests.wire.slack.posting import Posting

if TYPE_CHECKING:
    from tests.wire.slack.setup import Setup


class Streams:
    """Begins, continues and ends streamed messages."""

    def __init__(self, world: "Setup", posting: Posting) -> None:
        self._world = world
        self._posting = posting

    def start(
        self, installation: Installation, channel: Channel, thread_ts: str, *, unfurls: bool
    ) -> Message:
        """Return a streaming message that is not shown yet."""
        return Message(
            ts=self._world.timestamps.next(),
            channel=channel,
            author=installation.bot,
            at=self._world.clock.now(),
            thread_ts=thread_ts,
            installation=installation,
            unfurls=unfurls,
            stream=Stream(touched=self._world.clock.now()),
            streamed=True,
        )

    def write(self, message: Message, markdown: str, chunks: list[Json]) -> None:
        """Add text and chunks to a streaming message."""
        stream = self.running(message)
        parts = [markdown, *(str(c["text"]) for c in chunks if c["type"] == "markdown_text")]
        written = stream.markdown + "".join(parts)
        if len(written) > self._world.limits.text:
            raise SlackError("msg_too_long")
        stream.markdown = message.text = written
        for chunk in chunks:
            _take(stream, chunk)
        message.blocks = list(stream.blocks)
        message.task_cards = list(stream.tasks.values())
        stream.touched = self._world.clock.now()

    def appeared(self, message: Message) -> None:
        """Show what was added to a message that is there already."""
        message.revisions.append(message.text)
        self._posting.announce(message)
        self._world.changed("edited", message)

    def stop(self, message: Message, blocks: list[Json]) -> None:
        """End a stream: the message is whole now, with blocks below its text."""
        before = message_payload(message)
        message.blocks = [*message.blocks, *blocks]
        message.stream = None
        self._posting.edit(message, before)

    def running(self, message: Message) -> Stream:
        """Return a message's stream, or refuse when it has ended, be it by itself."""
        stream = message.stream
        idle = self._world.limits.stream_idle
        if stream is not None and self._world.clock.now() - stream.touched > idle:
            message.stream = stream = None
        if stream is None:
            raise SlackError("message_not_in_streaming_state")
        return stream


def _take(stream: Stream, chunk: Json) -> None:
    match chunk["type"]:
        case "task_update":
            task_id = str(chunk["id"])
            stream.tasks[task_id] = {**stream.tasks.get(task_id, {}), **chunk}
        case "plan_update":
            stream.plan = str(chunk["title"])
        case "blocks":
            stream.blocks += chunk["blocks"]
