"""A chat platform is one entry: all that is done for platforms follows from the registry."""

import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

from bot.course_file import read_course_file
from bot.platforms import PLATFORMS, PlatformSettings
from bot.settings import Settings, setting_names
from tests.command_line import ROOT

NAMES = sorted(PLATFORMS)


@pytest.mark.parametrize("name", NAMES)
def test_what_an_entry_names_is_there(name: str) -> None:
    entry = PLATFORMS[name]
    for named in filter(None, (entry.adapter, entry.doctor, entry.stored)):
        assert callable(resolve_name(named))
    assert entry.name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_platforms_variables_are_settings_and_set_nothing_up_by_themselves(name: str) -> None:
    group = Settings(_env_file=None).platform(name)
    assert isinstance(group, PLATFORMS[name].settings)
    assert not group.is_set_up
    keys = {f"GLOSSATOR_{name}__{key}".upper() for key in type(group).model_fields}
    assert keys <= set(setting_names())
    assert set(group.written_as_json) <= set(type(group).model_fields)


@pytest.mark.parametrize("name", NAMES)
def test_a_platform_has_its_table_in_the_course_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "glossator.toml"
    file.write_text(f'[{name}.channels."?"]\nauto_answer = true\n')
    assert tomllib.loads(file.read_text())
    with pytest.raises(Exception, match="this is no id of") as caught:
        read_course_file(file)
    assert PLATFORMS[name].channel.words in str(caught.value)


def test_no_file_of_the_composition_root_lists_the_platforms() -> None:
    own = ("bot/platforms.py", "bot/cli/doctor_platforms.py")
    for file in (ROOT / "bot").rglob("*.py"):
        path = file.relative_to(ROOT).as_posix()
        if not path.startswith(own):
            source = file.read_text("utf-8")
            assert not all(f'"{name}"' in source for name in NAMES), path


def test_the_base_of_all_groups_admits_all_and_finds_nothing_wrong() -> None:
    class Group(PlatformSettings):
        token: str | None = None

    assert not Group().admitted
    Group().check()
    with pytest.raises(NotImplementedError):
        _ = Group().is_set_up
