"""Stand-ins for the models are for tests alone, and nobody overlooks them."""

import logging
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from bot.embedders import load_stand_ins, open_local
from bot.settings import Settings, load_settings
from core.domain.errors import ConfigurationError
from tests.command_line import CommandLine, shell

MODULE = "tests.stand_ins"


@pytest.mark.parametrize("module", ["bot.embedders", "os", "tests", "tests.stand_ins:x", "tests/x"])
def test_what_is_no_module_of_the_tests_is_refused(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOSSATOR_STAND_INS", module)
    with pytest.raises(ConfigurationError, match="GLOSSATOR_STAND_INS"):
        load_settings()


def test_an_installation_without_the_tests_refuses_them() -> None:
    with pytest.raises(ConfigurationError, match="not installed: unset it"):
        load_stand_ins("tests.missing")


@pytest.mark.costly
def test_the_wheel_does_not_carry_them() -> None:
    assert "glossator" not in packages_distributions().get("tests", [])


def test_without_the_setting_there_are_none() -> None:
    assert Settings(_env_file=None).stand_ins is None


def test_whoever_opens_them_is_warned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        embedder = open_local(Settings(_env_file=None, data_dir=tmp_path, stand_ins=MODULE))
    assert embedder.name == "hashing"
    assert "GLOSSATOR_STAND_INS is set" in caplog.text


def test_the_doctor_warns_of_them(tmp_path: Path, models: Path) -> None:
    place: CommandLine = shell(tmp_path, models).setting(STAND_INS=MODULE)
    said = place.here("doctor")
    line = next(line for line in said.out.splitlines() if "hashing" in line)
    assert "GLOSSATOR_STAND_INS is set" in line
    assert "Unset it" in line
