"""The first page of the repository says what is so."""

import re
import shlex
import shutil
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bot import __version__
from tests.command_line import ROOT, shell

PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
_NEW_EACH_TIME = re.compile(r"\d\.\d\d s, session [0-9a-f-]{36}|[*\s]+")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def shown_by(badge: str) -> str:
    title = ElementTree.parse(ROOT / "docs" / badge).getroot().get("aria-label")
    return (title or "").partition(": ")[2]


def test_the_badges_say_what_the_package_says() -> None:
    classifier = "Programming Language :: Python :: "
    versions = [c.removeprefix(classifier) for c in PROJECT["classifiers"] if classifier in c]
    assert shown_by("badge-python.svg") == " | ".join(versions)
    assert shown_by("badge-licence.svg") == PROJECT["license"]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_first_page_leads_to_a_file(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = [one for one in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in one]
    assert links or page == "CHANGELOG.md"
    assert [one for one in links if not (ROOT / one).exists()] == []


def test_the_changelog_knows_the_version() -> None:
    assert f"## {__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_no_picture_of_the_first_page_is_fetched_from_elsewhere() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(pictures) >= 3
    assert not [one for one in pictures if "://" in one]


@pytest.mark.costly
@pytest.mark.timeout(300)
def test_the_demo_course_answers_as_the_first_page_shows(tmp_path: Path, models: Path) -> None:
    reader = shell(tmp_path, models)
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    page = (ROOT / "README.md").read_text("utf-8")
    shown = [
        block for block in re.findall(r"```console\n(.*?)```", page, re.S) if "session" in block
    ]
    assert len(shown) == 2
    for block in shown:
        *before, asked = re.findall(r"^\$ glossator (.*)$", block, re.M)
        for line in before:
            assert reader.here(*shlex.split(line)).code == 0
        answered = reader.here(*shlex.split(asked)).out
        assert _NEW_EACH_TIME.sub("", answered) == _NEW_EACH_TIME.sub("", block.split(asked)[1])


def test_the_commands_that_install_name_nothing_that_a_checkout_lacks() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    installing = re.findall(r"^\$ pipx install (\S+)", page, re.M)
    assert len(installing) == 2
    assert [one for one in installing if not (ROOT / one / "pyproject.toml").exists()] == []
