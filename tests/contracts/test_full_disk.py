"""A disk that says it is full, without any privilege: real files, real engines, and errors."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import check_room
from bot.settings import Settings
from core.domain.errors import IndexFull, NoRoom, StoreUnwritable
from core.index.edge import EdgeIndex
from core.ingestion.embedding import Footprint
from tests.contracts.index_points import DIMENSIONS, course
from tests.disks import pretend_full
from tests.inbox import event, inbox_of
from tests.library import Library, open_library

POINTS = course()


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with open_library(tmp_path) as library:
        yield library


def contents(root: Path) -> dict[Path, str]:
    """Return a sum of each file."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.costly
async def test_a_collection_is_not_opened_where_nothing_can_be_written_and_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = EdgeIndex(tmp_path)
    await index.create("book-1", DIMENSIONS)
    await index.upsert("book-1", POINTS)
    await index.seal("book-1", len(POINTS))
    await index.close()
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        pretend_full(patch, tmp_path)
        index = EdgeIndex(tmp_path)
        with pytest.raises(IndexFull, match=r"Free some room, and try again"):
            await index.count("book-1")
        assert contents(tmp_path) == before
    assert await index.count("book-1") == len(POINTS)
    await index.close()


async def test_nothing_is_begun_or_added_without_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = EdgeIndex(tmp_path)
    await index.create("book-1", DIMENSIONS)
    pretend_full(monkeypatch, tmp_path, free=1_000)
    with pytest.raises(IndexFull, match=r"is full: at least .* are needed"):
        await index.upsert("book-1", POINTS)
    with pytest.raises(IndexFull):
        await index.create("book-2", DIMENSIONS)
    assert await index.collections() <= {"book-1", "book-2"}
    await index.drop("book-1")
    await index.drop("book-2")
    await index.close()
    assert not contents(tmp_path)


@pytest.mark.costly
async def test_an_ingestion_that_runs_out_of_room_leaves_the_old_edition_and_nothing_else(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.write({"moon.md": "# Moon\n\nThe moon raises two tides a day.\n"})
    await library.ingest("book")
    before, chunks = await library.edition(), await library.chunks()
    library.write({"sun.md": "# Sun\n\nThe sun raises smaller ones.\n"})
    pretend_full(monkeypatch, tmp_path / "index", free=2_000)
    with pytest.raises(NoRoom):
        await library.ingest("book")
    monkeypatch.undo()
    assert await library.edition() == before
    assert await library.chunks() == chunks
    assert await library.index.collections() == before.collections
    await library.ingest("book")
    assert len(await library.chunks()) == 2


@pytest.mark.costly
async def test_the_room_is_checked_before_anything_is_written(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(course_id: str, needed: Footprint) -> None:
        assert (course_id, needed.chunks) == ("tides", 1)
        assert needed.index > 0
        assert needed.database > 0
        raise NoRoom("no")

    library.write({"moon.md": "# Moon\n\nThe moon raises two tides a day.\n"})
    monkeypatch.setattr(library.ingestion._builder, "_check_room", refuse)
    with pytest.raises(NoRoom):
        await library.ingest("book")
    assert library.embedder.embedded == 0
    assert await library.index.collections() == frozenset()


def test_the_room_is_looked_for_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOSSATOR_QDRANT__URL", "http://127.0.0.1:6333")
    pretend_full(monkeypatch, tmp_path, free=1_000_000)
    needed = Footprint(chunks=10, index=10**6, database=10**6 + 1)
    embedded = Settings(data_dir=tmp_path).model_copy(
        update={"qdrant": Settings.model_fields["qdrant"].default}
    )
    with pytest.raises(NoRoom, match=str(tmp_path / "index")):
        check_room(embedded, "tides", needed)
    with pytest.raises(NoRoom, match=r"The course tides needs about 1\.0 MB"):
        check_room(Settings(data_dir=tmp_path), "tides", needed)


async def test_a_large_course_needs_the_room_for_its_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_full(monkeypatch, tmp_path, free=200_000_000)
    settings = Settings(data_dir=tmp_path)
    few, many = (Footprint(count, 90_000_000, 0) for count in (20_000, 20_001))
    check_room(settings, "tides", few)
    with pytest.raises(NoRoom):
        check_room(settings, "tides", many)


async def test_a_database_that_is_full_says_so_and_goes_on_when_it_is_not(
    engine: AsyncEngine, dialect: str
) -> None:
    if dialect != "sqlite":
        pytest.skip("a PostgreSQL server looks after its own disk")
    inbox = inbox_of(engine)
    await inbox.accept(event(1))
    writer = engine.get_execution_options()["writer"]._engine
    limits = iter([1, 1 << 30])

    @sqlalchemy_event.listens_for(writer, "begin")
    def limit(connection: object) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count={next(limits, 1 << 30)}")  # type: ignore[attr-defined]

    with pytest.raises(StoreUnwritable, match="full"):
        await inbox.accept(event(2, address={"text": "x" * 100_000}))
    await inbox.accept(event(3))
    assert (await inbox.backlog()).waiting == 2
