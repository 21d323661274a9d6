"""`glossator sessions`: conversations are kept, shown, and forgotten on demand."""

import shutil
from pathlib import Path

import pytest

from core.domain import AgentSession
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, VERBATIM, write_files
from tests.command_line import CommandLine, shell

pytestmark = pytest.mark.costly


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell with the lighthouse book, of which every test gets a copy."""
    command_line = shell(tmp_path_factory.mktemp("ingested"), models)
    write_files(command_line.folder / "arden", LIGHTHOUSE)
    assert command_line.here("ingest", "arden").code == 0
    return command_line


@pytest.fixture
def arden(tmp_path: Path, ingested: CommandLine) -> CommandLine:
    """A shell with the lighthouse book and no conversation."""
    copied = shutil.copytree(ingested.folder, tmp_path / "arden", symlinks=True)
    return CommandLine(copied)


def conversation(shell: CommandLine, *questions: str) -> str:
    """Hold a conversation and return its session's id."""
    continued: tuple[str, ...] = ()
    for question in questions:
        assert shell.here("ask", question, *continued).code == 0
        continued = ("--session", latest(shell))
    return continued[1]


def latest(shell: CommandLine) -> str:
    """Return the id of the conversation that somebody spoke in last."""
    return str(shell.here("sessions", "list", "--json").json[0]["session_id"])


def test_conversations_about_no_known_course_are_not_told_to_be_none(arden: CommandLine) -> None:
    assert arden.here("sessions", "list", "--course", "arden", "--json").json == []
    done = arden.here("sessions", "list", "--course", "adren")
    assert done.code == 2
    assert "no course called adren" in done.sentence


def test_a_conversation_is_listed_shown_and_forgotten(arden: CommandLine) -> None:
    assert arden.here("sessions", "list").out == "There is no conversation yet.\n"
    session = conversation(arden, COVERED, "And why?")
    line = arden.here("sessions", "list").out
    assert line.startswith(session)
    assert f"  arden  2 turns  {COVERED}" in line
    shown = arden.here("sessions", "show", session)
    assert (shown.code, shown.err) == (0, "")
    assert f"1. {COVERED}" in shown.out
    assert COVERED_FACT in shown.out
    assert "2. And why?" in shown.out
    assert arden.here("sessions", "forget", session).out == f"Forgotten: {session}.\n"
    assert session in arden.here("sessions", "show", session).sentence
    assert arden.here("sessions", "list", "--json").json == []


def test_a_quote_is_shown_as_one(arden: CommandLine) -> None:
    arden.here("ask", "Why?", "--quote", VERBATIM)
    assert f"   > {VERBATIM}" in arden.here("sessions", "show", latest(arden)).out


def test_json_is_sessions_with_their_turns(arden: CommandLine) -> None:
    session = conversation(arden, COVERED)
    [listed] = arden.here("sessions", "list", "--json").json
    assert AgentSession.model_validate(listed).conversation_history == ()
    shown = AgentSession.model_validate_json(arden.here("sessions", "show", session, "--json").out)
    assert str(shown.session_id) == session
    [turn] = shown.conversation_history
    assert turn.user_input == COVERED
    assert turn.agent_response.citations


def test_the_list_is_limited_and_begins_with_the_latest(arden: CommandLine) -> None:
    first, second, third = (conversation(arden, COVERED) for _ in range(3))
    listed = arden.here("sessions", "list", "--limit", "2").out.splitlines()
    assert [line.split()[0] for line in listed] == [third, second]
    assert first in arden.here("sessions", "list", "--course", "arden").out


def test_export_prints_all_that_is_stored_until_it_is_forgotten(arden: CommandLine) -> None:
    conversation(arden, COVERED, "And why?")
    stored = arden.here("sessions", "export").json["stored"]
    assert [turn["content"]["user_input"] for turn in stored["turns"]] == [COVERED, "And why?"]
    assert len(stored["sessions"]) == 1
    assert arden.here("sessions", "forget", "--all", "--yes").code == 0
    left = arden.here("sessions", "export").json["stored"]
    assert [table for table, rows in left.items() if rows] in ([], ["token_usage"])


def test_all_forgets_whatever_was_asked_at_this_terminal(arden: CommandLine) -> None:
    conversation(arden, COVERED, "And why?")
    conversation(arden, COVERED)
    done = arden.here("sessions", "forget", "--all", "-y")
    assert (done.code, done.out) == (0, "Forgotten: 3 questions, and what was answered.\n")
    assert arden.here("sessions", "list", "--json").json == []


def test_before_all_is_forgotten_the_user_is_asked(arden: CommandLine) -> None:
    session = conversation(arden, COVERED)
    kept = arden.here("sessions", "forget", "--all", stdin="n\n")
    assert (kept.code, kept.out.endswith("Nothing was deleted.\n")) == (0, True)
    assert arden.here("sessions", "forget", "--all", stdin="").code != 0
    assert session in arden.here("sessions", "list").out
    assert arden.here("sessions", "forget", "--all", stdin="y\n").code == 0
    assert arden.here("sessions", "list", "--json").json == []


def test_conversations_outlive_their_course_and_do_not_join_another(arden: CommandLine) -> None:
    session = conversation(arden, COVERED)
    write_files(arden.folder / "other", LIGHTHOUSE)
    arden.here("ingest", "other")
    done = arden.here("ask", COVERED, "--course", "other", "--session", session)
    assert done.code == 2
    assert "another course" in done.sentence
    arden.here("courses", "remove", "arden", "--yes")
    assert COVERED_FACT in arden.here("sessions", "show", session).out
