"""The first page of the repository says what is so."""

import re
import tomllib
from xml.etree import ElementTree

import pytest

from bot import __version__
from tests.command_line import ROOT

PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
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
