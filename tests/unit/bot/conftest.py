"""A course that is ingested once and asked by many tests."""

from pathlib import Path

import pytest

from tests.books import LIGHTHOUSE, write_files
from tests.command_line import CommandLine, shell


@pytest.fixture(scope="session")
def lighthouse(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell whose only course is the lighthouse book; its text must not be changed."""
    command_line = shell(tmp_path_factory.mktemp("lighthouse"), models)
    write_files(command_line.folder / "lighthouse", LIGHTHOUSE)
    done = command_line.here("ingest", "lighthouse")
    assert done.code == 0, done.err
    return command_line
