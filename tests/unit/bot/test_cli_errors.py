"""What goes wrong: one plain sentence, the right exit code, and never a traceback."""

import os
import socket
import sqlite3
from collections.abc import Iterator

import pytest

from bot.cli.exits import Exit
from tests.books import COVERED, LIGHTHOUSE, write_files
from tests.command_line import ROOT, CommandLine, Finished

PASSWORD = "hunter2-and-more"
KEY_NAMES = ["GLOSSATOR_MODELS__GEMINI__API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]
A_SESSION = "no session's id, which looks like 61364e8f-"
NOWHERE = "3f0e7c1e-8f1c-4a5e-9a51-0d3b1f7a2b11"


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    """A port that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def ending(done: Finished, *words: str) -> int:
    """Return the exit code of a command that says one sentence with these words, and no more."""
    assert done.out == ""
    assert all(word in done.sentence for word in words), done.sentence
    return done.code


# --- the command line ---------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["frobnicate"], ["frobnicate", "'glossator --help'"]),
        (["ask", "--frobnicate"], ["--frobnicate", "'glossator ask --help'"]),
        (["sessions", "frobnicate"], ["frobnicate", "'glossator sessions --help'"]),
        (["courses", "frobnicate"], ["frobnicate"]),
        (["search"], ["QUERY"]),
        (["ask", COVERED, "--generator", "oracle"], ["'oracle'", "gemini", "extractive"]),
        (["chat", "--generator", "oracle"], ["'oracle'", "gemini", "extractive"]),
        (["eval", "rows.jsonl", "--generator", ""], ["extractive"]),
        (["search", COVERED, "--top-k", "21"], ["--top-k", "20"]),
        (["search", COVERED, "--top-k", "many"], ["--top-k"]),
        (["ask"], ["--quote"]),
        (["ask", COVERED, "--quote", "a", "--quote-file", "b"], ["not both"]),
        (["ask", COVERED, "--quote", " "], ["quote is empty"]),
        (["ask", COVERED, "--section", " "], ["section's name is empty"]),
        (["ask", COVERED, "--session", "42"], ["'--session'", A_SESSION, "sessions list"]),
        (["chat", "--session", "nope"], ["'--session'", A_SESSION, "sessions list"]),
        (["sessions", "forget", "nope"], [A_SESSION, "sessions list"]),
        (["ask", COVERED, "--course", "atlantis"], ["atlantis", "lighthouse"]),
        (["chat", "--course", "atlantis"], ["atlantis", "lighthouse"]),
        (["courses", "sections", "--course", "atlantis"], ["atlantis"]),
        (["courses", "remove", "atlantis", "--yes"], ["atlantis"]),
        (["ask", ""], ["ask a question"]),
        (["ask", "  "], ["ask a question"]),
        (["ask", "h"], ["Ask me a question", "at least 2 characters"]),
        (["ask", "why? " * 250], ["1,249", "999"]),
        (["search", "a"], ["at least 2"]),
        (["ask", COVERED, "--section", "The lampp post"], ["no section called", "The lamp"]),
        (["search", COVERED, "--section", "Colour theory"], ["no section called “Colour theory”."]),
        (["sessions", "show", NOWHERE], [NOWHERE]),
        (["sessions", "show", "42"], [A_SESSION, "sessions list"]),
        (["verified", "show", "42"], ["no verified answer's id", "verified list"]),
        (["sessions", "forget", NOWHERE], [NOWHERE]),
        (["sessions", "forget"], ["--all"]),
        (["sessions", "forget", NOWHERE, "--all"], ["--all"]),
        (["sessions", "list", "--limit", "0"], ["--limit"]),
        (["ingest", "lighthouse", "--course", "Not A Name"], ["Not A Name", "lower-case"]),
        (["ingest", "--course", "atlantis"], ["sources of atlantis", "glossator.toml"]),
        (["ingest"], ["Name a source", "glossator.toml"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_wrong_usage_ends_with_2(
    lighthouse: CommandLine, arguments: list[str], words: list[str]
) -> None:
    assert ending(lighthouse.here(*arguments), *words) == Exit.USAGE


@pytest.mark.costly
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ingest", "absent.md"], ["absent.md"]),
        (["ingest", "absent-*.md"], ["absent-*.md"]),
        (["ingest", "empty"], ["nothing to ingest: no file to read in", "/empty."]),
        (["ingest", "blank.md"], ["blank.md", "is empty"]),
        (["ingest", "ftp://book.example.org/a.md"], ["ftp://book.example.org/a.md", "http://"]),
        (["ingest", "http://127.0.0.1/a.md"], ["http://127.0.0.1/a.md"]),
        (["ask", COVERED, "--quote-file", "absent.txt"], ["absent.txt"]),
        (["ask", COVERED, "--quote-file", "blank.md"], ["blank.md", "empty"]),
        (["ask", COVERED, "--quote-file", "empty"], ["empty"]),
        (["ask", COVERED, "--quote-file", "latin.txt"], ["latin.txt", "UTF-8"]),
        (["eval", "absent.jsonl"], ["absent.jsonl"]),
        (["eval", "blank.md"], ["no questions"]),
        (["eval", "latin.txt"], ["UTF-8"]),
        (["eval", "rows.jsonl"], ["rows.jsonl, line 2", "question"]),
        (["eval", "text.jsonl"], ["text.jsonl, line 1", "JSON"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_bad_input_ends_with_65(
    lighthouse: CommandLine, arguments: list[str], words: list[str]
) -> None:
    write_files(
        lighthouse.folder,
        {
            "blank.md": " \n",
            "latin.txt": "Caf\xe9".encode("latin-1"),
            "rows.jsonl": '{"question": "What burns?"}\n{"relevant": ["lamp.md"]}\n',
            "text.jsonl": "What burns?\n",
        },
    )
    (lighthouse.folder / "empty").mkdir(exist_ok=True)
    assert ending(lighthouse.here(*arguments), *words) == Exit.BAD_INPUT


# --- the configuration --------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"LOG_LEVEL": "LOUD"}, ["GLOSSATOR_LOG_LEVEL", "DEBUG"]),
        ({"QDRANT__TIMEOUT": "soon"}, ["GLOSSATOR_QDRANT__TIMEOUT"]),
        ({"DATADIR": "x"}, ["GLOSSATOR_DATADIR", "GLOSSATOR_DATA_DIR"]),
        ({"DATABASE_URL": "x"}, ["GLOSSATOR_DATABASE_URL", "GLOSSATOR_DATABASE__URL"]),
        ({"CONFIG": "absent.toml"}, ["absent.toml"]),
        ({"CONFIG": "typo.toml"}, ["titel", "title"]),
        ({"CONFIG": "broken.toml"}, ["broken.toml", "TOML"]),
        ({"DATA_DIR": "lighthouse/lamp.md/data"}, ["GLOSSATOR_DATA_DIR"]),
        ({"DATA_DIR": "lighthouse/lamp.md"}, ["GLOSSATOR_DATA_DIR"]),
        ({"DATABASE__URL": f"mysql://me:{PASSWORD}@127.0.0.1/x"}, ["postgresql://"]),
        (
            {"DATABASE__URL": f"postgresql://me:{PASSWORD}@127.0.0.1:65536/x"},
            ["PostgreSQL", "port"],
        ),
        ({"DATABASE__URL": f"postgresql://me:{PASSWORD}@a..b/x"}, ["PostgreSQL", "host"]),
        ({"QDRANT__URL": "http://127.0.0.1:port"}, ["Qdrant URL"]),
        ({"QDRANT__URL": "http://a..b:6333"}, ["Qdrant URL"]),
        ({"QDRANT__URL": "http://[::1"}, ["Qdrant URL"]),
        ({"EMBEDDING__MODEL_DIR": "empty"}, ["model"]),
        ({"GENERATOR": "gemini"}, ["extractive", *KEY_NAMES]),
        ({"MODELS__GEMINI__API_KEY": f"{PASSWORD}é"}, KEY_NAMES),
        ({"MODELS__GEMINI__BASE_URL": "localhost"}, ["GLOSSATOR_MODELS__GEMINI__BASE_URL", "http"]),
        ({"BUDGET__USER_TOKENS": "-1"}, ["GLOSSATOR_BUDGET__USER_TOKENS"]),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_wrong_configuration_ends_with_78(
    lighthouse: CommandLine, variables: dict[str, str], words: list[str]
) -> None:
    write_files(
        lighthouse.folder,
        {
            "typo.toml": '[courses.lighthouse]\ntitel = "Arden"\n',
            "broken.toml": "[courses",
        },
    )
    done = lighthouse.setting(**variables).here("ask", COVERED)
    assert ending(done, *words) == Exit.CONFIGURATION
    assert PASSWORD not in done.err


@pytest.mark.parametrize(
    ("shell_variables", "arguments"),
    [
        ({}, ["ask", COVERED, "--generator", "gemini"]),
        ({"EMBEDDING__PROVIDER": "gemini_embedding"}, ["ingest", "lighthouse"]),
    ],
    ids=["generator", "embedding"],
)
def test_gemini_without_a_key_ends_with_78_naming_what_to_set(
    lighthouse: CommandLine, shell_variables: dict[str, str], arguments: list[str]
) -> None:
    done = lighthouse.setting(**shell_variables).here(*arguments)
    assert ending(done, *KEY_NAMES) == Exit.CONFIGURATION


@pytest.mark.costly
def test_before_the_first_course_the_reader_is_told_what_to_do(glossator: CommandLine) -> None:
    for arguments in (["ask", COVERED], ["chat"], ["search", COVERED], ["courses", "sections"]):
        done = glossator.here(*arguments)
        assert ending(done, "no course yet", "ingest SOURCE") == Exit.CONFIGURATION


@pytest.mark.costly
def test_a_course_that_is_only_described_is_told_apart(glossator: CommandLine) -> None:
    write_files(glossator.folder, {"glossator.toml": '[courses.arden]\ntitle = "Arden"\n'})
    done = glossator.here("ask", COVERED, "--course", "arden")
    assert ending(done, "arden", "no text yet") == Exit.CONFIGURATION
    assert ending(glossator.here("ingest"), "arden", "no sources") == Exit.CONFIGURATION


@pytest.mark.costly
def test_with_several_courses_one_must_be_named(glossator: CommandLine) -> None:
    for name in ("one", "two"):
        write_files(glossator.folder / name, LIGHTHOUSE)
        assert glossator.here("ingest", name).code == 0
    assert ending(glossator.here("ask", COVERED), "--course", "one, two") == Exit.USAGE


def test_a_bad_word_in_the_environment_stops_even_the_doctor(glossator: CommandLine) -> None:
    done = glossator.setting(LOG_LEVEL="LOUD").here("doctor")
    assert done.code == Exit.CONFIGURATION
    assert "FAIL" in done.out
    assert "GLOSSATOR_LOG_LEVEL" in done.out


@pytest.mark.costly
@pytest.mark.parametrize("course", ["", '[courses.x]\njudge = "own"\n'], ids=["all", "one"])
def test_run_says_that_the_key_of_a_judge_cannot_be_sent(
    glossator: CommandLine, course: str
) -> None:
    table = '[models.own]\nkind = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
    write_files(glossator.folder, {"glossator.toml": table + course})
    shell = glossator.setting(DISCORD__TOKEN="a.token.not-asked-for")
    shell = shell if course else shell.setting(JUDGE="own")
    shell = shell.setting(MODELS__OWN__API_KEY="sk-\u00fc", CONFIG="glossator.toml")
    done = calm(shell, "run")
    assert ending(done, "The key of own", "MODELS__OWN__API_KEY") == Exit.CONFIGURATION
    assert "sk-" not in done.out + done.err


def test_run_says_that_there_is_no_platform_yet(glossator: CommandLine) -> None:
    done = glossator.here("run")
    assert (done.code, done.out) == (Exit.CONFIGURATION, "")
    lines = done.err.splitlines()
    assert lines[0] == "glossator: No chat platform is set up, so that there is nobody to answer."
    assert len(lines) <= 24
    assert max(map(len, lines[3:])) <= 100
    for words in ("init", "ingest", "doctor", "run", "chat", "demo", "DISCORD__TOKEN", "SLACK__"):
        assert words in done.err
    assert "neither .env nor glossator.toml" in done.err
    write_files(glossator.folder, {"glossator.toml": '[courses.x]\nsources = ["x"]\n'})
    assert "Found there: glossator.toml." in glossator.here("run").err


@pytest.mark.costly
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("another-model", ["another-model", "ingest it again"]),
        ("gemini-embedding-2/768", ["gemini-embedding-2", "ingest it again", *KEY_NAMES]),
    ],
)
def test_a_book_embedded_with_a_model_that_there_is_not_is_told_with_what_to_do(
    glossator: CommandLine, model: str, words: list[str]
) -> None:
    write_files(glossator.folder / "book", LIGHTHOUSE)
    assert glossator.here("ingest", "book").code == 0
    with sqlite3.connect(glossator.data / "glossator.db") as database:
        database.execute("UPDATE editions SET embedding_model = ?", [model])
    database.close()
    assert ending(glossator.here("ask", COVERED), *words) == Exit.CONFIGURATION
    done = glossator.here("chat", stdin=f"{COVERED}\n")
    assert done.code == Exit.OK
    assert all(word in done.err for word in words)
    done = glossator.here("doctor")
    assert done.code == Exit.CONFIGURATION
    assert all(word in done.out for word in words)


# --- services that do not answer ----------------------------------------------------------


def calm(shell: CommandLine, *arguments: str) -> Finished:
    """Run the command, and see that it says no more than it may."""
    done = shell.here(*arguments)
    assert "Traceback" not in done.err
    assert PASSWORD not in done.err + done.out
    return done


@pytest.mark.parametrize("command", [["ask", COVERED], ["ingest", "lighthouse"]], ids=" ".join)
def test_an_unreachable_database_ends_with_69(
    lighthouse: CommandLine, closed_port: int, command: list[str]
) -> None:
    url = f"postgresql://bot:{PASSWORD}@127.0.0.1:{closed_port}/bot"
    assert ending(calm(lighthouse.setting(DATABASE__URL=url), *command)) == Exit.UNAVAILABLE


def test_a_database_that_never_answers_ends_with_69(
    lighthouse: CommandLine, silent_port: int
) -> None:
    url = f"postgresql://bot:{PASSWORD}@127.0.0.1:{silent_port}/bot"
    assert ending(calm(lighthouse.setting(DATABASE__URL=url), "courses")) == Exit.UNAVAILABLE


@pytest.mark.costly
@pytest.mark.parametrize("port", ["closed_port", "silent_port"])
def test_an_unreachable_index_ends_with_69_and_an_answer_that_says_so(
    lighthouse: CommandLine, request: pytest.FixtureRequest, port: str
) -> None:
    url = f"http://127.0.0.1:{request.getfixturevalue(port)}"
    shell = lighthouse.setting(QDRANT__URL=url, QDRANT__TIMEOUT="1")
    done = calm(shell, "ask", COVERED)
    assert done.code == Exit.UNAVAILABLE
    assert done.out.startswith("I cannot search the book at the moment.")
    assert "sure" not in done.out
    assert len(done.err.splitlines()) <= 1


@pytest.mark.costly
def test_a_key_that_travels_in_the_clear_is_warned_about_without_being_shown(
    lighthouse: CommandLine, closed_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    calm(lighthouse.setting(QDRANT__URL=url, QDRANT__API_KEY=PASSWORD), "ask", COVERED)
    assert "without encryption" in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.costly
def test_an_unreachable_index_stops_an_ingestion_with_69(
    lighthouse: CommandLine, closed_port: int
) -> None:
    shell = lighthouse.setting(QDRANT__URL=f"http://127.0.0.1:{closed_port}")
    assert ending(calm(shell, "ingest", "lighthouse"), "Qdrant") == Exit.UNAVAILABLE


@pytest.mark.costly
def test_a_file_that_is_no_database_is_told_with_what_to_do(glossator: CommandLine) -> None:
    (glossator.data / "glossator.db").write_bytes(b"not a database" * 1000)
    shell = glossator.setting(DISCORD__TOKEN="a.token.nobody-asks-for")
    for command in (["ask", COVERED], ["db", "check"], ["db", "upgrade"], ["run"]):
        done = calm(shell, *command)
        assert ending(done, "damaged", "file is not a database", "backup") == Exit.BAD_INPUT
        assert "try again" not in done.sentence


@pytest.mark.costly
def test_a_database_with_damaged_pages_is_told_with_what_to_do(glossator: CommandLine) -> None:
    glossator.here("db", "upgrade")
    path = glossator.data / "glossator.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    assert ending(glossator.here("sessions", "list"), "malformed", "backup") == Exit.BAD_INPUT


def test_ctrl_c_while_the_program_loads_ends_with_130(glossator: CommandLine) -> None:
    loading = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    write_files(glossator.folder, {"path/typer.py": loading})
    path = os.pathsep.join([str(glossator.folder / "path"), str(ROOT)])
    done = glossator.knowing(PYTHONPATH=path).run("doctor")
    assert (done.code, done.out, done.err) == (Exit.INTERRUPTED, "", "")
