"""No text that a stranger may write keeps a regular expression of the program trying for long.

While one tries, nobody else is answered. What is shown for a text of the longest question is that
the time grows no worse than with the square of its length.
"""

import importlib
import re

import pytest

from core.domain import MAX_QUESTION
from tests.command_line import ROOT
from tests.patterns import OutOfPatienceError, at_most, hostile_to, patterns_of, uses_of

pytestmark = pytest.mark.costly

FILES = sorted(
    file
    for package in ("core", "adapters", "bot")
    for file in (ROOT / package).rglob("*.py")
    if "re.compile(" in file.read_text("utf-8")
)
MODULES = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in FILES]


def is_slow(pattern: re.Pattern[str], uses: set[str]) -> str | None:
    for text in hostile_to(pattern, MAX_QUESTION):
        try:
            with at_most(seconds=1.5):
                for use in uses:
                    getattr(pattern, use)(text)
        except OutOfPatienceError:
            return text
    return None


@pytest.mark.parametrize("name", MODULES)
def test_no_pattern_tries_for_long(name: str) -> None:
    module = importlib.import_module(name)
    slow = {}
    for variable, pattern in patterns_of(module).items():
        if text := is_slow(pattern, uses_of(module, variable)):
            slow[variable] = text
    assert not slow


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"(?:\W|\b(?:hi|you|all|for help|someone|you)\b)*", "fullmatch"),
        (r"\W*(?:(?:then|finally|\w+ly),?\s+)*(?:take|give)", "match"),
        (r"(?:can|could) you(?:,? (?:please|pls)\b,?)* (?:tell|say)", "match"),
        (r"(?:\\[A-Za-z]+\s*[^\\{}]?\s*){13}", "search"),
        (r"passage\s*=\s*[\"']?\s*(?:no\.)?\s*\d", "search"),
        (r"(`{3,}|~{3,})[^\n]*\s*\1\n", "search"),
        (r"(\w+)+$", "match"),
        (r"(?:x+x+)+y", "search"),
    ],
)
def test_a_pattern_that_would_try_for_long_is_found(pattern: str, use: str) -> None:
    assert is_slow(re.compile(pattern, re.IGNORECASE), {use})
