"""The composition root: who writes, who embeds, and that nothing is made twice."""

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.keys import NAMES
from bot.model_tables import read_tables
from bot.models import chosen_generator
from bot.services import Services
from bot.settings import Settings
from bot.wiring import open_services
from core.domain.errors import ConfigurationError
from core.providers.embeddings.remote import GeminiEmbedder
from core.providers.gemini import GeminiClient, GeminiWire
from tests.command_line import ROOT, CommandLine

T = TypeVar("T")
NOT_FOR_ONE_QUESTION = {
    *("google.genai", "openai", "httpx2"),
    *("discord", "slack_bolt", "slack_sdk", "aiohttp", "adapters.chat.base", "rich.console"),
    *("sqlalchemy.dialects.postgresql", "asyncpg", "alembic", "migrations", "qdrant_client"),
    *(
        "core.storage.inbox.rows",
        "core.teaching.radar_store",
        "core.teaching.help_requests",
        "core.ingestion.pipeline",
    ),
    *("markdown_it", "filelock", "bot.course_tables", "core.teaching.policy_stage"),
}
"""What `ask` does without at a pipe, offline, with a book without code and no course file."""
KEY = "a-key-of-gemini"
KEY_NAMES = ("GLOSSATOR_MODELS__GEMINI__API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


def settings_in(folder: Path, **changes: Any) -> Settings:
    return Settings(_env_file=None, data_dir=folder, **changes)


def with_key(key: str = KEY, **embedding: str) -> dict[str, dict[str, SecretStr]]:
    """Return what variables say of the two models that a key sets up."""
    fields = {name: SecretStr(value) for name, value in embedding.items()}
    return {"gemini": {"api_key": SecretStr(key)}, "gemini_embedding": fields}


def refusal(error: pytest.ExceptionInfo[ConfigurationError]) -> str:
    sentence = str(error.value)
    assert sentence.endswith(".")
    assert KEY not in sentence
    return sentence


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Services]:
    async with open_services(settings_in(tmp_path, models=with_key())) as services:
        yield services


@pytest.mark.costly
async def test_each_step_that_needs_the_database_may_be_tried_again(tmp_path: Path) -> None:
    settings, steps = settings_in(tmp_path), 0

    async def twice(engine: AsyncEngine, step: Callable[[], Awaitable[T]]) -> T:
        nonlocal steps
        steps += 1
        await step()
        return await step()

    async with open_services(settings, run_step=twice, keys=NAMES) as services:
        assert (await services.catalogue.courses()) == []
    assert steps == 2, "the tables and the keys"


# --- who writes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "configured", "has_key", "chosen"),
    [
        (None, None, False, "extractive"),
        (None, None, True, "gemini"),
        (None, "extractive", True, "extractive"),
        (None, "gemini", True, "gemini"),
        ("extractive", "gemini", True, "extractive"),
        ("extractive", "gemini", False, "extractive"),
        ("gemini", "extractive", True, "gemini"),
    ],
)
def test_who_is_asked_for_wins_then_who_is_configured_then_gemini_with_a_key(
    tmp_path: Path, asked: Any, configured: Any, has_key: bool, chosen: str
) -> None:
    settings = settings_in(tmp_path, generator=configured, models=with_key() if has_key else {})
    assert chosen_generator(settings, read_tables(settings, {}), asked) == chosen


@pytest.mark.parametrize(("asked", "configured"), [("gemini", None), (None, "gemini")])
def test_gemini_without_a_key_is_refused_naming_every_variable_that_may_hold_one(
    tmp_path: Path, asked: Any, configured: Any
) -> None:
    with pytest.raises(ConfigurationError) as error:
        chosen_generator(settings_in(tmp_path, generator=configured), {}, asked)
    assert all(name in refusal(error) for name in KEY_NAMES)


@pytest.mark.costly
@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", "  "])
async def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(
    tmp_path: Path, key: str
) -> None:
    settings = settings_in(tmp_path, models=with_key(key))
    async with open_services(settings) as services:
        with pytest.raises(ConfigurationError) as error:
            services.agent()
    assert "characters" in refusal(error)
    assert key not in str(error.value) or not key.strip()


# --- nothing is made twice ----------------------------------------------------------------


@pytest.mark.costly
async def test_all_agents_share_what_has_a_memory(opened: Services) -> None:
    assert opened.agent() is not opened.agent()
    for name in ("retriever", "extractive"):
        assert getattr(opened, name) is getattr(opened, name)
    assert opened.generator() is opened.generator("gemini") is opened.models.generator("gemini")
    assert opened.generator("extractive") is opened.extractive


@pytest.mark.costly
async def test_generator_and_embedders_share_one_client(opened: Services) -> None:
    client = opened.models.client("gemini")
    wire = opened.models.chat("gemini", "gemini-x")._wire
    assert isinstance(wire, GeminiWire)
    assert wire._client is client
    embedder = opened.models.embedder("gemini", "gemini-embedding-2", 768)
    assert isinstance(embedder, GeminiEmbedder)
    assert embedder._client is client


@pytest.mark.costly
async def test_the_connections_to_gemini_are_closed_at_the_end(tmp_path: Path) -> None:
    async with open_services(settings_in(tmp_path, models=with_key())) as services:
        client = services.models.client("gemini")
        assert isinstance(client, GeminiClient)
        await client.models()
        assert client._opened is not None
    assert client._opened is None


@pytest.mark.costly
def test_one_question_loads_neither_other_platforms_nor_what_it_does_not_ask(
    lighthouse: CommandLine,
) -> None:
    code = (
        "import sys; from bot.cli import main; "
        "assert main(['ask', 'How often is the wick trimmed?', '--course', 'lighthouse']) == 0; "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=lighthouse.folder,
        env=lighthouse.environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    loaded = set(done.stderr.split())
    assert "core.answering.agent" in loaded
    assert not NOT_FOR_ONE_QUESTION & loaded


# --- who embeds ---------------------------------------------------------------------------


@pytest.mark.costly
async def test_a_course_is_ingested_with_its_own_model_else_with_the_configured_one(
    tmp_path: Path,
) -> None:
    courses = tmp_path / "glossator.toml"
    courses.write_text(
        '[courses.a]\nembedding = "local"\n[courses.b]\nembedding = "gemini_embedding"\n'
    )
    models = with_key(model="gemini-embedding-001", dimensions="256")
    settings = settings_in(
        tmp_path, config=courses, models=models, embedding={"provider": "gemini_embedding"}
    )
    async with open_services(settings) as services:
        names = {course: services.embedders.of_course(course).name for course in "abc"}
    assert names == {
        "a": "all-MiniLM-L6-v2",
        "b": "gemini-embedding-001/256",
        "c": "gemini-embedding-001/256",
    }


async def test_a_course_is_searched_with_what_it_was_ingested_with_whatever_is_configured(
    opened: Services,
) -> None:
    assert opened.embedders.named("all-MiniLM-L6-v2", "a") is opened.local
    earlier = opened.embedders.named("gemini-embedding-001/1536", "a")
    assert (earlier.name, earlier.dimensions) == ("gemini-embedding-001/1536", 1_536)


@pytest.mark.costly
@pytest.mark.parametrize("has_key", [True, False])
async def test_a_model_that_is_not_available_is_refused_with_what_to_do(
    tmp_path: Path, has_key: bool
) -> None:
    models = with_key() if has_key else {}
    async with open_services(settings_in(tmp_path, models=models)) as services:
        with pytest.raises(ConfigurationError) as unknown:
            services.embedders.named("another-model", "a")
        assert "another-model" in refusal(unknown)
        assert "ingest it again" in refusal(unknown)
        if not has_key:
            with pytest.raises(ConfigurationError) as keyless:
                services.embedders.named("gemini-embedding-2/768", "a")
            assert all(name in refusal(keyless) for name in KEY_NAMES)
