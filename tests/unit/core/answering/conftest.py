"""Opens the house that answers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain import Course
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.books import COVERED, FOREIGN, LIGHTHOUSE
from tests.library import open_library
from tests.unit.core.answering.house import LINKS, SITE, TIDES, FailingEmbedder, FailingIndex, House


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the catalogue and the index of three courses."""
    folder = tmp_path_factory.mktemp("library")
    asyncio.run(_fill(folder))
    return folder


async def _fill(folder: Path) -> None:
    async with open_library(folder) as library:
        library.write({**LIGHTHOUSE, "visiting.md": LINKS}, "arden")
        library.write({"secret.md": f"# Secret\n\n{FOREIGN} {COVERED}\n"}, "foreign")
        library.write({"tides.md": TIDES}, "tides")
        for course_id in ("arden", "foreign", "tides"):
            course = Course(course_id=course_id, title=course_id, base_url=SITE)
            await library.ingest(course_id, course=course)


@pytest.fixture
async def house(folder: Path) -> AsyncIterator[House]:
    engine = create_engine(f"sqlite:///{folder / 'catalogue.db'}", synchronous="NORMAL")
    index = FailingIndex(folder / "index")
    yield House(engine, Catalogue(engine), index, FailingEmbedder(), SessionStore(engine))
    await index.close()
    await engine.dispose()
