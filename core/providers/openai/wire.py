"""One model of chat completions: what it is asked, and its replies piece by piece."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.providers.base import ChatRequest, Finish
from core.providers.failures import name_in
from core.providers.manner import Manner
from core.providers.openai.calls import CallParts
from core.providers.openai.client import OpenAIClient
from core.providers.openai.context import ask_context
from core.providers.openai.failures import openai_errors
from core.providers.openai.request import body_of
from core.providers.wire import Delta, true_count, true_odds

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

_FINISHES = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
}
_THOUGHTS = ("reasoning_content", "reasoning")
"""Where services put what a model thinks: it is a sign of life, and never shown."""


class OpenAIWire:
    """Speaks to one model through a client, which its owner closes."""

    def __init__(
        self, client: OpenAIClient, model: str, *, reasoning_effort: str | None = None
    ) -> None:
        """`reasoning_effort`: how much the model thinks; None: not sent."""
        self._client = client
        self._model = model
        self._more = {} if reasoning_effort is None else {"reasoning_effort": reasoning_effort}

    @property
    def model(self) -> str:
        """The model, as it is named to the service."""
        return self._model

    async def deltas(self, request: ChatRequest, manner: Manner) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        sdk = await self._client.sdk()
        body = {"model": self._model, **body_of(request, manner), **self._more}
        said = _Said()
        with openai_errors(self._client, self._model):
            reply: Any = await sdk.chat.completions.create(**body)
            if not request.stream:
                yield said.whole(reply)
                return
            async with reply:
                async for chunk in reply:
                    yield said.delta(chunk)

    async def probe(self) -> bool:
        """Return that nothing is cheaper here than a short reply."""
        return False

    async def ask_context(self) -> int | None:
        """Return how many tokens the server gives the model, where it says so."""
        return await ask_context(self._client, self._model)

    async def open(self) -> None:
        """Load the SDK, which takes most of a second."""
        await self._client.sdk()

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        await self._client.aclose()


class _Said:
    """What a model has said so far of its calls, which come in pieces."""

    def __init__(self) -> None:
        self._calls = CallParts()
        self._refusal = False

    def delta(self, chunk: "ChatCompletionChunk") -> Delta:
        """Return what a piece of a stream says."""
        usage = _usage(chunk.usage)
        if not chunk.choices:
            return Delta(is_alive=False, **usage)
        choice = chunk.choices[0]
        said = choice.delta
        for part in said.tool_calls or ():
            self._calls.add(part.index, part.id, part.function)
        thinks = any(getattr(said, name, None) for name in _THOUGHTS)
        return self._piece(choice, said, usage, is_alive=bool(said.tool_calls) or thinks)

    def whole(self, reply: "ChatCompletion") -> Delta:
        """Return what a reply says that came in one piece."""
        choice = reply.choices[0]
        for number, call in enumerate(choice.message.tool_calls or ()):
            self._calls.add(number, call.id, call.function if call.type == "function" else None)
        return self._piece(choice, choice.message, _usage(reply.usage), is_alive=True)

    def _piece(self, choice: Any, said: Any, usage: dict[str, Any], is_alive: bool) -> Delta:
        text = said.content or ""
        if not isinstance(text, str):
            raise TypeError("a text is no text")
        self._refusal = self._refusal or bool(said.refusal)
        finish, detail = self._ending(choice.finish_reason)
        return Delta(
            text=text,
            calls=tuple(self._calls.whole()) if finish else (),
            finish=finish,
            detail=detail,
            logprobs=tuple(_logprobs(choice.logprobs)),
            is_alive=is_alive or bool(text) or finish is not None,
            parts=1 + len(said.tool_calls or ()),
            **usage,
        )

    def _ending(self, reason: Any) -> tuple[Finish | None, str | None]:
        """Return how a reply ended and what is to be said of it; None: it has not."""
        if not reason:
            return None, None
        if self._refusal:
            return Finish.REFUSED, "refused to answer"
        finish = _FINISHES.get(reason) if isinstance(reason, str) else None
        if finish is not None:
            return finish, None
        return Finish.REFUSED, f"stopped ({name_in(reason) or 'for no known reason'})"


def _usage(usage: Any) -> dict[str, Any]:
    """Return what a service counts, which it does for the whole reply so far."""
    if usage is None:
        return {}
    details = usage.prompt_tokens_details
    return {
        "query_tokens": true_count(usage.prompt_tokens),
        "cached_tokens": true_count(details.cached_tokens if details else None),
        "response_tokens": true_count(usage.completion_tokens),
    }


def _logprobs(logprobs: Any) -> Iterator[Mapping[str, float]]:
    """Yield for each token the likeliest."""
    steps: Sequence[Any] = (logprobs.content if logprobs else None) or ()
    for step in steps:
        likeliest = true_odds((one.token, one.logprob) for one in step.top_logprobs)
        yield likeliest or true_odds([(step.token, step.logprob)])
