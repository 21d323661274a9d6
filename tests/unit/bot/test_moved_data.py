"""A data folder goes with the folder that it lies in: books beside it are found again."""

import sqlite3
from pathlib import Path

import pytest

from core.storage.catalogue import Origins
from tests.command_line import CommandLine

pytestmark = pytest.mark.costly

NEW = "# The lamp\n\nThe lamp of the new tower burns forty litres of colza oil a night.\n"


def sources(shell: CommandLine) -> list[str]:
    courses = shell.here("courses", "--json").json
    return [one["source"] for course in courses for one in course["sources"]]


def in_tables(shell: CommandLine) -> str:
    with sqlite3.connect(shell.data / "glossator.db") as db:
        return "\n".join(db.iterdump())


@pytest.mark.essential
def test_a_folder_that_is_copied_with_its_data_reads_its_own_book(
    ingested: CommandLine, arden: CommandLine
) -> None:
    assert sources(arden) == [str(arden.folder / "arden")]
    (arden.folder / "arden" / "lamp.md").write_text(NEW, "utf-8")
    done = arden.here("ingest", "arden", "--json")
    assert (done.code, done.json["changed"], done.json["failed"]) == (0, ["lamp.md"], [])
    assert sources(arden) == [str(arden.folder / "arden")]
    for folder in (ingested.folder, arden.folder):
        assert str(folder) not in in_tables(arden)


def test_what_an_earlier_version_stored_as_a_path_is_healed_by_the_next_ingestion(
    arden: CommandLine,
) -> None:
    book = str(arden.folder / "arden")
    with sqlite3.connect(arden.data / "glossator.db") as db:
        db.execute("UPDATE documents SET origin = ?", [book])
        db.execute("UPDATE ingest_accounts SET source = ?", [book])
        for source in (book, "./arden", f"{book}/more"):
            row = "INSERT INTO source_checks (course_id, source) VALUES ('arden', ?)"
            db.execute(row, [source])
    assert sources(arden) == [book]
    done = arden.here("ingest", "arden", "--json").json
    assert (len(done["unchanged"]), done["failed"], done["embedded"]) == (3, [], 0)
    assert book not in in_tables(arden)
    with sqlite3.connect(arden.data / "glossator.db") as db:
        checks = db.execute("SELECT source FROM source_checks ORDER BY source").fetchall()
    assert checks == [("./arden",), ("./arden/more",)]


def test_a_source_elsewhere_keeps_its_whole_path(tmp_path: Path) -> None:
    origins = Origins.of(tmp_path / "here" / "data")
    for name in ("/srv/books/bio", f"{tmp_path}/hereabouts", "https://example.org/book/"):
        assert origins.stored(name) == origins.known(name) == name


@pytest.mark.parametrize("name", ["", "/book", "/weeks/*.md", "/a/../b/*.pdf", "/./x"])
def test_a_source_beside_the_data_is_known_by_the_name_it_was_stored_with(
    name: str, tmp_path: Path
) -> None:
    before, after = (Origins.of(tmp_path / home / "data") for home in ("before", "after"))
    stored = before.stored(str(Path(f"{tmp_path}/before{name}")))
    assert not Path(stored).is_absolute()
    assert before.known(stored) == str(Path(f"{tmp_path}/before{name}"))
    assert after.known(stored) == str(Path(f"{tmp_path}/after{name}"))
