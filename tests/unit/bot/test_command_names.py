"""What commands may be called, and the Slack manifest that says so."""

import pytest
import yaml

from adapters.actions.command_names import CommandNames
from bot.settings import load_settings
from core.domain.errors import ConfigurationError
from core.domain.i18n import text, use_terms
from tests.command_line import CommandLine

GROUP = "GLOSSATOR_COMMANDS__"


@pytest.mark.parametrize("name", ["frag", "ask-biology", "tutor_2", "a", "q" * 32, "/frag"])
def test_a_name_that_both_platforms_take_is_taken(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{GROUP}ASK", name)
    names = load_settings().commands
    assert names.ask == name.removeprefix("/")
    assert (names.glossator, names.course) == ("glossator", "course")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Ask", "lower-case"),
        ("ask me", "lower-case"),
        ("ask!", "lower-case"),
        ("fräge", "lower-case"),
        ("q" * 33, "1 to 32"),
        ("//ask", "lower-case"),
        ("remind", "/remind is a command of Slack's own"),
        ("course", "'course' already"),
    ],
)
def test_another_name_is_refused_naming_its_variable(
    name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = "COURSE" if name == "course" else "GLOSSATOR"
    if name == "course":
        monkeypatch.setenv(f"{GROUP}ASK", name)
    else:
        monkeypatch.setenv(f"{GROUP}GLOSSATOR", name)
    with pytest.raises(ConfigurationError) as refused:
        load_settings()
    assert str(refused.value).startswith(f"{GROUP}{variable} is not valid: ")
    assert reason in str(refused.value)


def test_messages_mention_commands_by_the_names_they_have() -> None:
    assert "`/ask`" in text("discord-how-to-ask")
    with use_terms(CommandNames(ask="frag", glossator="buch").terms()):
        for message in ("discord-how-to-ask", "slack-how-to-ask"):
            assert "`/frag`" in text(message)
            assert "`/buch data`" in text(message)
            assert "/ask" not in text(message)
            assert "/glossator" not in text(message)


def test_the_printed_manifest_has_the_names_of_the_settings(lighthouse: CommandLine) -> None:
    usual = lighthouse.here("slack-manifest")
    assert (usual.code, usual.err) == (0, "")
    changed = lighthouse.setting(COMMANDS__ASK="frag", COMMANDS__COURSE="kurs")
    done = changed.here("slack-manifest")
    assert done.code == 0
    manifest = yaml.safe_load(done.out)
    commands = [command["command"] for command in manifest["features"]["slash_commands"]]
    assert commands == ["/frag", "/glossator", "/kurs"]
    assert usual.out.replace("/ask\n", "/frag\n").replace("/course\n", "/kurs\n") == done.out


@pytest.mark.costly
def test_the_doctor_says_that_the_manifest_has_to_follow(lighthouse: CommandLine) -> None:
    assert "slack-manifest" not in lighthouse.here("doctor").out
    done = lighthouse.setting(COMMANDS__ASK="frag").here("doctor")
    assert "/frag, /glossator, /course" in done.out
    assert "'glossator slack-manifest'" in done.out
