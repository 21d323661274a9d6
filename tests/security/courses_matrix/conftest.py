"""A data folder with the courses of all tenants, made once for all workers of a run."""

import asyncio
import os
from pathlib import Path

import pytest
from filelock import FileLock

from bot.services import Services
from bot.settings import Settings
from bot.wiring import ingest_handbook, open_services
from core.ingestion.sources.sources import open_sources
from tests.books import write_files
from tests.security.courses_matrix.relations import COURSES, STAND_INS, book, course_file, word


@pytest.fixture(scope="session")
def school_courses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to copy: the handbook, and a course for each relation."""
    own = tmp_path_factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = run / "template-courses-matrix"
    with FileLock(run / f"{folder.name}.lock"):
        if not (folder / "made").exists():
            asyncio.run(_make(folder))
            (folder / "made").touch()
    return folder / "data"


async def _make(folder: Path) -> None:
    (folder / "data").mkdir(parents=True, mode=0o700)
    (folder / "glossator.toml").write_text(course_file(), encoding="utf-8")
    settings = Settings(
        _env_file=None,
        data_dir=folder / "data",
        config=folder / "glossator.toml",
        stand_ins=STAND_INS,
    )
    async with open_services(settings) as services:
        await ingest_handbook(services)
        for name in COURSES:
            write_files(folder / name, book(name))
            await _ingest(services, folder / name, word(name, "id"))


async def _ingest(services: Services, files: Path, course_id: str) -> None:
    course = services.course_file.course(course_id)
    assert course is not None
    async with open_sources(
        [str(files)],
        base_url=course.base_url,
        allowed_hosts=frozenset(),
        max_bytes=1_000_000,
        user_agent="tests",
    ) as readable:
        report = await services.ingestion(course_id).run(course, readable.sources)
    assert not report.failed
