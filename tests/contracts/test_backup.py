"""A backup brings back every row, key and chunk, from and to every database."""

import json
import os
import random
import stat
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, inspect, text, update
from sqlalchemy.ext.asyncio import AsyncEngine

from bot import backup_archive as archive
from bot import backup_archive as rows
from bot.backup import NotEmpty, back_up, restore, table_member
from bot.backup_archive import Manifest, NewerBackup
from bot.database import HEAD_REVISION, SchemaState, check, upgrade
from bot.keys import NAMES, Sealer
from bot.process import is_only_process
from bot.services import Services
from bot.settings import DatabaseSettings, Settings
from bot.wiring import open_services
from core.domain.errors import ConfigurationError, NoRoom, StoreError, UnusableBackup
from core.ingestion.sources.sources import open_sources
from core.storage.database import create_engine
from core.storage.inbox.rows import InboxRow
from core.storage.installations import InstallationStore, Installed
from tests import every_table
from tests.books import write_files
from tests.contracts.conftest import postgres_database
from tests.contracts.revisions import create_at, revisions
from tests.library import BOOK, COURSE

pytestmark = pytest.mark.costly

TOKEN = "xoxb-a-token-that-nobody-may-see"
FILE = "backup.zip"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def target_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database that a backup is restored to."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'target' / 'bot.db'}"
    else:
        with postgres_database(request.getfixturevalue("postgres"), "template1") as url:
            yield url


@pytest.fixture
def source(tmp_path: Path, database_url: str) -> Settings:
    return settings_of(tmp_path / "source", database_url)


@pytest.fixture
def target(tmp_path: Path, target_url: str) -> Settings:
    return settings_of(tmp_path / "target", target_url)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Settings:
    return settings_of(tmp_path / "elsewhere", f"sqlite:///{tmp_path / 'elsewhere' / 'bot.db'}")


def settings_of(folder: Path, url: str) -> Settings:
    database = DatabaseSettings(url=SecretStr(url))
    return Settings(data_dir=folder, database=database, stand_ins="tests.stand_ins")


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings, keys=NAMES) as services:
        yield services


async def within(settings: Settings, work: Callable[[Connection], Any]) -> Any:
    engine = create_engine(settings.database_url)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def ingest(services: Services, folder: Path, files: Mapping[str, str] = BOOK) -> None:
    write_files(folder, files)
    async with open_sources(
        [str(folder)], base_url=None, allowed_hosts=frozenset(), max_bytes=10**6, user_agent="tests"
    ) as readable:
        await services.ingestion(COURSE.course_id).run(COURSE, readable.sources)


async def chunks_of(services: Services) -> list[Any]:
    edition = await services.catalogue.live(COURSE.course_id)
    assert edition is not None
    return [chunk async for chunk in services.index.scroll(*edition.collections)]


def installations(services: Services) -> InstallationStore:
    sealer = Sealer(services.keys.sealing)
    return InstallationStore(services.engine, "slack", seal=sealer.seal, unseal=sealer.unseal)


async def backed_up(settings: Settings, path: Path, **options: Any) -> None:
    async with opened(settings) as services:
        await back_up(services, path, **options)


async def test_every_row_of_every_table_comes_back(
    source: Settings, target: Settings, tmp_path: Path
) -> None:
    await within(source, every_table.fill)
    before = await within(source, every_table.contents)
    engine = create_engine(source.database_url)
    async with engine.begin() as db:
        assert {*before} == await db.run_sync(every_table.names)
    await engine.dispose()
    await within(source, lambda db: db.execute(text("DELETE FROM key_ids")))
    await backed_up(source, tmp_path / FILE)
    noted = await within(source, every_table.contents)
    await restore(target, tmp_path / FILE, force=False)
    after = await within(target, every_table.contents)
    assert after == noted
    assert {**after, "key_ids": []} == {**before, "key_ids": []}
    engine = create_engine(target.database_url)
    assert await check(engine) is SchemaState.CURRENT
    await engine.dispose()


async def test_texts_keys_and_sealed_tokens_come_back(
    source: Settings, target: Settings, tmp_path: Path
) -> None:
    installed = Installed("T1", None, "U1", "B1", "chat:write", TOKEN)
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        await installations(services).save(installed)
        chunks, keys = await chunks_of(services), services.keys
        manifest = await back_up(services, tmp_path / FILE)
    (edition,) = manifest.editions
    assert (edition.course_id, edition.chunks, edition.has_text) == ("tides", len(chunks), True)
    assert manifest.keys == NAMES
    await restore(target, tmp_path / FILE, force=False)
    async with opened(target) as services:
        assert services.keys == keys
        assert await chunks_of(services) == chunks
        assert await installations(services).find("T1") == installed
    mode = stat.S_IMODE((tmp_path / FILE).stat().st_mode)
    assert mode == 0o600
    for name in NAMES:
        assert stat.S_IMODE((target.data_dir / f"{name}.key").stat().st_mode) == 0o600


async def test_a_backup_without_text_says_so(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        manifest = await back_up(services, tmp_path / FILE, with_text=False)
    assert [edition.has_text for edition in manifest.editions] == [False]
    await restore(elsewhere, tmp_path / FILE, force=False)
    async with opened(elsewhere) as services:
        assert await services.index.collections() == frozenset()
        await ingest(services, tmp_path / "book")
        assert len(await chunks_of(services)) == manifest.editions[0].chunks


async def test_a_course_that_is_ingested_meanwhile_is_backed_up_whole(
    source: Settings, elsewhere: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        points, calls = services.index.points, list[str]()

        async def replaced(collection: str, documents: Any) -> Any:
            calls.append(collection)
            if len(calls) == 1:
                monkeypatch.undo()
                moon = "# The moon\n\nIt raises two tides a day in every sea.\n"
                await ingest(services, tmp_path / "book", {"moon.md": moon})
            return await points(collection, documents)

        monkeypatch.setattr(services.index, "points", replaced)
        manifest = await back_up(services, tmp_path / FILE)
        chunks = await chunks_of(services)
    (edition,) = manifest.editions
    assert (edition.has_text, edition.generation) == (True, str(chunks[0].generation))
    await restore(elsewhere, tmp_path / FILE, force=False)
    async with opened(elsewhere) as services:
        assert await chunks_of(services) == chunks


async def test_a_text_that_the_index_lacks_is_named_and_the_rest_is_backed_up(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        for collection in await services.index.collections():
            await services.index.drop(collection)
        manifest = await back_up(services, tmp_path / FILE)
    assert [edition.has_text for edition in manifest.editions] == [False]
    await restore(elsewhere, tmp_path / FILE, force=False)


async def test_what_there_is_already_is_not_replaced_unless_it_is_asked_for(
    source: Settings, target: Settings, tmp_path: Path
) -> None:
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        chunks = await chunks_of(services)
        await back_up(services, tmp_path / FILE)
    write_files(tmp_path / "other", {"a.md": "# Other\n\nAnother text.\n"})
    async with opened(target) as services:
        await ingest(services, tmp_path / "other")
        mine = services.keys
    with pytest.raises(NotEmpty, match="--force"):
        await restore(target, tmp_path / FILE, force=False)
    async with opened(target) as services:
        assert services.keys == mine
    await restore(target, tmp_path / FILE, force=True)
    async with opened(target) as services:
        assert await chunks_of(services) == chunks
        assert len(await services.index.collections()) == 1
        assert services.keys != mine
    kept = (target.data_dir / "pseudonym.key.before").read_bytes()
    assert kept == mine.pseudonym
    await restore(target, tmp_path / FILE, force=True)  # and again


async def test_another_key_is_not_replaced_unless_it_is_asked_for(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await backed_up(source, tmp_path / FILE)
    elsewhere.data_dir.mkdir()
    (elsewhere.data_dir / "pseudonym.key").write_bytes(bytes(range(32)))
    with pytest.raises(NotEmpty, match="another key"):
        await restore(elsewhere, tmp_path / FILE, force=False)


async def test_every_key_that_was_ever_replaced_is_kept(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await backed_up(source, tmp_path / FILE)
    elsewhere.data_dir.mkdir()
    path, earlier = elsewhere.data_dir / "pseudonym.key", [bytes([n]) * 32 for n in (1, 2, 2, 3)]
    for key in earlier:
        path.write_bytes(key)
        await restore(elsewhere, tmp_path / FILE, force=True)
        assert path.read_bytes() not in earlier
    kept = [path.with_name(f"{path.name}.before{n}").read_bytes() for n in ("", 2, 3)]
    assert kept == [earlier[0], earlier[1], earlier[3]]


async def test_keys_stay_when_the_tables_cannot_be_restored(
    source: Settings, elsewhere: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await backed_up(source, tmp_path / FILE)
    async with opened(elsewhere) as services:
        before = services.keys
    (elsewhere.data_dir / "encryption.key").unlink()
    files = {path.name for path in elsewhere.data_dir.glob("*.key*")}

    def fails(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(rows, "insert", fails)
    with pytest.raises(StoreError):
        await restore(elsewhere, tmp_path / FILE, force=True)
    assert {path.name for path in elsewhere.data_dir.glob("*.key*")} == files
    assert (elsewhere.data_dir / "pseudonym.key").read_bytes() == before.pseudonym


async def test_no_text_stays_in_the_index_when_the_tables_cannot_be_restored(
    source: Settings, elsewhere: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "other", {"a.md": "# Other\n\nAnother text.\n"})
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        await back_up(services, tmp_path / FILE)
    async with opened(elsewhere) as services:
        await ingest(services, tmp_path / "other")
        held, chunks = await services.index.collections(), await chunks_of(services)

    def fails(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(rows, "insert", fails)
    with pytest.raises(StoreError):
        await restore(elsewhere, tmp_path / FILE, force=True)
    async with opened(elsewhere) as services:
        assert await services.index.collections() == held
        assert await chunks_of(services) == chunks


async def test_a_key_that_a_setting_gives_must_be_the_backups(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await backed_up(source, tmp_path / FILE)
    other = elsewhere.model_copy(update={"pseudonym_key": SecretStr("another-long-enough-key")})
    with pytest.raises(ConfigurationError, match="GLOSSATOR_PSEUDONYM_KEY is not the one"):
        await restore(other, tmp_path / FILE, force=False)


async def test_a_bot_that_answers_from_the_database_keeps_it(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await backed_up(source, tmp_path / FILE)
    async with opened(elsewhere) as services, is_only_process(services.engine):
        with pytest.raises(ConfigurationError, match="stop it"):
            await restore(elsewhere, tmp_path / FILE, force=True)


def rewritten(path: Path, change: Callable[[dict[str, Any]], None], but: str = "") -> Path:
    """Return a backup whose manifest says something else, with sums that fit."""
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, archive.writing(changed) as writer:
        manifest = json.loads(old.read("manifest.json"))
        sums = manifest.pop("sums")
        change(manifest)
        for name in sums:
            if name not in (but, "manifest.json"):
                writer.data(name, old.read(name))
        made = Manifest.from_json({**manifest, "format": 1})
        writer.finish(replace(made, format=manifest["format"]))
    return changed


def setting(change: dict[str, Any], manifest: dict[str, Any]) -> None:
    manifest.update(change)


async def test_a_backup_of_a_newer_version_is_refused(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await backed_up(source, tmp_path / FILE)
    changes: list[dict[str, Any]] = [{"revision": "9999"}, {"format": 2}]
    for change in changes:
        newer = rewritten(tmp_path / FILE, partial(setting, change))
        with pytest.raises(ConfigurationError, match="newer version"):
            await restore(elsewhere, newer, force=False)
    with zipfile.ZipFile(tmp_path / FILE) as old:
        fields = json.loads(old.read("manifest.json"))
    later = {**fields, "format": 2, "program": "9.9", "tables": {}, "also": []}
    with pytest.raises(NewerBackup, match=r"newer version of Glossator \(9\.9\)"):
        Manifest.from_json(later)
    assert not elsewhere.data_dir.exists()


async def test_a_backup_from_before_0_2_0_is_refused_and_nothing_is_made(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await backed_up(source, tmp_path / FILE)
    old = rewritten(tmp_path / FILE, lambda manifest: manifest.update(revision="0022"))
    with pytest.raises(ConfigurationError, match=r"from before 0\.2\.0"):
        await restore(elsewhere, old, force=False)
    assert not elsewhere.data_dir.exists()


@pytest.mark.parametrize("force", [False, True])
async def test_no_backup_replaces_a_database_from_before_0_2_0(
    source: Settings, target: Settings, tmp_path: Path, force: bool
) -> None:
    await backed_up(source, tmp_path / FILE)
    engine = create_engine(target.database_url)
    await create_at(engine, HEAD_REVISION)
    await engine.dispose()
    await within(target, every_table.fill)
    await within(
        target, lambda db: db.execute(text("UPDATE alembic_version SET version_num='0022'"))
    )
    before = await within(target, every_table.contents)
    with pytest.raises(ConfigurationError, match="another version of Glossator"):
        await restore(target, tmp_path / FILE, force=force)
    assert await within(target, every_table.contents) == before


@pytest.mark.parametrize("revision", revisions())
async def test_a_backup_is_restored_over_the_tables_of_any_version(
    source: Settings, target: Settings, tmp_path: Path, revision: str
) -> None:
    async with opened(source) as services:
        await ingest(services, tmp_path / "book")
        chunks = await chunks_of(services)
        await back_up(services, tmp_path / FILE)
    engine = create_engine(target.database_url)
    await create_at(engine, revision)
    await engine.dispose()
    await restore(target, tmp_path / FILE, force=False)
    async with opened(target) as services:
        assert await check(services.engine) is SchemaState.CURRENT
        assert await chunks_of(services) == chunks


@pytest.mark.parametrize("revision", revisions())
async def test_the_tables_of_every_version_can_be_dropped(target: Settings, revision: str) -> None:
    engine = create_engine(target.database_url)
    await create_at(engine, revision)
    await engine.dispose()
    await within(target, rows.drop_all)
    assert await within(target, lambda db: inspect(db).get_table_names()) == []


async def test_an_old_backup_answers_nobody_a_second_time(
    source: Settings, target: Settings, tmp_path: Path
) -> None:
    await within(source, every_table.fill)
    await within(source, lambda db: db.execute(text("DELETE FROM key_ids")))
    await within(source, lambda db: db.execute(update(InboxRow).values(state="done")))
    first = update(InboxRow).where(InboxRow.key == "key-0").values(state="waiting")
    await within(source, lambda db: db.execute(first))
    await backed_up(source, tmp_path / FILE)

    def long_ago(manifest: dict[str, Any]) -> None:
        manifest["made_at"] = "2026-03-01T00:00:00+00:00"

    await restore(target, rewritten(tmp_path / FILE, long_ago), force=False)
    after = await within(target, every_table.contents)
    assert [row[0] for row in after["inbox"]] == ["key-1", "key-2"]
    assert [row[0] for row in after["inbox_posts"]] == ["key-1", "key-2"]
    assert after["inbox_cursors"] == []
    assert len(after["turns"]) == every_table.ROWS


async def test_a_damaged_backup_changes_nothing_wherever_the_damage_is(
    source: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await within(source, every_table.fill)
    await within(source, lambda db: db.execute(text("DELETE FROM key_ids")))
    await backed_up(source, tmp_path / FILE)
    whole, drawn = (tmp_path / FILE).read_bytes(), random.Random(1)
    damaged = tmp_path / "damaged.zip"
    refused = 0
    for _ in range(400):
        content = bytearray(whole)
        if drawn.random() < 0.2:
            content = content[: drawn.randrange(len(content))]
        else:
            content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        damaged.write_bytes(content)
        try:
            with archive.reading(damaged) as backup:
                # What is not part of any content, as a date of a member, may be anything.
                assert contents_of(backup) == contents_of_file(tmp_path / FILE)
        except UnusableBackup:
            refused += 1
    assert refused > 300
    damaged.write_bytes(whole[:-7])
    with pytest.raises(UnusableBackup):
        await restore(elsewhere, damaged, force=True)
    assert not elsewhere.data_dir.exists()


def contents_of(backup: archive.ArchiveReader) -> dict[str, list[Any]]:
    return {
        table.name: list(backup.lines(table_member(table.name))) for table in backup.manifest.tables
    }


def contents_of_file(path: Path) -> dict[str, list[Any]]:
    with archive.reading(path) as backup:
        return contents_of(backup)


@pytest.mark.parametrize("content", [None, b"", b"no archive", b"PK\x05\x06" + bytes(18)])
async def test_a_file_that_is_no_backup_is_refused(
    elsewhere: Settings, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UnusableBackup, match=FILE):
        await restore(elsewhere, tmp_path / FILE, force=True)


@contextmanager
def no_room() -> Iterator[None]:
    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", full)
        yield


async def test_a_backup_that_finds_no_room_leaves_the_earlier_one(
    source: Settings, tmp_path: Path
) -> None:
    (tmp_path / FILE).write_bytes(b"earlier")
    async with AsyncExitStack() as closing:
        services = await closing.enter_async_context(opened(source))
        with no_room(), pytest.raises(NoRoom, match=FILE):
            await back_up(services, tmp_path / FILE)
        with pytest.raises(UnusableBackup, match="cannot be written"):
            await back_up(services, tmp_path / "nowhere" / FILE)
    assert (tmp_path / FILE).read_bytes() == b"earlier"
    assert [name for name in os.listdir(tmp_path) if FILE in name] == [FILE]


async def test_every_table_of_the_migrations_is_backed_up(engine: AsyncEngine) -> None:
    await upgrade(engine)
    async with engine.begin() as db:
        assert await db.run_sync(every_table.names) == {table.name for table in rows.tables()}
