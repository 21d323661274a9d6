"""A small server of chat completions: OpenAI's REST interface before scripted models.

It speaks only what the product uses. What OpenAI refuses is refused in its form, and a call of any
other endpoint fails the test that made it.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.wire.gemini_embeddings import embed
from tests.wire.openai_calls import Json, OpenAICall, OpenAIRefusal, read_call

MODELS = ("local-model", "bespoke-minicheck:7b")
EMBEDDING_MODEL = "local-embedder"
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class ChatReply:
    """What the model says to one call."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Names of tools, each with its arguments as the model writes them."""
    finish: str | None = None
    """None: as it comes."""
    logprobs: tuple[dict[str, float], ...] = ()
    cached: int = 0
    usage: bool = True
    refusal: str | None = None
    piece_size: int = 24


Answer = ChatReply | str
Model = Callable[[OpenAICall], Answer]
Fault = Callable[["Exchange"], Any]
"""Answers a request instead of the model; see openai_faults."""


@dataclass
class Exchange:
    """A request that is to be answered."""

    request: web.Request
    call: OpenAICall
    answer: Answer
    closing: asyncio.Event
    stream: web.StreamResponse | None = None

    @property
    def reply(self) -> ChatReply:
        return self.answer if isinstance(self.answer, ChatReply) else ChatReply(self.answer)

    async def open(self) -> web.StreamResponse:
        """Send the headers of an answer, whose body is then written bit by bit."""
        kind = "text/event-stream" if self.call.streams else "application/json"
        self.stream = web.StreamResponse(headers={"Content-Type": kind})
        await self.stream.prepare(self.request)
        return self.stream

    async def respond(self) -> web.StreamResponse:
        if not self.call.streams:
            return web.json_response(self.whole())
        stream = await self.open()
        for chunk in self.chunks():
            await stream.write(event(chunk))
        await stream.write(b"data: [DONE]\n\n")
        return stream

    async def begin(self) -> web.StreamResponse:
        """Send the first half of an answer."""
        stream = await self.open()
        if not self.call.streams:
            await stream.write(b'{"choices": [{"message": {"content": "')
            return stream
        chunks = [one for one in self.chunks() if one["choices"]]
        for chunk in chunks[: max(1, len(chunks) // 2)]:
            await stream.write(event(chunk))
        return stream

    def hang_up(self) -> None:
        assert self.request.transport is not None
        self.request.transport.close()

    def whole(self) -> Json:
        message: Json = {"role": "assistant", "content": self._text()}
        if self.reply.calls:
            message["tool_calls"] = self._calls()
        if self.reply.refusal:
            message["refusal"] = self.reply.refusal
        choice: Json = {"index": 0, "message": message, "finish_reason": self._finish()}
        if self._logprobs():
            choice["logprobs"] = {"content": self._logprobs()}
        body: Json = {"id": "chat-1", "object": "chat.completion", "choices": [choice]}
        return body | ({"usage": self._usage()} if self.reply.usage else {})

    def chunks(self) -> list[Json]:
        """Return the objects of a stream."""
        text, size = self._text(), self.reply.piece_size
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": text[at : at + size]} for at in range(0, len(text), size)]
        if self.reply.refusal:
            deltas.append({"refusal": self.reply.refusal})
        for number, call in enumerate(self._calls()):
            whole = call["function"].pop("arguments")
            deltas.append({"tool_calls": [call | {"index": number}]})
            for at in range(0, len(whole), size):
                part = {"index": number, "function": {"arguments": whole[at : at + size]}}
                deltas.append({"tool_calls": [part]})
        found = [chunk(delta) for delta in deltas]
        if self._logprobs():
            found[min(1, len(found) - 1)]["choices"][0]["logprobs"] = {"content": self._logprobs()}
        found.append(chunk({}, self._finish()))
        if self.reply.usage and self.call.body.get("stream_options", {}).get("include_usage"):
            found.append({**chunk({}), "choices": [], "usage": self._usage()})
        return found

    def _text(self) -> str:
        limit = self.call.limit
        return self.reply.text[: None if limit is None else limit * _CHARACTERS_A_TOKEN]

    def _finish(self) -> str:
        if self.reply.finish is not None:
            return self.reply.finish
        if len(self._text()) < len(self.reply.text):
            return "length"
        return "tool_calls" if self.reply.calls else "stop"

    def _calls(self) -> list[Json]:
        return [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(self.reply.calls)
        ]

    def _logprobs(self) -> list[Json]:
        most = self.call.body.get("top_logprobs", 0)
        if not self.call.body.get("logprobs"):
            return []
        return [
            {
                "token": next(iter(step)),
                "logprob": next(iter(step.values())),
                "top_logprobs": [
                    {"token": token, "logprob": logprob}
                    for token, logprob in [*step.items()][:most]
                ],
            }
            for step in self.reply.logprobs
        ]

    def _usage(self) -> Json:
        read = -(-len(self.call.text) // _CHARACTERS_A_TOKEN)
        written = -(-len(self._text()) // _CHARACTERS_A_TOKEN)
        usage: Json = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        if self.reply.cached:
            usage["prompt_tokens_details"] = {"cached_tokens": self.reply.cached}
        return usage


@dataclass
class OpenAIServer:
    """Serves on a free port of the loopback address while it is entered."""

    api_key: str = "test-key"
    lacking: frozenset[str] = frozenset()
    """Fields and forms that this service does not take."""
    about: dict[str, Json] = field(default_factory=dict)
    """What else the server tells, by path: such as /props of llama.cpp."""
    requests: list[OpenAICall] = field(default_factory=list)
    """Every request that made sense, in order of arrival."""
    refusals: list[str] = field(default_factory=list)
    embedded: list[Json] = field(default_factory=list)
    """Every request for vectors that made sense."""
    dimensions: int = 16
    """Of its embedding model."""

    def __post_init__(self) -> None:
        self._default: Model | None = None
        self._script: deque[Answer | Model] = deque()
        self._faults: list[list[Any]] = []
        self._mistakes: list[str] = []
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._port = 0
        self.host = ""

    @property
    def url(self) -> str:
        return f"{self.host}/v1"

    def answer_with(self, model: Model) -> None:
        """Let `model` answer every call that nothing was scripted for."""
        self._default = model

    def script(self, *answers: Answer | Model) -> None:
        """Queue answers for the next calls, one each."""
        self._script.extend(answers)

    def fail(self, fault: Fault, times: float = 1) -> None:
        """Let the next calls meet a fault; `math.inf`: all from now on."""
        self._faults.append([fault, times])

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        assert kind is not None or not self._mistakes, "\n".join(self._mistakes)

    async def start(self) -> None:
        """Listen; after `stop` on the same port as before."""
        self._closing.clear()
        app = web.Application(client_max_size=32 * 1024**2)
        app.router.add_route("*", "/{rest:.*}", self._serve)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        host, self._port = self._runner.addresses[0][:2]
        self.host = f"http://{host}:{self._port}"

    async def stop(self) -> None:
        """Refuse connections from now on."""
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.path in self.about:
            return web.json_response(self.about[request.path])
        if request.path in ("/api/ps", "/api/show", "/api/v0/models", "/props", "/v1/models"):
            return web.Response(status=404, text="404 page not found")
        try:
            self._check_key(request)
            if request.path == "/v1/embeddings":
                return await self._embed(await request.json())
            call = await self._admit(request)
        except OpenAIRefusal as refusal:
            self.refusals.append(str(refusal))
            return web.json_response(refusal.body, status=refusal.status)
        try:
            exchange = Exchange(request, call, self._answer(call), self._closing)
        except Exception as error:
            self._mistakes.append(f"the scripted model failed: {error!r}")
            raise
        if (fault := self._next_fault()) is not None:
            struck: web.StreamResponse = await fault(exchange)
            return struck
        return await exchange.respond()

    async def _admit(self, request: web.Request) -> OpenAICall:
        if (request.method, request.path_qs) != ("POST", "/v1/chat/completions"):
            self._mistakes.append(f"unknown endpoint: {request.method} {request.path_qs}")
            raise OpenAIRefusal(f"Invalid URL ({request.method} {request.path})", 404)
        call = read_call(await request.json(), self.lacking)
        if call.body["model"] not in MODELS:
            message = f"The model `{call.body['model']}` does not exist."
            raise OpenAIRefusal(message, 404, code="model_not_found")
        self.requests.append(call)
        return call

    def _check_key(self, request: web.Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.api_key:
            shown = f"{given[:5]}***{given[-3:]}"
            message = f"Incorrect API key provided: {shown}. You can find your API key at ..."
            raise OpenAIRefusal(message, 401, code="invalid_api_key")

    async def _embed(self, body: Json) -> web.StreamResponse:
        """Return one vector a text, in another order than they were asked."""
        if set(body) != {"model", "input", "encoding_format"}:
            raise OpenAIRefusal("Unrecognized request argument supplied.", param="dimensions")
        if body["model"] != EMBEDDING_MODEL:
            message = f"The model `{body['model']}` does not exist."
            raise OpenAIRefusal(message, 404, code="model_not_found")
        if not body["input"] or not all(body["input"]):
            raise OpenAIRefusal("'input' cannot be an empty string.", param="input")
        self.embedded.append(body)
        texts = [embed(text)[: self.dimensions].tolist() for text in body["input"]]
        vectors = [
            {"object": "embedding", "index": n, "embedding": text} for n, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": len(body["input"]), "total_tokens": len(body["input"])}
        whole = {"object": "list", "data": vectors[::-1], "model": body["model"], "usage": usage}
        return web.json_response(whole)

    def _next_fault(self) -> Fault | None:
        if not self._faults:
            return None
        fault: Fault = self._faults[0][0]
        self._faults[0][1] -= 1
        if self._faults[0][1] < 1:
            del self._faults[0]
        return fault

    def _answer(self, call: OpenAICall) -> Answer:
        answer: Any = self._script.popleft() if self._script else self._default
        if answer is None:
            raise LookupError("nothing was scripted for this call")
        said: Answer = answer(call) if callable(answer) else answer
        return said


def chunk(delta: Json, finish: str | None = None) -> Json:
    """Return one object of a stream."""
    choice: Json = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODELS[0],
        "choices": [choice],
    }


def event(value: Any) -> bytes:
    """Return an object as a server-sent event."""
    return f"data: {json.dumps(value)}\n\n".encode()


async def _serve() -> None:
    """Serve a model that repeats the question until Ctrl-C."""
    async with OpenAIServer() as server:
        server.answer_with(lambda call: str(call.messages[-1]["content"]))
        print(f"GLOSSATOR_MODELS__LOCAL__BASE_URL={server.url}")
        print(f"GLOSSATOR_MODELS__LOCAL__API_KEY={server.api_key}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve())
