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


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell to copy whose only course is `arden`, of the lighthouse book."""
    command_line = shell(tmp_path_factory.mktemp("ingested"), models)
    write_files(command_line.folder / "arden", LIGHTHOUSE)
    done = command_line.here("ingest", "arden")
    assert done.code == 0, done.err
    return command_line


@pytest.fixture
def arden(ingested: CommandLine, tmp_path: Path) -> CommandLine:
    """A shell of this test's own whose only course is `arden`."""
    return ingested.copied(tmp_path)
