"""`glossator backup` and `restore` as an operator runs them, from one PostgreSQL to another."""

from pathlib import Path

import pytest

from bot.cli.exits import Exit
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, write_files
from tests.command_line import CommandLine
from tests.contracts.conftest import postgres_database

pytestmark = [pytest.mark.postgres, pytest.mark.costly]
FILE = "all.zip"


def shell(folder: Path, url: str) -> CommandLine:
    """Return a shell whose database is the one at a URL, and whose models need no weights."""
    folder.mkdir()
    settings = {"STAND_INS": "tests.stand_ins", "LOG_LEVEL": "ERROR", "DATABASE__URL": url}
    return CommandLine(folder).setting(**settings)


def test_a_conversation_goes_on_in_another_postgresql(postgres: str, tmp_path: Path) -> None:
    with (
        postgres_database(postgres, "template1") as first,
        postgres_database(postgres, "template1") as second,
    ):
        old, new = shell(tmp_path / "old", first), shell(tmp_path / "new", second)
        write_files(old.folder / "arden", LIGHTHOUSE)
        assert old.here("ingest", "arden").code == Exit.OK
        assert COVERED_FACT in old.here("ask", COVERED).out
        session = old.here("sessions", "list").out.split()[0]
        made = old.here("backup", FILE)
        assert (made.code, made.err) == (Exit.OK, "")
        assert made.out.startswith("Backed up to all.zip: 1 course with ")
        assert made.out.endswith(" chunks, 1 conversation, keys: pseudonym.\n")
        restored = new.here("restore", str(old.folder / FILE))
        assert (restored.code, restored.err) == (Exit.OK, "")
        assert COVERED_FACT in new.here("ask", COVERED, "--session", session).out
        assert "2 turns" in new.here("sessions", "list").out
        moved = old.here("courses").out.replace(str(old.folder), str(new.folder))
        assert new.here("courses").out == moved
        examined = new.here("doctor").out
        assert "ok    database" in examined
        assert "ok    index     1 collection" in examined
        assert "FAIL  keys" not in examined
        again = new.here("restore", str(old.folder / FILE))
        assert again.code == Exit.CONFIGURATION
        assert "--force" in again.sentence
        assert not (old.data / "glossator.db").exists()
        assert not (new.data / "glossator.db").exists()
