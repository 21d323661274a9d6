"""The page on threats names tests that exist, and all threats."""

import re
from pathlib import Path

import pytest

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/security.md").read_text("utf-8")
_ROW = re.compile(r"^\| (T\d+) [^|]+ \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
ROWS = dict(_ROW.findall(PAGE))


def test_every_threat_has_its_row() -> None:
    assert [*ROWS] == [f"T{number}" for number in range(1, 24)]


@pytest.mark.parametrize("threat", ROWS)
def test_every_test_that_is_named_exists(threat: str) -> None:
    named = tuple(_TEST.findall(ROWS[threat]))
    assert named
    assert len(named) == ROWS[threat].count("`") / 2
    assert Mutant(threat, "", "", "", "", named).node_ids(ROOT)
