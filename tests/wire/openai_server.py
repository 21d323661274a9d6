"""A small server of chat completions: OpenAI's REST interface before scripted models.

It speaks only what the product uses. What OpenAI refuses is refused in its form, and a call of any
other endpoint fails the test that made it.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from core.providers.guarded import MEASURING
from tests.wire.gemini_embeddings import embed
from tests.wire.http_shell import ScriptedServer, serve
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
    keeps_limit: bool = True
    """Whether it ends at the tokens that it was asked for at most."""


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
        limit = self.call.limit if self.reply.keeps_limit else None
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


class OpenAIServer(ScriptedServer[OpenAICall, Answer]):
    """Serves on a free port of the loopback address while it is entered."""

    def __init__(
        self,
        api_key: str = "test-key",
        lacking: frozenset[str] = frozenset(),
        about: dict[str, Json] | None = None,
        dimensions: int = 16,
    ) -> None:
        """Prepare a server.

        Args:
            lacking: Fields and forms that this service does not take.
            about: What else the server answers, by path: such as /props of llama.cpp.
            dimensions: Of its embedding model.
        """
        self.judge: Model | None = None
        """Answers the calls that judge; None: they are scripted like any other."""
        self.judged: list[OpenAICall] = []
        """The calls that `judge` answers, which are not among `requests`."""
        super().__init__(api_key)
        self.lacking = lacking
        self.about = about or {}
        self.dimensions = dimensions
        self.embedded: list[Json] = []
        """Every request for vectors that made sense."""
        self._faults: list[list[Any]] = []

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def fail(self, fault: Fault, times: float = 1) -> None:
        """Let the next calls meet a fault; `math.inf`: all from now on."""
        self._faults.append([fault, times])

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
        if MEASURING in call.text:
            self.requests.remove(call)
            return await Exchange(request, call, "Hello, hola, ciao.", self._closing).respond()
        with self._noting_failures():
            judge = self.judge if self._is_judging(call) else None
            answer = self._scripted(call) if judge is None else judge(call)
            exchange = Exchange(request, call, answer, self._closing)
        if (fault := self._next_fault()) is not None:
            struck: web.StreamResponse = await fault(exchange)
            return struck
        return await exchange.respond()

    async def _admit(self, request: web.Request) -> OpenAICall:
        if (request.method, request.path_qs) != ("POST", "/v1/chat/completions"):
            self._unknown(request)
            raise OpenAIRefusal(f"Invalid URL ({request.method} {request.path})", 404)
        call = read_call(await request.json(), self.lacking)
        if call.body["model"] not in MODELS:
            message = f"The model `{call.body['model']}` does not exist."
            raise OpenAIRefusal(message, 404, code="model_not_found")
        (self.judged if self._is_judging(call) else self.requests).append(call)
        return call

    def _is_judging(self, call: OpenAICall) -> bool:
        """Return whether a call judges what was written, and a judge of its own answers such."""
        return self.judge is not None and "yes or no" in call.text

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


if __name__ == "__main__":
    echo = OpenAIServer()
    echo.answer_with(lambda call: str(call.messages[-1]["content"]))
    serve(
        echo,
        lambda: (
            f"GLOSSATOR_MODELS__LOCAL__BASE_URL={echo.url}",
            f"GLOSSATOR_MODELS__LOCAL__API_KEY={echo.api_key}",
        ),
    )
