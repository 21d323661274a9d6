"""A line that is refused is named in a sentence until it is written in another way."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.upgrade.due import RENAMED, Renamed, rewrite
from tests.upgrade.fixture import FIRST, unpack

pytestmark = pytest.mark.costly

OF_A_LATER_VERSION = (
    Renamed(
        ".env",
        "GLOSSATOR_RETENTION__DAY=0",
        "GLOSSATOR_RETENTION__DAYS=0",
        "GLOSSATOR_RETENTION__DAY is not a setting. Did you mean GLOSSATOR_RETENTION__DAYS?",
    ),
    Renamed(
        "glossator.toml",
        'titel = "The tide mill"',
        'title = "The tide mill"',
        "glossator.toml: courses.mill.titel is not a key. Did you mean title?",
    ),
)
"""As they would be written for two lines that the installation does not have."""


def test_each_sentence_is_followed_until_the_next_command_works(tmp_path: Path) -> None:
    unpack(FIRST, tmp_path)
    shell = CommandLine(tmp_path)
    rewrite(shell, RENAMED)
    for row in OF_A_LATER_VERSION:
        file = tmp_path / row.file
        file.write_text(file.read_text(encoding="utf-8").replace(row.new, row.old), "utf-8")
    rewrite(shell, OF_A_LATER_VERSION)
    listed = shell.run("courses", "--json")
    assert listed.code == 0, listed.err
    assert {"arden", "mill"} <= {course["course_id"] for course in listed.json}
