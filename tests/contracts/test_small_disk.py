"""Real file systems that are small, full or only for reading: all is read, nothing is lost.

They are mounted, which only root may do; `test_full_disk.py` needs no privilege.
"""

import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.database import upgrade
from core.errors import IndexFull, StoreUnwritable
from core.inbox.store import Inbox
from core.index.embedded.edge import EdgeIndex
from core.storage.database import create_engine
from tests.books import write_files
from tests.command_line import CommandLine, Finished
from tests.disks import KINDS, fill, make_read_only, make_room, small_disk
from tests.inbox import event, inbox_of

pytestmark = pytest.mark.costly

BOOK = {
    f"page{n}.md": f"# Page {n}\n\nThe buoy K04{n} lies in the harbour and has a bell of brass.\n"
    for n in range(3)
}
QUESTION, FACT = "Where does the buoy K042 lie?", "The buoy K042 lies in the harbour"
NOT_KEPT = "This answer could not be stored"
SIZE = {"ext4": 12, "tmpfs": 64}
"""Megabytes that are enough for one course."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def disk(tmp_path: Path, kind: str) -> Iterator[Path]:
    with small_disk(tmp_path, kind, SIZE[kind]) as place:
        yield place


@pytest.fixture
def shell(tmp_path: Path, disk: Path) -> CommandLine:
    """A shell whose data folder is the small disk, with one course and one conversation."""
    shell = CommandLine(tmp_path).setting(
        DATA_DIR=str(disk), STAND_INS="tests.stand_ins", LOG_LEVEL="ERROR"
    )
    write_files(tmp_path / "buoys", BOOK)
    assert quiet(shell.here("ingest", "buoys")).code == 0
    assert NOT_KEPT not in quiet(shell.here("ask", QUESTION)).out
    return shell


def quiet(done: Finished) -> Finished:
    assert "Traceback" not in done.err, done.err
    assert done.code >= 0, f"ended by {signal.Signals(-done.code).name}"
    return done


def check_reading(shell: CommandLine) -> None:
    """Check that all commands that only read do so; each as a process, which a signal may end.

    On a full disk a database may still have room for an answer inside; else that is told.
    """
    answered = quiet(shell.run("ask", QUESTION))
    assert (answered.code, FACT in answered.out) == (0, True), answered.err
    assert NOT_KEPT not in answered.err
    assert FACT in quiet(shell.run("search", "buoy K042")).out
    assert "buoys" in quiet(shell.here("courses")).out
    listed = quiet(shell.here("sessions", "list")).out.splitlines()
    assert len(listed) + answered.out.count(NOT_KEPT) == 2
    assert FACT in quiet(shell.here("sessions", "show", listed[0].split()[0])).out
    doctor = quiet(shell.here("doctor"))
    assert "index     1 collection" in doctor.out
    assert "disk      " in doctor.out


def test_a_full_disk_is_read_and_an_ingestion_says_how_much_it_needs(
    shell: CommandLine, disk: Path
) -> None:
    fill(disk)
    check_reading(shell)
    write_files(shell.folder / "buoys", {"page3.md": "# Page 3\n\nThe buoy K049 is new.\n"})
    refused = quiet(shell.run("ingest", "buoys"))
    assert refused.code == 69
    assert "full" in refused.sentence or "are free" in refused.sentence
    assert "FAIL  disk" in shell.here("doctor").out
    make_room(disk)
    assert NOT_KEPT not in quiet(shell.run("ask", QUESTION)).out


def test_a_disk_that_is_only_for_reading_is_read(shell: CommandLine, disk: Path) -> None:
    make_read_only(disk)
    check_reading(shell)
    refused = quiet(shell.run("ingest", "buoys"))
    assert refused.code == 78
    assert "cannot be written" in refused.sentence


def test_a_book_that_does_not_fit_is_refused_before_anything_is_built(
    shell: CommandLine, disk: Path
) -> None:
    fill(disk, but=2_000_000)
    write_files(shell.folder / "atlas", BOOK)
    held = {path.name for path in (disk / "index").iterdir()}
    refused = quiet(shell.run("ingest", "atlas"))
    assert refused.code == 69
    assert "The course atlas needs about" in refused.sentence
    assert str(disk) in refused.sentence
    assert {path.name for path in (disk / "index").iterdir()} == held
    assert FACT in quiet(shell.run("ask", QUESTION, "--course", "buoys")).out


BUILD = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from uuid import uuid4
from core.errors import VectorIndexError
from core.index.embedded.edge import EdgeIndex
from tests.contracts.index_points import DIMENSIONS, course

COURSE = course(10, 50)

def fresh():
    return [replace(p, chunk=p.chunk.model_copy(update={"chunk_id": uuid4()})) for p in COURSE]

async def main():
    index = EdgeIndex(Path(sys.argv[1]))
    try:
        await index.create("big-1", DIMENSIONS)
        for _ in range(200):
            await index.upsert("big-1", fresh())
        await index.seal("big-1", 100_000)
    except VectorIndexError as error:
        print(type(error).__name__)
        await index.drop("big-1")
    finally:
        await index.close()

asyncio.run(main())
"""


def test_a_disk_that_fills_while_a_course_is_built_ends_no_process(kind: str, disk: Path) -> None:
    """Whatever else writes to the disk at that moment, there is an error and no bus error."""
    is_over, step = threading.Event(), SIZE[kind] << 13

    def crowd() -> None:
        with (disk / "crowd").open("wb", buffering=0) as file:
            while not is_over.wait(0.02):
                try:
                    file.write(b"x" * step)
                except OSError:
                    return

    crowding = threading.Thread(target=crowd)
    crowding.start()
    try:
        done = subprocess.run(
            [sys.executable, "-c", BUILD, disk / "index"],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            timeout=120,
            check=False,
        )
    finally:
        is_over.set()
        crowding.join()
    assert (done.returncode, done.stdout) == (0, b"IndexFull\n"), done.stderr
    assert not list((disk / "index").iterdir())


async def accept_many(inbox: Inbox) -> None:
    """Accept events until what the database has left is used up."""
    for number in range(2, 2_000):
        await inbox.accept(event(number))


async def test_an_event_that_cannot_be_stored_is_not_accepted_and_later_is(disk: Path) -> None:
    engine = create_engine(f"sqlite:///{disk / 'bot.db'}")
    await upgrade(engine)
    inbox = inbox_of(engine)
    await inbox.accept(event(1))
    fill(disk)
    with pytest.raises(StoreUnwritable):
        await accept_many(inbox)
    assert (await inbox.backlog()).waiting >= 1
    make_room(disk)
    await inbox.accept(event(2_000))
    await engine.dispose()


async def test_a_log_of_writes_without_its_index_is_read_on_a_full_disk(
    tmp_path: Path, disk: Path
) -> None:
    """As where a database was copied with its -wal file alone."""
    original = create_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    await upgrade(original)
    await inbox_of(original).accept(event(1))
    for end in ("", "-wal"):
        shutil.copy(tmp_path / f"bot.db{end}", disk)
    await original.dispose()
    fill(disk)
    engine = create_engine(f"sqlite:///{disk / 'bot.db'}", needs_room=False)
    assert (await inbox_of(engine).backlog()).waiting == 1
    await engine.dispose()


async def test_an_index_that_can_be_opened_nowhere_says_what_is_needed(
    shell: CommandLine, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(disk)
    monkeypatch.setattr("core.disk.engine_files.roomy_folder", lambda _: None)
    index = EdgeIndex(disk / "index")
    (collection,) = await index.collections()
    with pytest.raises(IndexFull, match="set TMPDIR to a folder with"):
        await index.count(collection)
    await index.close()
