"""One call of a Gemini model, and how long each piece of the answer may take."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from core.gemini.client import GeminiClient
from core.gemini.failures import GeminiFailure, gemini_errors
from core.gemini.request import ModelRequest

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse

_MODEL_SETTING = "GLOSSATOR_GEMINI__MODEL"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that a model may keep silent; an answer that is not streamed has both at once."""

    first_piece: float = 6.0
    silence: float = 3.0


async def ask(
    client: GeminiClient,
    request: ModelRequest,
    timeouts: Timeouts,
    time_left: Callable[[], float],
) -> AsyncGenerator["GenerateContentResponse", None]:
    """Yield the pieces of an answer as they come.

    Args:
        client: Whom to ask through.
        request: What to ask.
        timeouts: How long each piece may take.
        time_left: Tells how many seconds there are at most, whatever the timeouts say.

    Raises:
        GeminiFailure: when a piece does not come in time, or something else instead of it.
    """
    models = await client.models()
    if not request.streams:
        whole = models.generate_content(
            model=request.model, contents=[*request.contents], config=request.config
        )
        patience = timeouts.first_piece + timeouts.silence
        yield await _within(min(patience, time_left()), whole, request.model)
        return
    stream = await models.generate_content_stream(
        model=request.model, contents=[*request.contents], config=request.config
    )
    pieces = cast("AsyncGenerator[GenerateContentResponse, None]", stream)
    patience = timeouts.first_piece
    async with aclosing(pieces):
        while True:
            asked = time.monotonic()
            piece = await _within(min(patience, time_left()), anext(pieces, None), request.model)
            if piece is None:
                return
            waited = time.monotonic() - asked
            patience = timeouts.silence if _is_sign_of_life(piece) else patience - waited
            yield piece


async def _within(seconds: float, answer: Awaitable[Result], model: str) -> Result:
    with gemini_errors(model, _MODEL_SETTING):
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            detail = f"{model} said nothing for {max(seconds, 0):.1f} s"
            raise GeminiFailure(detail, transient=True) from None


def _is_sign_of_life(piece: "GenerateContentResponse") -> bool:
    """Return whether a piece brings the answer on: empty ones may come for ever."""
    return any(
        candidate.finish_reason or (candidate.content and candidate.content.parts)
        for candidate in piece.candidates or ()
    )
