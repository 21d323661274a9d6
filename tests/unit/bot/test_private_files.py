"""What Glossator writes is its owner's alone, also in a folder that was there before."""

import stat
from pathlib import Path

import pytest

from tests.books import LIGHTHOUSE, write_files
from tests.command_line import CommandLine


def open_to_others(folder: Path) -> list[str]:
    """Return the files and folders that another account could look into."""
    return sorted(
        f"{path.relative_to(folder)} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in (folder, *folder.rglob("*"))
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    )


@pytest.mark.costly
def test_nothing_is_left_open_to_others_whatever_the_folder_was_before(
    glossator: CommandLine,
) -> None:
    write_files(glossator.folder / "book", LIGHTHOUSE)
    glossator.data.chmod(0o755)
    assert glossator.run("ingest", "book", "--course", "arden", umask=0o022).code == 0
    assert open_to_others(glossator.data) == []
    for path in (glossator.data, *glossator.data.rglob("*")):  # as an earlier version left it
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert glossator.run("ask", "--course", "arden", "What is Arden?", umask=0o022).code == 0
    assert glossator.run("backup", "saved.zip", umask=0o022).code == 0
    assert open_to_others(glossator.data) == []
    assert stat.S_IMODE((glossator.folder / "saved.zip").stat().st_mode) == 0o600


def test_what_else_lies_in_the_data_folder_stays_as_it_is(glossator: CommandLine) -> None:
    shared = glossator.data / "notes.txt"
    shared.write_text("for everybody")
    glossator.data.chmod(0o755)
    shared.chmod(0o644)
    assert glossator.here("db", "upgrade").code == 0
    assert stat.S_IMODE(shared.stat().st_mode) == 0o644
    assert stat.S_IMODE(glossator.data.stat().st_mode) == 0o755
    assert stat.S_IMODE((glossator.data / "glossator.db").stat().st_mode) == 0o600
