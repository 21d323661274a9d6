"""A chat platform that does what a real one does: dedupes nonces, refuses, loses answers."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from adapters.chat.base import EarlierThread, Nearest, PostKeeper
from adapters.chat.delivery.streaming_reply import Throttle
from core.domain import AgentRequest, AgentResponse
from core.domain.errors import DeliveryError
from core.storage.inbox.base import Job, Posted, Twin

PLACEHOLDER = "Searching the book …"
LONGEST = 2000
Call = Callable[..., Awaitable[Any]]


@dataclass
class Message:
    """A message of the bot's, as everybody sees it."""

    id: str
    channel: str
    answers: str
    content: str
    history: list[str] = field(default_factory=list)


class Refused(Exception):
    """What the platform says instead of doing as asked; `status` is HTTP's."""

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        self.status, self.retry_after = status, retry_after
        super().__init__(f"status {status}")


class Platform:
    """Keeps messages, and fails as it is told to.

    Faults are one of `429`, `500`, `403` (nothing was done), or `lost` (it was done, and the
    connection broke before the answer).
    """

    def __init__(self, *, forgets_nonces: bool = False, delay: float = 0.0) -> None:
        self.messages: dict[str, Message] = {}
        self.calls: list[str] = []
        self.reactions: set[str] = set()
        self.faults: dict[str, deque[str]] = {}
        self.delay = delay
        self._nonces: dict[str, str] = {}
        self._forgets_nonces = forgets_nonces
        self._count = 0

    def fail(self, operation: str, *faults: str) -> None:
        """Let the next calls of an operation fail."""
        self.faults.setdefault(operation, deque()).extend(faults)

    def visible(self, answers: str) -> list[str]:
        """Return what everybody sees as answers to a question."""
        return [one.content for one in self.messages.values() if one.answers == answers]

    async def call(self, operation: str, **arguments: Any) -> Any:
        """Do what is asked, as a REST call would."""
        self.calls.append(operation)
        await asyncio.sleep(self.delay)
        faults = self.faults.get(operation)
        fault = faults.popleft() if faults else None
        if fault is not None and fault != "lost":
            raise Refused(int(fault), retry_after=0.05 if fault == "429" else None)
        result = getattr(self, f"_{operation}")(**arguments)
        if fault == "lost":
            raise ConnectionResetError
        return result

    def _post(self, channel: str, answers: str, content: str, nonce: str) -> str:
        _check(content)
        if nonce in self._nonces and not self._forgets_nonces:
            return self._nonces[nonce]
        self._count += 1
        id = f"m{self._count}"
        self.messages[id] = Message(id, channel, answers, content, [content])
        self._nonces[nonce] = id
        return id

    def _edit(self, id: str, content: str) -> None:
        _check(content)
        message = self._message(id)
        message.content = content
        message.history.append(content)

    def _delete(self, id: str) -> None:
        self._message(id)
        del self.messages[id]

    def _react(self, message: str, channel: str) -> None:
        del channel
        self.reactions.add(message)

    def _unreact(self, message: str) -> None:
        self.reactions.discard(message)

    def _list(self, answers: str) -> list[str]:
        return [one.id for one in self.messages.values() if one.answers == answers]

    def _message(self, id: str) -> Message:
        if id not in self.messages:
            raise Refused(404)
        return self.messages[id]


def _check(content: str) -> None:
    if not content or len(content) > LONGEST:
        raise Refused(400)


class PlatformAdapter:
    """The adapter of such a platform; `call` reaches it, here or in another process."""

    platform = "test"
    is_ready = True

    def __init__(self, call: Call, *, interval: float = 0.01, thread: str | None = None) -> None:
        self._call = call
        self._interval = interval
        self._thread = thread

    async def open(self, job: Job, keeper: PostKeeper) -> "PlatformReply":
        posted = job.posted
        if not posted.messages and job.taken_over:
            found = await self.send(keeper, "list", answers=_question(job))
            posted = Posted(tuple(found[:1]), self._thread)
        reply = PlatformReply(self, job, keeper, Posted(posted.messages, self._thread))
        await reply.begin()
        return reply

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Reply to the message: here nothing is shown to one reader alone."""
        reply = await self.open(job, keeper)
        await reply.say(sentence if link is None else f"{sentence} {link}")

    async def notify(self, job: Job, sentence: str) -> None:
        await self.send(
            None,
            "post",
            channel=job.arrival.address["channel"],
            answers=_question(job),
            content=sentence,
            nonce=f"{job.arrival.key}#wait",
        )

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return the request: there is nothing to add."""
        return request

    async def ended(self, job: Job) -> None:
        """Show nothing."""

    async def retract(self, job: Job) -> None:
        for id in job.posted.messages:
            await self._delete(id)

    async def abandon(self, job: Job, error: DeliveryError) -> None:
        for id in job.posted.messages:
            await self._delete(id)

    async def react(self, job: Job) -> None:
        address = job.arrival.address
        await self.send(None, "react", message=_question(job), channel=address["channel"])

    async def unreact(self, job: Job) -> None:
        await self.send(None, "unreact", message=_question(job))

    async def link(self, job: Job, twin: Twin) -> str | None:
        return f"https://chat.example/{twin.messages[0]}"

    async def tidy(self, job: Job) -> None:
        for id in await self.send(None, "list", answers=_question(job)):
            if id not in job.posted.messages:
                await self._delete(id)

    async def send(self, keeper: PostKeeper | None, operation: str, **arguments: Any) -> Any:
        """Call the platform, unless somebody else answers by now."""
        if keeper is not None:
            keeper.check()
        try:
            return await self._call(operation, **arguments)
        except ConnectionError as error:
            if keeper is not None:
                keeper.mark_ambiguous()
            raise DeliveryError("connection lost") from error
        except Refused as error:
            permanent = error.status in {400, 403}
            raise DeliveryError(
                str(error), permanent=permanent, retry_after=error.retry_after
            ) from error

    async def _delete(self, id: str) -> None:
        try:
            await self.send(None, "delete", id=id)
        except DeliveryError as error:
            if "404" not in str(error):
                raise


class PlatformReply:
    """An answer on such a platform, in as many messages as it takes."""

    def __init__(
        self, adapter: PlatformAdapter, job: Job, keeper: PostKeeper, posted: Posted
    ) -> None:
        self.posted = posted
        self._adapter = adapter
        self._job = job
        self._keeper = keeper
        self._text = ""
        self._pacing = Throttle(self._edit_first, interval=adapter._interval)

    async def begin(self) -> None:
        """Post the placeholder unless it is there."""
        if not self.posted.messages:
            self.posted = Posted((await self._post(0, PLACEHOLDER),), self.posted.thread)
        await self._keeper.keep(self.posted)

    async def reading(self, headings: Sequence[str]) -> None:
        """Show nothing of it: the placeholder stands until there is text."""

    async def update(self, delta: str) -> None:
        self._text += delta
        await self._pacing.show(self._text[:LONGEST])

    async def withdraw(self) -> None:
        self._text = ""
        await self._pacing.show(PLACEHOLDER)

    async def finish(self, response: AgentResponse, earlier: EarlierThread | None = None) -> None:
        below = "" if earlier is None else f"\n{earlier.link}"
        await self._finish(f"{response.response_text}{below}")

    async def leave(self) -> None:
        await self._pacing.stop()

    async def say(self, sentence: str) -> None:
        await self._finish(sentence)

    async def _finish(self, text: str) -> None:
        first, *more = (text[n : n + LONGEST] for n in range(0, len(text), LONGEST))
        await self._pacing.finish(first)
        messages = [self.posted.messages[0]]
        for part, content in enumerate(more, 1):
            messages.append(await self._show(part, content))
            self.posted = Posted((*messages, *self.posted.messages[part + 1 :]), self.posted.thread)
            await self._keeper.keep(self.posted)
        for surplus in self.posted.messages[len(messages) :]:
            self._keeper.check()
            await self._adapter._delete(surplus)
        self.posted = Posted(tuple(messages), self.posted.thread)
        await self._keeper.keep(self.posted)

    async def _show(self, part: int, content: str) -> str:
        if part < len(self.posted.messages):
            id = self.posted.messages[part]
            await self._adapter.send(self._keeper, "edit", id=id, content=content)
            return id
        return await self._post(part, content)

    async def _post(self, part: int, content: str) -> str:
        where = self._job.arrival.address["channel"]
        nonce = f"{self._job.arrival.about or self._job.arrival.key}#{part}"
        question = _question(self._job)
        id: str = await self._adapter.send(
            self._keeper, "post", channel=where, answers=question, content=content, nonce=nonce
        )
        return id

    async def _edit_first(self, content: str) -> None:
        id = self.posted.messages[0]
        await self._adapter.send(self._keeper, "edit", id=id, content=content)


def _question(job: Job) -> str:
    question: str = job.arrival.address["question"]
    return question


# --- the same platform for another process ------------------------------------------------


@asynccontextmanager
async def served(platform: Platform) -> Any:
    """Let other processes call the platform; yield the loopback port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = json.loads(await reader.readline())
        answer: Mapping[str, Any]
        try:
            answer = {"result": await platform.call(asked.pop("operation"), **asked)}
        except Refused as refused:
            answer = {"status": refused.status, "retry_after": refused.retry_after}
        except ConnectionResetError:
            answer = {}
        if answer:
            writer.write(json.dumps(answer).encode() + b"\n")
        try:
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except ConnectionError:
            pass  # the bot was killed: nobody reads the answer

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def calling(port: int) -> Call:
    """Return the way to call a served platform."""

    async def call(operation: str, **arguments: Any) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(json.dumps({"operation": operation, **arguments}).encode() + b"\n")
        answer = await reader.readline()
        writer.close()
        if not answer:
            raise ConnectionResetError
        said = json.loads(answer)
        if "status" in said:
            raise Refused(said["status"], said["retry_after"])
        return said["result"]

    return call
