"""What surrounds the code, the workflows and forms of a public repository, is whole."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

from bot import __version__
from tests.command_line import ROOT
from tests.installation import build_wheel
from tests.release import Refused, check_version, check_wheel

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
HOOKS = ROOT / ".pre-commit-config.yaml"
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
_MAKE = re.compile(r"\bmake((?: +[A-Z_]+=\S+)*)((?: +[a-z.][\w./-]*)+)")
_SCHEMAS = {
    **dict.fromkeys(WORKFLOWS, "vendor.github-workflows"),
    **dict.fromkeys(FORMS, "vendor.github-issue-forms"),
    GITHUB / "ISSUE_TEMPLATE" / "config.yml": "vendor.github-issue-config",
    GITHUB / "dependabot.yml": "vendor.dependabot",
}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def targets(commands: str) -> set[str]:
    """Return the targets of make that commands name."""
    return {target for _, named in _MAKE.findall(commands) for target in named.split()}


def commands(path: Path) -> str:
    return "\n".join(step.get("run", "") for step in steps(path))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_targets_of_make_that_exist(path: Path) -> None:
    named = targets(commands(path))
    assert named
    assert [one for one in named if not re.search(rf"^{re.escape(one)}:", MAKEFILE, re.M)] == []


def test_hooks_and_devcontainer_call_targets_of_make_that_exist() -> None:
    [hook] = read(HOOKS)["repos"][0]["hooks"]
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert targets(hook["entry"]) == {"check"}
    assert targets(container["postCreateCommand"]) == {"install", ".venv/dev.done"}
    assert "$(VENV)/dev.done:" in MAKEFILE
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()


def test_checks_tests_and_releases_are_run_by_the_workflows() -> None:
    by_name = {path.stem: targets(commands(path)) for path in WORKFLOWS}
    assert by_name["check"] >= {"check", "test", "docs"}
    assert by_name["nightly"] >= {"test-all", "audit"}
    assert by_name["release"] >= {"dist", "image"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_takes_no_more_than_it_needs(path: Path) -> None:
    workflow = read(path)
    assert "permissions" in workflow
    assert all(job["timeout-minutes"] <= 180 for job in workflow["jobs"].values())
    actions = [step["uses"] for step in steps(path) if "uses" in step]
    assert [one for one in actions if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []
    text = path.read_text("utf-8")
    assert not re.search(r"https?://|\bpypi\b|\.io/|\.pkg\.|secrets\.", text)
    # What others choose, such as the title of a pull request, is no part of a command.
    assert "github.event" not in commands(path)


@pytest.mark.costly
@pytest.mark.parametrize("path", _SCHEMAS, ids=lambda path: path.name)
def test_the_files_are_what_the_published_schemas_ask_for(path: Path, tmp_path: Path) -> None:
    assert _complaint(path) == ""
    wrong = tmp_path / path.name
    wrong.write_text(path.read_text("utf-8") + "\nno_such_key: true\n", "utf-8")
    assert "no_such_key" in _complaint(wrong, _SCHEMAS[path])


def _complaint(path: Path, schema: str = "") -> str:
    """Return what is wrong with a file; empty: nothing."""
    command = [sys.executable, "-m", "check_jsonschema"]
    command += ["--builtin-schema", schema or _SCHEMAS[path], str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("tag", ["v0.1.0", __version__])
def test_the_tag_of_a_release_is_that_of_the_version(tag: str) -> None:
    dated = f"## {__version__} (2026-12-01)\n"
    with pytest.raises(Refused, match="is not that of the version"):
        check_version(tag, dated)
    check_version(f"v{__version__}", dated)


def test_a_tag_needs_a_changelog_with_a_date() -> None:
    undated = f"## {__version__} (not released yet)\n"
    check_version(None, undated)
    with pytest.raises(Refused, match="not released yet"):
        check_version(f"v{__version__}", undated)
    with pytest.raises(Refused, match="no heading"):
        check_version(None, "## 0.0.1 (2026-01-01)\n")


@pytest.mark.costly
def test_a_wheel_that_lacks_a_page_or_holds_a_stranger_is_no_release(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)
    check_wheel(wheel)
    picture = "demo/pictures/levels.svg"
    for kept, more, complaint in (
        (lambda name: not name.endswith(picture), {}, picture),
        (lambda name: name != "core/__init__.py", {}, "core/__init__.py"),
        (lambda name: True, {"tests/x.py": ""}, "tests"),
    ):
        other = tmp_path / "other.whl"
        with ZipFile(wheel) as read_from, ZipFile(other, "w") as written:
            for name in filter(kept, read_from.namelist()):
                written.writestr(name, read_from.read(name))
            for name, text in more.items():
                written.writestr(name, text)
        with pytest.raises(Refused, match=re.escape(complaint)):
            check_wheel(other)
