"""The ways in which a request for chat completions goes wrong, by name."""

import asyncio
import json
from dataclasses import replace

from aiohttp import web

from tests.wire.openai_server import ChatReply, Exchange, Fault, chunk, event

_EVERY = 0.25
"""Seconds between two pieces of a trickle."""


def status(code: int, kind: str, named: str | None = None, **headers: str) -> Fault:
    """Return an error in OpenAI's JSON form."""

    async def strike(exchange: Exchange) -> web.StreamResponse:
        error = {"message": "Injected fault.", "type": kind, "param": None, "code": named}
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response({"error": error}, status=code, headers=sent)

    return strike


def says(**changes: object) -> Fault:
    """Return an answer other than the model's."""

    async def strike(exchange: Exchange) -> web.StreamResponse:
        return await replace(exchange, answer=replace(exchange.reply, **changes)).respond()  # type: ignore[arg-type]

    return strike


async def _html(exchange: Exchange) -> web.StreamResponse:
    return web.Response(status=502, text="<html>502 Bad Gateway</html>", content_type="text/html")


async def _drop_before(exchange: Exchange) -> web.StreamResponse:
    exchange.hang_up()
    return web.Response()


async def _drop_inside(exchange: Exchange) -> web.StreamResponse:
    stream = await exchange.begin()
    exchange.hang_up()
    return stream


async def _truncated(exchange: Exchange) -> web.StreamResponse:
    if not exchange.call.streams:
        whole = exchange.whole()
        whole["choices"][0]["finish_reason"] = None
        return web.json_response(whole)
    return await exchange.begin()


async def _malformed(exchange: Exchange) -> web.StreamResponse:
    return web.Response(text='{"choices": [{"mes', content_type="application/json")


async def _malformed_event(exchange: Exchange) -> web.StreamResponse:
    if not exchange.call.streams:
        return await _malformed(exchange)
    stream = await exchange.begin()
    await stream.write(b'data: {"choices": [{"del\n\n')
    return stream


async def _error_inside(exchange: Exchange) -> web.StreamResponse:
    error = {"error": {"message": "overloaded", "type": "server_error", "code": "overloaded"}}
    if not exchange.call.streams:
        return web.json_response(error)
    stream = await exchange.begin()
    await stream.write(event(error))
    return stream


async def _stall_silent(exchange: Exchange) -> web.StreamResponse:
    await exchange.closing.wait()
    return web.Response()


async def _stall_after_headers(exchange: Exchange) -> web.StreamResponse:
    stream = await exchange.open()
    await exchange.closing.wait()
    return stream


async def _stall_inside(exchange: Exchange) -> web.StreamResponse:
    stream = await exchange.begin() if exchange.call.streams else await exchange.open()
    await exchange.closing.wait()
    return stream


async def _stall_at_end(exchange: Exchange) -> web.StreamResponse:
    """Say all, and never that this was all."""
    if not exchange.call.streams:
        return await exchange.respond()
    stream = await exchange.open()
    for one in exchange.chunks():
        await stream.write(event(one))
    await exchange.closing.wait()
    return stream


async def _trickle(exchange: Exchange) -> web.StreamResponse:
    stream = await exchange.open()
    whole = json.dumps(exchange.whole()).encode()
    letters = [event(chunk({"content": letter})) for letter in exchange.reply.text]
    for piece in letters if exchange.call.streams else [bytes([byte]) for byte in whole]:
        await stream.write(piece)
        await asyncio.sleep(_EVERY)
    return stream


async def _no_choices(exchange: Exchange) -> web.StreamResponse:
    body = {"id": "x", "object": "chat.completion", "choices": []}
    if not exchange.call.streams:
        return web.json_response(body)
    stream = await exchange.open()
    await stream.write(event(body) + b"data: [DONE]\n\n")
    return stream


FAULTS: dict[str, Fault] = {
    "400": status(400, "invalid_request_error"),
    "401": status(401, "invalid_request_error", "invalid_api_key"),
    "403": status(403, "invalid_request_error"),
    "404": status(404, "invalid_request_error", "model_not_found"),
    "429 with Retry-After": status(429, "requests", "rate_limit_exceeded", Retry_After="1"),
    "429 for an hour": status(429, "requests", "rate_limit_exceeded", Retry_After="3600"),
    "500": status(500, "server_error"),
    "503": status(503, "server_error"),
    "502 with HTML": _html,
    "drop before the answer": _drop_before,
    "drop inside the answer": _drop_inside,
    "truncated": _truncated,
    "malformed JSON": _malformed,
    "malformed event": _malformed_event,
    "error object under status 200": _error_inside,
    "stall without headers": _stall_silent,
    "stall after the headers": _stall_after_headers,
    "stall inside the answer": _stall_inside,
    "trickle": _trickle,
    "empty candidates": _no_choices,
    "prompt blocked": status(400, "invalid_request_error", "content_filter"),
    "RECITATION": says(finish="content_filter"),
    "MAX_TOKENS": says(finish="length"),
    "arguments that are no object": says(text="", calls=(("retrieve", "query_text=price"),)),
}
"""Those that the other kind of provider has too, by the same names."""
NO_CREDIT = status(429, "insufficient_quota", "insufficient_quota")
TOO_LONG = status(400, "exceed_context_size_error")
STALL_AT_END = _stall_at_end
REFUSED = says(text="", refusal="I cannot help with that.")
NO_USAGE = says(usage=False)


def flood(reply: ChatReply) -> Fault:
    """Return an answer of any size."""

    async def strike(exchange: Exchange) -> web.StreamResponse:
        return await replace(exchange, answer=reply).respond()

    return strike
