"""One call of a Gemini model, and how long each piece of the answer may take."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
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
    """Seconds that a model may keep silent."""

    first_piece: float = 6.0
    silence: float = 3.0
    """Between pieces; an answer that is not streamed may take both together."""


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
        wait = _Wait(request.model, timeouts.first_piece + timeouts.silence, time_left())
        yield await wait.until(whole, fair=timeouts.first_piece)
        return
    stream = await models.generate_content_stream(
        model=request.model, contents=[*request.contents], config=request.config
    )
    pieces = cast("AsyncGenerator[GenerateContentResponse, None]", stream)
    try:
        async with aclosing(_paced(pieces, request.model, timeouts, time_left)) as paced:
            async for piece in paced:
                yield piece
    finally:
        await _cut_off(pieces, request.model)


async def _paced(
    pieces: AsyncGenerator["GenerateContentResponse", None],
    model: str,
    timeouts: Timeouts,
    time_left: Callable[[], float],
) -> AsyncGenerator["GenerateContentResponse", None]:
    """Yield pieces as long as each comes in time."""
    limit, waited = timeouts.first_piece, 0.0
    while True:
        asked = time.monotonic()
        wait = _Wait(model, limit, time_left(), waited)
        piece = await wait.until(anext(pieces, None), fair=limit - waited)
        if piece is None:
            return
        waited += time.monotonic() - asked
        if _is_sign_of_life(piece):
            limit, waited = timeouts.silence, 0.0
        yield piece


@dataclass(frozen=True, slots=True)
class _Wait:
    """How long we wait for the next piece, in seconds."""

    model: str
    limit: float
    """What the model may take by itself."""
    time_left: float
    """What is left of the time for the whole answer."""
    waited: float = 0.0
    """What the model has taken of its limit."""

    async def until(self, answer: Awaitable[Result], *, fair: float) -> Result:
        """Return an answer that comes in time; late is an outage if the time was `fair`."""
        seconds = min(self.limit - self.waited, self.time_left)
        with gemini_errors(self.model, _MODEL_SETTING):
            try:
                async with asyncio.timeout(seconds):
                    return await answer
            except TimeoutError:
                raise GeminiFailure(self._told(), transient=True, outage=seconds >= fair) from None

    def _told(self) -> str:
        """Return which of the two limits has ended the wait."""
        if self.limit - self.waited <= self.time_left:
            return f"{self.model} said nothing for {self.limit:.1f} s"
        silence = self.waited + max(self.time_left, 0.0)
        return f"{self.model} ran out of time for its answer, silent for the last {silence:.1f} s"


async def _cut_off(pieces: AsyncGenerator[object, None], model: str) -> None:
    """Close a stream and its connection now.

    The SDK nests generators and closes only the outermost, which leaves the connection to the
    garbage collector. A read that is cut off at once ends them all, from the innermost on.
    """
    with suppress(GeminiFailure), gemini_errors(model, _MODEL_SETTING):
        async with asyncio.timeout(0):
            while await anext(pieces, None) is not None:
                pass


def _is_sign_of_life(piece: "GenerateContentResponse") -> bool:
    """Return whether a piece brings the answer on: empty ones may come for ever."""
    return any(
        candidate.finish_reason or (candidate.content and candidate.content.parts)
        for candidate in piece.candidates or ()
    )
