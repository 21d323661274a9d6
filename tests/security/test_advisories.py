"""An audit that could not ask is none, and says so."""

import sys
from typing import Any

from tests.security.advisories import FINE, NAMED, UNKNOWN, main, report


def package(name: str, *advisories: str, **more: Any) -> dict[str, Any]:
    vulns = [{"id": one, "fix_versions": ["2.0"]} for one in advisories]
    return {"name": name, "version": "1.0", "vulns": vulns, **more}


def unknown(name: str) -> dict[str, Any]:
    return {"name": name, "skip_reason": "not found"}


def test_every_package_that_was_looked_up_and_not_named_is_fine() -> None:
    code, lines = report({"dependencies": [package("a"), package("b")]}, "osv")
    assert (code, lines) == (FINE, ["2 of 2 packages looked up in osv."])


def test_an_advisory_is_named_with_the_version_that_mends_it() -> None:
    code, lines = report({"dependencies": [package("a", "CVE-1"), unknown("b")]}, "osv")
    assert code == NAMED
    assert lines[0] == "a 1.0: CVE-1, mended in 2.0"


def test_what_the_database_does_not_know_was_not_checked() -> None:
    code, lines = report({"dependencies": [package("a"), unknown("b")]}, "pypi")
    assert code == UNKNOWN
    assert "NOT CHECKED: b: not known there." in lines
    assert report({"dependencies": []}, "osv")[0] == UNKNOWN


def test_a_database_that_cannot_be_reached_passes_nothing(capsys: Any) -> None:
    code = main(["--python", sys.executable])  # which has no pip-audit, and so asks nobody
    assert code == UNKNOWN
    assert "NOT CHECKED: the advisory database osv cannot be reached." in capsys.readouterr().out
