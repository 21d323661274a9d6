"""The help of every command: it can be read, and it names what matters."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine

HELP = {
    (): (
        *("ingest", "ask", "chat", "search", "eval", "sessions", "courses", "usage", "doctor"),
        *("db", "run", "backup", "restore", "slack-manifest", "queue", "verified", "help"),
    ),
    ("ingest",): ("SOURCE", "--course", "--json", "glossator.toml"),
    ("ask",): (
        "QUESTION",
        "--quote",
        "--quote-file",
        "--section",
        "--session",
        "--json",
        "--generator",
    ),
    ("chat",): ("--course", "--session", "--generator", "/help"),
    ("search",): ("QUERY", "--section", "--top-k", "--json"),
    ("eval",): ("JSONL", "--kind", "--limit", "--generator", "--json"),
    ("sessions",): ("list", "show", "forget"),
    ("sessions", "list"): ("--course", "--limit", "--json"),
    ("sessions", "show"): ("--json",),
    ("sessions", "forget"): ("--all", "--yes"),
    ("courses",): ("sections", "remove", "--json"),
    ("courses", "sections"): ("--course", "--json"),
    ("courses", "remove"): ("--yes",),
    ("queue",): ("COURSE", "--json"),
    ("verified",): ("list", "show", "retire"),
    ("verified", "list"): ("COURSE", "--json"),
    ("verified", "show"): ("ID", "--json"),
    ("verified", "retire"): ("ID", "--yes"),
    ("usage",): ("tokens", "cost", "--days", "--json"),
    ("doctor",): ("settings", "database", "index", "model"),
    ("db",): ("upgrade", "check", "forget-key"),
    ("db", "upgrade"): ("tables",),
    ("db", "check"): ("tables",),
    ("db", "forget-key"): ("pseudonym|encryption", "lost"),
    ("backup",): ("FILE", "--without-index", "--force", "secrets"),
    ("restore",): ("FILE", "--force", "PostgreSQL"),
    ("run",): ("chat platforms",),
    ("init",): ("--course", "--generator", "--model", "ollama"),
    ("help",): ("PAGE", "handbook"),
    ("slack-manifest",): ("manifest", "names"),
}


@pytest.fixture
def bare(tmp_path: Path) -> CommandLine:
    """A shell without a data folder: help needs none."""
    return CommandLine(tmp_path)


@pytest.mark.parametrize("command", HELP, ids=" ".join)
def test_help_names_what_matters(bare: CommandLine, command: tuple[str, ...]) -> None:
    done = bare.here(*command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(("Usage: glossator", *command)))
    missing = [word for word in HELP[command] if word not in done.out]
    assert not missing
    assert not list(bare.folder.iterdir())


@pytest.mark.costly
def test_help_works_as_a_process_and_tells_the_exit_codes(bare: CommandLine) -> None:
    done = bare.run("--help")
    assert (done.code, done.err) == (0, "")
    assert all(code in done.out for code in ("65", "69", "78"))


@pytest.mark.parametrize("group", [(), ("sessions",), ("db",)], ids=" ".join)
def test_a_group_without_its_command_shows_its_help(
    bare: CommandLine, group: tuple[str, ...]
) -> None:
    done = bare.here(*group)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: glossator")
    assert len(done.err.splitlines()) > 5


def test_the_version_is_one_line(bare: CommandLine) -> None:
    assert bare.here("--version").out.startswith("glossator 0.")
