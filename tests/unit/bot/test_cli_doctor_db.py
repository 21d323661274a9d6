"""`glossator doctor` and `glossator db`: what is checked, and what to do about it."""

import ctypes
import json
import shutil
import socket
import sqlite3
import sys
from contextlib import closing

import pytest

from tests.books import COVERED, LIGHTHOUSE, write_files
from tests.command_line import CommandLine, Finished


def findings(done: Finished) -> dict[str, str]:
    """Return what the doctor says of each subject, with its mark."""
    assert done.err == ""
    lines = [line.split(maxsplit=2) for line in done.out.splitlines()]
    return {subject: f"{mark} {text}" for mark, subject, text in lines}


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def without_privilege() -> None:
    """Make permissions count, in a process that is about to run a program, even for root."""
    pr_capbset_drop, cap_dac_override, cap_dac_read_search = 24, 1, 2
    for capability in (cap_dac_override, cap_dac_read_search):
        ctypes.CDLL(None).prctl(pr_capbset_drop, capability)


@pytest.mark.costly
def test_a_healthy_installation_gets_a_line_for_each_thing(lighthouse: CommandLine) -> None:
    done = lighthouse.setting(DISK__LOW_MEGABYTES="0").here("doctor")
    assert done.code == 0
    found = findings(done)
    subjects = ["settings", "data", "disk", "database", "keys", "model"]
    more = ["generator", "index", "course", "files", "git", "scans", "pandoc", "sandbox"]
    assert list(found) == [*subjects, *more]
    assert found["files"] == "ok lighthouse: 3 files read, 0 failed, 0 left out"
    assert all(text.startswith("ok ") for text in found.values())
    assert "lighthouse" in found["course"]
    assert "all-MiniLM-L6-v2" in found["course"]
    assert found["generator"] == "ok extractive"
    assert found["data"].startswith("ok conversations are kept for 180 days")
    kept = lighthouse.setting(RETENTION__DAYS="0").here("doctor")
    assert "until somebody deletes them" in findings(kept)["data"]


@pytest.mark.costly
def test_a_channel_that_is_bound_to_no_course_is_named(arden: CommandLine) -> None:
    channel = '[discord.channels."118000000000000001"]\ncourse = "ardenn"\n'
    (arden.folder / "glossator.toml").write_text(channel)
    done = arden.here("doctor")
    assert done.code == 78
    told = findings(done)["channels"]
    assert told.startswith("FAIL In the course file, discord.channels.118000000000000001.course")
    assert told.endswith("did you mean arden?")


@pytest.mark.costly
def test_staff_are_counted_and_those_for_no_course_are_named(arden: CommandLine) -> None:
    (arden.folder / "glossator.toml").write_text(
        '[staff."discord:118000000000000001"]\n'
        'roles = ["118000000000000002", "118000000000000003"]\npeople = ["118000000000000004"]\n'
        '[courses.arden.staff."discord:118000000000000001"]\npeople = ["118000000000000005"]\n'
    )
    with closing(sqlite3.connect(arden.data / "glossator.db")) as database:
        named = "INSERT INTO staff VALUES (?, ?, ?, ?, ?, NULL, '2026-03-01 12:00:00')"
        database.execute(named, ("slack", "T0123456", "group", "S0123456", "gone"))
        database.commit()
    done = arden.here("doctor")
    lines = [line for line in done.out.splitlines() if " staff " in line]
    assert done.code == 0
    assert [" ".join(line.split()) for line in lines] == [
        "ok staff discord:118000000000000001: 2 roles, 1 person; for arden alone: 1 person",
        "ok staff slack:T0123456: for gone alone: 1 user group",
        "WARN staff slack:T0123456: for gone alone: 1 user group, and there is no such course",
    ]


@pytest.mark.costly
def test_tenants_with_channels_and_without_staff_are_named_until_staff_are(
    arden: CommandLine,
) -> None:
    moment = "2026-03-01 12:00:00"
    with closing(sqlite3.connect(arden.data / "glossator.db")) as database:
        for tenant, organisation in [
            ("T0000001", "E0000001"),
            ("T0000002", None),
            ("T0000003", None),
            ("T0000004", None),
        ]:
            met = ("slack", tenant, organisation, False, moment)
            database.execute("INSERT INTO tenants VALUES (?, ?, ?, ?, ?)", met)
            if tenant != "T0000004":
                rules = ("slack", tenant, "C1", '{"excluded": true}', moment)
                database.execute("INSERT INTO channel_rules VALUES (?, ?, ?, ?, ?)", rules)
        direct = ("discord", "@me", "1", '{"course_id": "arden"}', moment)
        database.execute("INSERT INTO channel_rules VALUES (?, ?, ?, ?, ?)", direct)
        database.commit()
    staff = arden.folder / "glossator.toml"
    for named, unnamed in [
        ([], "T0000001, slack:T0000002, slack:T0000003"),
        (["E0000001", "T0000003"], "T0000002"),
    ]:
        tables = [f'[staff."slack:{tenant}"]\npeople = ["U0000001"]\n' for tenant in named]
        staff.write_text("".join(tables))
        done = arden.here("doctor")
        assert done.code == 0
        [said] = [line for line in done.out.splitlines() if line.startswith("WARN  staff ")]
        assert f"slack:{unnamed}: channels are set up there, and no staff are named" in said
        assert "'/course staff add'" in said
    staff.write_text(staff.read_text() + '[staff."slack:T0000002"]\npeople = ["U0000001"]\n')
    assert "no staff are named" not in arden.here("doctor").out


def test_a_fresh_installation_is_healthy_and_told_what_is_next(glossator: CommandLine) -> None:
    done = glossator.here("doctor")
    assert done.code == 0
    assert "ingest SOURCE" in findings(done)["course"]


@pytest.mark.costly
def test_what_is_described_and_not_there_is_named(glossator: CommandLine) -> None:
    table = '[courses.{0}]\nsources = ["{0}"]\n'
    text = table.format("arden") + table.format("vault") + "[courses.empty]\n"
    write_files(glossator.folder, {"glossator.toml": text})
    write_files(glossator.folder / "arden", LIGHTHOUSE)
    done = glossator.here("doctor")
    assert done.code == 0
    assert "WARN  course    There is no course yet, only described: arden, empty, vault" in done.out
    glossator.here("ingest", "--course", "arden")
    done = glossator.here("doctor")
    assert done.code == 0
    told = [line for line in done.out.splitlines() if line.startswith("WARN  course ")]
    missing = glossator.folder / "vault"
    assert len(told) == 4
    assert "empty is described, but not ingested yet" in told[0]
    assert "vault is described, but not ingested yet: run 'glossator ingest" in told[1]
    assert f"The source {missing.name} of vault is not there." in told[2]
    assert "empty has no sources" in told[3]


def test_a_damaged_database_is_named_with_what_to_do(glossator: CommandLine) -> None:
    (glossator.data / "glossator.db").write_bytes(b"not a database" * 1000)
    done = glossator.here("doctor")
    assert done.code == 65
    assert findings(done)["database"].startswith("FAIL The database file is damaged")


@pytest.mark.costly
def test_a_lost_index_is_named_with_what_to_do(arden: CommandLine) -> None:
    shutil.rmtree(arden.data / "index")
    done = arden.here("doctor")
    assert done.code == 78
    assert findings(done)["course"].startswith("FAIL The index does not hold arden: run")
    asked = arden.here("ask", COVERED)
    assert asked.code == 69
    assert asked.out.startswith("The text of this course is missing.")


@pytest.mark.costly
def test_services_that_do_not_answer_are_named(lighthouse: CommandLine) -> None:
    nowhere = f"127.0.0.1:{closed_port()}"
    done = lighthouse.setting(QDRANT__URL=f"http://{nowhere}").here("doctor")
    assert done.code == 69
    assert findings(done)["index"].startswith("FAIL")
    url = f"postgresql://bot:secret-word@{nowhere}/bot"
    done = lighthouse.setting(DATABASE__URL=url).here("doctor")
    assert done.code == 69
    assert findings(done)["database"].startswith("FAIL")
    assert findings(done)["index"].startswith("ok")
    assert "secret-word" not in done.out


def test_a_fresh_installation_is_told_that_its_index_does_not_answer(
    glossator: CommandLine,
) -> None:
    done = glossator.setting(QDRANT__URL=f"http://127.0.0.1:{closed_port()}").here("doctor")
    assert done.code == 69
    assert findings(done)["index"].startswith("FAIL")


@pytest.mark.costly
def test_a_wrong_setting_is_found_before_anything_else(lighthouse: CommandLine) -> None:
    done = lighthouse.setting(DATABASE__URL="mysql://127.0.0.1/x").here("doctor")
    assert done.code == 78
    assert findings(done)["database"].startswith("FAIL")
    done = lighthouse.setting(QDRANT__URL="http://127.0.0.1:port").here("doctor")
    assert done.code == 78
    assert "Qdrant URL" in findings(done)["index"]
    done = lighthouse.setting(EMBEDDING__PROVIDER="gemini_embedding", GENERATOR="gemini").here(
        "doctor"
    )
    assert done.code == 78
    found = findings(done)
    for subject in ("generator", "embedding"):
        assert found[subject].startswith("FAIL")
        assert "GLOSSATOR_MODELS__GEMINI__API_KEY" in found[subject]
    assert found["model"].startswith("ok")


@pytest.mark.costly
def test_a_key_that_can_be_guessed_is_warned_of(glossator: CommandLine) -> None:
    done = glossator.setting(PSEUDONYM_KEY="short", ENCRYPTION_KEY="k" * 40 + ",short").here(
        "doctor"
    )
    assert done.code == 0
    warned = [line for line in done.out.splitlines() if line.startswith("WARN  settings")]
    assert len(warned) == 2
    assert "GLOSSATOR_PSEUDONYM_KEY is so short" in warned[0]
    assert "GLOSSATOR_ENCRYPTION_KEY is so short" in warned[1]
    strong = glossator.setting(PSEUDONYM_KEY="k" * 16, ENCRYPTION_KEY="k" * 16).here("doctor")
    assert "so short" not in strong.out


@pytest.mark.costly
@pytest.mark.skipif(sys.platform != "linux", reason="root's right to read is taken as on Linux")
def test_a_folder_that_cannot_be_opened_is_accounted_for(glossator: CommandLine) -> None:
    more = {"closed/a.md": "# A\n\nText.", "listed/b.md": "# B\n\nText."}
    book = write_files(glossator.folder / "arden", {**LIGHTHOUSE, **more})
    (book / "closed").chmod(0)
    (book / "listed").chmod(0o400)
    process = glossator.start("ingest", "arden", "--json", preexec_fn=without_privilege)
    out, err = process.communicate()
    for folder in ("closed", "listed"):
        (book / folder).chmod(0o700)
    assert process.returncode == 0, err
    told = json.loads(out)
    assert {entry["path"]: entry["reason"] for entry in told["left_out"]} == {
        "closed": "is a folder that cannot be opened: Permission denied",
        "listed/b.md": "cannot be opened: Permission denied",
    }
    assert told["text_files"] == {"read": 3, "of": 5}


def test_a_folder_in_place_of_the_course_file_is_told(glossator: CommandLine) -> None:
    (glossator.folder / "glossator.toml").mkdir()
    done = glossator.here("doctor")
    assert done.code == 78
    assert "is a folder" in findings(done)["settings"]


@pytest.mark.costly
def test_the_database_is_checked_and_brought_up_to_date(glossator: CommandLine) -> None:
    assert glossator.here("db", "check").code == 78
    assert "db upgrade" in glossator.here("db", "check").sentence
    done = glossator.here("db", "upgrade")
    assert (done.code, done.out) == (0, "The database is up to date.\n")
    assert glossator.here("db", "check").code == 0
    assert glossator.here("db", "upgrade").code == 0


@pytest.mark.costly
def test_a_newer_or_foreign_database_is_left_alone(glossator: CommandLine) -> None:
    glossator.here("db", "upgrade")
    for revision, words in (
        ("9999", "newer version"),
        ("0022", "from before version 0.2.0"),
        ("abcdef", "another application"),
    ):
        with sqlite3.connect(glossator.data / "glossator.db") as database:
            database.execute("UPDATE alembic_version SET version_num = ?", [revision])
        database.close()
        for command in (["db", "check"], ["db", "upgrade"], ["courses"]):
            done = glossator.here(*command)
            assert done.code == 78
            assert words in done.sentence


@pytest.mark.costly
@pytest.mark.parametrize("damage", ["DELETE FROM alembic_version", "DROP TABLE alembic_version"])
def test_a_database_that_lost_its_version_is_told_what_helps(
    glossator: CommandLine, damage: str
) -> None:
    glossator.here("db", "upgrade")
    with sqlite3.connect(glossator.data / "glossator.db") as database:
        database.execute(damage)
    database.close()
    for command in (["db", "check"], ["db", "upgrade"], ["courses"], ["run"], ["doctor"]):
        set_up = glossator.setting(DISCORD__TOKEN="t") if command == ["run"] else glossator
        done = set_up.here(*command)
        assert done.code == 78
        told = findings(done)["database"] if command == ["doctor"] else done.sentence
        assert "does not say which version made them" in told
        assert "glossator restore --force" in told


@pytest.mark.costly
def test_an_empty_table_of_versions_alone_is_an_empty_database(glossator: CommandLine) -> None:
    glossator.data.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(glossator.data / "glossator.db") as database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    database.close()
    assert "db upgrade" in glossator.here("db", "check").sentence
    assert glossator.here("db", "upgrade").code == 0
    assert glossator.here("db", "check").code == 0


@pytest.mark.parametrize("command", [["doctor"], ["courses"], ["db", "check"], ["db", "upgrade"]])
def test_a_database_that_cannot_be_made_is_told(glossator: CommandLine, command: list[str]) -> None:
    write_files(glossator.folder, {"book.md": "A file is no folder."})
    file = glossator.folder / "book.md" / "below" / "glossator.db"
    done = glossator.setting(DATABASE__URL=f"sqlite:///{file}").here(*command)
    assert done.code == 78
    told = findings(done)["database"] if command == ["doctor"] else done.sentence
    assert f"The database {file} cannot be made (Not a directory)" in told
    assert "GLOSSATOR_DATABASE__URL" in told


@pytest.mark.costly
@pytest.mark.skipif(sys.platform != "linux", reason="root's right to write is taken as on Linux")
def test_an_index_that_cannot_be_written_is_told_from_a_damaged_one(
    arden: CommandLine,
) -> None:
    index = arden.data / "index"
    for mode, code in ((0o700, 0), (0o500, 78)):
        for path in (index, *index.rglob("*")):
            path.chmod(mode)
        process = arden.start("doctor", preexec_fn=without_privilege)
        out, err = process.communicate()
        assert process.returncode == code, out
        found = findings(Finished(code, out.decode(), err.decode()))
    assert found["index"].startswith(f"FAIL {index} cannot be written")
    assert "course" not in found
