"""A small Gemini server: Google's REST interface before scripted models, over real HTTP.

It speaks only what the product uses. What Google refuses is refused in Google's form, and a call
of any other endpoint fails the test that made it.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiohttp import web

from tests.wire.gemini_calls import GeminiCall, Json, Refusal, read_body
from tests.wire.gemini_checks import check
from tests.wire.gemini_embeddings import embedding_response
from tests.wire.gemini_exchange import Exchange, error_body, event
from tests.wire.gemini_failures import Fault
from tests.wire.gemini_faults import EMBEDDING_FAULTS, GENERATION_FAULTS, TRANSPORT_FAULTS
from tests.wire.gemini_judging import affirming, is_judging
from tests.wire.gemini_replies import Answer, Model, Responses, merged, prompt_tokens
from tests.wire.http_shell import ScriptedServer, serve

GENERATE = ("generateContent", "streamGenerateContent")
EMBED = ("batchEmbedContents",)
COUNT = ("countTokens",)
TEXT_MODELS = (
    "gemini-3.8-flash",
    "gemini-3.5-flash-lite",
    "gemini-flash-latest",
    "gemini-2.5-flash",
)
EMBEDDING_MODELS = ("gemini-embedding-2", "gemini-embedding-001")
_POSSIBLE = {
    **dict.fromkeys(GENERATE, GENERATION_FAULTS),
    **dict.fromkeys(EMBED, EMBEDDING_FAULTS),
    **dict.fromkeys(COUNT, TRANSPORT_FAULTS),
}


class GeminiServer(ScriptedServer[GeminiCall, Answer]):
    """Serves on a free port of the loopback address while it is entered."""

    def __init__(self, *, api_key: str = "test-key") -> None:
        super().__init__(api_key)
        self._faults: list[tuple[tuple[str, ...], Fault, float]] = []
        self.judge: Model = affirming
        """Answers the calls that judge what was written."""
        self.judged: list[GeminiCall] = []
        """Those calls, which are not among `requests`."""
        self._responses = Responses()

    @property
    def url(self) -> str:
        return self.origin

    def fail(self, fault: Fault, times: float = 1, methods: tuple[str, ...] = GENERATE) -> None:
        """Let the next calls of these methods meet a fault; `math.inf`: all from now on."""
        for method in methods:
            if type(fault) not in map(type, _POSSIBLE[method]):
                raise ValueError(f"{fault.name} cannot happen to {method}")
        self._faults.append((methods, fault, times))

    def heal(self) -> None:
        """Forget all faults."""
        self._faults.clear()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            call = await self._admit(request)
        except Refusal as refusal:
            self.refusals.append(refusal.message)
            body = error_body(refusal.code, refusal.status, refusal.message, *refusal.details)
            return web.json_response(body, status=refusal.code)
        exchange = Exchange(
            request, call, self._responses, lambda: self._answer(call), self._closing
        )
        if fault := self._next_fault(call.method):
            return await fault.strike(exchange)
        return await self._respond(exchange)

    async def _admit(self, request: web.Request) -> GeminiCall:
        match = re.fullmatch(r"/(v1|v1beta)/models/([^/:]+):(\w+)", request.path)
        expected = {"alt": "sse"} if match and match[3] == "streamGenerateContent" else {}
        known = {*GENERATE, *EMBED, *COUNT}
        if match is None or match[3] not in known or dict(request.query) != expected:
            self._unknown(request)
            raise Refusal("Not found.", 404, "NOT_FOUND")
        self._check_key(request.headers.get("x-goog-api-key"))
        version, model, method = match.groups()
        _check_model(version, model, method)
        try:
            raw = await request.json()
        except ValueError as error:
            raise Refusal(f"Invalid JSON payload received. {error}") from error
        call = GeminiCall(method, model, version, read_body(method, raw))
        (self.judged if is_judging(call) else self.requests).append(call)
        check(call, self._responses.signatures)
        return call

    def _check_key(self, given: str | None) -> None:
        if given is None:
            raise Refusal(
                "Method doesn't allow unregistered callers (callers without established "
                "identity). Please use API Key or other form of API consumer identity to call "
                "this API.",
                403,
                "PERMISSION_DENIED",
            )
        if given != self.api_key:
            info = {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            }
            message = "API key not valid. Please pass a valid API key."
            raise Refusal(message, 400, "INVALID_ARGUMENT", info)

    def _next_fault(self, method: str) -> Fault | None:
        for number, (methods, fault, times) in enumerate(self._faults):
            if method in methods:
                self._faults[number] = (methods, fault, times - 1)
                if times <= 1:
                    del self._faults[number]
                return fault
        return None

    async def _respond(self, exchange: Exchange) -> web.StreamResponse:
        call = exchange.call
        if call.method in COUNT:
            return web.json_response({"totalTokens": prompt_tokens(call)})
        if call.method in EMBED:
            return web.json_response(embedding_response(call))
        if not call.streams:
            return web.json_response(merged(await exchange.chunks()))
        stream: web.StreamResponse | None = None
        async with aclosing(exchange.answer()) as chunks:
            async for chunk in chunks:
                stream = stream or await exchange.open()
                await stream.write(event(chunk))
        assert stream is not None
        return stream

    async def _answer(self, call: GeminiCall) -> AsyncGenerator[Json, None]:
        with self._noting_failures():
            answer = self.judge(call) if is_judging(call) else self._scripted(call)
            async for chunk in self._responses.chunks(call, answer):
                yield chunk


def _check_model(version: str, model: str, method: str) -> None:
    able = EMBEDDING_MODELS if method in EMBED else TEXT_MODELS
    if model not in able or (version == "v1" and model.endswith("-latest")):
        raise Refusal(
            f"models/{model} is not found for API version {version}, or is not supported for "
            f"{method}. Call ListModels to see the list of available models and their supported "
            "methods.",
            404,
            "NOT_FOUND",
        )


if __name__ == "__main__":
    from tests.wire.scripted_models import honest

    honestly = GeminiServer()
    honestly.answer_with(honest)
    serve(
        honestly,
        lambda: (
            f"GLOSSATOR_MODELS__GEMINI__BASE_URL={honestly.url}",
            f"GLOSSATOR_MODELS__GEMINI__API_KEY={honestly.api_key}",
        ),
    )
