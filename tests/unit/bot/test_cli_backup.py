"""`glossator backup` and `restore` as an operator runs them; and halves that do not fit."""

import shutil
from pathlib import Path

import pytest

from tests.books import write_files
from tests.command_line import CommandLine, Finished

pytestmark = pytest.mark.costly

BOOK = {
    f"page{n}.md": f"# Page {n}\n\nThe buoy K04{n} lies in the harbour and has a bell of brass.\n"
    for n in range(3)
}
QUESTION, FACT = "Where does the buoy K042 lie?", "The buoy K042 lies in the harbour"
LATER = {"page3.md": "# Page 3\n\nThe buoy K049 lies in the bay and has a lamp of iron.\n"}
KEY = "a-secret-that-nobody-may-see"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A shell with one course and one conversation, to copy."""
    folder = tmp_path_factory.mktemp("asked")
    shell = CommandLine(folder).setting(STAND_INS="tests.stand_ins", LOG_LEVEL="ERROR")
    write_files(folder / "buoys", BOOK)
    assert shell.here("ingest", "buoys").code == 0
    assert FACT in shell.here("ask", QUESTION).out
    return shell


@pytest.fixture
def shell(asked: CommandLine, tmp_path: Path) -> CommandLine:
    """A copy of that shell."""
    return asked.copied(tmp_path)


def calm(done: Finished) -> Finished:
    assert "Traceback" not in done.err, done.err
    assert KEY not in done.out + done.err
    return done


@pytest.mark.costly
def test_a_conversation_goes_on_after_a_restoration(shell: CommandLine, tmp_path: Path) -> None:
    made = calm(shell.here("backup", "all.zip"))
    assert made.out == (
        "Backed up to all.zip: 1 course with 3 chunks, 1 conversation, keys: pseudonym.\n"
    )
    session = shell.here("sessions", "list").out.split()[0]
    fresh = shell.setting(DATA_DIR=str(tmp_path / "fresh"))
    restored = calm(fresh.here("restore", "all.zip"))
    assert (restored.code, restored.err) == (0, "")
    assert "1 course with 3 chunks, 1 conversation, keys: pseudonym." in restored.out
    assert FACT in calm(fresh.here("ask", QUESTION, "--session", session)).out
    assert "2 turns" in fresh.here("sessions", "list").out
    assert "FAIL  keys" not in fresh.here("doctor").out
    assert "index     1 collection" in fresh.here("doctor").out
    assert fresh.here("sessions", "forget", "--all", "--yes").out.startswith("Forgotten: 2 ")


def test_a_file_that_is_there_is_replaced_only_by_force(shell: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    file.write_text("the only thesis")
    refused = calm(shell.here("backup", "all.zip"))
    assert (refused.code, refused.out) == (2, "")
    assert "all.zip already" in refused.sentence
    assert "--force" in refused.sentence
    assert file.read_text() == "the only thesis"
    assert calm(shell.here("backup", "all.zip", "--force")).code == 0
    assert calm(shell.here("restore", "all.zip", "--force")).code == 0
    (tmp_path / "folder").mkdir()
    assert calm(shell.here("backup", "folder", "--force")).code == 65
    file.unlink()
    file.symlink_to("nowhere")
    assert calm(shell.here("backup", "all.zip")).code == 2
    assert file.is_symlink()


def test_refusals_are_sentences(shell: CommandLine, tmp_path: Path) -> None:
    calm(shell.here("backup", "all.zip"))
    assert "--force" in calm(shell.here("restore", "all.zip")).sentence
    assert shell.here("restore", "all.zip").code == 78
    (tmp_path / "all.zip").write_bytes((tmp_path / "all.zip").read_bytes()[:-9])
    damaged = calm(shell.here("restore", "all.zip", "--force"))
    assert (damaged.code, "damaged" in damaged.sentence) == (65, True)
    missing = calm(shell.here("restore", "none.zip"))
    assert (missing.code, missing.sentence) == (65, "There is no file none.zip.")
    nowhere = calm(shell.here("backup", "nowhere/all.zip"))
    assert (nowhere.code, "cannot be written" in nowhere.sentence) == (65, True)
    assert FACT in shell.here("ask", QUESTION).out


def test_keys_of_settings_stay_the_operators(shell: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "data" / "pseudonym.key").unlink()
    assert shell.here("db", "forget-key", "pseudonym").code == 0
    keyed = shell.setting(PSEUDONYM_KEY=KEY)
    assert FACT in keyed.here("ask", QUESTION).out
    made = calm(keyed.here("backup", "all.zip"))
    assert "keys: none" in made.out
    assert "The key in GLOSSATOR_PSEUDONYM_KEY is not in the backup" in made.err
    assert KEY.encode() not in (tmp_path / "all.zip").read_bytes()
    fresh = shell.setting(DATA_DIR=str(tmp_path / "fresh"))
    assert calm(fresh.here("restore", "all.zip")).code == 0
    lost = calm(fresh.here("ask", QUESTION))
    assert (lost.code, "pseudonym.key is missing" in lost.sentence) == (78, True)
    assert FACT in fresh.setting(PSEUDONYM_KEY=KEY).here("ask", QUESTION).out


def test_a_key_that_is_no_key_is_wrong_usage(shell: CommandLine) -> None:
    done = shell.here("db", "forget-key", "nothing")
    assert (done.code, done.sentence) == (
        2,
        "There is no key called nothing; there is: pseudonym, encryption.",
    )


@pytest.fixture
def days(shell: CommandLine, tmp_path: Path) -> dict[str, Path]:
    """The data folder of three days: before the course, as it was, and ingested again."""
    kept = {"today": tmp_path / "data", "yesterday": tmp_path / "then", "before": tmp_path / "new"}
    shutil.copytree(kept["today"], kept["yesterday"])
    shell.setting(DATA_DIR=str(kept["before"])).here("db", "upgrade")
    shutil.copy(kept["today"] / "pseudonym.key", kept["before"])
    write_files(shell.folder / "buoys", LATER)
    assert shell.here("ingest", "buoys").code == 0
    return kept


HALVES = [
    ("yesterday", "today"),
    ("today", "yesterday"),
    ("today", "before"),
    ("before", "today"),
    ("today", "damaged"),
]


@pytest.mark.costly
@pytest.mark.parametrize(("database", "index"), HALVES, ids=lambda day: day)
def test_a_database_and_an_index_that_do_not_fit_end_in_what_to_do(
    shell: CommandLine, days: dict[str, Path], tmp_path: Path, database: str, index: str
) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(days[database], mixed)
    shutil.rmtree(mixed / "index", ignore_errors=True)
    held = days["today" if index == "damaged" else index] / "index"
    if held.exists():
        shutil.copytree(held, mixed / "index")
    if index == "damaged":
        next(mixed.glob("index/*/glossator.json")).write_text("{")
    there = shell.setting(DATA_DIR=str(mixed))
    for command in (["ask", QUESTION], ["search", QUESTION], ["doctor"]):
        done = calm(there.here(*command))
        assert FACT not in done.out
        assert "glossator ingest" in done.out + done.err or "ingest" in done.err, command
    assert calm(there.here("courses")).code == 0
    before = {path.name for path in mixed.glob("index/*")}
    assert calm(there.here("ingest", "gone", "--course", "buoys")).code != 0
    if database != "before":
        assert {path.name for path in mixed.glob("index/*")} == before, "the only text there is"
    calm(there.here("ingest", "buoys"))
    assert FACT in calm(there.here("ask", QUESTION)).out
    assert len(list(mixed.glob("index/*"))) == 1
    assert "does not hold" not in there.here("doctor").out
