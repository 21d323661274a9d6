"""No message names what an installation lacks: a file of the checkout, or a target of make."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest

from bot.wiring import handbook_folder
from tests.command_line import ROOT, CommandLine

_PACKAGES = ("bot", "adapters", "core", "migrations")
_FILE = re.compile(r"\.?[\w-]+(?:[./][\w-]+)+")
_MAKE = re.compile(r"\bmake ([a-z]+(?:-[a-z]+)*)")
_PAGE = re.compile(r"glossator help ([a-z][\w-]*)")
_TARGETS = frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
_IN_QUOTES = re.compile(r"['`]make [a-z]")


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield every text of a module that is no docstring, with its line."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value


def lacking(text: str) -> list[str]:
    """Return what a message names that only a checkout has."""
    if " " not in text.strip():  # no sentence
        return []
    files = [
        word
        for word in _FILE.findall(text)
        if any((folder / word).exists() for folder in (ROOT, ROOT / "docs"))
        or word.startswith((".venv", "tests."))
    ]
    targets = [f"make {name}" for name in _MAKE.findall(text) if name in _TARGETS]
    return files + (targets if _IN_QUOTES.search(text) else [])


def messages() -> Iterator[tuple[str, str]]:
    """Yield every text that the product may say, with its place."""
    for package in _PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for line, text in literals(file.read_text("utf-8")):
                yield f"{file.relative_to(ROOT)}:{line}", text
        for catalogue in sorted((ROOT / package).rglob("*.po")):
            for entry in polib.pofile(str(catalogue)):
                for text in (entry.msgstr, *entry.msgstr_plural.values()):
                    yield f"{catalogue.relative_to(ROOT)}:{entry.msgid}", text


@pytest.mark.parametrize(
    "text",
    [
        "docs/discord.md says how to get one",
        "as 'Backups' in docs/running.md says.",
        "take over slack-manifest.yaml, then install",
        "See README.md first.",
        "run 'make install' again",
        "run .venv/bin/glossator doctor",
        "set GLOSSATOR_STAND_INS to tests.wire.stand_ins or so",
    ],
)
def test_what_only_a_checkout_has_is_recognised(text: str) -> None:
    assert lacking(text)


@pytest.mark.parametrize(
    "text",
    [
        "describe it in glossator.toml and .env",
        "'glossator help discord' says how to make one",
        "make a backup, run 'glossator db upgrade'",
        "index.md",
    ],
)
def test_what_every_installation_has_is_passed(text: str) -> None:
    assert not lacking(text)


def test_no_message_names_what_an_installation_lacks() -> None:
    found = [(place, text, lacking(text)) for place, text in messages()]
    assert len(found) > 5_000
    assert [one for one in found if one[2]] == []


def test_every_page_that_a_message_names_is_one_that_is_printed(tmp_path: Path) -> None:
    named = {name for _, text in messages() for name in _PAGE.findall(text)}
    assert {"discord", "slack", "running"} <= named
    shell = CommandLine(tmp_path)
    for name in sorted(named):
        done = shell.here("help", name)
        assert (done.code, done.err) == (0, ""), name
        assert done.out.startswith("# ")


def test_the_pages_are_listed_with_their_titles_and_each_is_printed(tmp_path: Path) -> None:
    shell = CommandLine(tmp_path)
    listed = shell.here("help").out
    for page in handbook_folder().glob("*.md"):
        assert re.search(rf"^  {page.stem} +\S", listed, re.M)
    printed = shell.here("help", "docs/Quick-Start.md").out
    assert printed.startswith("# Quick start\n")
    assert "Gemini is down" in printed
    assert "Running ('glossator help running') says" in printed
    assert "](running.md)" not in printed


def test_a_page_that_is_not_there_is_refused_with_the_nearest(tmp_path: Path) -> None:
    done = CommandLine(tmp_path).here("help", "ingest")
    assert done.code == 2
    assert done.sentence.startswith("The handbook has no page ingest; did you mean ingesting?")
