"""Data that came without its keys, as when a folder is moved in parts."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.upgrade.fixture import FIRST, unpack

pytestmark = pytest.mark.costly

BY_HTTP = {
    "SLACK__CLIENT_ID": "1000.2000",
    "SLACK__CLIENT_SECRET": "invented-client-secret",
    "SLACK__SIGNING_SECRET": "invented-signing-secret",
    "SLACK__TRANSPORT": "http",
}


@pytest.fixture
def moved(tmp_path: Path, models: Path) -> CommandLine:
    """The data of an installation whose app is installed in two workspaces."""
    unpack(FIRST, tmp_path)
    (tmp_path / ".env").unlink()
    (tmp_path / "glossator.toml").unlink()
    (tmp_path / "data" / "models").symlink_to(models, target_is_directory=True)
    return CommandLine(tmp_path).setting(**BY_HTTP)


def test_doctor_says_which_workspaces_have_to_install_the_app_again(moved: CommandLine) -> None:
    assert moved.here("db", "upgrade").code == 0
    assert "were sealed" not in moved.here("doctor").out
    (moved.data / "encryption.key").unlink()
    assert moved.here("db", "forget-key", "encryption").code == 0
    done = moved.here("doctor")
    assert done.code == 78
    assert (
        "The tokens of T0000000001, T0000000008 were sealed with another key: restore "
        "encryption.key" in done.out
    )


@pytest.mark.parametrize(
    ("left", "wrong"),
    [(b"", "is empty"), (b"half a key", "is 10 bytes long, where a key has 48")],
    ids=["empty", "cut"],
)
def test_a_key_that_lost_its_end_is_not_used(moved: CommandLine, left: bytes, wrong: str) -> None:
    file = moved.data / "pseudonym.key"
    file.write_bytes(left)
    sentence = f"The key file {file} {wrong}. Put the one of your last backup in its place."
    asked = moved.here("ask", "--course", "arden", "How often is the wick trimmed?")
    assert asked.code == 78
    assert asked.sentence.startswith(sentence)
    done = moved.here("doctor")
    assert done.code == 78
    assert sentence in done.out
    assert file.read_bytes() == left
