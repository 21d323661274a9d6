"""An honest model that writes on only when it is told to."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tests.wire.bot_process import PATIENCE
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import honest


def _free() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class Pen:
    """Writes at once, unless it is held back: before its first sentence, or behind it."""

    begins: asyncio.Event = field(default_factory=_free)
    goes_on: asyncio.Event = field(default_factory=_free)

    def __call__(self, call: GeminiCall) -> AsyncIterator[str]:
        answer = honest(call)
        assert isinstance(answer, Reply)
        return self._written(answer.text)

    def hold(self) -> None:
        """Write nothing, until it is told to begin and to go on."""
        self.begins.clear()
        self.goes_on.clear()

    def release(self) -> None:
        """Hold nothing back any more."""
        self.begins.set()
        self.goes_on.set()

    async def _written(self, text: str) -> AsyncIterator[str]:
        await self.begins.wait()
        sentence_end = text.index("}") + 1
        yield text[:sentence_end]
        await self.goes_on.wait()
        yield text[sentence_end:]


def settings_for(gemini: GeminiServer) -> dict[str, str]:
    """Return the settings of a bot that asks this Gemini and waits for its pen."""
    return {
        "MODELS__GEMINI__API_KEY": gemini.api_key,
        "MODELS__GEMINI__BASE_URL": gemini.url,
        "MODELS__GEMINI__SILENCE_TIMEOUT": str(PATIENCE),
        "MODELS__GEMINI__FIRST_TOKEN_TIMEOUT": str(PATIENCE),
    }
