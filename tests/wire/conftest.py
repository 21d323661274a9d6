"""The local Gemini with Google's SDK in front of it, and books for bots to answer from."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from google import genai

from tests.wire.discord_bot import make_template
from tests.wire.floods import Slices, measured_slices
from tests.wire.gemini_client import connected
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer
from tests.wire.raw_gemini import RawGemini, raw_gemini


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


@pytest.fixture
def raw() -> Iterator[RawGemini]:
    """A server that sends whatever a test gives it."""
    with raw_gemini() as raw:
        yield raw


@pytest.fixture
def slices() -> Iterator[Slices]:
    """What each step on the event loop costs."""
    with measured_slices() as slices:
        yield slices


@pytest.fixture(scope="session")
def no_course(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to copy: the handbook alone."""
    return _template(models, tmp_path_factory)


@pytest.fixture(scope="session")
def one_course(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to copy: the handbook and the course `arden`."""
    return _template(models, tmp_path_factory, "arden")


@pytest.fixture(scope="session")
def two_courses(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to copy: the handbook and the courses `arden` and `vault`."""
    return _template(models, tmp_path_factory, "arden", "vault")


@pytest.fixture(scope="session")
def numbered_course(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to copy: the handbook and the course `rooms`, whose sections have numbers."""
    return _template(models, tmp_path_factory, "rooms")


def _template(models: Path, factory: pytest.TempPathFactory, *courses: str) -> Path:
    """Make a data folder once, for all workers of the run."""
    own = factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = run / "-".join(("template", *courses))
    with FileLock(run / f"{folder.name}.lock"):
        if not (folder / "made").exists():
            make_template(folder, models, *courses)
            (folder / "made").touch()
    return folder / "data"
