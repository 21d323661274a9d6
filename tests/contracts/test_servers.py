"""The same commands on PostgreSQL and a Qdrant server: two URLs are all that changes."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.domain import AgentResponse, Outcome, QuoteStatus
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, UNCOVERED, VERBATIM, write_files
from tests.command_line import CommandLine
from tests.contracts.conftest import postgres_database
from tests.wire.qdrant_server import QdrantServer

pytestmark = [
    pytest.mark.costly,
    pytest.mark.postgres,
]


@contextmanager
def running_qdrant() -> Iterator[QdrantServer]:
    """Serve in a thread of its own, since the commands run event loops of theirs."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(_entered())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(server.__aexit__(None, None, None))
        loop.close()


async def _entered() -> QdrantServer:
    return await QdrantServer().__aenter__()


@pytest.fixture
def served(glossator: CommandLine, postgres: str) -> Iterator[CommandLine]:
    """A shell with the lighthouse book, whose settings name two servers."""
    with running_qdrant() as qdrant, postgres_database(postgres, "template1") as database:
        shell = glossator.setting(DATABASE__URL=database, QDRANT__URL=qdrant.url)
        write_files(shell.folder / "arden", LIGHTHOUSE)
        yield shell


def test_a_book_is_ingested_asked_and_remembered_on_servers(served: CommandLine) -> None:
    done = served.run("ingest", "arden", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["chunks"] == done.json["embedded"] > 4
    again = served.here("ingest", "arden", "--json").json
    assert (again["generation"], again["embedded"]) == (done.json["generation"], 0)
    answer = served.run("ask", COVERED)
    assert (answer.code, answer.err) == (0, "")
    assert COVERED_FACT in answer.out
    session = served.here("sessions", "list", "--json").json[0]["session_id"]
    assert served.here("ask", "And why?", "--session", session).code == 0
    assert f"1. {COVERED}" in served.here("sessions", "show", session).out
    assert served.here("sessions", "forget", session).code == 0
    assert served.here("sessions", "list", "--json").json == []
    assert not (served.data / "glossator.db").exists()
    assert not (served.data / "index").exists()


def test_quotes_sections_and_abstentions_work_on_servers(served: CommandLine) -> None:
    assert served.here("ingest", "arden").code == 0

    def asked(*arguments: str) -> AgentResponse:
        return AgentResponse.model_validate_json(served.here("ask", *arguments, "--json").out)

    location = asked("--quote", VERBATIM).quote_location
    assert location
    assert location.status is QuoteStatus.VERBATIM
    limited = asked("What does the keeper do?", "--section", "Supplies")
    assert {c.source_file for c in limited.retrieved_chunks} <= {"keepers/supplies.md"}
    assert asked(UNCOVERED).outcome is Outcome.ABSTAINED


def test_a_changed_book_replaces_the_edition_on_servers(served: CommandLine) -> None:
    served.here("ingest", "arden")
    write_files(served.folder / "arden", {"lamp.md": "# The lamp\n\nThe lamp burns kerosene.\n"})
    (served.folder / "arden" / "keepers" / "supplies.md").unlink()
    done = served.here("ingest", "arden", "--json").json
    assert (done["changed"], done["removed"]) == (["lamp.md"], ["keepers/supplies.md"])
    assert "kerosene" in served.here("ask", "What does the lamp burn?").out
    assert "1 collection at the Qdrant URL" in served.here("doctor").out


def test_the_doctor_and_the_database_commands_work_on_servers(served: CommandLine) -> None:
    assert served.here("db", "check").code == 78
    assert served.here("db", "upgrade").code == 0
    assert served.here("db", "check").code == 0
    served.here("ingest", "arden")
    done = served.run("doctor")
    assert (done.code, done.err) == (0, "")
    assert "postgresql, up to date" in done.out
    assert served.here("courses", "remove", "arden", "--yes").code == 0
    assert "0 collections at the Qdrant URL" in served.here("doctor").out
