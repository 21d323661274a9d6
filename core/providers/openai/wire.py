"""One model of chat completions: what it is asked, and its replies piece by piece."""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from core.providers.base import ChatRequest, Finish
from core.providers.failures import ProviderFailure, name_in
from core.providers.manner import Manner
from core.providers.openai.calls import CallParts, field_of
from core.providers.openai.client import OpenAIClient
from core.providers.openai.context import ask_context
from core.providers.openai.failures import broken, openai_errors
from core.providers.openai.request import body_of
from core.providers.wire import Delta, true_count, true_odds

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

_FINISHES = (
    (re.compile(r"length|max|limit"), Finish.LENGTH),
    (re.compile(r"tool|function"), Finish.TOOL_CALLS),
    (re.compile(r"filter|safety|refus|recitation|prohibit|block"), Finish.REFUSED),
    (re.compile(r"stop|eos|end|complete|done|load"), Finish.STOP),
)
"""How servers say why a reply ended: "stop", "eos_token", "end_turn", "COMPLETE", "max_tokens"."""
_FAILED = re.compile(r"error|abort|fail|resource|cancel|overload")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""Where services put what a model thinks: it is a sign of life, and never shown."""
_NO_REASON = ("", "null", "none")


class OpenAIWire:
    """Speaks to one model through a client, which its owner closes."""

    has_logprobs = True

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

    @property
    def tells_thoughts(self) -> bool:
        """Whether the service keeps what a model thinks out of its text; OpenAI's own does."""
        return self._client.is_own

    async def deltas(self, request: ChatRequest, manner: Manner) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        sdk = await self._client.sdk()
        body = {"model": self._model, **body_of(request, manner), **self._more}
        said = _Said(self._model)
        with openai_errors(self._client, self._model):
            reply: Any = await sdk.chat.completions.create(**body)
            if isinstance(reply, str):  # a stream, though none was asked for
                for delta in _at_once(said, reply):
                    yield delta
                return
            if not request.stream:
                yield said.whole(reply)
                return
            async with reply:
                async for chunk in reply:
                    yield said.delta(chunk)
            if getattr(reply.response.stream, "is_done", False) and said.is_unfinished:
                yield said.done()

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


def _at_once(said: "_Said", events: str) -> Iterator[Delta]:
    """Yield what a stream says that was read at once."""
    from openai.types.chat import ChatCompletionChunk

    from core.providers.openai.events import objects_in

    for value in objects_in(events):
        if value.get("error"):
            raise broken(value["error"], said.model, "")
        yield said.delta(ChatCompletionChunk.construct(**value))
    if "[DONE]" in events and said.is_unfinished:
        yield said.done()


class _Said:
    """What a model has said so far of its calls, which come in pieces."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.is_unfinished = False
        """Whether something was said, and not why that was all."""
        self._calls = CallParts()
        self._refusal = False

    def delta(self, chunk: "ChatCompletionChunk") -> Delta:
        """Return what a piece of a stream says; what is of no known form says nothing."""
        usage = _usage(field_of(chunk, "usage"))
        choices = field_of(chunk, "choices")
        if not isinstance(choices, list) or not choices or choices[0] is None:
            self._check(chunk)
            return Delta(is_alive=False, **usage)
        # A server that does not stream sends the whole message.
        said = field_of(choices[0], "delta") or field_of(choices[0], "message")
        return self._piece(choices[0], said, usage)

    def whole(self, reply: "ChatCompletion") -> Delta:
        """Return what a reply says that came in one piece."""
        choices = field_of(reply, "choices")
        if not choices:
            self._check(reply)
        return self._piece(choices[0], field_of(choices[0], "message"), _usage(reply.usage))

    def done(self) -> Delta:
        """Return that the service said that nothing follows, and not why."""
        return self._piece(None, None, {}, reason="stop")

    def _check(self, reply: Any) -> None:
        """Raise what an error object stands for that came instead of a reply."""
        error = field_of(reply, "error") or (
            reply.to_dict() if field_of(reply, "object") == "error" else None
        )
        if error:
            raise broken(error, self.model, "")

    def _piece(self, choice: Any, said: Any, usage: dict[str, Any], *, reason: Any = None) -> Delta:
        text, thoughts = _text_of(field_of(said, "content"))
        if said is None and isinstance(legacy := field_of(choice, "text"), str):
            text = legacy
        for name in _THOUGHTS:
            thoughts += "".join(_text_of(field_of(said, name)))
        calls = self._take_calls(said)
        self._refusal = self._refusal or bool(field_of(said, "refusal"))
        finish, detail = self._ending(reason or field_of(choice, "finish_reason"))
        is_alive = bool(text or thoughts or calls)
        self.is_unfinished = finish is None and (self.is_unfinished or is_alive)
        return Delta(
            text=text,
            thoughts=thoughts,
            calls=tuple(self._calls.whole()) if finish else (),
            finish=finish,
            detail=detail,
            logprobs=tuple(_logprobs(field_of(choice, "logprobs"))),
            is_alive=is_alive or finish is not None,
            parts=1 + calls,
            **usage,
        )

    def _take_calls(self, said: Any) -> int:
        """Take up calls of tools; return how many pieces of them there were."""
        calls = field_of(said, "tool_calls")
        calls = calls if isinstance(calls, list) else []
        for place, call in enumerate(calls):
            if call is not None:
                index = field_of(call, "index")
                is_whole = index is None and len(calls) > 1
                function = field_of(call, "function")
                self._calls.add(place if is_whole else index, field_of(call, "id"), function)
        if (function := field_of(said, "function_call")) is not None:
            self._calls.add(0, None, function)
        return len(calls)

    def _ending(self, reason: Any) -> tuple[Finish | None, str | None]:
        """Return how a reply ended and what is to be said of it; None: it has not."""
        if reason is None or (isinstance(reason, str) and reason.casefold() in _NO_REASON):
            return None, None
        if self._refusal:
            return Finish.REFUSED, "refused to answer"
        told = reason.casefold() if isinstance(reason, str) else ""
        named = name_in(reason) or "for no known reason"
        if _FAILED.search(told):
            raise ProviderFailure(f"{self.model} broke off its answer ({named})", transient=True)
        found = next((finish for form, finish in _FINISHES if form.search(told)), Finish.REFUSED)
        return found, f"stopped ({named})" if found is Finish.REFUSED else None


def _text_of(content: Any) -> tuple[str, str]:
    """Return what a content says and what in it is thinking: a text, or parts of several kinds."""
    if content is None or content == "":
        return "", ""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list | dict):
        raise TypeError("a text is no text")
    said, thought = "", ""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            said += part
            continue
        kind = str(field_of(part, "type"))
        if "think" in kind or "reason" in kind:
            thought += "".join("".join(_text_of(field_of(part, key))) for key in (kind, "text"))
        elif isinstance(text := field_of(part, "text"), str):
            said += text
    return said, thought


def _usage(usage: Any) -> dict[str, Any]:
    """Return what a service counts, which it does for the whole reply so far."""
    if usage is None:
        return {}
    details = field_of(usage, "prompt_tokens_details")
    return {
        # A server that does not count says 0.
        "query_tokens": true_count(field_of(usage, "prompt_tokens")) or None,
        "cached_tokens": true_count(field_of(details, "cached_tokens")),
        "response_tokens": true_count(field_of(usage, "completion_tokens")) or None,
    }


def _logprobs(logprobs: Any) -> Iterator[Mapping[str, float]]:
    """Yield for each token the likeliest."""
    for step in field_of(logprobs, "content") or ():
        tops = field_of(step, "top_logprobs") or ()
        likeliest = true_odds((field_of(one, "token"), field_of(one, "logprob")) for one in tops)
        yield likeliest or true_odds([(field_of(step, "token"), field_of(step, "logprob"))])
