"""The ways in which a request to the local Gemini goes wrong."""

import asyncio
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from tests.wire.gemini_calls import GeminiCall, Json
from tests.wire.gemini_exchange import Exchange, error_body, event
from tests.wire.gemini_replies import (
    Reply,
    ToolCall,
    envelope,
    merged,
    prompt_tokens,
    response,
)

_HTML = "<!DOCTYPE html>\n<html lang=en><title>Error 502 (Server Error)!!1</title><p>Try again."


@dataclass(frozen=True)
class Fault(ABC):
    """Something that happens to a request instead of a healthy answer."""

    name: str

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        """Answer, or do not answer, the request."""


@dataclass(frozen=True)
class ErrorStatus(Fault):
    """An error in Google's JSON form."""

    code: int
    status: str
    headers: dict[str, str] = field(default_factory=dict, hash=False)
    details: tuple[Json, ...] = field(default=(), hash=False)

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        body = error_body(self.code, self.status, "Injected fault.", *self.details)
        return web.json_response(body, status=self.code, headers=self.headers)


@dataclass(frozen=True)
class HtmlError(Fault):
    """An error page of a machine in front of the service."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        return web.Response(status=502, text=_HTML, content_type="text/html")


@dataclass(frozen=True)
class Drop(Fault):
    """The connection ends: before any answer, or in the middle of it."""

    in_answer: bool

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        if not self.in_answer:
            exchange.hang_up()
            return web.Response()
        if exchange.call.streams:
            stream = await exchange.send(await exchange.opening())
        else:
            stream = await exchange.open()
            await stream.write(b'{"candidates": [{"content": {"parts": [')
        exchange.hang_up()
        return stream


@dataclass(frozen=True)
class Truncated(Fault):
    """The answer ends politely in the middle, without a finish reason."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        return await exchange.send(await exchange.opening())


@dataclass(frozen=True)
class Malformed(Fault):
    """The whole body, or one event after a good beginning, is no JSON."""

    in_event: bool

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        if not (self.in_event and exchange.call.streams):
            return web.Response(text='{"candidates": [{"con', content_type="application/json")
        stream = await exchange.send(await exchange.opening())
        await stream.write(b'data: {"candidates": [{"con\r\n\r\n')
        return stream


@dataclass(frozen=True)
class ErrorInStream(Fault):
    """A good beginning, then an error object under status 200."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        error = error_body(503, "UNAVAILABLE", "The model is overloaded.")
        if not exchange.call.streams:
            return web.json_response(error)
        stream = await exchange.send(await exchange.opening())
        await stream.write(event(error))
        return stream


@dataclass(frozen=True)
class Stall(Fault):
    """The service falls silent and keeps the connection open."""

    after: Literal["request", "headers", "opening"]
    """The last thing that happens."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        stream = web.StreamResponse()
        if self.after == "opening" and exchange.call.streams:
            stream = await exchange.send(await exchange.opening())
        elif self.after != "request":
            stream = await exchange.open()
        await exchange.closing.wait()
        return stream


@dataclass(frozen=True)
class Trickle(Fault):
    """A right answer that arrives too slowly, though no pause is long."""

    every: float = 0.25
    """Seconds between two bytes, or two characters of text."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        whole = merged(await exchange.chunks())
        stream = await exchange.open()
        for piece in self._pieces(exchange.call, whole):
            await stream.write(piece)
            await asyncio.sleep(self.every)
        return stream

    def _pieces(self, call: GeminiCall, whole: Json) -> list[bytes]:
        if not call.streams:
            return [bytes([byte]) for byte in json.dumps(whole).encode()]
        parts = whole["candidates"][0].get("content", {}).get("parts", [])
        text = "".join(part.get("text", "") for part in parts)
        usage = whole["usageMetadata"]
        letters = [event(response(call, [{"text": letter}], None, usage)) for letter in text]
        return [*letters, event(response(call, [{"text": ""}], "STOP", usage))]


@dataclass(frozen=True)
class Stopped(Fault):
    """The service ends the answer for a reason of its own."""

    reason: str
    text: Literal["none", "streamed", "kept"] = "none"
    """What was written before; `streamed`: a call without a stream does not get it."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        stop = response(exchange.call, [], self.reason, _usage(exchange.call))
        if self.text == "kept" or (self.text == "streamed" and exchange.call.streams):
            return await exchange.send([*await exchange.opening(), stop])
        return await exchange.send([stop])


@dataclass(frozen=True)
class NoCandidates(Fault):
    """A response without any candidate; blocked when there is a reason."""

    block_reason: str | None = None

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        body = envelope(exchange.call, [], _usage(exchange.call))
        if self.block_reason is not None:
            del body["candidates"]
            body["promptFeedback"] = {"blockReason": self.block_reason}
        if not exchange.call.streams:
            return web.json_response(body)
        return await exchange.send([body])


@dataclass(frozen=True)
class WrongTool(Fault):
    """The model calls a tool that does not exist, or calls one with nonsense."""

    args: object = field(hash=False)
    tool: str | None = None
    """None: the first that was declared."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        declared = [tool["name"] for tool in exchange.call.declared_tools]
        name = self.tool or next(iter(declared), "retrieve")
        reply = Reply(tool_calls=(ToolCall(name, self.args),))
        chunks = exchange.responses.chunks(exchange.call, reply)
        return await exchange.send([chunk async for chunk in chunks])


@dataclass(frozen=True)
class FewerVectors(Fault):
    """An embedding answer with one vector for all texts."""

    async def strike(self, exchange: Exchange) -> web.StreamResponse:
        return web.json_response({"embeddings": [{"values": [0.5, 0.5]}]})


def _usage(call: GeminiCall) -> Json:
    tokens = prompt_tokens(call)
    return {"promptTokenCount": tokens, "totalTokenCount": tokens}
