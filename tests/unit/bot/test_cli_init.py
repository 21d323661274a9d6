"""`glossator init` writes two files that Glossator reads, and overwrites none."""

import stat
from pathlib import Path

import pytest

from bot.course_file import read_course_file
from tests.command_line import CommandLine

NAMED = ("--course", "biology", "--title", 'Cells "and" more', "--source", "my book")
SLACK = {"SLACK__BOT_TOKEN": "xoxb-1-secret", "SLACK__APP_TOKEN": "xapp-1-secret"}


@pytest.fixture
def empty(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_what_is_written_is_a_course_file_and_tokens_for_their_owner_alone(
    empty: CommandLine,
) -> None:
    shell = empty.setting(**SLACK)
    done = shell.here("init", *NAMED, "--platform", "slack")
    assert (done.code, done.err) == (0, "")
    assert "secret" not in done.out
    assert "no file or folder my book yet" in done.out
    written = (empty.folder / ".env").read_text()
    assert "GLOSSATOR_SLACK__BOT_TOKEN=xoxb-1-secret\n" in written
    assert stat.S_IMODE((empty.folder / ".env").stat().st_mode) == 0o600
    course_file = read_course_file(empty.folder / "glossator.toml", required=True)
    assert course_file.sources("biology") == [str(empty.folder / "my book")]
    assert course_file.tables["biology"].title == 'Cells "and" more'


@pytest.mark.parametrize("name", ["glossator.toml", ".env"])
def test_no_file_that_is_there_is_overwritten(empty: CommandLine, name: str) -> None:
    (empty.folder / name).write_text("# mine\n")
    done = empty.here("init", *NAMED, "--platform", "terminal")
    assert done.code == 2
    assert f"{name} is there already" in done.sentence
    assert [file.name for file in empty.folder.iterdir()] == [name]
    assert (empty.folder / name).read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Give --course"),
        (("--course", "biology"), "Give --source"),
        (("--course", "Biology 101", "--source", "book"), "is no course's id"),
        ((*NAMED, "--platform", "irc"), "There is no platform irc"),
        ((*NAMED, "--platform", "discord"), "GLOSSATOR_DISCORD__TOKEN is not set"),
    ],
)
def test_without_a_terminal_what_is_missing_is_named_and_nothing_is_written(
    empty: CommandLine, words: tuple[str, ...], said: str
) -> None:
    done = empty.here("init", *words)
    assert done.code == 2
    assert said in done.sentence
    assert not [*empty.folder.iterdir()]
