"""Both kinds of provider, each with its local server, so that one suite holds for both."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Deadline,
    Schema,
    TimeLimit,
    Tool,
)
from core.providers.capabilities import SettingNames
from core.providers.collected import Wire
from core.providers.gemini import GeminiClient, GeminiWire
from core.providers.guarded import GuardedModel
from core.providers.openai import OpenAIClient, OpenAIWire
from core.providers.pacing import RetryPolicy, Timeouts
from tests.wire import gemini_faults
from tests.wire.gemini_replies import Reply, ToolCall
from tests.wire.gemini_server import GeminiServer
from tests.wire.openai_faults import FAULTS
from tests.wire.openai_server import ChatReply, OpenAIServer

PATIENT = Timeouts(first_piece=10.0, silence=10.0)
QUICK = Timeouts(first_piece=0.5, silence=0.2)
SOON = RetryPolicy(retries=1, backoff=0.01)
NAMES = SettingNames("THE_KEY", "THE_MODEL", "THE_URL")
SAID = "Prices rise when demand grows, and they fall when demand falls."
QUESTION = "Who is behind the canary question 4711?"
SEARCH = Tool("retrieve", "Looks into the book.", {"type": "object", "properties": {}})
SCHEMA = Schema(
    "answer",
    {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "Write the text on one line.",
)


class Station(Protocol):
    """A provider with its server, which says `SAID` to everything."""

    key: str

    @property
    def asked(self) -> int:
        """How many requests made sense so far."""
        ...

    def wire(self, key: str | None = None, model: str | None = None) -> Wire: ...

    def answers(self, text: str = SAID, **call: Mapping[str, Any]) -> None:
        """Say this from now on; `call`: use these tools with these arguments."""
        ...

    def fail(self, name: str, times: float = 1) -> None: ...

    async def stop(self) -> None: ...


@dataclass
class GeminiStation:
    server: GeminiServer
    key: str = "test-key"

    @property
    def asked(self) -> int:
        return len(self.server.requests)

    def wire(self, key: str | None = None, model: str | None = None) -> Wire:
        client = GeminiClient(key or self.key, base_url=self.server.url, names=NAMES)
        return GeminiWire(client, model or "gemini-3.8-flash")

    def answers(self, text: str = SAID, **call: Mapping[str, Any]) -> None:
        calls = tuple(ToolCall(name, dict(args)) for name, args in call.items())
        self.server.answer_with(lambda _: Reply("" if calls else text, calls, piece_size=5))

    def fail(self, name: str, times: float = 1) -> None:
        known = {fault.name: fault for fault in gemini_faults.GENERATION_FAULTS}
        self.server.fail(known[name], times)

    async def stop(self) -> None:
        await self.server.stop()


@dataclass
class OpenAIStation:
    server: OpenAIServer
    key: str = "test-key"

    @property
    def asked(self) -> int:
        return len(self.server.requests)

    def wire(self, key: str | None = None, model: str | None = None) -> Wire:
        client = OpenAIClient(key or self.key, base_url=self.server.url, names=NAMES)
        return OpenAIWire(client, model or "local-model")

    def answers(self, text: str = SAID, **call: Mapping[str, Any]) -> None:
        import json

        calls = tuple((name, json.dumps(args)) for name, args in call.items())
        said = ChatReply("" if calls else text, calls, piece_size=5)
        self.server.answer_with(lambda _: said)

    def fail(self, name: str, times: float = 1) -> None:
        self.server.fail(FAULTS[name], times)

    async def stop(self) -> None:
        await self.server.stop()


@asynccontextmanager
async def station(kind: str) -> AsyncIterator[Station]:
    """Open the server of one kind."""
    if kind == "gemini":
        async with GeminiServer() as gemini:
            opened: Station = GeminiStation(gemini)
            opened.answers()
            yield opened
        return
    async with OpenAIServer() as server:
        opened = OpenAIStation(server)
        opened.answers()
        yield opened


@asynccontextmanager
async def chat_model(wire: Wire, **options: Any) -> AsyncIterator[GuardedModel]:
    """Open a model that tries again at once, and does not think; `options` are its own."""
    usual = {"timeouts": PATIENT, "patience": SOON, "thinks_unopened": False}
    model = GuardedModel(wire, **{**usual, **options})
    yield model
    await model.aclose()


def asking(question: str = QUESTION, **changes: Any) -> ChatRequest:
    fields = {"max_tokens": 500, **changes}
    return ChatRequest("You answer in JSON.", [ChatMessage("user", question)], **fields)


@dataclass
class Heard:
    """What came of one call."""

    texts: list[str] = field(default_factory=list)
    ends: list[ChatEnd] = field(default_factory=list)
    reported: list[ChatEnd] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def end(self) -> ChatEnd:
        [end] = self.ends
        return end


async def hear(
    model: ChatModel,
    request: ChatRequest | None = None,
    deadline: TimeLimit | None = None,
    into: Heard | None = None,
) -> Heard:
    """Return all that a model says; what came before an error is in `into`."""
    incoming = into or Heard()
    reply = model.reply(
        request or asking(), deadline or Deadline.after(30.0), incoming.reported.append
    )
    async with aclosing(reply):
        async for piece in reply:
            if isinstance(piece, str):
                incoming.texts.append(piece)
            else:
                incoming.ends.append(piece)
    return incoming


def chain(error: BaseException | None) -> Sequence[str]:
    """Return the texts of an error and of all that a traceback would show below it."""
    if error is None:
        return []
    below = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return [repr(error), str(error), *chain(below)]
