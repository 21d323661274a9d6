"""What is said about the room on a disk, and which failures are for want of it."""

import errno
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from core.domain.disk import check_room, is_want_of_room, megabytes, nearest, roomy_folder
from core.domain.errors import NoRoom
from tests.disks import pretend_full


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_write_that_found_no_room_is_recognised(number: int) -> None:
    assert is_want_of_room(OSError(number, os.strerror(number)))
    assert is_want_of_room(Exception(f"Service runtime error: mmap failed (os error {number})"))


def test_other_failures_are_not_taken_for_it() -> None:
    assert not is_want_of_room(OSError(errno.EACCES, "Permission denied"))
    assert not is_want_of_room(Exception("Service runtime error: wrong dimensions"))
    assert not is_want_of_room(sqlite3.OperationalError("database is locked"))


def test_a_full_sqlite_database_is_recognised(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "small.db") as database:
        database.execute("CREATE TABLE t (text)")
        database.execute("PRAGMA max_page_count=3")
        with pytest.raises(sqlite3.OperationalError) as caught:
            database.execute("INSERT INTO t VALUES (?)", ("x" * 100_000,))
    database.close()
    assert is_want_of_room(caught.value)


def test_needs_on_one_disk_add_up(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    half = int(free * 0.6)
    check_room({tmp_path / "a": half}, "This")
    with pytest.raises(NoRoom, match=r"This needs about .* are free there"):
        check_room({tmp_path / "a": half, tmp_path / "b": half}, "This")


def test_the_sentence_names_the_folder_and_both_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_full(monkeypatch, tmp_path, free=1_500_000)
    with pytest.raises(NoRoom) as caught:
        check_room({tmp_path / "index": 52_000_000}, "The course biology")
    assert str(caught.value) == (
        f"The course biology needs about 52 MB in {tmp_path / 'index'}, and only 1.5 MB are free "
        "there: free some room, and try again."
    )


def test_a_folder_for_temporary_files_has_the_room_that_is_asked_for() -> None:
    assert roomy_folder(1) is not None
    assert roomy_folder(1 << 60) is None


def test_a_disk_so_full_that_no_temporary_folder_is_found_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    assert roomy_folder(1 << 60) is None


def test_sizes_read_well_and_missing_folders_have_a_parent(tmp_path: Path) -> None:
    assert [megabytes(size) for size in (250_000, 9_900_000, 1_234_000_000)] == [
        "0.2 MB",
        "9.9 MB",
        "1,234 MB",
    ]
    assert nearest(tmp_path / "a" / "b") == tmp_path
