"""One request at the local Gemini on its way to an answer."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from aiohttp import web

from tests.wire.gemini_calls import GeminiCall, Json
from tests.wire.gemini_replies import Responses, merged


@dataclass(frozen=True)
class Exchange:
    """A request that is to be answered."""

    request: web.Request
    call: GeminiCall
    responses: Responses
    answer: Callable[[], AsyncGenerator[Json, None]]
    """Asks the scripted model, and yields the objects of its stream."""
    closing: asyncio.Event
    """Set when the server goes down."""

    async def open(self) -> web.StreamResponse:
        """Send the headers of an answer, whose body is then written bit by bit."""
        kind = "text/event-stream" if self.call.streams else "application/json"
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(self.request)
        return response

    async def chunks(self) -> list[Json]:
        return [chunk async for chunk in self.answer()]

    async def opening(self) -> list[Json]:
        """Return the first half of the answer, without any finish reason."""
        chunks = await self.chunks()
        half = json.loads(json.dumps(chunks[: max(1, len(chunks) // 2)]))
        for chunk in half:
            for candidate in chunk["candidates"]:
                candidate.pop("finishReason", None)
        return list(half)

    async def send(self, chunks: list[Json]) -> web.StreamResponse:
        """Answer with these objects: as a stream, or as one when no stream was asked for."""
        if not self.call.streams:
            return web.json_response(merged(chunks))
        stream = await self.open()
        for chunk in chunks:
            await stream.write(event(chunk))
        return stream

    def hang_up(self) -> None:
        """Close the connection; what was written before still arrives."""
        assert self.request.transport is not None
        self.request.transport.close()


def event(chunk: Json) -> bytes:
    """Return a chunk as a server-sent event."""
    return f"data: {json.dumps(chunk)}\r\n\r\n".encode()


def error_body(code: int, status: str, message: str, *details: Json) -> Json:
    """Return an error in Google's JSON form."""
    error: Json = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = list(details)
    return {"error": error}
