"""The local Gemini and Google's SDK in front of it."""

from collections.abc import AsyncIterator

import pytest
from google import genai

from tests.wire.gemini_client import connected
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer


@pytest.fixture
async def gemini() -> AsyncIterator[GeminiServer]:
    """A Gemini that says the same two short sentences to everybody, in small pieces."""
    async with GeminiServer() as server:
        server.answer_with(lambda call: Reply("Prices rise. Demand falls.", piece_size=5))
        yield server


@pytest.fixture
async def sdk(gemini: GeminiServer) -> AsyncIterator[genai.Client]:
    """A client of that Gemini."""
    async with connected(gemini) as client:
        yield client
