"""One Gemini model by Google's SDK: what it is asked, and its replies piece by piece."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from core.providers.base import ChatRequest, Finish, ToolCall
from core.providers.failures import ProviderFailure, name_in
from core.providers.gemini.client import GeminiClient
from core.providers.gemini.failures import gemini_errors
from core.providers.gemini.request import ThinkingLevel, config_of, contents_of
from core.providers.manner import Manner
from core.providers.wire import Delta, true_count, true_odds

if TYPE_CHECKING:
    from google.genai.types import Candidate, Content, GenerateContentResponse, Part

_FINISHES = {"STOP": Finish.STOP, "MAX_TOKENS": Finish.LENGTH}


class GeminiWire:
    """Speaks to one model through a client, which its owner closes."""

    has_logprobs = False

    def __init__(
        self, client: GeminiClient, model: str, *, thinking_level: ThinkingLevel | None = None
    ) -> None:
        """`thinking_level`: how much the model thinks; None: its own choice."""
        self._client = client
        self._model = model
        self._thinking_level = thinking_level

    @property
    def model(self) -> str:
        """The model, as it is named to the service."""
        return self._model

    @property
    def tells_thoughts(self) -> bool:
        """Whether the service keeps what a model thinks out of its text."""
        return True

    async def deltas(self, request: ChatRequest, manner: Manner) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        asked: dict[str, Any] = {
            "model": self._model,
            "contents": contents_of(request),
            "config": config_of(request, manner, self._thinking_level),
        }
        said = _Said()
        with gemini_errors(self._model, self._client.names):
            models = await self._client.models()
            if not request.stream:
                yield said.delta(await models.generate_content(**asked))
                return
            stream = await models.generate_content_stream(**asked)
            pieces = cast("AsyncGenerator[GenerateContentResponse, None]", stream)
            try:
                async for piece in pieces:
                    yield said.delta(piece)
            finally:
                await self._cut_off(pieces)

    async def probe(self) -> bool:
        """Have a few words counted, which costs nothing."""
        with gemini_errors(self._model, self._client.names):
            models = await self._client.models()
            await models.count_tokens(model=self._model, contents="Is anybody there?")
        return True

    async def ask_context(self) -> int | None:
        """Return the input limit that the service gives for the model."""
        with gemini_errors(self._model, self._client.names):
            models = await self._client.models()
            about = await models.get(model=self._model)
        return true_count(about.input_token_limit)

    async def open(self) -> None:
        """Load the SDK, which takes about a second."""
        await self._client.load()
        with gemini_errors(self._model, self._client.names):
            await self._client.models()

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        await self._client.aclose()

    async def _cut_off(self, pieces: AsyncGenerator[object, None]) -> None:
        """Close a stream and its connection now.

        The SDK nests generators and closes only the outermost, which leaves the connection to
        the garbage collector. A read that is cut off at once ends them all, from the innermost
        on.
        """
        with suppress(ProviderFailure), gemini_errors(self._model, self._client.names):
            async with asyncio.timeout(0):
                while await anext(pieces, None) is not None:
                    pass


class _Said:
    """What a model has said so far in Google's own form, to be shown to it again unchanged."""

    def __init__(self) -> None:
        self._content: Content | None = None
        self._parts: list[Part] = []

    def delta(self, piece: "GenerateContentResponse") -> Delta:
        """Return what a piece says, in every provider's words."""
        usage = dict(_usage(piece))
        blocked = piece.prompt_feedback.block_reason if piece.prompt_feedback else None
        if blocked is not None:
            why = name_in(blocked.value) or "for no known reason"
            return Delta(finish=Finish.REFUSED, detail=f"refused the prompt ({why})", **usage)
        if not piece.candidates:
            return Delta(is_alive=False, **usage)
        candidate = piece.candidates[0]
        parts = (candidate.content.parts if candidate.content else None) or []
        self._content = self._content or candidate.content
        self._parts += [part for part in parts if _says_something(part)]
        finish, detail = _ending(candidate)
        return Delta(
            text="".join(part.text or "" for part in parts if not part.thought),
            thoughts="".join(part.text or "" for part in parts if part.thought),
            calls=tuple(_calls(parts)),
            finish=finish,
            detail=detail,
            logprobs=tuple(_logprobs(candidate)),
            original=self._original() if finish is Finish.STOP else None,
            parts=len(parts),
            is_alive=finish is not None or bool(parts),
            **usage,
        )

    def _original(self) -> "Content | None":
        content = self._content
        return None if content is None else content.model_copy(update={"parts": self._parts})


def _ending(candidate: "Candidate") -> tuple[Finish | None, str | None]:
    """Return how a reply ended and what is to be said of it; None: it has not."""
    if candidate.finish_reason is None:
        return None, None
    reason = candidate.finish_reason.value
    finish = _FINISHES.get(reason, Finish.REFUSED) if isinstance(reason, str) else Finish.REFUSED
    if finish is not Finish.REFUSED:
        return finish, None
    return finish, f"stopped ({name_in(reason) or 'for no known reason'})"


def _calls(parts: Sequence["Part"]) -> Iterator[ToolCall]:
    for part in parts:
        if (call := part.function_call) is not None:
            yield ToolCall(call.id, call.name, call.args)


def _usage(piece: "GenerateContentResponse") -> Iterator[tuple[str, Any]]:
    """Yield the counts, which are given for the whole reply so far."""
    usage = piece.usage_metadata
    if usage is None:
        return
    if usage.prompt_token_count is not None:
        yield (
            "query_tokens",
            true_count(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        )
    yield "cached_tokens", true_count(usage.cached_content_token_count)
    yield (
        "response_tokens",
        true_count(usage.candidates_token_count, usage.thoughts_token_count),
    )


def _logprobs(candidate: "Candidate") -> Iterator[Mapping[str, float]]:
    """Yield for each token the likeliest."""
    result = candidate.logprobs_result
    for step in (result.top_candidates if result else None) or ():
        yield true_odds((one.token, one.log_probability) for one in step.candidates or ())


def _says_something(part: "Part") -> bool:
    """Return whether the service takes a part back: it refuses text that is empty."""
    return part.text != "" or part.thought_signature is not None
