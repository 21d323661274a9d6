"""Real file systems that are small, full or only for reading: it is said, and nothing is lost.

They are mounted, which only root may do; `test_full_disk.py` needs no privilege.
"""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.database import upgrade
from core.domain.errors import StoreUnwritable
from core.storage.database import create_engine
from core.storage.inbox.store import Inbox
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
FULL = "My disk is full"
NOT_KEPT = "This answer could not be stored"
MEGABYTES = 160
"""Enough for one course, with what stays free."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def disk(tmp_path: Path, kind: str) -> Iterator[Path]:
    with small_disk(tmp_path, kind, MEGABYTES) as place:
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


def check_what_is_said(shell: CommandLine) -> None:
    """Check that commands read the database, and say why they cannot open the index."""
    asked = quiet(shell.run("ask", QUESTION))
    assert asked.code == 69
    assert FULL in asked.out
    assert "buoys" in quiet(shell.here("courses")).out
    (session,) = quiet(shell.here("sessions", "list")).out.splitlines()
    assert FACT in quiet(shell.here("sessions", "show", session.split()[0])).out
    doctor = quiet(shell.here("doctor"))
    assert "index     1 collection" in doctor.out
    assert "disk      " in doctor.out


def test_a_full_disk_is_said_and_an_ingestion_says_how_much_it_needs(
    shell: CommandLine, disk: Path
) -> None:
    fill(disk)
    check_what_is_said(shell)
    write_files(shell.folder / "buoys", {"page3.md": "# Page 3\n\nThe buoy K049 is new.\n"})
    refused = quiet(shell.run("ingest", "buoys"))
    assert refused.code == 69
    assert "full" in refused.sentence or "are free" in refused.sentence
    assert "FAIL  disk" in shell.here("doctor").out
    make_room(disk)
    answered = quiet(shell.run("ask", QUESTION))
    assert FACT in answered.out
    assert NOT_KEPT not in answered.out


def test_a_disk_that_is_only_for_reading_is_said(shell: CommandLine, disk: Path) -> None:
    make_read_only(disk)
    check_what_is_said(shell)
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
