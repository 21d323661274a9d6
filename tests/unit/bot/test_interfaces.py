"""The page of stable interfaces: every field of every JSON output, and no other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.books import COVERED, LIGHTHOUSE, write_files
from tests.command_line import ROOT, CommandLine, shell

_SECTION = re.compile(r"^## (JSON of .*?)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (`[^|]+`) \| ", re.MULTILINE)
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_TIMES = ("_at", "timestamp", "last_activity")


def documented() -> dict[str, list[list[str]]]:
    """Return the fields that each table of each section names."""
    page = (ROOT / "docs/interfaces.md").read_text("utf-8")
    return {
        title.partition(":")[0].removeprefix("JSON of "): [
            [name for row in _ROW.findall(table) for name in re.findall(r"`([^`]+)`", row)]
            for table in text.split("\n\n")
            if table.startswith("| field")
        ]
        for title, text in _SECTION.findall(page)
    }


@pytest.fixture(scope="module")
def arden(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell with a book, a conversation, and questions to measure it with."""
    command_line = shell(tmp_path_factory.mktemp("arden"), models)
    write_files(command_line.folder / "arden", LIGHTHOUSE)
    row = json.dumps({"question": COVERED, "relevant": ["lamp.md"]})
    write_files(command_line.folder, {"questions.jsonl": row})
    for arguments in (["ingest", "arden"], ["ask", COVERED]):
        assert command_line.here(*arguments).code == 0
    return command_line


def said(command_line: CommandLine, *arguments: str) -> Any:
    done = command_line.here(*arguments, "--json")
    assert done.code == 0, done.err
    _all_times_are_utc(done.json)
    return done.json


def _all_times_are_utc(value: Any) -> None:
    for name, inner in _fields(value):
        if name.endswith(_TIMES) and inner is not None:
            assert _UTC.fullmatch(inner), (name, inner)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every field of every object inside."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in inside:
        if isinstance(name, str):
            yield name, inner
        if isinstance(inner, dict | list):
            yield from _fields(inner)


def test_every_output_has_a_section_of_its_own() -> None:
    assert list(documented()) == [
        *("ingest", "eval", "courses", "sections", "sessions", "usage", "queue", "verified"),
        *("ask", "search", "a chunk"),
    ]


def test_courses_and_their_editions_are_as_documented(arden: CommandLine) -> None:
    course, edition = documented()["courses"]
    [told] = said(arden, "courses")
    assert list(told) == course
    assert sorted(told["edition"]) == sorted(edition)


def test_sections_are_as_documented(arden: CommandLine) -> None:
    [fields] = documented()["sections"]
    sections = said(arden, "courses", "sections")
    assert len(sections) > 3
    assert all(list(section) == fields for section in sections)


def test_sessions_and_their_turns_are_as_documented(arden: CommandLine) -> None:
    session, turn = documented()["sessions"]
    [listed] = said(arden, "sessions", "list")
    shown = said(arden, "sessions", "show", listed["session_id"])
    for told in (listed, shown):
        assert sorted(told) == sorted(session)
    assert listed["conversation_history"] == []
    assert [sorted(told) for told in shown["conversation_history"]] == [sorted(turn)]


@pytest.mark.costly
def test_answers_and_chunks_are_as_documented(arden: CommandLine) -> None:
    [answer], [chunk] = documented()["ask"], documented()["a chunk"]
    told = said(arden, "ask", COVERED)
    assert sorted(told) == sorted(answer)
    assert told["retrieved_chunks"]
    for found in told["retrieved_chunks"]:
        assert sorted(found) == sorted(chunk)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("section", "arguments"),
    [
        ("search", ("search", COVERED)),
        ("ingest", ("ingest", "arden")),
        ("eval", ("eval", "questions.jsonl", "--answers")),
    ],
)
def test_one_object_is_as_documented(
    arden: CommandLine, section: str, arguments: tuple[str, ...]
) -> None:
    [fields] = documented()[section]
    assert sorted(said(arden, *arguments)) == sorted(fields)
