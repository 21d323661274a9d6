"""What only the embedded engine must do: folders, processes, threads and sudden deaths."""

import asyncio
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import core.index.shard
from core.domain.errors import VectorIndexError
from core.index.base import EngineQuery, Part
from core.index.edge import EdgeIndex, OpenShards
from core.index.shard import Scored, Shard
from tests.contracts.index_points import DIMENSIONS, course, expected_scores, found_in, question

PROJECT = Path(__file__).parents[2]
POINTS = course()
OLD, NEW = "economics-old", "economics-new"
READER = """
import asyncio, sys
from pathlib import Path
from core.index.edge import EdgeIndex
from tests.contracts.index_points import found_in, question

async def read(root):
    index = EdgeIndex(root)
    found = await found_in(index, question(), "economics-old")
    print("open", flush=True)
    sys.stdin.readline()
    for _ in range(20):
        assert len(await found_in(index, question(), "economics-old")) == len(found)
    await index.close()
    print(len(found), flush=True)

asyncio.run(read(Path(sys.argv[1])))
"""
BUILDER = """
import asyncio, sys
from pathlib import Path
from core.index.edge import EdgeIndex
from tests.contracts.index_points import DIMENSIONS, course

async def build(root):
    index = EdgeIndex(root)
    await index.create("economics-new", DIMENSIONS)
    while True:
        await index.upsert("economics-new", course(documents=20))
        print("stored", flush=True)

asyncio.run(build(Path(sys.argv[1])))
"""


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(tmp_path)
    await build(index, OLD)
    yield index
    await index.close()


async def build(index: EdgeIndex, name: str) -> None:
    await index.create(name, DIMENSIONS)
    await index.upsert(name, POINTS)
    await index.seal(name, len(POINTS))


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def refuse(folder: Path) -> None:
    raise OSError(f"the disk is gone with {folder}")


def find(folder: Path, name: str) -> Path:
    return next(folder.rglob(name))


@contextmanager
def process(script: str, root: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", script, str(root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=PROJECT, stdin=pipe, stdout=pipe, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


class SlowSearch:
    """Holds the first search back until `proceed` is set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.started, self.proceed = asyncio.Event(), threading.Event()
        loop, search = asyncio.get_running_loop(), Shard.best

        def slow(shard: Shard, query: EngineQuery, part: Part, limit: int) -> tuple[Scored, Scored]:
            loop.call_soon_threadsafe(self.started.set)
            assert self.proceed.wait(20)
            return search(shard, query, part, limit)

        patch.setattr(Shard, "best", slow)


@pytest.mark.costly
def test_the_client_of_a_server_is_not_loaded() -> None:
    command = [sys.executable, "-c", "import core.index.edge, sys; print(*sys.modules)"]
    loaded = subprocess.check_output(command, cwd=PROJECT, text=True).split()
    assert "core.index.edge" in loaded
    assert "qdrant_client" not in loaded


@pytest.mark.costly
async def test_processes_read_one_sealed_folder_at_once(index: EdgeIndex, tmp_path: Path) -> None:
    with process(READER, tmp_path) as one, process(READER, tmp_path) as other:
        for child in (one, other):
            assert child.stdout is not None
            assert child.stdout.readline() == "open\n"
        assert len(await found_in(index, question(), OLD)) == len(POINTS)
        for child in (one, other):
            output, _ = child.communicate("go\n", timeout=60)
            assert output == f"{len(POINTS)}\n"


@pytest.mark.costly
async def test_a_builder_that_is_killed_leaves_the_old_edition_readable(
    index: EdgeIndex, tmp_path: Path
) -> None:
    with process(BUILDER, tmp_path) as builder:
        assert builder.stdout is not None
        assert [builder.stdout.readline() for _ in range(3)] == ["stored\n"] * 3
        builder.kill()
    assert len(await found_in(index, question(), OLD)) == len(POINTS)
    assert await index.collections() == {OLD, NEW}
    with pytest.raises(VectorIndexError, match="no sealed collection"):
        await index.count(NEW)
    with pytest.raises(VectorIndexError, match="not being built here"):
        await index.seal(NEW, 100)
    await build(index, NEW)
    assert await index.count(NEW) == len(POINTS)
    assert entries(tmp_path) == {OLD, NEW}


@pytest.mark.costly
async def test_a_drop_waits_for_the_running_search(
    index: EdgeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowSearch(monkeypatch)
    search = asyncio.create_task(index.search([Part(OLD)], question()))
    await slow.started.wait()
    drop = asyncio.create_task(index.drop(OLD))
    await asyncio.wait([drop], timeout=0.2)
    assert not drop.done()
    assert (tmp_path / OLD).exists()
    with pytest.raises(VectorIndexError, match="being removed"):
        await index.count(OLD)
    slow.proceed.set()
    [hits] = await search
    assert len(hits.ids) == len(POINTS)
    await drop
    assert not (tmp_path / OLD).exists()
    await build(index, OLD)
    assert await index.count(OLD) == len(POINTS)


async def test_a_drop_that_dies_leaves_nothing_readable(
    index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refuse)
        with pytest.raises(VectorIndexError, match="disk is gone"):
            await index.drop(OLD)
    assert await index.collections() == {OLD}
    with pytest.raises(VectorIndexError, match="no sealed collection"):
        await index.count(OLD)
    await index.drop(OLD)
    assert await index.collections() == frozenset()


async def test_a_cancelled_search_keeps_its_files_until_it_ends(
    index: EdgeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowSearch(monkeypatch)
    search = asyncio.create_task(found_in(index, question(), OLD))
    await slow.started.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    drop = asyncio.create_task(index.drop(OLD))
    await asyncio.wait([drop], timeout=0.2)
    assert not drop.done()
    slow.proceed.set()
    await drop
    assert not (tmp_path / OLD).exists()


async def test_many_searches_share_one_open_collection(index: EdgeIndex) -> None:
    questions = [question(seed=seed) for seed in range(40)]
    found = await asyncio.gather(*(found_in(index, query, OLD) for query in questions))
    for query, candidates in zip(questions, found, strict=True):
        scores = expected_scores(POINTS, query)
        for candidate in candidates:
            expected = scores[candidate.chunk.chunk_id]
            assert (candidate.cosine, candidate.bm25) == pytest.approx(expected, abs=1e-4)


async def test_only_a_search_that_opens_a_collection_takes_a_thread(
    index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    search = Shard.best

    def noted(shard: Shard, query: EngineQuery, part: Part, limit: int) -> tuple[Scored, Scored]:
        threads.append(threading.get_ident())
        return search(shard, query, part, limit)

    monkeypatch.setattr(Shard, "best", noted)
    found = [await index.search([Part(OLD)], question()) for _ in range(2)]
    assert threads[0] != threads[1] == threading.get_ident()
    assert {*found[0][0].ids} == {*found[1][0].ids} != set()


@pytest.mark.costly
async def test_the_least_recently_used_collection_is_closed(
    index: EdgeIndex, tmp_path: Path
) -> None:
    names = [OLD, "b", "c"]
    for name in names[1:]:
        await build(index, name)
    loaded: list[Shard] = []

    def load(name: str) -> Shard:
        loaded.append(Shard.load(tmp_path / name))
        return loaded[-1]

    shards = OpenShards(load, capacity=2)
    for name in [OLD, "b", OLD, "c", OLD]:
        assert shards.read(name, Shard.count) == len(POINTS)
    assert len(loaded) == 3
    assert len(shards) == 2
    with pytest.raises(VectorIndexError):
        loaded[1].count()
    shards.read("b", Shard.count)
    with pytest.raises(VectorIndexError):
        loaded[2].count()
    shards.close()


@pytest.mark.costly
async def test_a_collection_in_use_stays_open_beyond_the_capacity(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await build(index, "b")
    shards = OpenShards(lambda name: Shard.load(tmp_path / name), capacity=1)

    def read_both(shard: Shard) -> int:
        return shards.read("b", Shard.count) + shard.count()

    assert shards.read(OLD, read_both) == 2 * len(POINTS)
    assert len(shards) == 1
    shards.close()


async def test_a_collection_that_does_not_load_takes_no_place(tmp_path: Path) -> None:
    shards = OpenShards(lambda name: Shard.load(tmp_path / name), capacity=2)
    with pytest.raises(VectorIndexError, match="no readable collection"):
        shards.read("missing", Shard.count)
    assert len(shards) == 0


@pytest.mark.costly
@pytest.mark.parametrize("file", ["edge_config.json", "glossator.json", "segment.json"])
async def test_a_damaged_folder_is_refused(index: EdgeIndex, tmp_path: Path, file: str) -> None:
    find(tmp_path, file).write_text('{"format": 1, "dimen')
    with pytest.raises(VectorIndexError):
        await found_in(index, question(), OLD)


async def test_a_panic_of_the_engine_is_an_error_like_others(
    index: EdgeIndex, tmp_path: Path
) -> None:
    find(tmp_path, "status.dat").write_bytes(b"")
    with pytest.raises(VectorIndexError):
        await found_in(index, question(), OLD)


async def test_lost_points_are_noticed(index: EdgeIndex, tmp_path: Path) -> None:
    find(tmp_path, "mutable_id_tracker.mappings").unlink()
    with pytest.raises(VectorIndexError, match=f"holds 0 points, not {len(POINTS)}"):
        await found_in(index, question(), OLD)


async def test_a_future_format_is_refused_politely(index: EdgeIndex, tmp_path: Path) -> None:
    marker = tmp_path / OLD / "glossator.json"
    fields = json.loads(marker.read_text())
    marker.write_text(json.dumps({**fields, "format": 99, "compression": "new"}))
    with pytest.raises(VectorIndexError, match=r"format 99.*reads format 2"):
        await index.count(OLD)


async def test_foreign_folders_are_left_alone(index: EdgeIndex, tmp_path: Path) -> None:
    for name in ("lost+found", "notes", "Backup.building"):
        (tmp_path / name).mkdir()
    (tmp_path / "readme.txt").write_text("hello")
    assert await index.collections() == {OLD}
    await index.drop(OLD)
    assert entries(tmp_path) == {"lost+found", "notes", "Backup.building", "readme.txt"}


@pytest.mark.costly
async def test_a_large_collection_is_optimised_before_it_is_sealed(
    index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core.index.shard, "OPTIMIZE_ABOVE", 10)
    await build(index, NEW)
    plain = {c.chunk.chunk_id: c for c in await found_in(index, question(), OLD)}
    assert {c.chunk.chunk_id: c for c in await found_in(index, question(), NEW)} == plain


async def test_remembering_few_chunks_changes_no_result(
    index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await found_in(index, question(), OLD)
    monkeypatch.setattr(core.index.shard, "_REMEMBERED", 3)
    for _ in range(3):
        again = await found_in(index, question(), OLD)
        assert {c.chunk.chunk_id: c for c in again} == {c.chunk.chunk_id: c for c in first}


async def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "none")
    assert await index.collections() == frozenset()
    await index.close()
    with pytest.raises(VectorIndexError, match="has been closed"):
        await index.count(OLD)


async def test_an_unwritable_folder_is_an_error_of_the_index(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    index = EdgeIndex(tmp_path / "file")
    with pytest.raises(VectorIndexError, match="failed"):
        await index.create(NEW, DIMENSIONS)
    await index.close()
