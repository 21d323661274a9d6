"""A house that answers with Gemini: real services, a real book, and the local Gemini."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.services import Services
from bot.settings import AnswerSettings, BudgetSettings, Settings
from bot.wiring import open_services
from core.answering.agent import Agent
from core.domain import AgentRequest, Course
from tests.books import write_files
from tests.wire.gemini_server import GeminiServer

JUDGE = "judge"
SITE = "https://arden.example.org/book/"
FOREIGN_CANARY = "The vault of the Bellhaven bank opens with the words amber falcon seventeen."
SYSTEM_CANARY = "zx-canary-4711-prompt"
COURSE_FILE = f"""\
[courses.arden]
title = "Arden"
base_url = "{SITE}"
sources = ["arden"]

[courses.arden.answers]
system_prompt = "You serve the lighthouse school ({SYSTEM_CANARY})."

[courses.foreign]
title = "Foreign"
sources = ["foreign"]
"""


@dataclass(frozen=True)
class House:
    """Open services over two courses, and the Gemini they speak to."""

    services: Services
    server: GeminiServer

    @property
    def agent(self) -> Agent:
        """An agent that asks Gemini."""
        return self.services.agent("gemini")


@asynccontextmanager
async def open_house(
    folder: Path,
    models: Path,
    server: GeminiServer,
    book: Mapping[str, str],
    *,
    budget: Mapping[str, int] | None = None,
    answer: Mapping[str, float] | None = None,
    judge: Mapping[str, str] | None = None,
    **gemini: Any,
) -> AsyncIterator[House]:
    """Open services whose course `arden` holds `book`; ingested when the folder is new.

    `gemini` are fields of the Gemini settings beside key and address, and `judge` those of the
    model that judges claims.
    """
    fresh = not (folder / "glossator.toml").exists()
    if fresh:
        write_files(folder / "arden", book)
        write_files(folder / "foreign", {"vault.md": f"# The vault\n\n{FOREIGN_CANARY}\n"})
        (folder / "glossator.toml").write_text(COURSE_FILE, encoding="utf-8")
        (folder / "data").mkdir(mode=0o700)
        (folder / "data" / "models").symlink_to(models, target_is_directory=True)
    settings = Settings(
        _env_file=None,
        data_dir=folder / "data",
        config=folder / "glossator.toml",
        budget=BudgetSettings(**(budget or {})),
        answer=AnswerSettings(**(answer or {})),
        judge=None if judge is None else JUDGE,
        models={
            "gemini": secrets({"api_key": server.api_key, "base_url": server.url, **gemini}),
            **({} if judge is None else {JUDGE: secrets(judge)}),
        },
    )
    async with open_services(settings) as services:
        if fresh:
            for name in ("arden", "foreign"):
                await ingest(services, folder, name)
        yield House(services, server)


async def ingest(services: Services, folder: Path, name: str) -> None:
    """Read the files of a course's folder into it."""
    from core.ingestion.sources.sources import open_sources

    course = services.course_file.course(name)
    assert isinstance(course, Course)
    async with open_sources(
        [str(folder / name)],
        base_url=course.base_url,
        allowed_hosts=frozenset(),
        max_bytes=5_000_000,
        user_agent="tests",
    ) as readable:
        report = await services.ingestion(name).run(course, readable.sources)
    assert not report.failed


def asking(question: str, **changes: Any) -> AgentRequest:
    """Return a request to the course `arden`."""
    fields = {"course_id": "arden", "query_text": question, "user_id": "reader-1", **changes}
    return AgentRequest.model_validate(fields)


def secrets(fields: Mapping[str, str]) -> dict[str, SecretStr]:
    """Return the fields of a model's table as variables give them."""
    return {name: SecretStr(value) for name, value in fields.items()}
